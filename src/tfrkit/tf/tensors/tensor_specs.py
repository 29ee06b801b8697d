"""TensorSpec and the other TypeSpecs under TensorFlow's interface: types are DTypes, shapes are TensorShapes.

They wrap the specs that pipelines work with, see `model.element_spec`; `plain` and `public` convert between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from tfrkit.model import element_spec as model
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.tf.functions.lift import unwrap
from tfrkit.tf.tensors.dtype import DType, as_dtype
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.sparse_tensor import SparseTensor
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.tensor_shape import TensorShape
from tfrkit.values.operands import as_value

__all__ = [
    "NoneTensorSpec",
    "RaggedTensorSpec",
    "SparseTensorSpec",
    "TensorSpec",
    "TypeSpec",
    "plain",
    "public",
    "type_spec_from_value",
]


class TypeSpec:
    """What is known of a value: its kind, shape and type.

    Attributes:
        plain: the spec that pipelines work with.
    """

    __slots__ = ("__weakref__", "plain")

    plain: model.ElementSpec

    @classmethod
    def of(cls, spec: model.ElementSpec) -> Self:
        """Wrap a spec of a pipeline."""
        made = object.__new__(cls)
        made.plain = spec
        return made

    @property
    def shape(self) -> TensorShape:
        """Sizes, as far as they are known."""
        return TensorShape.of(self.plain.shape)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return as_dtype(self.plain.dtype)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a value has this type and shape, or a value of another spec could."""
        if isinstance(spec_or_value, TypeSpec):
            return self.plain.is_compatible_with(spec_or_value.plain)
        try:
            return self.plain.is_compatible_with(_value_of(spec_or_value))
        except (TypeError, ValueError):
            return False

    def is_subtype_of(self, other: Any) -> bool:
        """Return whether every value of this spec is also one of another."""
        return isinstance(other, TypeSpec) and self.plain.is_subtype_of(other.plain)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Self | None:
        """Return the most specific spec that includes this and all others, or None."""
        found = self.plain.most_specific_common_supertype([plain(other) for other in others])
        return None if found is None else type(self).of(found)

    def most_specific_compatible_type(self, other: Any) -> Self:
        """Return the most specific spec that includes this and another.

        Raises:
            ValueError: no spec does.
        """
        return type(self).of(self.plain.most_specific_compatible_type(plain(other)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeSpec) and type(self) is type(other) and self.plain == other.plain

    def __hash__(self) -> int:
        return hash(self.plain)

    def __repr__(self) -> str:
        return repr(self.plain)

    def __reduce__(self) -> tuple[Any, ...]:
        return public, (self.plain,)


class TensorSpec(TypeSpec):
    """A Tensor.

    >>> TensorSpec([None, 2], "int32")
    TensorSpec(shape=(None, 2), dtype=tf.int32, name=None)
    """

    __slots__ = ()

    plain: model.TensorSpec
    value_type: ClassVar[type] = Tensor

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        self.plain = model.TensorSpec(shape, as_dtype(dtype), name)

    @property
    def name(self) -> str | None:
        """The user's name for it."""
        return self.plain.name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Return the spec of a Tensor.

        Raises:
            ValueError: it is not a Tensor.
        """
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Return a copy, with another name if there is one."""
        return cls(spec.shape, spec.dtype, name or spec.name)


class RaggedTensorSpec(TypeSpec):
    """A RaggedTensor.

    >>> RaggedTensorSpec([None, None], "int32")
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ()

    plain: model.RaggedTensorSpec
    value_type: ClassVar[type] = RaggedTensor

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = "float32",
        ragged_rank: int | None = None,
        row_splits_dtype: Any = "int64",
        flat_values_spec: Any = None,
    ) -> None:
        given = dtype if flat_values_spec is None else flat_values_spec.dtype
        self.plain = model.RaggedTensorSpec(shape, as_dtype(given), ragged_rank, as_dtype(row_splits_dtype))

    @property
    def ragged_rank(self) -> int:
        """Number of ragged dimensions."""
        return self.plain.ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The type of the row splits."""
        return as_dtype(self.plain.row_splits_dtype)

    @property
    def flat_values_spec(self) -> None:
        """None: the values are a Tensor of this type."""
        return

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """Return the spec of a RaggedTensor."""
        found = type_spec_from_value(value)
        assert isinstance(found, RaggedTensorSpec)
        return found


class SparseTensorSpec(TypeSpec):
    """A SparseTensor.

    >>> SparseTensorSpec([2, None], "string")
    SparseTensorSpec(TensorShape([2, None]), tf.string)
    """

    __slots__ = ()

    plain: model.SparseTensorSpec
    value_type: ClassVar[type] = SparseTensor

    def __init__(self, shape: Any = None, dtype: Any = "float32") -> None:
        self.plain = model.SparseTensorSpec(shape, as_dtype(dtype))

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """Return the spec of a SparseTensor."""
        found = type_spec_from_value(value)
        assert isinstance(found, SparseTensorSpec)
        return found


class NoneTensorSpec(TypeSpec):
    """None, which stays None in a batch."""

    __slots__ = ()

    value_type: ClassVar[type] = type(None)

    def __init__(self) -> None:
        self.plain = model.NoneTensorSpec()


_PUBLIC: dict[type, type[TypeSpec]] = {
    model.TensorSpec: TensorSpec,
    model.RaggedTensorSpec: RaggedTensorSpec,
    model.SparseTensorSpec: SparseTensorSpec,
    model.NoneTensorSpec: NoneTensorSpec,
}


def public(spec: Any) -> Any:
    """Wrap a spec of a pipeline; return anything else as it is."""
    kind = _PUBLIC.get(type(spec))
    return spec if kind is None else kind.of(spec)


def plain(spec: Any) -> Any:
    """Unwrap a TypeSpec; return anything else as it is."""
    return spec.plain if isinstance(spec, TypeSpec) else spec


def type_spec_from_value(value: Any) -> TypeSpec:
    """Return the spec of a Tensor, RaggedTensor or SparseTensor, or of what can become a Tensor.

    Raises:
        TypeError: it cannot.
    """
    try:
        found = model.spec_of_value(_value_of(value))
    except ValueError:
        raise TypeError(
            f"Could not build a TypeSpec for {value!r:.300} of unsupported type {type(value)}."
        ) from None
    made: TypeSpec = public(found)
    return made


def _value_of(given: Any) -> Any:
    value = unwrap(given)
    return value if value is None or isinstance(value, (Ragged, Sparse)) else as_value(value)
