"""Assertions."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

_PAIRS: Final = ("equal", "none_equal", "less", "less_equal", "greater", "greater_equal")
_TOP: Final = ("equal", "less", "greater")  # those that TensorFlow 2 has at the top, too
_SINGLES: Final = ("positive", "negative", "non_negative", "non_positive", "near")
_RANKS: Final = ("rank", "rank_at_least", "rank_in", "shapes", "scalar")


def _names(place: str, words: tuple[str, ...]) -> dict[str, Entry]:
    made: dict[str, Entry] = {}
    for word in words:
        name = f"assert_{word}"
        made[f"debugging.{name} {name}" if word in (*_TOP, "rank") else f"debugging.{name}"] = (
            f"{place}:{name}"
        )
        made[f"compat.v1.debugging.{name} compat.v1.{name}"] = f"{place}:{name}_v1"
    return made


NAMES: Final[dict[str, Entry]] = {
    **_names("tf.ops.checks.debugging", _PAIRS + _SINGLES),
    **_names("tf.ops.checks.debugging_shapes", _RANKS),
    "debugging.assert_all_finite": "tf.ops.checks.debugging:assert_all_finite",
    "compat.v1.debugging.assert_all_finite compat.v1.verify_tensor_all_finite": (
        "tf.ops.checks.debugging:verify_tensor_all_finite_v1"
    ),
    "debugging.assert_type": "tf.ops.checks.debugging_shapes:assert_type",
    "compat.v1.assert_type": "tf.ops.checks.debugging_shapes:assert_type",
    "debugging.assert_integer": "tf.ops.checks.debugging_shapes:assert_integer",
    "compat.v1.assert_integer": "tf.ops.checks.debugging_shapes:assert_integer",
    "debugging.assert_proper_iterable": "tf.ops.checks.debugging_shapes:assert_proper_iterable",
    "compat.v1.assert_proper_iterable": "tf.ops.checks.debugging_shapes:assert_proper_iterable",
    "debugging.assert_same_float_dtype": Raw("tf.tensors.same_float:assert_same_float_dtype"),
    "compat.v1.assert_same_float_dtype": Raw("tf.tensors.same_float:assert_same_float_dtype"),
    "debugging.Assert Assert": "tf.ops.checks.debugging:assert_true",
    "debugging.check_numerics": "tf.ops.checks.debugging:check_numerics",
    "compat.v1.check_numerics": "tf.ops.checks.debugging:check_numerics",
    "debugging.is_numeric_tensor": Raw("tf.tensors.same_float:is_numeric_tensor"),
    "compat.v1.is_numeric_tensor": Raw("tf.tensors.same_float:is_numeric_tensor"),
}
