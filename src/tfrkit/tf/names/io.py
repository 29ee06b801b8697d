"""tf.io, except for images, strings and files."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "io.TFRecordWriter python_io.TFRecordWriter": Raw("tf.io.record_files:TFRecordWriter"),
    "io.TFRecordOptions python_io.TFRecordOptions": Raw("records.write.options:TFRecordOptions"),
    "compat.v1.io.TFRecordCompressionType python_io.TFRecordCompressionType": Raw(
        "records.write.options:TFRecordCompressionType"
    ),
    "io.FixedLenFeature FixedLenFeature": Raw("model.specs:FixedLenFeature"),
    "io.VarLenFeature VarLenFeature": Raw("model.specs:VarLenFeature"),
    "io.SparseFeature SparseFeature": Raw("model.specs:SparseFeature"),
    "io.FixedLenSequenceFeature FixedLenSequenceFeature": Raw("model.specs:FixedLenSequenceFeature"),
    "io.RaggedFeature": Raw("tf.io.parsers:RaggedFeature"),
    "io.parse_example": Raw("tf.io.parsers:parse_example"),
    "io.parse_single_example": Raw("tf.io.parsers:parse_single_example"),
    "compat.v1.io.parse_example parse_example": Raw("tf.io.parsers:parse_example_v1"),
    "compat.v1.io.parse_single_example parse_single_example": Raw("tf.io.parsers:parse_single_example_v1"),
    "io.parse_sequence_example": Raw("tf.io.parsers:parse_sequence_example"),
    "io.parse_single_sequence_example parse_single_sequence_example": Raw(
        "tf.io.parsers:parse_single_sequence_example"
    ),
    "io.decode_raw": "parsing.payloads.decode_raw:decode_raw",
    "compat.v1.io.decode_raw decode_raw": Raw("tf.io.parsers:decode_raw_v1"),
    "io.parse_tensor parse_tensor": "parsing.payloads.tensor_proto:parse_tensor",
    "io.serialize_tensor serialize_tensor": "parsing.payloads.tensor_proto:serialize_tensor",
    "io.decode_json_example decode_json_example": "parsing.payloads.json_example:decode_json_example",
    "io.decode_proto": "parsing.payloads.decode_proto:decode_proto",
    "io.decode_compressed decode_compressed": "parsing.payloads.decode_compressed:decode_compressed",
    "io.decode_base64 decode_base64": "parsing.payloads.decode_base64:decode_base64",
    "io.encode_base64 encode_base64": "parsing.payloads.decode_base64:encode_base64",
    "compat.v1.io.tf_record_iterator python_io.tf_record_iterator": Raw("tf.v1.polling:tf_record_iterator"),
}
