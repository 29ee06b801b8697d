"""Features that a user has named, and whether any record of the inputs has them: a misspelt name is an error.

Whether a name is known is only clear when all records were read, so tasks note what they have found, and the job is
refused at its end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.near_names import near_names
from tfrkit.records.read.feature_columns import ScannedBlocks

__all__ = ["WantedFeatures", "features_in"]

_SAMPLE: Final = 1000  # records that are looked at for names that are close


def features_in(block: Block, names: Collection[str]) -> set[str]:
    """Return those of some names that are features or feature lists of a record of a block."""
    group = ScannedBlocks.of([block], names)
    return {name for name in names if name in group.features or name in group.lists}


@dataclass(frozen=True, slots=True)
class WantedFeatures:
    """What must be in some record.

    Attributes:
        options: by the name of each feature the option that named it, such as "where (--where)".
        paths: the inputs, from which the error takes names that are close.
    """

    options: Mapping[str, str]
    paths: tuple[str, ...]

    def check(self, found: Collection[str]) -> None:
        """Compare with what tasks have found.

        Raises:
            InvalidArgumentError: no record has one of them; nothing is said if there are no records.
        """
        missing = [name for name in self.options if name not in found]
        if not missing:
            return
        from tfrkit.records.describe.inspect import inspect  # which most jobs never need

        schema = inspect(list(self.paths), _SAMPLE, on_corrupt="skip", crc=False)
        if schema.records:
            name = missing[0]
            known = sorted({*schema.features, *schema.feature_lists})
            raise InvalidArgumentError(
                f"{self.options[name]}: no record has a feature {name!r}. {near_names(name, known)}"
            )
