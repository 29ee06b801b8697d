"""What records hold where no file says it: found out by some of them, spread over all files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.folders.folder_kind import FolderSplit
from tfrkit.model.specs import FeatureSpec
from tfrkit.records.describe.inspect import infer_spec

__all__ = ["inferred_spec"]

_SAMPLE: Final = 100  # records that are looked at


def inferred_spec(splits: Iterable[FolderSplit]) -> dict[str, FeatureSpec] | None:
    """Return the spec of the records of some splits; None if they are no Examples, or there are none.

    Raises:
        DataLossError: a file is damaged.
    """
    files = [shard.path for split in splits for shard in split.shards if shard.records != 0]
    if not files:
        return None
    try:
        return dict(infer_spec(files, sample=_SAMPLE))
    except (InvalidArgumentError, NotFoundError):
        return None
