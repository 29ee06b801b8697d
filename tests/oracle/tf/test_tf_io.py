"""tf.io and tf.train by their names: records written, read, parsed and decoded, with tensors in and out.

What the parsers make of bytes is tested in `test_parse_*.py`, whose cases also run with `tfrkit.tf`.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.oracle import tensorflow
from tests.oracle.support.tf_scenarios import ours, same
from tests.support.rules import tf_rule


def _example(tf: Any, number: int) -> bytes:
    features = {
        "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
        "v": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * (number % 3))),
        "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a\0", str(number).encode()])),
    }
    found: bytes = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    return found


def _spec(tf: Any) -> Any:
    return {
        "n": tf.io.FixedLenFeature([], tf.int64),
        "v": tf.io.VarLenFeature(tf.float32),
        "s": tf.io.FixedLenFeature([2], tf.string),
        "r": tf.io.RaggedFeature(tf.int64),
        "d": tf.io.FixedLenFeature([], tf.string, default_value="none"),
    }


def check(*cases: Callable[[Any], Any]) -> None:
    """Both give the same in every case."""
    for number, case in enumerate(cases):
        try:
            same(case)
        except AssertionError as error:
            raise AssertionError(f"case {number}: {error}") from None


@tf_rule("6 parsing gives tensors")
def test_parsing_gives_tensors() -> None:
    check(
        lambda tf: tf.io.parse_single_example(_example(tf, 1), _spec(tf)),
        lambda tf: tf.io.parse_single_example(tf.constant(_example(tf, 2)), _spec(tf)),
        lambda tf: tf.io.parse_example([_example(tf, n) for n in range(4)], _spec(tf)),
        lambda tf: tf.io.parse_example(tf.constant([_example(tf, n) for n in range(4)]), _spec(tf)),
        lambda tf: tf.io.parse_example(tf.constant(_example(tf, 1)), _spec(tf)),
        lambda tf: tf.io.parse_single_example(tf.constant([b"x"]), _spec(tf)),
        lambda tf: tf.io.parse_single_example(b"x", _spec(tf)),
        lambda tf: tf.io.parse_example([b"", b"x"], _spec(tf), example_names=["a", "b"]),
        lambda tf: tf.io.parse_single_example(b"", {"a": tf.io.FixedLenFeature([2], "int64", [7, 8])}),
        lambda tf: tf.io.parse_single_example(
            b"", {"a": tf.io.FixedLenFeature([2], "int64", tf.constant([7, 8]))}
        ),
        lambda tf: tf.io.parse_single_example(b"", {}),
    )


@tf_rule("6 parsing order")
def test_order_of_features() -> None:
    def spec(tf: Any) -> Any:
        io = tf.io
        ragged = io.RaggedFeature
        return {
            "z": io.VarLenFeature("int64"), "y": io.FixedLenFeature([], "int64", 1), "w": ragged("int64"),
            "x": io.SparseFeature("x1", "x2", "int64", 5), "u": io.FixedLenSequenceFeature([], "int64", True),
            "v": ragged("int64", value_key="q", partitions=[ragged.RowLengths("p")]), "t": io.VarLenFeature("string"),
            "r": ragged("int64", value_key="w"), "a": io.FixedLenFeature([], "string", "x"),
            "b": ragged("int64", value_key="b", partitions=[ragged.UniformRowLength(2)]),
        }  # fmt: skip

    def lists(tf: Any) -> Any:
        features = spec(tf)
        fixed = tf.io.FixedLenSequenceFeature([], "int64", True)
        return {key: features[key] for key in "ztrw"} | {"s": fixed, "c": fixed}

    def context(tf: Any) -> Any:
        features = spec(tf)
        return {key: features[key] for key in "zyrwat"}

    check(
        lambda tf: list(tf.io.parse_example([b""], spec(tf))),
        lambda tf: list(tf.io.parse_single_example(b"", spec(tf))),
        lambda tf: list(map(list, tf.io.parse_sequence_example([b""], context(tf), lists(tf)))),
        lambda tf: list(map(list, tf.io.parse_single_sequence_example(b"", context(tf), lists(tf)))),
    )


@tf_rule("6 parsing in pipelines")
@pytest.mark.parametrize("batched", [False, True])
def test_parsing_in_pipelines(tmp_path: Path, batched: bool) -> None:
    def case(tf: Any) -> Any:
        path = str(tmp_path / "x.tfrecord")
        with tf.io.TFRecordWriter(path) as writer:
            for number in range(7):
                writer.write(_example(tf, number))
        spec = _spec(tf)
        dataset = tf.data.TFRecordDataset(path)
        if batched:
            found = list(dataset.batch(3).map(lambda x: tf.io.parse_example(x, spec)))
        else:
            found = list(dataset.map(lambda x: tf.io.parse_single_example(x, spec)).batch(3))
        return found

    same(case)


@tf_rule("6 sequences")
def test_parsing_sequences() -> None:
    def record(tf: Any) -> bytes:
        steps = [
            tf.train.Feature(int64_list=tf.train.Int64List(value=list(range(count)))) for count in (1, 0, 2)
        ]
        example = tf.train.SequenceExample(
            context=tf.train.Features(
                feature={"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))}
            ),
            feature_lists=tf.train.FeatureLists(feature_list={"t": tf.train.FeatureList(feature=steps)}),
        )
        found: bytes = example.SerializeToString()
        return found

    def specs(tf: Any, kind: str) -> tuple[Any, Any]:
        context = {"n": tf.io.FixedLenFeature([], tf.int64), "m": tf.io.VarLenFeature(tf.string)}
        return context, {"t": getattr(tf.io, kind)(tf.int64)}

    for kind in ("VarLenFeature", "RaggedFeature"):
        check(
            lambda tf, kind=kind: tf.io.parse_single_sequence_example(
                tf.constant(record(tf)), *specs(tf, kind)
            ),
            lambda tf, kind=kind: tf.io.parse_sequence_example([record(tf), b""][:1], *specs(tf, kind)),
        )


@tf_rule("6 arguments of TensorFlow 1")
def test_arguments_of_tensorflow_1() -> None:
    check(
        lambda tf: tf.compat.v1.parse_single_example(_example(tf, 1), _spec(tf), "name", "example"),
        lambda tf: tf.compat.v1.parse_example([_example(tf, 1)], _spec(tf), None, ["example"]),
        lambda tf: tf.compat.v1.decode_raw(b"abcd", tf.int16, True, "name"),
        lambda tf: tf.compat.v1.decode_raw(bytes=tf.constant(b"abcd"), out_type=tf.uint8),
    )
    found = ours().parse_single_example(_example(ours(), 1), _spec(ours()), "name")
    assert int(found["n"]) == 1


@tf_rule("6 decoding")
def test_decoding() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    check(
        lambda tf: tf.io.decode_raw(tf.constant([b"\1\0", b"\2\1"]), tf.int16),
        lambda tf: tf.io.decode_raw(b"\1\2\3", tf.uint8, fixed_length=5),
        lambda tf: tf.io.decode_raw(b"\1\2\3", tf.int16),
        lambda tf: tf.io.serialize_tensor(tf.constant(array)),
        lambda tf: tf.io.parse_tensor(tf.io.serialize_tensor(array), tf.float32),
        lambda tf: tf.io.parse_tensor(tf.io.serialize_tensor(tf.constant([["a"], ["b\0"]])), tf.string),
        lambda tf: tf.io.parse_tensor(tf.io.serialize_tensor(3), out_type=tf.int32, name="x"),
        lambda tf: tf.io.parse_tensor(tf.io.serialize_tensor(array), tf.int32),
        lambda tf: tf.io.decode_base64(tf.io.encode_base64(tf.constant(["a", "bc"]))),
        lambda tf: tf.io.encode_base64("a", pad=True),
        lambda tf: tf.io.decode_compressed(tf.constant([zlib.compress(b"abc")]), "ZLIB"),
        lambda tf: tf.io.decode_json_example(
            '{"features": {"feature": {"a": {"bytesList": {"value": ["YWI="]}}}}}'
        ),
        lambda tf: tuple(
            tf.io.decode_proto(
                tf.constant([_example(tf, 1)]), "tensorflow.Example", ["features"], [tf.string]
            )
        ),
    )


@tf_rule("6 writer")
@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_files_have_the_same_bytes(tmp_path: Path, compression: str) -> None:
    def case(tf: Any) -> Any:
        path = tmp_path / "x"
        options = tf.io.TFRecordOptions(compression_type=compression, compression_level=5)
        with tf.io.TFRecordWriter(str(path), options) as writer:
            for number in range(100):
                writer.write(b"%d" % number * 50)
            writer.flush()
            writer.write("text")
        read = tf.data.TFRecordDataset(str(path), compression_type=compression)
        old = tf.compat.v1.io.tf_record_iterator(str(path), options)
        return path.read_bytes(), list(read.take(2)), len(list(old))

    same(case)


@tf_rule("6 writer arguments")
def test_writer_takes_what_tensorflow_takes(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    for case in (
        lambda tf: tf.io.TFRecordWriter(path, "FOO"),
        lambda tf: tf.io.TFRecordWriter(str(tmp_path / "no" / "x")),
        lambda tf: tf.io.TFRecordOptions("gzip"),
        lambda tf: tf.compat.v1.io.TFRecordOptions.get_compression_type_string(
            tf.compat.v1.io.TFRecordOptions(tf.compat.v1.io.TFRecordCompressionType.GZIP)
        ),
        lambda tf: list(tf.data.TFRecordDataset([[path], [path]])),
        lambda tf: list(tf.data.TFRecordDataset(tf.data.Dataset.from_tensors(path))),
        lambda tf: tf.data.TFRecordDataset(3),
    ):
        same(case)


def test_members_are_written_on_request(tmp_path: Path) -> None:
    tf = ours()
    with tf.io.TFRecordWriter(str(tmp_path / "x"), "GZIP", members=True) as writer:
        for number in range(3000):
            writer.write(b"x" * 1000 + b"%d" % number)
    assert (tmp_path / "x").read_bytes().count(b"\x1f\x8b\x08") > 1
    dataset = tensorflow().data.TFRecordDataset(str(tmp_path / "x"), "GZIP")
    assert sum(1 for _ in dataset) == 3000


@tf_rule("6 messages")
def test_messages() -> None:
    def case(tf: Any) -> Any:
        example = tf.train.Example.FromString(_example(tf, 2))
        feature = example.features.feature
        return (
            sorted(feature),
            list(feature["n"].int64_list.value),
            str(feature["n"]),
            feature["v"].WhichOneof("kind"),
            tf.train.Example.DESCRIPTOR.full_name,
        )

    same(case)


@tf_rule("6 errors")
def test_errors_have_codes() -> None:
    def case(tf: Any) -> Any:
        names = [name for name in dir(tensorflow().errors) if name.isupper()]
        classes = [
            name for name in dir(tensorflow().errors) if name.endswith("Error") and "InGraph" not in name
        ]
        v1 = tf.compat.v1.errors
        return (
            [getattr(tf.errors, name) for name in names],
            [issubclass(getattr(tf.errors, name), tf.errors.OpError) for name in classes],
            v1.exception_type_from_error_code(15).__name__,
            v1.error_code_from_exception_type(tf.errors.NotFoundError),
        )

    same(case)


def test_names_of_old_are_at_the_top() -> None:
    tf = ours()
    assert tf.python_io.TFRecordWriter is tf.io.TFRecordWriter
    assert tf.FixedLenFeature is tf.io.FixedLenFeature
    assert tf.compat.v1.train.Example is tf.train.Example
    assert tf.decode_raw(b"ab", "uint8").numpy().tolist() == [97, 98]
    for name in ("Coordinator", "start_queue_runners", "shuffle_batch", "Saver"):
        with pytest.raises(AttributeError, match="does not exist in tfrkit"):
            getattr(tf.train, name)


@tf_rule("6 features")
def test_features_hold_types():
    def facts(tf, feature):
        return [repr(feature), feature._fields, repr(feature.dtype), type(feature.dtype).__name__]

    for line in (
        "FixedLenFeature([], tf.int64)",
        "FixedLenFeature([2], 'float32', [1.0, 2.0])",
        "FixedLenFeature([], np.int64)",
        "VarLenFeature(tf.string)",
        "SparseFeature('i', 'v', tf.int64, 10)",
        "FixedLenSequenceFeature([], tf.int64, allow_missing=True)",
        "RaggedFeature(tf.int64)",
        "RaggedFeature('int64')",
        "RaggedFeature(np.float32, row_splits_dtype=tf.int64)",
        "RaggedFeature(dtype=tf.string, value_key='v', partitions=[tf.io.RaggedFeature.RowLengths('n')])",
        "RaggedFeature(tf.int64, 'v', [tf.io.RaggedFeature.UniformRowLength(2)], validate=True)",
        "RaggedFeature(tf.int32)",
        "RaggedFeature(int)",
        "RaggedFeature(tf.int64, row_splits_dtype=tf.float32)",
        "RaggedFeature(tf.int64, value_key=5)",
        "RaggedFeature(tf.int64, partitions=5)",
    ):
        same(lambda tf, line=line: facts(tf, eval(f"tf.io.{line}", {"tf": tf, "np": np})))
    same(lambda tf: tf.io.RaggedFeature(tf.int64).dtype == tf.int64)
    same(lambda tf: tf.io.RaggedFeature(tf.int64) == tf.io.RaggedFeature("int64"))


@tf_rule("6 features")
def test_ragged_features_are_parsed_and_pickled():
    def case(tf):
        values = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2, 3]))
        rows = tf.train.Feature(int64_list=tf.train.Int64List(value=[2, 1]))
        example = tf.train.Example(features=tf.train.Features(feature={"v": values, "n": rows}))
        record = example.SerializeToString()
        feature = tf.io.RaggedFeature(tf.int64, "v", [tf.io.RaggedFeature.RowLengths("n")])
        found = [
            tf.io.parse_single_example(record, {"r": feature}),
            tf.io.parse_example([record, record], {"r": feature, "v": tf.io.RaggedFeature(tf.int64)}),
        ]
        return found, [
            row["r"]
            for row in tf.data.Dataset.from_tensors(record).map(
                lambda x: tf.io.parse_single_example(x, {"r": feature})
            )
        ]

    same(case)
    feature = ours().io.RaggedFeature("int64", "v")
    assert pickle.loads(pickle.dumps(feature)) == feature
    assert tfr.spec_from_json(tfr.spec_to_json({"r": feature})) == {"r": tfr.RaggedFeature("int64", "v")}
