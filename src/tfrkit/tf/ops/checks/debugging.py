"""Assertions about values: two compared entry by entry, one compared with zero, finite numbers.

They return None where they hold. Where not, they raise what TensorFlow's eager ones raise, with its summary. Those
that compare are made from two tables, each with the arguments of TensorFlow 2 and (`..._v1`) of TensorFlow 1.

>>> assert_equal([1, 2], [1, 2])
>>> assert_positive([1, 0])
Traceback (most recent call last):
tfrkit.errors.InvalidArgumentError: Condition x > 0 did not hold element-wise:
x (shape=(2,) dtype=int32) =
['1', '0']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.ragged import Ragged
from tfrkit.tf.ops.arguments import with_arguments
from tfrkit.tf.ops.math import elementwise
from tfrkit.values.to_array import to_array
from tfrkit.values.types import check_type

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # the assertions that are made from the tables


_Check = Callable[..., None]

_SHOWN: Final = 3  # entries in a summary
_NOT_TRUE: Final = "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
_PAIRS: Final = {
    "equal": ("==", elementwise.equal),
    "none_equal": ("!=", elementwise.not_equal),
    "less": ("<", elementwise.less),
    "less_equal": ("<=", elementwise.less_equal),
    "greater": (">", elementwise.greater),
    "greater_equal": (">=", elementwise.greater_equal),
}
_SIGNS: Final = {  # and what precedes the shown values: TensorFlow leaves the line break out of one
    "positive": (">", np.greater, "\n"),
    "negative": ("<", np.less, "\n"),
    "non_negative": (">=", np.greater_equal, "\n"),
    "non_positive": ("<=", np.less_equal, ""),
}


def _pair(symbol: str, compare: Callable[[Any, Any], Any]) -> _Check:
    def check(
        x: Any, y: Any, message: str | None = None, summarize: int | None = None, data: Any = None
    ) -> None:
        if isinstance(x, Ragged) and isinstance(y, Ragged):
            x, y = x.flat_values, y.flat_values
        first, second = to_array(x), to_array(y)
        holds = np.asarray(compare(first, second))
        if bool(holds.all()):
            return
        if data is not None:
            raise InvalidArgumentError(_data_text(data, message))
        raise InvalidArgumentError(_comparison(symbol, first, second, holds, message, summarize))

    return check


def _sign(symbol: str, compare: Callable[[Any, Any], Any], before: str) -> _Check:
    def check(x: Any, message: str | None = None, summarize: int | None = None, data: Any = None) -> None:
        array = to_array(x.flat_values if isinstance(x, Ragged) else x)
        if array.dtype == object:
            raise TypeError("Cannot convert 0 to EagerTensor of dtype string")
        if bool(compare(array, 0).all()):
            return
        if data is not None:
            raise InvalidArgumentError(_data_text(data, message))
        shown = str(array[()]) if not array.ndim else str(_items(array, summarize))
        text = f"did not hold element-wise:{before}x {_described(array)} = \n{shown}"
        raise InvalidArgumentError(f"{message}.  " * bool(message) + f"\nCondition x {symbol} 0 {text}")

    return check


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


def _described(array: npt.NDArray[Any]) -> str:
    return f"(shape={array.shape} dtype={dtype_name(array.dtype)})"


def _items(array: npt.NDArray[Any], summarize: int | None) -> list[str]:
    count = _SHOWN if summarize is None else summarize
    flat = array.ravel()
    items = [str(value) for value in (flat if count < 0 else flat[:count])]
    return [*items, "..."] if len(items) < flat.size else items


def _joined(array: npt.NDArray[Any], summarize: int | None) -> str:
    return ", ".join(_items(array, summarize))


def _data_text(data: Sequence[Any], message: str | None) -> str:
    return "\n".join([*([message] if message else []), *map(str, data)])


def _add(name: str, check: _Check, values: str, condition: str) -> None:
    """Put an assertion into this module, with the arguments of both versions of TensorFlow."""
    check.__name__ = check.__qualname__ = f"assert_{name}"
    check.__doc__ = (
        f"Check that `{condition}` for all entries.\n\nRaises:\n    InvalidArgumentError: it is not."
    )
    options = "summarize message" if name == "none_equal" else "message summarize"
    for end, order in (("", f"{values} {options}"), ("_v1", f"{values} data summarize message")):
        globals()[f"assert_{name}{end}"] = with_arguments(check, order)


for _name, (_symbol, _compare) in _PAIRS.items():
    _add(_name, _pair(_symbol, _compare), "x y", f"x {_symbol} y")
for _name, (_symbol, _compare, _before) in _SIGNS.items():
    _add(_name, _sign(_symbol, _compare, _before), "x", f"x {_symbol} 0")


def _near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    data: Any = None,
) -> None:
    first = to_array(x)
    if first.dtype.kind not in "fc":
        raise ValueError(f"data type {first.dtype.type} not inexact")
    second = to_array(y).astype(first.dtype)
    real = np.dtype(f"f{first.dtype.itemsize // (2 if first.dtype.kind == 'c' else 1)}")
    relative, absolute = (
        real.type(10 * np.finfo(real).eps if given is None else to_array(given)) for given in (rtol, atol)
    )
    with np.errstate(all="ignore"):
        if bool(np.all(np.abs(first - second) <= absolute + relative * np.abs(second))):
            return
    if data is not None:
        raise InvalidArgumentError(_NOT_TRUE + "\n".join(_joined(to_array(part), summarize) for part in data))
    tolerances = [f"tf.Tensor({value!s}, shape=(), dtype={real.name})" for value in (relative, absolute)]
    lines = [
        repr(f"{message}.  ".encode() if message else b""),
        repr(f"x and y not equal to tolerance rtol = {tolerances[0]}, atol = {tolerances[1]}".encode()),
        repr(f"x {_described(first)} = ".encode()),
        _joined(first, summarize),
        repr(f"y {_described(second)} = ".encode()),
        _joined(second, summarize),
    ]
    raise InvalidArgumentError(_NOT_TRUE + "\n".join(lines))


_add("near", _near, "x y rtol atol", "|x - y| <= atol + rtol * |y|")


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
    if bool(condition) if isinstance(condition, list) else bool(np.all(condition)):
        return
    plain = isinstance(condition, (bool, int, list))
    shown = condition if plain else f"tf.Tensor({condition}, shape=(), dtype=bool)"
    lines = [_joined(to_array(part), summarize) for part in data]
    raise InvalidArgumentError(f"Expected '{shown}' to be true. Summarized data: " + "\n".join(lines))


def check_numerics(tensor: Any, message: str) -> Any:
    """Return the tensor as it is if all its numbers are finite.

    Raises:
        InvalidArgumentError: some are NaN or infinite, or they are not floats.

    >>> check_numerics([1.0, float("nan")], "loss")
    Traceback (most recent call last):
    tfrkit.errors.InvalidArgumentError: loss : Tensor had NaN values
    """
    if isinstance(tensor, Ragged):
        check_numerics(tensor.flat_values, message)
        return tensor
    array = to_array(tensor)
    check_type("IsFinite", array.dtype)
    tests = {"Inf": np.isinf(array), "NaN": np.isnan(array)}
    found = [word for word, wrong in tests.items() if bool(np.any(wrong))]
    if found:
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(found)} values")
    return array if array.ndim else array[()]


assert_all_finite = with_arguments(check_numerics, "x message", x="tensor")
verify_tensor_all_finite_v1 = with_arguments(
    check_numerics, "t msg x message", t="tensor", msg="message", x="tensor"
)
