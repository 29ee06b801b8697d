"""Types, shapes and specs."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

_TYPES: Final = (
    "bfloat16 bool complex128 complex64 double float16 float32 float64 half int16 int32 int64 int8 qint16 qint32 qint8 "
    "quint16 quint8 resource string uint16 uint32 uint64 uint8 variant"
)
_SMALL: Final = (
    "float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4 int2 uint2"
)
NAMES: Final[dict[str, Entry]] = {
    **{f"{name} dtypes.{name}": Raw(f"tf.tensors.dtype:{name}") for name in _TYPES.split()},
    **{f"dtypes.experimental.{name}": Raw(f"tf.tensors.dtype:{name}") for name in _SMALL.split()},
    "newaxis": Raw("tf.tensors.dtype:NEWAXIS"),
    "DType dtypes.DType": Raw("tf.tensors.dtype:DType"),
    "as_dtype dtypes.as_dtype": Raw("tf.tensors.dtype:as_dtype"),
    "dtypes.QUANTIZED_DTYPES": Raw("tf.tensors.dtype:QUANTIZED_DTYPES"),
    "TensorSpec": Raw("tf.tensors.tensor_specs:TensorSpec"),
    "RaggedTensorSpec": Raw("tf.tensors.tensor_specs:RaggedTensorSpec"),
    "SparseTensorSpec": Raw("tf.tensors.tensor_specs:SparseTensorSpec"),
    "NoneTensorSpec": Raw("tf.tensors.tensor_specs:NoneTensorSpec"),
    "TypeSpec": Raw("tf.tensors.tensor_specs:TypeSpec"),
    "type_spec_from_value": Raw("tf.tensors.tensor_specs:type_spec_from_value"),
    "TensorShape": Raw("tf.tensors.tensor_shape:TensorShape"),
    "compat.v1.Dimension": Raw("tf.tensors.tensor_shape:Dimension"),
    "compat.dimension_value": Raw("tf.tensors.tensor_shape:dimension_value"),
    "compat.dimension_at_index": Raw("tf.tensors.tensor_shape:dimension_at_index"),
}
