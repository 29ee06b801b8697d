"""Tensor: a value of a pipeline under TensorFlow's interface.

Operators are the operations of `tf/ops`, with TensorFlow's rules: types are not mixed, and a Python number or numpy
array takes the type of the tensor. Nothing here computes by itself, and wrapping costs no copy.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.dlpack import dlpack_capsule
from tfrkit.tf.ops.math import elementwise, linear
from tfrkit.tf.tensors.dtype import DType, as_dtype, dtype_of_numpy
from tfrkit.tf.tensors.operators import Binary, Operators
from tfrkit.tf.tensors.slicing import index_value
from tfrkit.tf.tensors.tensor_shape import TensorShape, as_shape
from tfrkit.tf.tensors.unsized import NOTED, note_shape
from tfrkit.values.operands import Alike, Pack, as_array, convert, convert_hinted, number_of

__all__ = ["Reference", "Tensor"]

_STRING: Final = as_dtype("string")
_BOOL: Final = np.dtype(bool)
_DEVICE: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
_INTEGERS: Final = frozenset("bhilqBHILQ")  # numpy's letters of them
_NUMPY_NAMES: Final = {
    "T",
    "astype",
    "ravel",
    "transpose",
    "reshape",
    "clip",
    "size",
    "tolist",
    "data",
    "item",
}


class Reference:
    """A tensor that can be the key of a dict: it equals another only if both are of the same object."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def deref(self) -> Any:
        """The tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._tensor is other._tensor

    def __hash__(self) -> int:
        return id(self._tensor)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._tensor!r}>"


class Tensor(Operators):
    """A value that does not change: a number, a string, or an array of them.

    Attributes:
        value: a numpy scalar or array, `bytes`, or a BytesColumn. Do not write to it.
    """

    __slots__ = ("__weakref__", "value")
    __array_priority__ = 100  # so that numpy leaves `array + tensor` to the tensor

    def __init__(self, value: Any) -> None:
        """Wrap a value; programs use `tf.constant`."""
        self.value = value

    def numpy(self) -> Any:
        """Return the value as numpy has it: a copy of the array, a numpy scalar, or bytes."""
        value = self.value
        if type(value) is np.ndarray:
            return value.copy()
        return value.to_numpy() if isinstance(value, BytesColumn) else value

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        if type(self.value) is bytes:
            return _STRING
        found = dtype_of_numpy(self.value.dtype)
        assert found is not None
        return found

    @property
    def shape(self) -> TensorShape:
        """The sizes."""
        return TensorShape.of(() if type(self.value) is bytes else self.value.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return 0 if type(self.value) is bytes else len(self.value.shape)

    @property
    def device(self) -> str:
        """Where the value is: always in the memory of this process."""
        return _DEVICE

    def set_shape(self, shape: Any) -> None:
        """Check the shape.

        Raises:
            ValueError: it differs.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {as_shape(shape)}."
            )
        if NOTED and as_shape(shape).rank is not None:
            note_shape(self.value, as_shape(shape).as_list())

    def ref(self) -> Reference:
        """Return a hashable reference, to be the key of a dict."""
        return Reference(self)

    def cpu(self) -> Tensor:
        """Return the tensor itself."""
        return self

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Refuse, as TensorFlow does in eager mode."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    # --- as a Python value

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = as_array(self.value)
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        if copy:
            return array.copy()
        if array.flags.writeable:
            array = array.view()
            array.flags.writeable = False
        return array

    def __dlpack__(self, **options: Any) -> object:
        return dlpack_capsule(np.ascontiguousarray(self.value), options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self.value.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return map(Tensor, self.value)

    def __bool__(self) -> bool:
        view = self._view()
        return bool(view) if type(view) is not np.ndarray or view.size else False

    def __int__(self) -> int:
        return int(self._view())

    def __float__(self) -> float:
        return float(self._view())

    def __complex__(self) -> complex:
        return complex(self._view())

    def __index__(self) -> int:
        return self._view().__index__()  # type: ignore[no-any-return]

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __repr__(self) -> str:
        value = self._view()
        text = repr(value if isinstance(value, (np.ndarray, bytes)) else value.item())
        shown = f"\n{text}" if "\n" in text else text
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={shown}>"

    def __str__(self) -> str:
        text = str(self._view())
        shown = f"\n{text}" if "\n" in text else text
        return f"tf.Tensor({shown}, shape={self.shape}, dtype={self.dtype.name})"

    def __format__(self, format_spec: str) -> str:
        return format(self._view(), format_spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (self.value,)

    def __getattr__(self, name: str) -> Any:
        if name in ("name", "op", "graph"):
            raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")
        advice = f" Use tensor.numpy().{name}, or the function of tf." if name in _NUMPY_NAMES else ""
        raise AttributeError(f"'Tensor' object has no attribute {name!r}.{advice}")

    def __getitem__(self, key: Any) -> Tensor:
        value = self.value
        if type(key) is int and type(value) is np.ndarray and -len(value) <= key < len(value):
            return Tensor(value[key])
        return Tensor(index_value(value, key))

    # --- operators that others have otherwise, or not

    def __mul__(self, other: Any) -> Any:
        truths = self._dtype() is _BOOL or (type(other) is Tensor and other._dtype() is _BOOL)
        if truths:
            return self._with(elementwise.multiply_truths, other)
        return self._with(elementwise.multiply, other, np.multiply)

    def __rmul__(self, other: Any) -> Any:
        truths = self._dtype() is _BOOL
        return self._after(elementwise.multiply_truths if truths else elementwise.multiply, other)

    def __matmul__(self, other: Any) -> Any:
        return self._with(linear.matmul, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._after(linear.matmul, other)

    def __eq__(self, other: object) -> Any:
        return False if other is None else self._compared(elementwise.equal, other, otherwise=False)

    def __ne__(self, other: object) -> Any:
        return True if other is None else self._compared(elementwise.not_equal, other, otherwise=True)

    # --- how they are made

    def _view(self) -> Any:
        """The value as numpy knows it, not copied."""
        return self.value.to_numpy() if isinstance(self.value, BytesColumn) else self.value

    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(object) if type(self.value) is bytes else self.value.dtype

    def _with(self, function: Binary, other: Any, quick: Any = None) -> Any:
        kind, value = type(other), self.value
        if kind is Tensor:
            operand = other.value
        elif kind is int or kind is float:
            operand = number_of(other, self._dtype())
            operand = other if operand is None else operand
        else:
            return self._with_other(function, other)
        dtype = getattr(value, "dtype", None)
        if quick is not None and dtype is getattr(operand, "dtype", None) and _is_integer(dtype):
            with contextlib.suppress(ValueError):  # shapes that do not fit, which is reported below
                return Tensor(quick(value, operand))
        return Tensor(function(value, operand))

    def _with_other(self, function: Binary, other: Any) -> Any:
        """The same for what is no Tensor and no number of Python."""
        kind = type(other)
        if hasattr(kind, "__tensor_operand__"):
            return NotImplemented  # a SparseTensor or RaggedTensor knows what to do
        group: Alike | None = getattr(function, "alike", None)
        if group is not None and group.by_first:
            return Tensor(function(self.value, convert_hinted(_plain(other), self._dtype())))
        return Tensor(function(self.value, convert(_plain(other), self._dtype())))

    def _after(self, function: Binary, other: Any) -> Any:
        return Tensor(function(convert(_plain(other), self._dtype()), self.value))

    def _alone(self, function: Callable[[Any], Any]) -> Tensor:
        return Tensor(function(self.value))

    def _bits(self, of_truths: Any, of_integers: Any) -> Any:
        return of_truths if self._dtype() == _BOOL else of_integers

    def _compared(self, function: Binary, other: Any, *, otherwise: bool) -> Any:
        try:
            return self._with(function, other, np.equal if function is elementwise.equal else np.not_equal)
        except InvalidArgumentError as error:
            if error.message.startswith("Incompatible shapes"):
                return Tensor(np.bool_(otherwise))
            raise


def _is_integer(dtype: Any) -> bool:
    return dtype is not None and dtype.char in _INTEGERS


def _plain(value: Any) -> Any:
    """A sequence with the values of Tensors in it."""
    if isinstance(value, (list, tuple)):
        kind = Pack if any(type(part) is Tensor for part in value) else list
        return kind(_plain(part) for part in value)
    return value.value if type(value) is Tensor else value
