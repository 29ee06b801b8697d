"""decode_tree: the stage that makes nested dicts of records, by a tree of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.structure_specs import batched
from tfrkit.data.features.example_columns import RecordColumns
from tfrkit.data.features.parse import RecordsParserNode
from tfrkit.folders.decode.tree_columns import TreeColumns, element_spec_of
from tfrkit.folders.feature_tree import (
    ArrayFeature,
    DictFeature,
    FeatureTree,
    ImageFeature,
    SequenceFeature,
    lines_of,
)

__all__ = ["DecodeTreeNode", "as_stored", "without_decoding"]


@dataclass(frozen=True, eq=False)
class DecodeTreeNode(RecordsParserNode):
    """Records, one by one or in batches, as nested dicts of decoded values."""

    tree: FeatureTree

    verb = "decode_tree"
    wants_origin = True  # a broken image is named by its file and record

    def arguments(self) -> tuple[Any, ...]:
        return ("\n".join(lines_of(self.tree)),)

    def columns(self) -> RecordColumns:
        return TreeColumns(self.tree)

    def element_spec(self) -> Any:
        single = element_spec_of(self.tree)
        shape = getattr(self.input.element_spec(), "shape", None)
        return batched(single, shape[0]) if shape else single

    def _shown(self) -> str:
        count = len(self.tree.features) if isinstance(self.tree, DictFeature) else 1
        return f"{count} feature{'' if count == 1 else 's'}"


def as_stored(dataset: Any) -> tuple[FeatureTree, Dataset] | None:
    """Return the features of a dataset that is decoded by a tree, and its examples with images as their files."""
    node = getattr(dataset, "node", None)
    if not isinstance(node, DecodeTreeNode):
        return None
    return node.tree, Dataset(replace(node, tree=without_decoding(node.tree)))


def without_decoding(tree: FeatureTree) -> FeatureTree:
    """Return the tree with image files as byte strings. Pure: no I/O."""
    if isinstance(tree, ImageFeature):
        return ArrayFeature("string", kind=tree.kind, class_names=tree.class_names)
    if isinstance(tree, SequenceFeature):
        return replace(tree, feature=without_decoding(tree.feature))
    if isinstance(tree, DictFeature):
        return replace(tree, features={key: without_decoding(each) for key, each in tree.features.items()})
    return tree
