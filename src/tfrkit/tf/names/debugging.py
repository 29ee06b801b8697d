"""Assertions."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

_VALUES: Final = "tf.ops.checks.debugging"
_SHAPES: Final = "tf.ops.checks.debugging_shapes"
_BOTH: Final = {  # what TensorFlow 1 has with other arguments
    _VALUES: (
        "equal none_equal less less_equal greater greater_equal positive negative non_negative non_positive near"
    ),
    _SHAPES: "rank rank_at_least rank_in scalar",
}
_TOP: Final = ("equal", "less", "greater", "rank")  # those that TensorFlow 2 has at the top, too


def _names(place: str, word: str) -> dict[str, Entry]:
    name = f"assert_{word}"
    return {
        f"debugging.{name} {name}" if word in _TOP else f"debugging.{name}": f"{place}:{name}",
        f"compat.v1.debugging.{name} compat.v1.{name}": f"{place}:{name}_v1",
    }


NAMES: Final[dict[str, Entry]] = {
    names: entry
    for place, words in _BOTH.items()
    for word in words.split()
    for names, entry in _names(place, word).items()
} | {
    **{
        f"debugging.assert_{word} compat.v1.assert_{word}": f"{_SHAPES}:assert_{word}"
        for word in ("shapes", "type", "integer", "proper_iterable")
    },
    **{
        f"debugging.{name} compat.v1.{name}": Raw(f"tf.tensors.conversion:{name}")
        for name in ("assert_same_float_dtype", "is_numeric_tensor")
    },
    "debugging.assert_all_finite": f"{_VALUES}:assert_all_finite",
    "compat.v1.debugging.assert_all_finite compat.v1.verify_tensor_all_finite": (
        f"{_VALUES}:verify_tensor_all_finite_v1"
    ),
    "debugging.Assert Assert": f"{_VALUES}:assert_true",
    "debugging.check_numerics compat.v1.check_numerics": f"{_VALUES}:check_numerics",
}
