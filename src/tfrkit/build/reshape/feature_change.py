"""Features left out of records, or given other names: on the wire, so that everything else stays byte for byte."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block

__all__ = ["FeatureChange", "feature_change"]


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """What becomes of features, and of the feature lists of SequenceExamples.

    Attributes:
        rules: for some keys the new name, or None to leave it out; and a number that rules of one name share.
        names: the names by those numbers.
        keep_others: what becomes of all other keys.
    """

    rules: tuple[tuple[bytes, bytes | None, int], ...]
    names: tuple[str, ...]
    keep_others: bool

    def apply(self, block: Block) -> Block:
        """Return the block with other features.

        Raises:
            InvalidArgumentError: a record is no Example, or would have two features of one name.
        """
        frames, offsets, lengths, failure = _core.select_features(
            block.data, block.offsets, block.lengths, self.rules, self.keep_others
        )
        if failure is None:
            return Block(frames, offsets, lengths)
        index, code, slot = failure
        record, offset = block.place(index)
        where = f"record {record}" + (f" of {block.path!r}" if block.path is not None else "")
        text = f"expected an Example or a SequenceExample but {where} is not one. `tfr schema` says what it looks like."
        if code == _core.SELECT_CLASH:
            text = (
                f"{where} would have two features called {self.names[slot]!r}. "
                "Give one of them another name, or leave one out."
            )
        raise InvalidArgumentError(text, path=block.path, record=record, offset=offset)


def feature_change(
    keys: Collection[str] | None, drop: Collection[str], rename: Mapping[str, str]
) -> FeatureChange | None:
    """Return the change that a user wants, or None if nothing changes. Pure: no I/O.

    Args:
        keys: only these stay, and those that get another name; None: all.
        drop: these go.
        rename: new names by old names.

    Raises:
        InvalidArgumentError: one feature is to be dropped and kept, or two would have one name.

    >>> feature_change(["a"], [], {"b": "c"}).rules
    ((b'a', b'a', 0), (b'b', b'c', 1))
    """
    outcome: dict[str, str | None] = {key: key for key in keys or ()}
    for key in drop:
        if key in outcome or key in rename:
            raise InvalidArgumentError(f"The feature {key!r} cannot be dropped and kept. Choose one.")
        outcome[key] = None
    outcome.update(rename)
    if keys is None:
        # What is there already under a new name stays, unless it is named too: that would be two of one name.
        outcome = {**{name: name for name in rename.values()}, **outcome}
    elif len({*outcome.values()} - {None}) < sum(name is not None for name in outcome.values()):
        raise InvalidArgumentError(
            "Two features would have one name. Give one of them another name, or leave one out."
        )
    if not outcome:
        return None
    names = tuple(dict.fromkeys(name for name in outcome.values() if name is not None))
    rules = tuple(
        (_wire(key), None if name is None else _wire(name), 0 if name is None else names.index(name))
        for key, name in outcome.items()
    )
    return FeatureChange(rules, names, keys is None)


def _wire(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")
