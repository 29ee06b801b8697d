"""Examples for tests, short to write."""

from __future__ import annotations

from typing import Any

import tfrkit as tfr


def feature(values: Any) -> tfr.Feature:
    """A Feature of a list: bytes, floats or ints by the first value; None has no kind."""
    if values is None:
        return tfr.Feature()
    if values and isinstance(values[0], bytes):
        return tfr.Feature(bytes_list=tfr.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tfr.Feature(float_list=tfr.FloatList(value=values))
    return tfr.Feature(int64_list=tfr.Int64List(value=values))


def example(**features: Any) -> bytes:
    """A serialised Example."""
    made = {name: feature(values) for name, values in features.items()}
    return tfr.Example(features=tfr.Features(feature=made)).SerializeToString(deterministic=True)


def sequence(context: dict[str, Any], **lists: Any) -> bytes:
    """A serialised SequenceExample."""
    made = {name: tfr.FeatureList(feature=[feature(step) for step in steps]) for name, steps in lists.items()}
    return tfr.SequenceExample(
        context=tfr.Features(feature={name: feature(values) for name, values in context.items()}),
        feature_lists=tfr.FeatureLists(feature_list=made),
    ).SerializeToString(deterministic=True)
