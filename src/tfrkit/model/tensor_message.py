"""The TensorProto message as protobuf's own class, built in a private descriptor pool when first needed.

Like `messages`, it clashes with nothing that TensorFlow registers. The element type is declared as a number: on the
wire it is the same, and an unknown one is no error here.
"""

from __future__ import annotations

import functools
from typing import Any, Final

__all__ = ["tensor_message"]

_REPEATED: Final = "repeated"
# Name -> (number, type, and "repeated" or not), of each message that a TensorProto is made of.
_MESSAGES: Final[dict[str, dict[str, tuple[int, str, str]]]] = {
    "Dim": {"size": (1, "int64", ""), "name": (2, "string", "")},
    "Shape": {"dim": (2, "Dim", _REPEATED), "unknown_rank": (3, "bool", "")},
    "DtypeAndShape": {"dtype": (1, "int32", ""), "shape": (2, "Shape", "")},
    "ResourceHandle": {
        "device": (1, "string", ""),
        "container": (2, "string", ""),
        "name": (3, "string", ""),
        "hash_code": (4, "uint64", ""),
        "maybe_type_name": (5, "string", ""),
        "dtypes_and_shapes": (6, "DtypeAndShape", _REPEATED),
    },
    "Variant": {
        "type_name": (1, "string", ""),
        "metadata": (2, "bytes", ""),
        "tensors": (3, "Tensor", _REPEATED),
    },
    "Tensor": {
        "dtype": (1, "int32", ""),
        "tensor_shape": (2, "Shape", ""),
        "version_number": (3, "int32", ""),
        "tensor_content": (4, "bytes", ""),
        "float_val": (5, "float", _REPEATED),
        "double_val": (6, "double", _REPEATED),
        "int_val": (7, "int32", _REPEATED),
        "string_val": (8, "bytes", _REPEATED),
        "scomplex_val": (9, "float", _REPEATED),
        "int64_val": (10, "int64", _REPEATED),
        "bool_val": (11, "bool", _REPEATED),
        "dcomplex_val": (12, "double", _REPEATED),
        "half_val": (13, "int32", _REPEATED),
        "resource_handle_val": (14, "ResourceHandle", _REPEATED),
        "variant_val": (15, "Variant", _REPEATED),
        "uint32_val": (16, "uint32", _REPEATED),
        "uint64_val": (17, "uint64", _REPEATED),
        "float8_val": (18, "bytes", ""),
    },
}


@functools.cache
def tensor_message() -> Any:
    """Return the class of TensorProto messages.

    >>> tensor_message().FromString(bytes.fromhex("08 03 3a 02 01 02")).int_val
    [1, 2]
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="tensor.proto", package="tfrkit", syntax="proto3")
    field_types = descriptor_pb2.FieldDescriptorProto
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for name, (number, kind, label) in fields.items():
            field = message.field.add(name=name, number=number)
            field.label = field_types.LABEL_REPEATED if label else field_types.LABEL_OPTIONAL
            if kind in _MESSAGES:
                field.type = field_types.TYPE_MESSAGE
                field.type_name = f".tfrkit.{kind}"
            else:
                field.type = field_types.Type.Value(f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tfrkit.Tensor"))
