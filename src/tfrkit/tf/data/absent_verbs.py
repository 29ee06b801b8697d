"""Verbs of TensorFlow's Dataset that tfrkit does not have, with what to use instead, for the AttributeError."""

from __future__ import annotations

from typing import Any, Final

from tfrkit.model.near_names import SuggestingMeta, missing_attribute

__all__ = ["VerbsMeta", "absent_verb"]

_ADVICE: Final = {
    "fingerprint": "`dataset.explain()` describes a pipeline, and the states of its iterators know it again.",
    "load": "Read the records with tf.data.TFRecordDataset.",
    "rejection_resample": "Use sample_from_datasets over a filtered dataset for each class.",
    "save": "Write the elements with tf.io.TFRecordWriter, as Examples or with tf.io.serialize_tensor.",
    "snapshot": "Use cache(), or write the elements with tf.io.TFRecordWriter.",
}


def absent_verb(owner: object, name: str) -> AttributeError:
    """The error for an attribute that a Dataset does not have."""
    advice = _ADVICE.get(name)
    if advice is None:
        return missing_attribute(owner, name, "'Dataset' object")
    return AttributeError(f"tf.data.Dataset.{name} does not exist in tfrkit. {advice}")


class VerbsMeta(SuggestingMeta):
    """A class that raises the same error when it is asked for such a verb itself."""

    def __getattr__(cls, name: str) -> Any:  # noqa: N805  # the linter does not know that this is a metaclass
        raise absent_verb(cls, name)
