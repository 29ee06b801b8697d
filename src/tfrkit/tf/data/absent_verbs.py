"""Verbs of TensorFlow's Dataset that tfrkit does not have, with what to use instead, for the AttributeError."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any, Final

__all__ = ["VerbsMeta", "absent_verb"]

_ADVICE: Final = {
    "fingerprint": "`dataset.explain()` describes a pipeline, and the states of its iterators know it again.",
    "load": "Read the records with tf.data.TFRecordDataset.",
    "rejection_resample": "Use sample_from_datasets over a filtered dataset for each class.",
    "save": "Write the elements with tf.io.TFRecordWriter, as Examples or with tf.io.serialize_tensor.",
    "snapshot": "Use cache(), or write the elements with tf.io.TFRecordWriter.",
}


def absent_verb(name: str) -> AttributeError:
    """The error for an attribute that a Dataset does not have."""
    advice = _ADVICE.get(name)
    if advice is None:
        return AttributeError(f"'Dataset' object has no attribute {name!r}")
    return AttributeError(f"tf.data.Dataset.{name} does not exist in tfrkit. {advice}")


class VerbsMeta(ABCMeta):
    """A class that raises the same error when it is asked for such a verb itself."""

    def __getattr__(cls, name: str) -> Any:
        raise absent_verb(name)
