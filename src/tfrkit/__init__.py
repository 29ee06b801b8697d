"""Make, check, look into and train from TFRecord data, without TensorFlow."""

from tfrkit import errors
from tfrkit.model.block import Block
from tfrkit.records.index import Index
from tfrkit.records.options import TFRecordCompressionType, TFRecordOptions
from tfrkit.records.policy import TENSORFLOW, TFRKIT, ReadPolicy
from tfrkit.records.reader import read_blocks, read_records
from tfrkit.records.record_file import RecordFile
from tfrkit.records.writer import TFRecordWriter

__all__ = [
    "TENSORFLOW",
    "TFRKIT",
    "Block",
    "Index",
    "ReadPolicy",
    "RecordFile",
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "errors",
    "read_blocks",
    "read_records",
]
