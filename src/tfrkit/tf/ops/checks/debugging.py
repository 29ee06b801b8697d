"""Assertions about values: two compared entry by entry, one compared with zero, finite numbers.

They give None where they hold. Where not, they raise what TensorFlow's eager ones raise, with its summary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.ragged import Ragged
from tfrkit.tf.ops.strings.string_values import shape_text
from tfrkit.values.to_array import to_array

__all__ = [
    "assert_all_finite",
    "assert_equal",
    "assert_equal_v1",
    "assert_greater",
    "assert_greater_equal",
    "assert_greater_equal_v1",
    "assert_greater_v1",
    "assert_less",
    "assert_less_equal",
    "assert_less_equal_v1",
    "assert_less_v1",
    "assert_near",
    "assert_near_v1",
    "assert_negative",
    "assert_negative_v1",
    "assert_non_negative",
    "assert_non_negative_v1",
    "assert_non_positive",
    "assert_non_positive_v1",
    "assert_none_equal",
    "assert_none_equal_v1",
    "assert_positive",
    "assert_positive_v1",
    "assert_true",
    "check_numerics",
    "verify_tensor_all_finite_v1",
]  # fmt: skip

Compare = Callable[[Any, Any], npt.NDArray[np.bool_]]

_SHOWN: Final = 3  # entries in a summary
_ORDERED: Final = (
    "float", "double", "int32", "uint8", "int16", "int8", "int64", "bfloat16", "uint16", "half", "uint32", "uint64",
)  # fmt: skip
_RAISES: Final = "\n\n    Raises:\n        InvalidArgumentError: it does not."
_FLOATS: Final = ("bfloat16", "half", "float", "double")


def _pair(symbol: str, op: str, compare: Compare) -> tuple[Callable[..., None], Callable[..., None]]:
    """The assertion `x symbol y` with the arguments of TensorFlow 2, and with those of TensorFlow 1."""

    def check(x: Any, y: Any, message: str | None, summarize: int | None, data: Any = None) -> None:
        if isinstance(x, Ragged) and isinstance(y, Ragged):
            x, y = x.flat_values, y.flat_values
        first, second = to_array(x), to_array(y)
        _check_types(op, first.dtype, second.dtype)
        try:
            with np.errstate(all="ignore"):
                holds = np.asarray(compare(first, second))
        except ValueError:
            shapes = f"{shape_text(first.shape)} vs. {shape_text(second.shape)}"
            raise InvalidArgumentError(f"Incompatible shapes: {shapes}") from None
        if bool(holds.all()):
            return
        if data is not None:
            raise InvalidArgumentError(_data_text(data, message))
        raise InvalidArgumentError(_comparison(symbol, first, second, holds, message, summarize))

    def check_pair(x: Any, y: Any, message: str | None = None, summarize: int | None = None) -> None:
        check(x, y, message, summarize)

    def check_pair_v1(
        x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None
    ) -> None:
        check(x, y, message, summarize, data)

    words = f"Check that `x {symbol} y` holds for all entries." + _RAISES
    check_pair.__doc__ = check_pair_v1.__doc__ = words
    return check_pair, check_pair_v1


def _check_types(op: str, first: np.dtype[Any], second: np.dtype[Any]) -> None:
    one, other = (op_name(dtype_name(dtype)) for dtype in (first, second))
    if op not in ("Equal", "NotEqual") and one not in _ORDERED:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {one} is not in the list of allowed values: {', '.join(_ORDERED)}"
        )
    if one != other:
        raise InvalidArgumentError(
            f"cannot compute {op} as input #1(zero-based) was expected to be a {one} tensor but is a {other} tensor"
        )


def _comparison(
    symbol: str,
    x: npt.NDArray[Any],
    y: npt.NDArray[Any],
    holds: Any,
    message: str | None,
    summarize: int | None,
) -> str:
    count = _SHOWN if summarize is None else summarize
    parts = [message or "", f"\nCondition x {symbol} y did not hold."]
    if x.shape == y.shape and x.ndim:
        wrong = np.argwhere(~holds)
        wrong = wrong if count < 0 else wrong[:count]
        places = tuple(wrong.T)
        parts.append(f"\nIndices of first {len(wrong)} different values:\n{wrong}")
        parts.append(f"\nCorresponding x values:\n{x[places]}\nCorresponding y values:\n{y[places]}")
    for name, array in (("x", x), ("y", y)):
        some = array.ravel() if count < 0 else array.ravel()[:count]
        parts.append(f"\nFirst {len(some)} elements of {name}:\n{some}")
    return "".join(parts).removeprefix("\n")


assert_equal, assert_equal_v1 = _pair("==", "Equal", lambda x, y: np.equal(x, y).astype(bool))
_assert_none_equal, assert_none_equal_v1 = _pair(
    "!=", "NotEqual", lambda x, y: np.not_equal(x, y).astype(bool)
)


def assert_none_equal(x: Any, y: Any, summarize: int | None = None, message: str | None = None) -> None:
    """Check that `x != y` holds for all entries; TensorFlow has the options in another order here.

    Raises:
        InvalidArgumentError: it does not.
    """
    _assert_none_equal(x, y, message, summarize)


assert_less, assert_less_v1 = _pair("<", "Less", np.less)
assert_less_equal, assert_less_equal_v1 = _pair("<=", "LessEqual", np.less_equal)
assert_greater, assert_greater_v1 = _pair(">", "Greater", np.greater)
assert_greater_equal, assert_greater_equal_v1 = _pair(">=", "GreaterEqual", np.greater_equal)


def _single(symbol: str, compare: Compare, before: str) -> tuple[Callable[..., None], Callable[..., None]]:
    """The assertion `x symbol 0`, in both versions; `before` stands before the shown values."""

    def check(x: Any, message: str | None, summarize: int | None, data: Any = None) -> None:
        array = to_array(x.flat_values if isinstance(x, Ragged) else x)
        if array.dtype == object:
            raise TypeError("Cannot convert 0 to EagerTensor of dtype string")
        if bool(compare(array, 0).all()):
            return
        if data is not None:
            raise InvalidArgumentError(_data_text(data, message))
        start = f"{message}.  " if message else ""
        shown = _listed(array, summarize)
        text = f"{start}\nCondition x {symbol} 0 did not hold element-wise:{before}x {_described(array)} = \n{shown}"
        raise InvalidArgumentError(text)

    def check_single(x: Any, message: str | None = None, summarize: int | None = None) -> None:
        check(x, message, summarize)

    def check_single_v1(
        x: Any, data: Any = None, summarize: int | None = None, message: str | None = None
    ) -> None:
        check(x, message, summarize, data)

    words = f"Check that `x {symbol} 0` holds for all entries." + _RAISES
    check_single.__doc__ = check_single_v1.__doc__ = words
    return check_single, check_single_v1


def _described(array: npt.NDArray[Any]) -> str:
    return f"(shape={array.shape} dtype={dtype_name(array.dtype)})"


def _listed(array: npt.NDArray[Any], summarize: int | None) -> str:
    if not array.ndim:
        return str(array[()])
    count = _SHOWN if summarize is None else summarize
    flat = array.ravel()
    items = [str(value) for value in (flat if count < 0 else flat[:count])]
    if len(items) < flat.size:
        items.append("...")
    return str(items)


assert_positive, assert_positive_v1 = _single(">", np.greater, "\n")
assert_negative, assert_negative_v1 = _single("<", np.less, "\n")
assert_non_negative, assert_non_negative_v1 = _single(">=", np.greater_equal, "\n")
assert_non_positive, assert_non_positive_v1 = _single(
    "<=", np.less_equal, ""
)  # TensorFlow leaves the break out


def _data_text(data: Sequence[Any], message: str | None) -> str:
    parts = [message] if message else []
    return "\n".join([*parts, *(_plain(part) for part in data)])


def _plain(part: Any) -> str:
    return part if isinstance(part, str) else str(part)


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
) -> None:
    """Check that `|x - y| <= atol + rtol * |y|` for all entries; both are ten times the type's epsilon by default.

    Raises:
        InvalidArgumentError: it is not so.

    >>> assert_near(1.0, 1.0 + 1e-7)
    """
    first = to_array(x)
    if first.dtype.kind not in "fc":
        raise ValueError(f"data type {first.dtype.type} not inexact")
    second = to_array(y).astype(first.dtype)
    real = np.dtype(f"f{first.dtype.itemsize // (2 if first.dtype.kind == 'c' else 1)}")
    relative, absolute = (
        real.type(10 * np.finfo(real).eps if given is None else to_array(given)) for given in (rtol, atol)
    )
    with np.errstate(all="ignore"):
        holds = np.abs(first - second) < absolute + relative * np.abs(second)
        holds |= np.abs(first - second) == absolute + relative * np.abs(second)
    if bool(np.all(holds)):
        return
    tolerances = [f"tf.Tensor({value!s}, shape=(), dtype={real.name})" for value in (relative, absolute)]
    lines = [
        repr(f"{message}.  ".encode() if message else b""),
        repr(f"x and y not equal to tolerance rtol = {tolerances[0]}, atol = {tolerances[1]}".encode()),
        repr(f"x {_described(first)} = ".encode()),
        _joined(first, summarize),
        repr(f"y {_described(second)} = ".encode()),
        _joined(second, summarize),
    ]
    start = "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
    raise InvalidArgumentError(start + "\n".join(lines))


def assert_near_v1(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
) -> None:
    """`assert_near` with the arguments of TensorFlow 1.

    >>> assert_near_v1(1.0, 1.0)
    """
    try:
        assert_near(x, y, rtol, atol, message, summarize)
    except InvalidArgumentError as error:
        if data is None:
            raise
        start = "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
        lines = [_joined(to_array(part), summarize) for part in data]
        raise InvalidArgumentError(start + "\n".join(lines)) from error


def assert_true(condition: Any, data: Sequence[Any], summarize: int | None = None) -> None:
    """Check that a condition holds: TensorFlow's `tf.Assert`.

    Args:
        condition: a bool; of an array the truth of any entry, as eager TensorFlow takes it.
        data: what to show if it does not hold.
        summarize: how many entries of each to show.

    Raises:
        InvalidArgumentError: it does not hold.

    >>> assert_true(True, ["fine"])
    """
    holds = bool(condition) if isinstance(condition, list) else bool(np.all(condition))
    if holds:
        return
    shown = (
        condition
        if isinstance(condition, (bool, int, list))
        else f"tf.Tensor({condition}, shape=(), dtype=bool)"
    )
    lines = [_joined(to_array(part), summarize) for part in data]
    raise InvalidArgumentError(f"Expected '{shown}' to be true. Summarized data: " + "\n".join(lines))


def _joined(array: npt.NDArray[Any], summarize: int | None) -> str:
    count = _SHOWN if summarize is None else summarize
    flat = array.ravel()
    some = flat if count < 0 else flat[:count]
    items = [str(value) for value in some]
    return ", ".join([*items, "..."] if len(items) < flat.size else items)


def check_numerics(tensor: Any, message: str) -> Any:
    """Give the tensor as it is if all its numbers are finite.

    Raises:
        InvalidArgumentError: some are NaN or infinite, or they are no floats.

    >>> check_numerics([1.0, float("nan")], "loss")
    Traceback (most recent call last):
    tfrkit.errors.InvalidArgumentError: loss : Tensor had NaN values
    """
    if isinstance(tensor, Ragged):
        check_numerics(tensor.flat_values, message)
        return tensor
    array = to_array(tensor)
    name = op_name(dtype_name(array.dtype))
    if name not in _FLOATS:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {name} is not in the list of allowed values: {', '.join(_FLOATS)}"
        )
    found = [
        word for word, wrong in (("Inf", np.isinf(array)), ("NaN", np.isnan(array))) if bool(np.any(wrong))
    ]
    if found:
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(found)} values")
    return array if array.ndim else array[()]


def assert_all_finite(x: Any, message: str) -> Any:
    """`check_numerics` under another name.

    >>> assert_all_finite([1.0], "loss").tolist()
    [1.0]
    """
    return check_numerics(x, message)


def verify_tensor_all_finite_v1(
    t: Any = None, msg: str | None = None, x: Any = None, message: Any = None
) -> Any:
    """`check_numerics` with the arguments of TensorFlow 1.

    >>> verify_tensor_all_finite_v1([1.0], "loss").tolist()
    [1.0]
    """
    return check_numerics(x if t is None else t, message if msg is None else msg)
