"""Simulations that DeepMind published: trajectories as raw numbers, whose shapes stand in a JSON file beside them.

MeshGraphNets has Examples and meta.json; learning_to_simulate has SequenceExamples and metadata.json. Values and shapes
are those of their own readers, with what does not change over a trajectory once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.data.dataset import Dataset
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.folders.feature_tree import ArrayFeature, DictFeature, Dims, FeatureTree, show_shape
from tfrkit.folders.folder_kind import FolderDescription, FolderListing, RecordDecoder, TreeDecoder
from tfrkit.folders.split_shards import record_names, splits_by_name
from tfrkit.folders.tfds.json_fields import JsonFields
from tfrkit.model.specs import FixedLenFeature, FixedLenSequenceFeature

__all__ = ["MeshFolder", "ParticleFolder"]

_MESH: Final = "meta.json"
_PARTICLES: Final = "metadata.json"
_TYPES: Final = ("float32", "float64", "int32", "int64", "uint8", "bool")
_MOST: Final = 1 << 31  # steps, or sizes


class MeshFolder:
    """The data sets of MeshGraphNets."""

    name = "mesh_graph_nets"

    def recognises(self, listing: FolderListing) -> bool:
        """By meta.json with names of fields, and record files."""
        return _has(listing, _MESH, "field_names", "features")

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Read meta.json."""
        meta = JsonFields(listing.json(_MESH), listing.join(_MESH), "meta")
        features: dict[str, FeatureTree] = {}
        for key, each in meta.mapping("features").items():
            fields = JsonFields(each, meta.path, f"features.{key}")
            features[key] = _mesh_feature(fields)
            if fields.text("type") == "dynamic_varlen":
                features[f"length_{key}"] = ArrayFeature("int32", (None,), "bytes", kind="Lengths")
        if not features:
            raise meta.error("features: expected the shape and the type of each but got none")
        return _described(self.name, listing, meta.text("simulator"), TreeDecoder(DictFeature(features)))


class ParticleFolder:
    """The data sets of learning_to_simulate."""

    name = "learning_to_simulate"

    def recognises(self, listing: FolderListing) -> bool:
        """By metadata.json with the length and the dimensions of trajectories, and record files."""
        return _has(listing, _PARTICLES, "sequence_length", "dim")

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Read metadata.json."""
        meta = JsonFields(listing.json(_PARTICLES), listing.join(_PARTICLES), "metadata")
        steps, dim = meta.number("sequence_length"), meta.number("dim")
        if not 0 < steps < _MOST or not 0 < dim < _MOST:
            raise meta.error(f"expected a sequence_length and a dim of at least 1 but got {steps} and {dim}")
        # There is a step more, so that each of them has a change.
        decoder = ParticleDecoder(steps + 1, dim, len(meta.items("context_mean")))
        return _described(self.name, listing, "", decoder)


@dataclass(frozen=True)
class ParticleDecoder:
    """Trajectories of particles.

    Attributes:
        steps: how many each has.
        dim: numbers of a position.
        context: numbers that each step has for all particles; 0 if there are none.
    """

    steps: int
    dim: int
    context: int

    def decoded(self, records: Dataset, *, images: bool) -> Dataset:
        fixed = {"key": FixedLenFeature([], "int64", 0), "particle_type": FixedLenFeature([], "bytes")}
        names = ["position", *(["step_context"] if self.context else [])]
        lists = {name: FixedLenSequenceFeature([], "bytes") for name in names}
        return records.parse_sequence(fixed, lists).map(self._trajectory)

    def lines(self) -> list[str]:
        shapes: dict[str, Dims] = {"position": (self.steps, None, self.dim)}
        if self.context:
            shapes["step_context"] = (self.steps, self.context)
        lists = (f"{name}: float32{show_shape(shape)}" for name, shape in shapes.items())
        return ["key: int64", "particle_type: int64(?,)", *lists]

    def class_names(self) -> Mapping[str, tuple[str, ...]]:
        return {}

    def _trajectory(self, fixed: Any, lists: Any) -> dict[str, Any]:
        found = {
            "key": fixed["key"],
            "particle_type": _numbers("particle_type", fixed["particle_type"], (-1,), np.int64),
            "position": self._steps("position", lists, (-1, self.dim)),
        }
        if self.context:
            found["step_context"] = self._steps("step_context", lists, (self.context,))
        return found

    def _steps(self, key: str, lists: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        values = list(lists[key])
        sizes = sorted({len(value) for value in values})
        if len(values) != self.steps or len(sizes) != 1:
            raise InvalidArgumentError(
                f"{key}: expected {self.steps} steps of one size but got {len(values)} of {sizes[:5]} bytes. The "
                f"metadata.json of another data set may be in the folder."
            )
        return _numbers(key, b"".join(values), (self.steps, *shape), np.float32)


def _numbers(key: str, data: bytes, shape: tuple[int, ...], dtype: type[np.generic]) -> npt.NDArray[Any]:
    try:
        return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).reshape(shape).astype(dtype)
    except ValueError as error:
        raise InvalidArgumentError(
            f"{key}: its {len(data)} bytes are no {np.dtype(dtype).name} of the shape {shape}: {error}."
        ) from None


def _mesh_feature(fields: JsonFields) -> ArrayFeature:
    dtype, shape, kind = fields.text("dtype"), fields.dims("shape"), fields.text("type")
    if kind not in ("static", "dynamic", "dynamic_varlen"):
        raise fields.error(
            f"type: expected static, dynamic or dynamic_varlen but got {kind!r}. Use a newer tfrkit"
        )
    if (
        dtype not in _TYPES
        or shape.count(None) > 1
        or any(size is not None and size >= _MOST for size in shape)
    ):
        raise fields.error(
            f"expected a type of {_TYPES} and one open size but got {dtype!r} and {show_shape(shape)}"
        )
    return ArrayFeature(dtype, shape, "bytes", kind=kind.title())


def _has(listing: FolderListing, name: str, *fields: str) -> bool:
    if name not in listing.names or not record_names(listing.names):
        return False
    try:
        value: Any = listing.json(name)
    except DataLossError:  # many programs have a file of this name
        return False
    return isinstance(value, dict) and all(field in value for field in fields)


def _described(kind: str, listing: FolderListing, name: str, decoder: RecordDecoder) -> FolderDescription:
    splits = splits_by_name(listing, record_names(listing.names))
    return FolderDescription(listing.path, kind, name, "", splits, decoder)
