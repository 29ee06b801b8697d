"""FeatureVerbs: the declarative verbs of Dataset. What they do is known, so it runs on whole columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfrkit.data import convert
from tfrkit.data.column_ops import CastOp, ColumnsNode, DecodeRawOp, RenameOp, SelectOp
from tfrkit.data.node import Node
from tfrkit.data.parse import ParseNode
from tfrkit.data.parse_sequence import ParseSequenceNode
from tfrkit.data.with_column import WithColumnNode
from tfrkit.data.with_source import WithSourceNode
from tfrkit.model.policy import TFRKIT, ReadPolicy
from tfrkit.model.specs import Spec

if TYPE_CHECKING:
    from tfrkit.data.dataset import Dataset

__all__ = ["FeatureVerbs"]


class FeatureVerbs(ABC):
    """Parsing records, and changing the features of what they hold."""

    node: Node

    @classmethod
    @abstractmethod
    def _over(cls, node: Node) -> Dataset:
        """Wrap a node."""

    @classmethod
    @abstractmethod
    def _function(cls, given: Callable[..., Any]) -> Callable[..., Any]:
        """What a stage calls in the place of a user's function."""

    def parse(self, features: Spec, *, policy: ReadPolicy | None = None) -> Dataset:
        """Parse serialised Examples: records one by one, or batches of them, to dicts.

        Args:
            features: the spec; see `parse_example`.
            policy: how TensorFlow's and protobuf's readings of odd bytes are told apart; by default that of the source.
        """
        return self._over(ParseNode(self.node, features, policy or TFRKIT))

    def parse_sequence(
        self,
        context_features: Spec | None = None,
        sequence_features: Spec | None = None,
        *,
        policy: ReadPolicy | None = None,
    ) -> Dataset:
        """Parse serialised SequenceExamples to (context, sequences), each a dict; batches also give the lengths.

        Args:
            context_features: the spec of the context; see `parse_sequence_example`.
            sequence_features: the spec of the feature lists.
            policy: as of `parse`.
        """
        return self._over(ParseSequenceNode(self.node, context_features, sequence_features, policy or TFRKIT))

    def decode_raw(self, key: str, dtype: Any, shape: Any = None, *, little_endian: bool = True) -> Dataset:
        """Turn the bytes of a feature into numbers.

        Args:
            key: the feature.
            dtype: type of the numbers.
            shape: sizes; an entry may be the name of another feature that holds it, and so may the whole shape.
            little_endian: byte order in the data.
        """
        return self._over(
            ColumnsNode(self.node, DecodeRawOp(key, convert.as_dtype(dtype), shape, little_endian))
        )

    def select(self, *keys: str | Sequence[str]) -> Dataset:
        """Keep only these features, in this order.

        Args:
            keys: their names, or lists of them.

        Raises:
            InvalidArgumentError: there is no such feature; after a function of yours that comes at the element.

        >>> import tfrkit as tfr
        >>> list(tfr.Dataset.from_tensors({"a": 1, "b": 2, "c": 3}).select("c", "a"))
        [{'c': np.int32(3), 'a': np.int32(1)}]
        """
        flat = [key for each in keys for key in ([each] if isinstance(each, str) else each)]
        return self._over(ColumnsNode(self.node, SelectOp(tuple(flat))))

    def rename(self, names: Mapping[str, str] | None = None, /, **more: str) -> Dataset:
        """Give features other names: `rename({"old": "new"})` or `rename(old="new")`.

        Raises:
            InvalidArgumentError: there is no such feature.
        """
        return self._over(ColumnsNode(self.node, RenameOp(dict(names or {}, **more))))

    def cast(self, dtypes: Mapping[str, Any] | None = None, /, **more: Any) -> Dataset:
        """Change the types of features: `cast({"label": "int32"})` or `cast(label="int32")`.

        Raises:
            InvalidArgumentError: there is no such feature.
            UnimplementedError: TensorFlow cannot cast between the two types.
        """
        wanted = {key: convert.as_dtype(dtype) for key, dtype in dict(dtypes or {}, **more).items()}
        return self._over(ColumnsNode(self.node, CastOp(wanted)))

    def with_column(self, name: str, function: Callable[..., Any]) -> Dataset:
        """Add a feature: what a function makes of the element.

        >>> import tfrkit as tfr
        >>> list(tfr.Dataset.from_tensors({"a": 2}).with_column("b", lambda e: e["a"] + 1))
        [{'a': np.int32(2), 'b': np.int32(3)}]
        """
        return self._over(WithColumnNode(self.node, name, self._function(function)))

    def with_source(self, file: str = "file", record: str = "record") -> Dataset:
        """Add the file name (bytes) and the record number of every element as features.

        A dict gets two more entries, a tuple in its first dict; a raw record becomes the entry "data" of a new dict.
        It works as long as an element is made of one record: behind `parse`, `map`, `filter`, `shuffle`; not `batch`.

        Args:
            file: name of the feature for the file.
            record: name of the feature for the number.
        """
        return self._over(WithSourceNode(self.node, file, record))
