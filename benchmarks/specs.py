"""How the Examples of A and C and the SequenceExamples of D are parsed, for tfrkit and for TensorFlow.

The classes have the same names and arguments in both; `io` is `tfrkit` or `tensorflow.io`.
"""

from __future__ import annotations

from typing import Any

FLOATS = tuple(f"I{number}" for number in range(1, 14))
IDS = tuple(f"C{number}" for number in range(1, 27))
SOME = ("label", "I1", "C1")  # the three features that are enough for some


def a_spec(io: Any) -> dict[str, Any]:
    """All 41 features of A."""
    spec = {name: io.FixedLenFeature([], "float32") for name in FLOATS}
    spec |= {name: io.FixedLenFeature([], "int64") for name in (*IDS, "label")}
    return spec | {"id": io.FixedLenFeature([], "string")}


def a_description() -> dict[str, str]:
    """The same for the tfrecord package."""
    description = dict.fromkeys(FLOATS, "float") | dict.fromkeys((*IDS, "label"), "int")
    return description | {"id": "byte"}


def some_of_a(io: Any) -> dict[str, Any]:
    """Three of the features of A."""
    return {name: feature for name, feature in a_spec(io).items() if name in SOME}


def c_spec(io: Any) -> dict[str, Any]:
    """The two lists of C as VarLenFeature."""
    return {"input_ids": io.VarLenFeature("int64"), "weights": io.VarLenFeature("float32")}


def c_ragged_spec(io: Any) -> dict[str, Any]:
    """The two lists of C as RaggedFeature."""
    return {"input_ids": io.RaggedFeature("int64"), "weights": io.RaggedFeature("float32")}


def d_specs(io: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The context features and the feature lists of D."""
    context = {
        "user": io.FixedLenFeature([], "int64"),
        "age": io.FixedLenFeature([], "float32"),
        "session": io.FixedLenFeature([], "string"),
    }
    lists = {
        "item": io.FixedLenSequenceFeature([], "int64"),
        "scores": io.FixedLenSequenceFeature([4], "float32"),
    }
    return context, lists


class TensorFlowIo:
    """`tensorflow.io` whose specs take names of types."""

    def __init__(self, tf: Any) -> None:
        self._tf = tf

    def __getattr__(self, name: str) -> Any:
        """Give a class of `tf.io` that turns the names among its arguments into types."""
        make, as_dtype = getattr(self._tf.io, name), self._tf.as_dtype
        return lambda *args: make(*(as_dtype(arg) if isinstance(arg, str) else arg for arg in args))
