"""Make, check, look into and train from TFRecord data, without TensorFlow.

A name is imported when it is first used: a program that only writes records does not pay for parsing them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tfrkit import errors

if TYPE_CHECKING:  # the same names as in _EXPORTS and _SUBMODULES, for type checkers and editors
    from tfrkit import build, image
    from tfrkit.build.reshape.compress import compress
    from tfrkit.build.reshape.merge import merge
    from tfrkit.build.reshape.reshard import reshard
    from tfrkit.build.reshape.sample import sample
    from tfrkit.build.reshape.select import select
    from tfrkit.build.reshape.shuffle import shuffle
    from tfrkit.build.reshape.split import split
    from tfrkit.data.dataset import Dataset
    from tfrkit.data.engine.iterator import DatasetIterator
    from tfrkit.data.engine.merge_positions import merge_positions
    from tfrkit.data.engine.node import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
    from tfrkit.data.options import Options
    from tfrkit.data.report.world import world
    from tfrkit.data.shuffle.epoch_seeds import set_seed
    from tfrkit.data.sources.records_dataset import TFRecordDataset
    from tfrkit.data.sources.text_lines import TextLineDataset
    from tfrkit.folders import features, rlds
    from tfrkit.folders.folder_kind import FolderDescription
    from tfrkit.folders.folder_table import add_folder_kind
    from tfrkit.folders.kinds.youtube8m_folder import dequantize_frames
    from tfrkit.folders.load import load, open_folder
    from tfrkit.folders.split_language import even_splits
    from tfrkit.folders.tfds.write_tfds import write_tfds
    from tfrkit.integrations import grain, jax, keras, ray, spark, torch
    from tfrkit.integrations.datasets import to_hf
    from tfrkit.integrations.sql import sql
    from tfrkit.model.arrow.arrow_exchange import ArrowStream
    from tfrkit.model.block import Block
    from tfrkit.model.bytes_column import BytesColumn
    from tfrkit.model.element_spec import NoneTensorSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec
    from tfrkit.model.features import (
        bytes_feature,
        bytes_list_feature,
        feature,
        float_feature,
        float_list_feature,
        int64_feature,
        int64_list_feature,
    )
    from tfrkit.model.messages import (
        BytesList,
        Example,
        Feature,
        FeatureList,
        FeatureLists,
        Features,
        FloatList,
        Int64List,
        SequenceExample,
    )
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
    from tfrkit.parsing.encode import encode_examples, encode_sequence_examples
    from tfrkit.parsing.example_values import make_example, make_sequence_example, to_dict
    from tfrkit.parsing.parse import parse_example, parse_single_example
    from tfrkit.parsing.parse_sequence import parse_sequence_example, parse_single_sequence_example
    from tfrkit.parsing.payloads.decode_base64 import decode_base64, encode_base64
    from tfrkit.parsing.payloads.decode_compressed import decode_compressed
    from tfrkit.parsing.payloads.decode_proto import decode_proto
    from tfrkit.parsing.payloads.decode_raw import decode_raw
    from tfrkit.parsing.payloads.json_example import decode_json_example
    from tfrkit.parsing.payloads.parse_proto import parse_proto
    from tfrkit.parsing.payloads.tensor_proto import parse_tensor, serialize_tensor
    from tfrkit.records.access.index import Index, build_index, write_text_index
    from tfrkit.records.access.record_file import RecordFile
    from tfrkit.records.access.record_files import RecordFiles
    from tfrkit.records.access.zones import FeatureZones, Zones, build_zones
    from tfrkit.records.check.make_manifest import ManifestReport, make_manifest
    from tfrkit.records.check.repair import RepairReport, repair
    from tfrkit.records.check.repair_files import RepairFilesReport, repair_files
    from tfrkit.records.check.verify import FileReport, VerifyReport, verify
    from tfrkit.records.compare.diff import diff
    from tfrkit.records.compare.diff_report import DiffReport
    from tfrkit.records.describe.feature_statistics import FeatureStatistics
    from tfrkit.records.describe.inspect import infer_spec, inspect
    from tfrkit.records.describe.schema import FeatureSummary, Schema
    from tfrkit.records.describe.statistics import Statistics
    from tfrkit.records.describe.stats import stats
    from tfrkit.records.read.damage import Damage
    from tfrkit.records.read.read_examples import read_examples
    from tfrkit.records.read.reader import read_blocks, read_records
    from tfrkit.records.write.options import TFRecordCompressionType, TFRecordOptions
    from tfrkit.records.write.shards import ShardWriter, shard_of
    from tfrkit.records.write.writer import TFRecordWriter
    from tfrkit.scanning.read_table import read_table
    from tfrkit.scanning.scan import Scan, scan
    from tfrkit.stores.object_config import configure_store

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "TENSORFLOW",
    "TFRKIT",
    "UNKNOWN_CARDINALITY",
    "ArrowStream",
    "Block",
    "BytesColumn",
    "BytesList",
    "Damage",
    "Dataset",
    "DatasetIterator",
    "DiffReport",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "FeatureStatistics",
    "FeatureSummary",
    "FeatureZones",
    "Features",
    "FileReport",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "FloatList",
    "FolderDescription",
    "Index",
    "Int64List",
    "ManifestReport",
    "NoneTensorSpec",
    "Options",
    "Ragged",
    "RaggedFeature",
    "RaggedTensorSpec",
    "ReadPolicy",
    "RecordFile",
    "RecordFiles",
    "RepairFilesReport",
    "RepairReport",
    "Scan",
    "Schema",
    "SequenceExample",
    "ShardWriter",
    "Sparse",
    "SparseFeature",
    "SparseTensorSpec",
    "Statistics",
    "TFRecordCompressionType",
    "TFRecordDataset",
    "TFRecordOptions",
    "TFRecordWriter",
    "TensorSpec",
    "TextLineDataset",
    "VarLenFeature",
    "VerifyReport",
    "Zones",
    "add_folder_kind",
    "build",
    "build_index",
    "build_zones",
    "bytes_feature",
    "bytes_list_feature",
    "compress",
    "configure_store",
    "decode_base64",
    "decode_compressed",
    "decode_json_example",
    "decode_proto",
    "decode_raw",
    "dequantize_frames",
    "diff",
    "encode_base64",
    "encode_examples",
    "encode_sequence_examples",
    "errors",
    "even_splits",
    "feature",
    "features",
    "float_feature",
    "float_list_feature",
    "grain",
    "image",
    "infer_spec",
    "inspect",
    "int64_feature",
    "int64_list_feature",
    "jax",
    "keras",
    "load",
    "make_example",
    "make_manifest",
    "make_sequence_example",
    "merge",
    "merge_positions",
    "open_folder",
    "parse_example",
    "parse_proto",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "ray",
    "read_blocks",
    "read_examples",
    "read_records",
    "read_table",
    "repair",
    "repair_files",
    "reshard",
    "rlds",
    "sample",
    "scan",
    "select",
    "serialize_tensor",
    "set_seed",
    "shard_of",
    "shuffle",
    "spark",
    "spec_from_json",
    "spec_to_json",
    "split",
    "sql",
    "stats",
    "to_dict",
    "to_hf",
    "torch",
    "verify",
    "world",
    "write_text_index",
    "write_tfds",
]

# Each module with what it gives to this one.
_EXPORTS = {
    "build.reshape.compress": "compress",
    "build.reshape.merge": "merge",
    "build.reshape.reshard": "reshard",
    "build.reshape.sample": "sample",
    "build.reshape.select": "select",
    "build.reshape.shuffle": "shuffle",
    "build.reshape.split": "split",
    "data.dataset": "Dataset",
    "data.engine.iterator": "DatasetIterator",
    "data.engine.merge_positions": "merge_positions",
    "data.engine.node": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
    "data.options": "Options",
    "data.report.world": "world",
    "data.sources.records_dataset": "TFRecordDataset",
    "data.shuffle.epoch_seeds": "set_seed",
    "data.sources.text_lines": "TextLineDataset",
    "folders.folder_kind": "FolderDescription",
    "folders.folder_table": "add_folder_kind",
    "folders.kinds.youtube8m_folder": "dequantize_frames",
    "folders.load": "load open_folder",
    "folders.split_language": "even_splits",
    "folders.tfds.write_tfds": "write_tfds",
    "integrations.datasets": "to_hf",
    "integrations.sql": "sql",
    "parsing.example_values": "make_example make_sequence_example to_dict",
    "parsing.payloads.decode_base64": "decode_base64 encode_base64",
    "parsing.payloads.decode_compressed": "decode_compressed",
    "parsing.payloads.decode_proto": "decode_proto",
    "parsing.payloads.decode_raw": "decode_raw",
    "parsing.encode": "encode_examples encode_sequence_examples",
    "parsing.payloads.json_example": "decode_json_example",
    "parsing.payloads.parse_proto": "parse_proto",
    "parsing.parse": "parse_example parse_single_example",
    "parsing.parse_sequence": "parse_sequence_example parse_single_sequence_example",
    "parsing.payloads.tensor_proto": "parse_tensor serialize_tensor",
    "model.arrow.arrow_exchange": "ArrowStream",
    "model.block": "Block",
    "model.bytes_column": "BytesColumn",
    "model.element_spec": "NoneTensorSpec RaggedTensorSpec SparseTensorSpec TensorSpec",
    "model.features": (
        "bytes_feature bytes_list_feature feature float_feature float_list_feature int64_feature int64_list_feature"
    ),
    "model.messages": "BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List SequenceExample",
    "model.policy": "TENSORFLOW TFRKIT ReadPolicy",
    "model.ragged": "Ragged",
    "model.sparse": "Sparse",
    "model.spec_json": "spec_from_json spec_to_json",
    "model.specs": "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature",
    "records.read.damage": "Damage",
    "records.compare.diff": "diff",
    "records.compare.diff_report": "DiffReport",
    "records.describe.feature_statistics": "FeatureStatistics",
    "records.access.index": "Index build_index write_text_index",
    "records.access.zones": "FeatureZones Zones build_zones",
    "records.describe.inspect": "infer_spec inspect",
    "records.write.options": "TFRecordCompressionType TFRecordOptions",
    "records.read.read_examples": "read_examples",
    "scanning.read_table": "read_table",
    "scanning.scan": "Scan scan",
    "records.read.reader": "read_blocks read_records",
    "records.access.record_file": "RecordFile",
    "records.access.record_files": "RecordFiles",
    "records.check.make_manifest": "ManifestReport make_manifest",
    "records.check.repair": "RepairReport repair",
    "records.check.repair_files": "RepairFilesReport repair_files",
    "records.describe.schema": "FeatureSummary Schema",
    "records.describe.statistics": "Statistics",
    "records.describe.stats": "stats",
    "records.write.shards": "ShardWriter shard_of",
    "records.check.verify": "FileReport VerifyReport verify",
    "records.write.writer": "TFRecordWriter",
    "stores.object_config": "configure_store",
}
_SUBMODULES = {
    "build": "build",
    "features": "folders.features",
    "grain": "integrations.grain",
    "image": "image",
    "jax": "integrations.jax",
    "keras": "integrations.keras",
    "ray": "integrations.ray",
    "rlds": "folders.rlds",
    "spark": "integrations.spark",
    "torch": "integrations.torch",
}
_MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names.split()}


if not TYPE_CHECKING:  # a type checker reports names that are not there itself

    def __getattr__(name: str) -> object:
        if name in _SUBMODULES:
            return importlib.import_module(f"tfrkit.{_SUBMODULES[name]}")
        module = _MODULE_OF.get(name)
        if module is None:
            from tfrkit.model.near_names import missing_name

            raise missing_name("tfrkit", name, __all__)
        value: object = getattr(importlib.import_module(f"tfrkit.{module}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
