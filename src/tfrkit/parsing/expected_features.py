"""ExpectedFeature: what the kernel reads under one key of every example, worked out from a spec. Pure: no I/O.

Several features of a spec may read one key (the indices of two SparseFeatures, say); the kernel reads it once, into one
slot. Features are checked in the order of their sorted keys, as TensorFlow does, so that of several errors in a spec
the same one is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, Literal

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import KINDS, op_name, type_name
from tfrkit.model.shapes import Dims, as_dims, show_dims
from tfrkit.model.specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    as_feature,
)
from tfrkit.parsing.defaults import convert_default

__all__ = ["Attributes", "ExpectedFeature", "ExpectedFeatures", "Form", "find_expected"]

Form = Literal["dense", "sequence", "sparse", "ragged"]
_MAX_VALUES: Final = 2**31 - 1  # a message has fewer bytes than that


@dataclass(frozen=True, slots=True)
class ExpectedFeature:
    """What is read under one key.

    Attributes:
        key: name of the feature in the example.
        form: how it is read: as a value of fixed shape, a run of such values, or a list of any length.
        type: "int64", "float32" or "string".
        shape: of one value; () for forms without.
        default: an array or a list of bytes, or None. For a sequence the single value to pad with.
        required: of a feature list: whether it must be there.
    """

    key: str
    form: Form
    type: str
    shape: tuple[int, ...] = ()
    default: Any = None
    required: bool = True

    @property
    def kind(self) -> int:
        """Number of the list in the Feature message."""
        return KINDS[self.type]

    @property
    def size(self) -> int:
        """Number of values of the shape."""
        return prod(self.shape)

    @property
    def shown_shape(self) -> str:
        """The shape as TensorFlow's kernels print it."""
        return show_dims((None, *self.shape) if self.form == "sequence" else self.shape)

    @property
    def value_shape(self) -> str:
        """The same, without the unknown number of values of a sequence."""
        return show_dims(self.shape)


@dataclass(frozen=True, slots=True)
class Attributes:
    """Names of the kernel's attributes in TensorFlow, which its errors about types use."""

    dense: str = "Tdense"
    sparse: str = "sparse_types"


@dataclass(slots=True)
class _Keys:
    """The arguments of TensorFlow's operation, in its three groups."""

    dense: dict[str, tuple[Form, Any, Dims | None, Any, bool]] = field(default_factory=dict)
    sparse: dict[str, Any] = field(default_factory=dict)
    ragged: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExpectedFeatures:
    """A spec and what the kernel reads for it.

    Attributes:
        features: the spec, in its own order, keys as text.
        slots: sorted by key, those of RaggedFeatures after the others.
        given: the spec's own keys, in its order: str or bytes.
    """

    features: dict[str, FeatureSpec]
    slots: tuple[ExpectedFeature, ...]
    given: tuple[str | bytes, ...]


def find_expected(
    features: Mapping[Any, Any],
    allowed: tuple[type[Any], ...],
    attributes: Attributes,
    *,
    lists: bool = False,
) -> ExpectedFeatures:
    """Check a spec and return what the kernel reads for it.

    Args:
        features: the spec; keys may be bytes, as TensorFlow takes them, but not of both kinds.
        allowed: classes of features that it may have.
        attributes: what TensorFlow calls the types.
        lists: the spec is of feature lists: sequences have one value for each step, and no default. Else the shape of
            a sequence begins with None.

    Raises:
        InvalidArgumentError: a type or a default is not possible.
        TypeError: the type or shape of a feature is not one.
        ValueError: a feature is incomplete, or two are in conflict.
    """
    checked: dict[str, FeatureSpec] = {}
    keys = _Keys()
    for key in sorted(features):
        feature = as_feature(features[key])
        if feature is None or not isinstance(feature, allowed):
            given = features[key]
            raise ValueError(f"Unsupported {type(given).__name__} {given} for key '{key}'")
        name = _as_text(key)
        checked[name] = feature
        _ADD[type(feature)](keys, name, feature)
    _check_groups(keys)
    slots = [*_dense_slots(keys, attributes, lists), *_other_slots(keys, attributes)]
    slots.sort(key=lambda slot: (slot.form == "ragged", slot.key))
    return ExpectedFeatures(
        {_as_text(key): checked[_as_text(key)] for key in features}, tuple(slots), tuple(features)
    )


def _as_text(key: Any) -> str:
    if isinstance(key, bytes):
        return key.decode()  # a UnicodeDecodeError is a ValueError: no Example has such a key
    if not isinstance(key, str):
        raise TypeError(f"Cannot convert {[key]} to EagerTensor of dtype string")
    return key


def _add_var_len(keys: _Keys, key: str, feature: VarLenFeature) -> None:
    if not _has_type(feature):
        raise ValueError(f"Missing type for feature {key}. Received feature={feature}")
    _add_sparse_key(keys, key, feature.dtype)


def _add_sparse(keys: _Keys, key: str, feature: SparseFeature) -> None:
    if not feature.index_key:
        raise ValueError(f"Missing index_key for SparseFeature {feature}.")
    if not feature.value_key:
        raise ValueError(f"Missing value_key for SparseFeature {feature}.")
    _require_type(key, feature)
    index_keys = [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key
    for index_key in sorted(index_keys):
        _add_sparse_key(keys, index_key, _Int64())
    _add_sparse_key(keys, feature.value_key, feature.dtype)


class _Int64:
    """The type of indices, which prints as TensorFlow's does."""

    name: Final = "int64"

    def __str__(self) -> str:
        return "<dtype: 'int64'>"


def _add_sparse_key(keys: _Keys, key: str, dtype: Any) -> None:
    before = keys.sparse.setdefault(key, dtype)
    if before is not dtype and type_name(before) != type_name(dtype):
        raise ValueError(f"Conflicting type {before} vs {dtype} for feature {key}.")


def _add_fixed_len(keys: _Keys, key: str, feature: FixedLenFeature) -> None:
    _require_type(key, feature)
    _require_shape(key, feature)
    dims = as_dims(feature.shape)
    if dims and dims[0] is None:
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. "
            f"Consider using FixedLenSequenceFeature. Received feature={feature}."
        )
    if dims is None or None in dims:
        raise ValueError(
            f"All dimensions of shape for feature {key} need to be known but received {feature.shape!s}."
        )
    keys.dense[key] = ("dense", feature.dtype, dims, feature.default_value, True)


def _add_fixed_len_sequence(keys: _Keys, key: str, feature: FixedLenSequenceFeature) -> None:
    _require_type(key, feature)
    _require_shape(key, feature)
    dims = as_dims(feature.shape)
    keys.dense[key] = ("sequence", feature.dtype, dims, feature.default_value, not feature.allow_missing)


def _add_ragged(keys: _Keys, key: str, feature: RaggedFeature) -> None:
    splits = feature.row_splits_dtype
    _add_ragged_key(keys, feature.value_key or key, type_name(feature.dtype), splits)
    for partition in feature.partitions:
        if not isinstance(partition, RaggedFeature.UniformRowLength):
            _add_ragged_key(keys, partition.key, "int64", splits)


def _add_ragged_key(keys: _Keys, key: str, name: str, splits: str) -> None:
    name_before, splits_before = keys.ragged.setdefault(key, (name, splits))
    if name_before != name:
        raise ValueError(f"Conflicting type <dtype: '{name_before}'> vs <dtype: '{name}'> for feature {key}.")
    if splits_before != splits:
        raise ValueError(
            f"Conflicting partition type <dtype: '{splits_before}'> vs <dtype: '{splits}'> for feature {key}."
        )


_ADD: Final[dict[type[Any], Any]] = {
    VarLenFeature: _add_var_len,
    SparseFeature: _add_sparse,
    FixedLenFeature: _add_fixed_len,
    FixedLenSequenceFeature: _add_fixed_len_sequence,
    RaggedFeature: _add_ragged,
}


def _has_type(feature: Any) -> bool:
    # A numpy dtype of no size is false, and is a type all the same.
    return feature.dtype is not None and (not isinstance(feature.dtype, str) or bool(feature.dtype))


def _require_type(key: str, feature: FeatureSpec) -> None:
    if not _has_type(feature):
        raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")


def _require_shape(key: str, feature: Any) -> None:
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")


def _check_groups(keys: _Keys) -> None:
    groups = {"dense": list(keys.dense), "sparse": list(keys.sparse), "ragged": list(keys.ragged)}
    for first, second in (("dense", "sparse"), ("dense", "ragged"), ("ragged", "sparse")):
        both = set(groups[first]) & set(groups[second])
        if both:
            raise ValueError(
                f"{first.capitalize()} and {second} keys must not intersect; {first}_keys: {groups[first]}, "
                f"{second}_keys: {groups[second]}, intersection: {both}"
            )


def _dense_slots(keys: _Keys, attributes: Attributes, lists: bool) -> list[ExpectedFeature]:
    slots = []
    for index, (key, (form, dtype, dims, default, required)) in enumerate(keys.dense.items()):
        if lists and default is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
        name = type_name(dtype)
        _check_allowed(name, attributes.dense)
        shape = _known(dims[1:] if dims and form == "sequence" and not lists else dims, index, lists)
        if prod(shape) > _MAX_VALUES:
            raise InvalidArgumentError(
                f"expected at most {_MAX_VALUES} values, as no Example holds more, but the shape {show_dims(shape)} "
                f"of feature {key} has {prod(shape)}"
            )
        if form == "sequence" and not lists:
            empty = b"" if name == "string" else 0
            value: Any = convert_default(empty if default is None else default, name, (), index, padding=True)
        else:
            value = None if default is None else convert_default(default, name, shape, index)
            # A default without values counts as none.
            value = value if value is not None and len(value) else None
        slots.append(ExpectedFeature(key, form, name, shape, value, required))
    return slots


def _known(dims: Dims | None, index: int, lists: bool) -> tuple[int, ...]:
    if dims is not None and None not in dims:
        return tuple(dim for dim in dims if dim is not None)
    shown = "<unknown>" if dims is None else show_dims(dims if lists else (None, *dims))
    if lists:
        raise InvalidArgumentError(f"Shape {shown} is not fully defined")
    raise InvalidArgumentError(f"dense_shapes[{index}] has unknown rank or unknown inner dimensions: {shown}")


def _other_slots(keys: _Keys, attributes: Attributes) -> list[ExpectedFeature]:
    slots = []
    for key, dtype in keys.sparse.items():
        try:
            name = type_name(dtype)
        except TypeError:
            raise TypeError(f"Expected DataType for argument '{attributes.sparse}' not {dtype!r}.") from None
        _check_allowed(name, attributes.sparse)
        slots.append(ExpectedFeature(key, "sparse", name))
    slots += [ExpectedFeature(key, "ragged", name) for key, (name, _) in keys.ragged.items()]
    return slots


def _check_allowed(name: str, attribute: str) -> None:
    if name not in KINDS:
        raise InvalidArgumentError(
            f"Value for attr '{attribute}' of {op_name(name)} is not in the list of allowed values: "
            "float, int64, string"
        )
