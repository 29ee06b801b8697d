"""FeatureVerbs: the declarative verbs of Dataset. What they do is known, so it runs on whole columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfrkit.data.elements import element_values as convert
from tfrkit.data.engine.node import Node
from tfrkit.data.features.column_ops import CastOp, ColumnsNode, NormalizeOp, RenameOp, ResizeOp, SelectOp
from tfrkit.data.features.decode_image import DecodeImageNode
from tfrkit.data.features.decode_raw import DecodeRawOp
from tfrkit.data.features.parse import ParseNode, ParseSequenceNode
from tfrkit.data.features.parse_proto import ParseProtoNode
from tfrkit.data.features.with_column import WithColumnNode
from tfrkit.data.features.with_source import WithSourceNode
from tfrkit.data.verbs.verb_group import VerbGroup
from tfrkit.images.image_maker import ImageMaker, image_size, method_name
from tfrkit.images.normalize import Normalization, as_numbers
from tfrkit.model.policy import OnCorrupt, ReadPolicy
from tfrkit.model.specs import Spec
from tfrkit.parsing.payloads.parse_proto import ProtoSpec
from tfrkit.parsing.payloads.proto_fields import Enums

if TYPE_CHECKING:
    from tfrkit.data.dataset import Dataset

__all__ = ["FeatureVerbs"]


class FeatureVerbs(VerbGroup):
    """Parsing records, and changing the features of what they hold."""

    def parse(self, features: Spec, *, policy: ReadPolicy | None = None) -> Dataset:
        """Parse serialised Examples: records one by one, or batches of them, to dicts.

        Args:
            features: the spec; see `parse_example`.
            policy: whether odd bytes are read as TensorFlow or as protobuf reads them; by default as the source says
                (the first, if there are several). Of files that a function of yours opens it is not known: TFRKIT.
        """
        policies = _source_policies(self.node)
        return self._over(ParseNode(self.node, features, policy or next(policies, self.usual_policy)))

    def parse_sequence(
        self,
        context_features: Spec | None = None,
        sequence_features: Spec | None = None,
        *,
        policy: ReadPolicy | None = None,
    ) -> Dataset:
        """Parse serialised SequenceExamples to (context, sequences), each a dict; batches also have the lengths.

        Args:
            context_features: the spec of the context; see `parse_sequence_example`.
            sequence_features: the spec of the feature lists.
            policy: as of `parse`.
        """
        chosen = policy or next(_source_policies(self.node), self.usual_policy)
        return self._over(ParseSequenceNode(self.node, context_features, sequence_features, chosen))

    def parse_proto(
        self,
        descriptor_set: Any,
        message: str,
        fields: Sequence[str] | Mapping[str, str],
        *,
        enums: Enums = "number",
    ) -> Dataset:
        """Parse serialised messages of any type: records one by one, or batches of them, to dicts.

        Args:
            descriptor_set: what the messages look like; see `tfr.parse_proto`. A file is read here, once.
            message: the full name of their type.
            fields: paths of the fields, or a dict of names to paths.
            enums: whether values of enums are numbers, or names.

        Raises:
            InvalidArgumentError: the set has no such message, or the message no such field.

        >>> import tfrkit as tfr
        >>> from google.protobuf import timestamp_pb2
        >>> records = [timestamp_pb2.Timestamp(seconds=each).SerializeToString() for each in (0, 5)]
        >>> ds = tfr.Dataset.from_tensor_slices(records)
        >>> list(ds.parse_proto(timestamp_pb2, "google.protobuf.Timestamp", ["seconds"]))
        [{'seconds': np.int64(0)}, {'seconds': np.int64(5)}]
        """
        spec = ProtoSpec.of(descriptor_set, message, fields, enums)
        return self._over(ParseProtoNode(self.node, spec))

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

    def decode_image(
        self,
        key: str,
        *,
        channels: int = 3,
        size: Any = None,
        method: Any = "bilinear",
        dtype: Any = None,
        scaled: bool = False,
        antialias: bool = False,
        on_corrupt: OnCorrupt | None = None,
    ) -> Dataset:
        """Decode the encoded images (JPEG, PNG, GIF, BMP, WebP) of a feature, on all cores.

        Before or after `batch`. With a size, `decode_image(...).batch(n)` decodes straight into the rows of the batch.

        Args:
            key: the feature, of which each byte string is an image.
            channels: 3 makes all images RGB, 1 gray, 4 RGBA (not JPEGs); 0: as stored. Of an animation the first frame
                counts.
            size: (height, width) to resize to, as `tfr.image.resize` does; None: every image keeps its own.
            method: of `tfr.image.resize`.
            dtype: "uint8" or "float32", both from 0 to 255. By default uint8 without a size, float32 with one. With a
                size uint8 rounds: to the nearest integer, halves to even ones.
            scaled: decode JPEGs at the smallest of the scales 1/8, 1/4 and 1/2 that still covers the size, and resize
                from there: quicker, and not quite the same; see docs/images.md.
            antialias: of `tfr.image.resize`.
            on_corrupt: what becomes of images that cannot be decoded: "raise": an error in the element's place;
                "skip": the element is dropped and counted; "stop": so is the rest of its file. By default as the
                source says.

        Raises:
            InvalidArgumentError: there is no such feature.
            ValueError: an argument is not one of the choices.
        """
        sizes = None if size is None else image_size(size)
        kind = convert.as_dtype(dtype or ("uint8" if sizes is None else "float32"))
        maker = ImageMaker(int(channels), sizes, method_name(method), kind, bool(scaled), bool(antialias))
        said = [each.on_corrupt for each in _source_policies(self.node) if each.on_corrupt != "raise"]
        chosen: OnCorrupt = on_corrupt or (said[0] if said else "raise")
        return self._over(DecodeImageNode(self.node, key, maker, chosen))

    def resize(
        self, key: str, size: Any, method: Any = "bilinear", *, antialias: bool = False, dtype: Any = None
    ) -> Dataset:
        """Resize the images of a feature, which are arrays; before or after `batch`. See `tfr.image.resize`.

        Args:
            key: the feature: height x width x channels, or a batch of them.
            size: (height, width).
            method: "bilinear", "nearest", "bicubic", "area", "lanczos3" and so on.
            antialias: of `tfr.image.resize`.
            dtype: "uint8" rounds to the nearest integer, halves to even ones. By default float32, except for nearest,
                which keeps the type.

        Raises:
            InvalidArgumentError: there is no such feature.
            ValueError: there is no such method, or the size is not one.
        """
        kind = None if dtype is None else convert.as_dtype(dtype)
        return self._over(
            ColumnsNode(
                self.node, ResizeOp(key, image_size(size), method_name(method), bool(antialias), kind)
            )
        )

    def normalize(self, key: str, mean: Any = None, std: Any = None, *, scale: float = 255.0) -> Dataset:
        """Turn the numbers of a feature into float32 about one: `(x / scale - mean) / std`.

        By default x / 255, which takes bytes to [0, 1]. Each step is rounded to float32.

        Args:
            key: the feature.
            mean: what is subtracted, a number or one for each channel; None: nothing.
            std: what that is divided by, likewise.
            scale: what comes first; 1 for numbers that are in the units of mean and std.

        >>> import numpy as np, tfrkit as tfr
        >>> ds = tfr.Dataset.from_tensors({"x": np.uint8([0, 51, 255])}).normalize("x", mean=0.2, std=[0.5])
        >>> ds.get_single_element()["x"].tolist()
        [-0.4000000059604645, 0.0, 1.600000023841858]
        """
        change = Normalization(as_numbers(mean), as_numbers(std), float(scale))
        return self._over(ColumnsNode(self.node, NormalizeOp(key, change)))

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
        It works as long as an element is made of one record: after `parse`, `map`, `filter`, `shuffle`; not `batch`.

        Args:
            file: name of the feature for the file.
            record: name of the feature for the number.
        """
        return self._over(WithSourceNode(self.node, file, record))


def _source_policies(node: Node) -> Iterator[ReadPolicy]:
    """The policies of the files that a pipeline reads, in order; not of those that a user's function opens."""
    for each in node.stages():
        # A stage that is no source may have a policy too, which is its own business.
        for owner in (getattr(each, "function", None), None if each.inputs else each):
            policy = getattr(owner, "policy", None)
            if isinstance(policy, ReadPolicy):
                yield policy
