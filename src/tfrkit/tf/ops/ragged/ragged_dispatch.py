"""What operations on arrays do with Ragged and Sparse arguments, so that the operations themselves know arrays only.

Operations that work entry by entry are applied to the flat values; some others have a version of their own. The
rest takes no such arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.model.element_spec import as_dtype
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.tf.ops.ragged import ragged_gather, ragged_join, ragged_shape
from tfrkit.tf.ops.ragged.ragged_elementwise import map_flat
from tfrkit.tf.ops.ragged.ragged_reduce import REDUCTIONS
from tfrkit.tf.ops.strings.string_values import with_flat

__all__ = ["with_ragged"]

_Function = Callable[..., Any]


def _size(input: Any, out_type: Any = "int32") -> Any:
    count = np.prod(input.dense_shape) if isinstance(input, Sparse) else input.flat_values.size
    return as_dtype(out_type or "int32").type(count)


def _sparse_shape(input: Sparse, out_type: Any = "int32") -> Any:
    return input.dense_shape.astype(as_dtype(out_type or "int32"))


def _of_stored(function: _Function, x: Sparse) -> Sparse:
    return Sparse(x.indices, function(x.values), x.dense_shape)


def _add_n(function: _Function, inputs: Any) -> Any:
    return map_flat(lambda *values: function(list(values)), *inputs)


def _one_hot(
    function: _Function, indices: Any, depth: Any, *args: Any, axis: Any = None, **options: Any
) -> Any:
    if axis is not None and 0 <= axis <= indices.ragged_rank:
        raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank}).")
    inner = axis - indices.ragged_rank if axis is not None and axis > 0 else axis
    return with_flat(indices, function(indices.flat_values, depth, *args, axis=inner, **options))


def _embedding_lookup(function: _Function, params: Any, ids: Any, **options: Any) -> Any:
    return with_flat(ids, function(params, ids.flat_values, **options))


def _where(function: _Function, condition: Any, x: Any = None, y: Any = None) -> Any:
    """Entry by entry with values; without them the coordinates of what is true."""
    if x is not None or y is not None:
        return map_flat(function, condition, x, y)
    sparse = condition.to_sparse()
    return sparse.indices[sparse.values.astype(bool)]


# By the last part of the module and the name of an operation.
_ALSO: Final = {
    "cast:saturate_cast",
    "cast:make_complex",
    "make:zeros_like",
    "make:ones_like",
}
_AROUND: Final[dict[str, _Function]] = {  # those that use the operation on arrays
    "elementwise:add_n": _add_n,
    "gather:embedding_lookup": _embedding_lookup,
    "gather:where": _where,
    "sequences:one_hot": _one_hot,
}
_OF_RAGGED: Final[dict[str, _Function]] = {
    "gather:gather": ragged_gather.gather,
    "gather:gather_nd": ragged_gather.gather_nd,
    "join:concat": ragged_join.concat,
    "join:split": ragged_gather.split,
    "join:stack": ragged_join.stack,
    "join:tile": ragged_join.tile,
    "shapes:expand_dims": ragged_shape.expand_dims,
    "shapes:identity": lambda input: input,
    "shapes:rank": lambda input: np.int32(input.ndim),
    "shapes:reverse": ragged_join.reverse,
    "shapes:size": _size,
    "shapes:squeeze": ragged_shape.squeeze,
    **{f"reduce:reduce_{word}": function for word, function in REDUCTIONS.items()},
}
_OF_SPARSE: Final[dict[str, _Function]] = {
    "shapes:identity": lambda input: input,
    "shapes:rank": lambda input: np.int32(input.ndim),
    "shapes:shape": _sparse_shape,
    "shapes:size": _size,
}
_LISTED: Final = {"join:concat", "join:stack", "elementwise:add_n"}  # those that take a list of values


def with_ragged(function: _Function) -> _Function:
    """Make an operation take Ragged and Sparse arguments, if it can; otherwise return it as it is.

    >>> from tfrkit.tf.ops.math.elementwise import add
    >>> with_ragged(add)(Ragged.from_list([[1, 2], []]), 1).to_list()
    [[2, 3], []]
    """
    if hasattr(function, "remake"):  # one with TensorFlow 1's arguments
        return function.remake(with_ragged(function.__wrapped__))  # type: ignore[no-any-return,attr-defined]
    module = getattr(function, "__module__", "").rpartition(".")[2]
    key = f"{module}:{getattr(function, '__name__', '')}"
    around = _AROUND.get(key, map_flat if key in _ALSO or hasattr(function, "entrywise") else None)
    ragged = functools.partial(around, function) if around is not None else _OF_RAGGED.get(key)
    sparse = (
        functools.partial(_of_stored, function)
        if getattr(function, "keeps_zero", False)
        else _OF_SPARSE.get(key)
    )
    versions: dict[type, Any] = {Ragged: ragged, Sparse: sparse}
    versions = {kind: version for kind, version in versions.items() if version is not None}
    if not versions:
        return function
    return _listing(function, versions) if key in _LISTED else _choosing(function, versions)


def _choosing(function: _Function, versions: dict[type, _Function]) -> _Function:
    """The operation, or the version for the first argument that is of one of these kinds."""

    @functools.wraps(function)
    def either(*args: Any, **options: Any) -> Any:
        for value in args:
            if type(value) in versions:
                return versions[type(value)](*args, **options)
        for value in options.values():
            if type(value) in versions:
                return versions[type(value)](*args, **options)
        return function(*args, **options)

    return either


def _listing(function: _Function, versions: dict[type, _Function]) -> _Function:
    """The same for values in a list."""

    @functools.wraps(function)
    def either(*args: Any, **options: Any) -> Any:
        for given in (*args, *options.values()):
            for value in given if isinstance(given, (list, tuple)) else (given,):
                if type(value) in versions:
                    return versions[type(value)](*args, **options)
        return function(*args, **options)

    return either
