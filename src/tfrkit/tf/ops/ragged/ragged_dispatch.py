"""What operations on arrays do with Ragged and Sparse arguments.

Operations that work entry by entry are applied to the flat values; some others have a version of their own. The
rest takes no such arguments. This stands apart, so that the operations themselves know arrays only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.model.element_spec import as_dtype
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.tf.ops.ragged import ragged_gather, ragged_join, ragged_reduce, ragged_shape
from tfrkit.tf.ops.ragged.ragged_elementwise import map_flat
from tfrkit.tf.ops.strings.string_values import with_flat

__all__ = ["with_ragged"]

_Function = Callable[..., Any]

_ENTRY_BY_ENTRY: Final = {"arithmetic", "compare", "elementary"}
_ALSO: Final = {
    "cast:saturate_cast",
    "cast:make_complex",
    "scan:clip_by_value",
    "make:zeros_like",
    "make:ones_like",
    *(f"activations:{word}" for word in ("erfc", "gelu", "leaky_relu", "lgamma", "selu", "silu", "softsign")),
}
_OF_STORED: Final = {  # those that leave 0 as it is, and so change what a Sparse stores only
    f"elementary:{word}"
    for word in (
        "absolute", "asin", "asinh", "atan", "atanh", "erf", "negative", "sign", "sin", "sqrt", "square", "tan", "tanh",
    )
}  # fmt: skip
_SELF: Final = {"shapes:identity", "shapes:stop_gradient"}
_VERSIONS: Final[dict[str, _Function]] = {
    "gather:gather": ragged_gather.gather,
    "gather:gather_nd": ragged_gather.gather_nd,
    "join:concat": ragged_join.concat,
    "join:split": ragged_gather.split,
    "join:stack": ragged_join.stack,
    "join:tile": ragged_join.tile,
    "shapes:expand_dims": ragged_shape.expand_dims,
    "shapes:rank": ragged_shape.rank,
    "shapes:reverse": ragged_join.reverse,
    "shapes:size": ragged_shape.size,
    "shapes:squeeze": ragged_shape.squeeze,
    **{
        f"reduce:reduce_{word}": getattr(ragged_reduce, f"reduce_{word}")
        for word in ("all", "any", "max", "mean", "min", "prod", "std", "sum", "variance")
    },
}
_LISTED: Final = {"join:concat", "join:stack", "arithmetic:add_n"}  # those that take a list of values


def _sparse_shape(input: Sparse, out_type: Any = "int32") -> Any:  # noqa: A002
    return input.dense_shape.astype(as_dtype(out_type or "int32"))


def _sparse_size(input: Sparse, out_type: Any = "int32") -> Any:  # noqa: A002
    return as_dtype(out_type or "int32").type(np.prod(input.dense_shape))


def _of_stored(function: _Function, x: Sparse) -> Sparse:
    return Sparse(x.indices, function(x.values), x.dense_shape)


_OF_SPARSE: Final[dict[str, _Function]] = {
    "shapes:identity": lambda input: input,  # noqa: A006
    "shapes:rank": lambda input: np.int32(input.ndim),  # noqa: A006
    "shapes:shape": _sparse_shape,
    "shapes:size": _sparse_size,
}


def with_ragged(function: _Function) -> _Function:
    """Make an operation take Ragged and Sparse arguments, if it can; otherwise give it as it is.

    >>> from tfrkit.tf.ops.math.arithmetic import add
    >>> with_ragged(add)(Ragged.from_list([[1, 2], []]), 1).to_list()
    [[2, 3], []]
    """
    module = getattr(function, "__module__", "").rpartition(".")[2]
    key = f"{module}:{getattr(function, '__name__', '')}"
    ragged = _VERSIONS.get(key)
    if key in _SELF:
        ragged = lambda input: input  # noqa: A006, E731
    elif key == "gather:where":
        ragged = functools.partial(_where, function)
    elif key == "arithmetic:add_n":
        ragged = functools.partial(_add_n, function)
    elif key == "sequences:one_hot":
        ragged = functools.partial(_one_hot, function)
    elif key == "gather:embedding_lookup":
        ragged = functools.partial(_embedding_lookup, function)
    elif ragged is None and (module in _ENTRY_BY_ENTRY or key in _ALSO):
        ragged = functools.partial(map_flat, function)
    sparse = functools.partial(_of_stored, function) if key in _OF_STORED else _OF_SPARSE.get(key)
    if ragged is None and sparse is None:
        return function
    versions: dict[type, _Function] = {}
    if ragged is not None:
        versions[Ragged] = ragged
    if sparse is not None:
        versions[Sparse] = sparse
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
    """`where` with values works entry by entry, without it gives coordinates."""
    if x is None and y is None:
        return ragged_join.where(condition)
    return map_flat(function, condition, x, y)
