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
    **{f"{name} dtypes.{name}": Raw(f"tf.dtype:{name}") for name in _TYPES.split()},
    **{f"dtypes.experimental.{name}": Raw(f"tf.dtype:{name}") for name in _SMALL.split()},
    "newaxis": Raw("tf.dtype:NEWAXIS"),
    "DType dtypes.DType": Raw("tf.dtype:DType"),
    "as_dtype dtypes.as_dtype": Raw("tf.dtype:as_dtype"),
    "dtypes.QUANTIZED_DTYPES": Raw("tf.dtype:QUANTIZED_DTYPES"),
    "TensorSpec": Raw("tf.specs:TensorSpec"),
    "RaggedTensorSpec": Raw("tf.specs:RaggedTensorSpec"),
    "SparseTensorSpec": Raw("tf.specs:SparseTensorSpec"),
    "NoneTensorSpec": Raw("tf.specs:NoneTensorSpec"),
    "TypeSpec": Raw("tf.specs:TypeSpec"),
    "type_spec_from_value": Raw("tf.specs:type_spec_from_value"),
    "TensorShape": Raw("tf.tensor_shape:TensorShape"),
    "compat.v1.Dimension": Raw("tf.tensor_shape:Dimension"),
    "compat.dimension_value": Raw("tf.tensor_shape:dimension_value"),
    "compat.dimension_at_index": Raw("tf.tensor_shape:dimension_at_index"),
}
