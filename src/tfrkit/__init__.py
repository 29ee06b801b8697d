"""Make, check, look into and train from TFRecord data, without TensorFlow."""

from tfrkit import errors
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.policy import TENSORFLOW, TFRKIT, ReadPolicy
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.model.spec_json import spec_from_json, spec_to_json
from tfrkit.model.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tfrkit.records.damage import Damage
from tfrkit.records.index import Index, build_index, write_text_index
from tfrkit.records.options import TFRecordCompressionType, TFRecordOptions
from tfrkit.records.reader import read_blocks, read_records
from tfrkit.records.record_file import RecordFile
from tfrkit.records.repair import RepairReport, repair
from tfrkit.records.shards import ShardWriter, shard_of
from tfrkit.records.verify import FileReport, VerifyReport, verify
from tfrkit.records.writer import TFRecordWriter

__all__ = [
    "TENSORFLOW",
    "TFRKIT",
    "Block",
    "BytesColumn",
    "Damage",
    "FileReport",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "Index",
    "Ragged",
    "RaggedFeature",
    "ReadPolicy",
    "RecordFile",
    "RepairReport",
    "ShardWriter",
    "Sparse",
    "SparseFeature",
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "VerifyReport",
    "build_index",
    "errors",
    "read_blocks",
    "read_records",
    "repair",
    "shard_of",
    "spec_from_json",
    "spec_to_json",
    "verify",
    "write_text_index",
]
