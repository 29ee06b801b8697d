"""Branches and loops as functions: tf.cond, tf.case, tf.switch_case, tf.while_loop, tf.map_fn and related ones.

Functions run as Python, so that only the branch that is taken is called, and a loop calls its body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfrkit.data.batch.collate import collate
from tfrkit.data.batch.ragged_batch import stack_ragged
from tfrkit.data.elements.structure import flatten, map_structure, pack, require_same
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import as_dtype, dtype_name
from tfrkit.tf.functions.lift import unwrap, wrap
from tfrkit.tf.tensors.conversion import convert_to_tensor
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.tensor import Tensor

__all__ = ["case", "cond", "foldl", "foldr", "map_fn", "scan", "switch_case", "vectorized_map", "while_loop"]

_NO_BRANCH = "Input error: None of conditions evaluated as True:"


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Call one function or the other.

    Raises:
        TypeError: one of them cannot be called.
    """
    for word, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{word}' argument required")
        if not callable(function):
            raise TypeError(f"'{word}' must be callable.")
    chosen = true_fn if pred else false_fn
    assert chosen is not None
    return _unpacked(chosen())


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Call the function of the first condition that holds, or the default.

    Raises:
        InvalidArgumentError: none holds, and there is no default.
        TypeError: an entry is not a pair of a Tensor and a function.
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, Mapping) else list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        if not isinstance(pair[0], Tensor):
            raise TypeError(f"pred must be a Tensor, got: {pair[0]}")
        if not callable(pair[1]):
            raise TypeError(f"fn for pred {pair[0]} must be callable.")
    if default is not None and not callable(default):
        raise TypeError("'default' must be callable.")
    for condition, function in pairs:
        if condition:
            return _unpacked(function(), strict=strict)
    if default is None:
        shown = " ".join("1" if condition else "0" for condition, _ in pairs)
        raise InvalidArgumentError(f"assertion failed: [{_NO_BRANCH}] [{shown}]")
    return _unpacked(default(), strict=strict)


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str = "switch_case",
) -> Any:
    """Call the function of a number; one that is out of range means the default, which is the last if none is given.

    Raises:
        TypeError: the number is not a Tensor, or a function cannot be called.
        ValueError: the numbers of functions are not 0, 1, 2 and so on.
    """
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    functions = _branches(branch_fns)
    number = int(branch_index)
    if 0 <= number < len(functions):
        return _unpacked(functions[number]())
    return _unpacked((functions[-1] if default is None else default)())


def _branches(given: Any) -> list[Callable[[], Any]]:
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        pairs = [pair if isinstance(pair, tuple) else (number, pair) for number, pair in enumerate(given)]
    keys = {int(key) for key, _ in pairs}
    if keys != set(range(len(pairs))):
        shown = ",".join(map(str, sorted(keys)))
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found {{{shown}}}"
        )
    for _, function in pairs:
        if not callable(function):
            raise TypeError(f"branch function must be callable, got {function}")
    return [function for _, function in sorted(pairs, key=lambda pair: int(pair[0]))]


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Call `body` as long as `cond` holds, each with the variables that the last call returned.

    Raises:
        TypeError: one of the functions cannot be called.
        ValueError: there are no variables, or `body` returns other ones.
    """
    for word, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"'{word}' must be callable.")
    if isinstance(loop_vars, Tensor) or not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    kind = type(loop_vars)
    values = [map_structure(_as_tensor, each) for each in loop_vars]
    left = None if maximum_iterations is None else int(maximum_iterations)
    while (left is None or left > 0) and cond(*values):
        made = body(*values)
        found = list(made) if isinstance(made, (list, tuple)) else [made]
        require_same(tuple(values), tuple(found))
        values = [map_structure(_as_tensor, each) for each in found]
        left = None if left is None else left - 1
    return kind(*values) if hasattr(kind, "_fields") else kind(values)


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Call a function with each row of Tensors, and stack its results.

    Args:
        fn: takes a row, in the structure of `elems`.
        elems: a Tensor or RaggedTensor, or a tuple, list or dict of them.
        dtype: the former name of `fn_output_signature`.
        parallel_iterations: ignored, as are the next ones.
        back_prop: ignored.
        swap_memory: ignored.
        infer_shape: ignored.
        name: ignored.
        fn_output_signature: types or specs of what the function returns; by default the types of `elems`.

    Raises:
        InvalidArgumentError: it returns values of another type.
        ValueError: there are no rows, or the function returns another structure.
    """
    if not callable(fn):
        raise TypeError(f"The provided function {getattr(fn, '__name__', fn)} is not callable.")
    given, count = _rows_of(elems)
    signature = dtype if fn_output_signature is None else fn_output_signature
    made = [_listed_tuple(fn(_row(elems, given, number))) for number in range(count)]
    expected = _listed_tuple(elems) if signature is None else _listed_tuple(signature)
    leaves = flatten(expected)
    columns = [_stacked(column, leaf) for column, leaf in zip(_columns(expected, made), leaves, strict=True)]
    shaped = elems if signature is None else signature
    packed = pack(expected, columns)
    return list(packed) if isinstance(shaped, list) else packed


def vectorized_map(
    fn: Callable[..., Any],
    elems: Any,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> Any:
    """Call a function with each row of Tensors; one that has a single row is used for all."""
    given = [convert_to_tensor(leaf) for leaf in flatten(_listed_tuple(elems))]
    counts = [len(each) for each in given]
    count = max(counts, default=0)
    if any(each not in (1, count) for each in counts):
        raise InvalidArgumentError(
            f"expected Tensors with one number of rows, or a single row, but got {counts}"
        )
    structure = _listed_tuple(elems)
    made = []
    for number in range(count):
        rows = [each[0 if len(each) == 1 else number] for each in given]
        row = pack(structure, rows)
        made.append(_listed_tuple(fn(list(row) if isinstance(elems, list) else row)))
    if not made:
        return wrap(map_structure(unwrap, elems))
    return pack(made[0], [_stacked(column, None) for column in _columns(made[0], made)])


def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Fold rows from the first to the last: `fn(so_far, row)`."""
    return _folded(fn, elems, initializer, backwards=False)[-1]


def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Fold rows from the last to the first: `fn(so_far, row)`."""
    return _folded(fn, elems, initializer, backwards=True)[-1]


def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Fold rows, and return the results of all steps, stacked."""
    steps = _folded(fn, elems, initializer, backwards=reverse)
    found = [_listed_tuple(step) for step in (steps if initializer is None else steps[1:])]
    made = found[::-1] if reverse else found
    return pack(made[0], [_stacked(column, None) for column in _columns(made[0], made)])


def _folded(fn: Callable[..., Any], elems: Any, initializer: Any, *, backwards: bool) -> list[Any]:
    """Every state of a fold, the first one too."""
    if not callable(fn):
        raise TypeError(f"{getattr(fn, '__name__', fn)} is not callable.")
    given, count = _rows_of(elems)
    numbers = list(range(count))[:: -1 if backwards else 1]
    if initializer is None:
        if not numbers:
            raise InvalidArgumentError("expected at least one row, or an initializer, but got neither")
        steps = [_row(elems, given, numbers.pop(0))]
    else:
        steps = [map_structure(_as_tensor, initializer)]
    for number in numbers:
        steps.append(map_structure(_as_tensor, fn(steps[-1], _row(elems, given, number))))
    return steps


def _as_tensor(value: Any) -> Any:
    return value if isinstance(wrap(unwrap(value)), type(value)) else convert_to_tensor(value)


def _unpacked(value: Any, *, strict: bool = False) -> Any:
    """A list of one value is that value, as in TensorFlow, unless it is strict."""
    return value[0] if isinstance(value, list) and len(value) == 1 and not strict else value


def _listed_tuple(value: Any) -> Any:
    """Lists as tuples, which are structures."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return tuple(map(_listed_tuple, value))
    return value


def _rows_of(elems: Any) -> tuple[list[Any], int]:
    """The Tensors, and how many rows they have."""
    given = [
        each if isinstance(each, RaggedTensor) else convert_to_tensor(each)
        for each in flatten(_listed_tuple(elems))
    ]
    for each in given:
        if isinstance(each, Tensor) and not each.shape.rank:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    counts = {len(unwrap(each)) for each in given}
    if len(counts) > 1:
        first, second = [len(unwrap(each)) for each in given][:2]
        raise ValueError(
            f"Dimensions {first} and {second} are not compatible: elems differ in their number of rows"
        )
    return given, counts.pop() if counts else 0


def _row(elems: Any, given: list[Any], number: int) -> Any:
    row = pack(_listed_tuple(elems), [each[number] for each in given])
    return list(row) if isinstance(elems, list) else row


def _columns(structure: Any, made: Sequence[Any]) -> list[list[Any]]:
    for each in made:
        require_same(structure, each)
    rows = [flatten(each) for each in made]
    return [[row[at] for row in rows] for at in range(len(flatten(structure)))]


def _stacked(column: list[Any], expected: Any) -> Any:
    """A Tensor or RaggedTensor of rows; `expected` is a Tensor, a type, a spec or None."""
    values = [unwrap(_as_tensor(each)) for each in column]
    depth = getattr(expected, "ragged_rank", None)
    if isinstance(expected, RaggedTensor) and values:
        depth = expected.ragged_rank - 1  # the function takes its rows, and returns such
        if not np.ndim(values[0]):
            raise InvalidArgumentError("Ragged values must have rank >= 1; encoded scalar element at index 0")
        return wrap(stack_ragged(values, depth + 1, expected.row_splits.value.dtype))
    if depth is not None and values and hasattr(expected, "row_splits_dtype"):
        return wrap(stack_ragged(values, depth + 1, as_dtype(expected.row_splits_dtype)))
    if expected is not None:
        dtype = as_dtype(getattr(expected, "dtype", expected))
        if not values:
            shape = tuple(getattr(expected, "shape", (0,)))[1:] if isinstance(expected, Tensor) else ()
            return wrap(np.zeros((0, *shape), dtype))
        for value in values:
            found = np.dtype(object) if isinstance(value, bytes) else value.dtype
            if found != dtype:
                raise InvalidArgumentError(
                    f"TensorArray dtype is {dtype_name(dtype)} but Op is trying to write dtype {dtype_name(found)} "
                )
    shapes = [np.shape(value) for value in values]
    for shape in shapes:
        if shape != shapes[0]:
            raise ValueError(f"Incompatible shape for value ({shape}), expected ({shapes[0]})")
    return wrap(collate([(value,) for value in values])[0])
