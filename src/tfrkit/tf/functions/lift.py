"""Lifting: an operation on arrays becomes a function on Tensors.

Tensors among the arguments, also in lists, tuples and dicts, are replaced by their values, and the values that come
back by Tensors. Nothing is copied. TensorFlow's argument `name` is dropped.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.data.elements.structure import is_nested, rebuild
from tfrkit.data.elements.structure import parts as parts_of
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.record_column import RecordColumn
from tfrkit.model.sparse import Sparse
from tfrkit.tf.functions.hints import HINTS, Hint
from tfrkit.tf.ops.ragged.ragged_dispatch import with_ragged
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.sparse_tensor import SparseTensor
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.unsized import NOTED, decodes, follow, note_sizes
from tfrkit.values.operands import Alike, Pack, as_type, convert, convert_hinted, dtype_of

__all__ = ["lift", "unwrap", "unwrap_argument", "wrap"]

_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_PLAIN: Final = frozenset({int, float, bool, str, bytes, type(None), np.ndarray})


def unwrap(value: Any) -> Any:
    """Replace Tensors by their values, also inside lists, tuples and dicts."""
    kind = type(value)
    if kind is Tensor:
        return value.value
    if kind in _PLAIN:
        return value
    if kind is RaggedTensor:
        return value.ragged
    if kind is SparseTensor:
        return value.sparse
    if isinstance(value, tuple):
        parts = [unwrap(part) for part in value]
        return kind(*parts) if hasattr(value, "_fields") else tuple(parts)
    if kind is list:
        return [unwrap(part) for part in value]
    if kind is dict:
        return {key: unwrap(part) for key, part in value.items()}
    return rebuild(value, [unwrap(part) for part in parts_of(value)]) if is_nested(value) else value


def unwrap_argument(value: Any) -> Any:
    """The same for an argument of an operation: a sequence that has Tensors in it becomes a Pack."""
    kind = type(value)
    if kind is Tensor:
        return value.value
    if kind in _PLAIN:
        return value
    if kind is list or kind is tuple or kind is Pack:
        if kind is not Pack and _PLAIN.issuperset(map(type, value)):
            return value
        parts = [unwrap_argument(part) for part in value]
        tensors = any(type(one) is Tensor or type(two) is Pack for one, two in zip(value, parts, strict=True))
        return Pack(parts) if tensors or kind is Pack else kind(parts)
    return unwrap(value)


def wrap(value: Any) -> Any:
    """Replace values by Tensors, RaggedTensors and SparseTensors, also inside lists, tuples and dicts."""
    kind = type(value)
    if kind is np.ndarray or kind is bytes or isinstance(value, np.generic):
        return Tensor(value)
    if kind is BytesColumn or kind is RecordColumn:
        return Tensor(value)
    if kind is Ragged:
        return RaggedTensor(value)
    if kind is Sparse:
        return SparseTensor.of(value)
    if isinstance(value, tuple):
        parts = [wrap(part) for part in value]
        return kind(*parts) if hasattr(value, "_fields") else tuple(parts)
    if kind is list:
        return [wrap(part) for part in value]
    if kind is dict:
        return {key: wrap(part) for key, part in value.items()}
    return rebuild(value, [wrap(part) for part in parts_of(value)]) if is_nested(value) else value


def lift(function: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Make a function on Tensors of an operation on arrays.

    Args:
        function: the operation.
        path: TensorFlow's dotted name of it, under which it pickles.
    """
    signature = inspect.signature(function)
    names = [found.name for found in signature.parameters.values() if found.kind in _POSITIONAL]
    rest = any(found.kind is found.VAR_POSITIONAL for found in signature.parameters.values())
    most = sys.maxsize if rest else len(names)
    group: Alike | None = getattr(function, "alike", None)
    last = path.rpartition(".")[2]
    hint = HINTS.get(last)
    hinted = names.index(hint.name) if hint is not None else 0
    call = with_ragged(function)
    decoder = decodes(last)

    @functools.wraps(function)
    def lifted(*args: Any, name: str | None = None, **options: Any) -> Any:
        if len(args) > most:
            args = args[:-1]  # TensorFlow's argument `name`, by position
        if group is not None:
            args, options = _matched(group, names, args, options)
        if hint is not None:
            args, options = _hinted(hint, hinted, args, options)
        given = [arg.value if type(arg) is Tensor else unwrap_argument(arg) for arg in args]
        if options:
            options = {key: unwrap_argument(value) for key, value in options.items()}
        found = call(*given, **options)
        if decoder:
            note_sizes(found, known=False)
        elif NOTED and type(found) is np.ndarray:
            follow(last, given, found)
        made = Tensor(found) if type(found) is np.ndarray else wrap(found)
        return _own(made, args) if np.ndarray in map(type, args) else made

    lifted.__module__ = "tfrkit.tf"
    lifted.__qualname__ = path
    lifted.__dict__["__signature__"] = _with_name(signature)
    return lifted


def _with_name(signature: inspect.Signature) -> inspect.Signature:
    """The signature with TensorFlow's last argument."""
    parameters = list(signature.parameters.values())
    if "name" in signature.parameters:
        return signature
    kind = inspect.Parameter.KEYWORD_ONLY
    where = len(parameters) - (bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD)
    parameters.insert(where, inspect.Parameter("name", kind, default=None))
    return signature.replace(parameters=parameters)


def _own(found: Any, args: tuple[Any, ...]) -> Any:
    """A result that does not change when the user's arrays do."""
    if type(found) is Tensor and type(found.value) is np.ndarray:
        arrays = [arg for arg in args if type(arg) is np.ndarray and arg.flags.writeable]
        if any(np.may_share_memory(found.value, array) for array in arrays):
            return Tensor(found.value.copy())
    return found


def _matched(
    group: Alike, names: list[str], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Convert numpy's values among arguments that have one type: only Tensors decide about it."""
    if not options and all(type(arg) is Tensor for arg in args):
        return args, options
    if group.listed and args and type(args[0]) is list and all(type(arg) is Tensor for arg in args[0]):
        return args, options
    places = [names.index(name) for name in group.names]
    given = [args[place] if place < len(args) else options.get(names[place]) for place in places]
    items = list(given[0]) if group.listed and isinstance(given[0], (list, tuple)) else given
    if not any(_is_numpy(item) for item in items):
        return args, options
    if group.listed and not any(type(item) is Tensor for item in items):
        return args, options  # a list of numpy's values is one constant
    made = _alike(items, group.by_first)
    if group.listed:
        made = [Pack(made)]
    new = list(args)
    for place, value in zip(places, made, strict=True):
        if place < len(new):
            new[place] = value
        elif names[place] in options:
            options = options | {names[place]: value}
    return tuple(new), options


def _hinted(
    hint: Hint, place: int, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Convert an argument that is not a Tensor to the type of the hint, or refuse a Tensor of another type."""
    given = args[place] if place < len(args) else options.get(hint.name)
    if hint.refusal:
        if type(given) is Tensor and dtype_of(given.value) != hint.dtype:
            raise ValueError(f"{hint.refusal}: got a Tensor of {given.dtype.name}")
        return args, options
    if given is None or type(given) is Tensor:
        return args, options
    made = convert_hinted(unwrap_argument(given), as_type(hint.dtype))
    if place < len(args):
        return (*args[:place], made, *args[place + 1 :]), options
    return args, options | {hint.name: made}


def _alike(items: list[Any], by_first: bool) -> list[Any]:
    tensors = [item for item in items if type(item) is Tensor]
    first = items[0] if by_first or not tensors else tensors[0]
    dtype = dtype_of(convert(unwrap_argument(first)))
    if by_first:
        return [
            convert_hinted(item, dtype) if number and _is_numpy(item) else item
            for number, item in enumerate(items)
        ]
    return [convert(item, dtype) if _is_numpy(item) else item for item in items]


def _is_numpy(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))
