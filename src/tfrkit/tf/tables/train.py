"""tf.train and tf.errors."""

from __future__ import annotations

from typing import Final

from tfrkit import errors
from tfrkit.tf.entry import Entry, Raw

_MESSAGES: Final = (
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
)
NAMES: Final[dict[str, Entry]] = {
    **{f"train.{name}": Raw(f"model.messages:{name}") for name in _MESSAGES},
    **{
        f"errors.{name}": Raw(f"errors:{name}")
        for name in errors.__all__
        if name.endswith("Error") and issubclass(getattr(errors, name), errors.OpError)
    },
}
