"""Examples of TFX pipelines: their layouts, where the schema is found, and what is wrong with them."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tfrkit.stores.files import make_folder, write_bytes

SCHEMA = b"""
feature {
  name: "trip_miles"
  type: FLOAT
  presence { min_fraction: 1.0 min_count: 1 }
  shape { dim { size: 1 } }
}
feature { name: "payment" type: BYTES domain: "payment" presence { min_count: 1 } }
feature { name: "hour" type: INT value_count { min: 1 max: 1 } presence { min_fraction: 1.0 } }
feature { name: "gone" type: INT lifecycle_stage: DEPRECATED }
string_domain { name: "payment" value: "Cash" value: "Card" }
"""


def write_shards(folder, name, counts, suffix=".gz"):
    make_folder(folder)
    for shard, count in enumerate(counts):
        path = f"{folder}/{name}-{shard:05d}-of-{len(counts):05d}{suffix}"
        with tfr.TFRecordWriter(path, "GZIP" if suffix else None) as writer:
            for number in range(count):
                payment = {"payment": "Cash"} if number % 2 else {}
                writer.write_example({"trip_miles": number + 0.5, "hour": number, **payment})


def write_schema(folder, data=SCHEMA):
    make_folder(folder)
    write_bytes(f"{folder}/schema.pbtxt", data)


@pytest.fixture
def pipeline(tmp_path):
    root = str(tmp_path / "taxi")
    write_shards(f"{root}/CsvExampleGen/examples/1/Split-train", "data_tfrecord", [3, 2])
    write_shards(f"{root}/CsvExampleGen/examples/1/Split-eval", "data_tfrecord", [2])
    write_schema(f"{root}/SchemaGen/schema/3", b"feature { name: 'old' type: INT }")
    write_schema(f"{root}/SchemaGen/schema/11")
    return root


def examples_of(pipeline):
    return f"{pipeline}/CsvExampleGen/examples/1"


def test_splits_are_folders_and_the_newest_schema_says_what_is_in_them(pipeline):
    found = tfr.open_folder(examples_of(pipeline))
    assert (found.kind, sorted(found.splits)) == ("tfx", ["eval", "train"])
    assert len(found.splits["train"].shards) == 2
    assert found.features == {
        "trip_miles": tfr.FixedLenFeature([1], "float32"),
        "payment": tfr.VarLenFeature("bytes"),
        "hour": tfr.FixedLenFeature([1], "int64"),
    }
    assert found.class_names == {"payment": ("Cash", "Card")}


def test_values_are_those_of_the_records_in_order_and_by_number(pipeline):
    ds = tfr.load(examples_of(pipeline), "train")
    assert [float(each["trip_miles"][0]) for each in ds] == [0.5, 1.5, 2.5, 0.5, 1.5]
    assert len(ds) == 5
    assert ds[4]["payment"].to_list() == [b"Cash"]
    assert ds[3]["payment"].to_list() == []
    assert next(iter(ds.batch(2)))["payment"].to_list() == [[], [b"Cash"]]
    assert len(tfr.load(examples_of(pipeline), "train[:40%]+eval")) == 4


def test_what_transform_writes_has_its_own_schema(pipeline):
    write_shards(f"{pipeline}/Transform/transformed_examples/5/Split-train", "transformed_examples", [2])
    for number, name in ((5, "hour"), (7, "trip_miles")):
        write_schema(
            f"{pipeline}/Transform/transform_graph/{number}/transformed_metadata",
            f"feature {{ name: '{name}' type: {'INT' if name == 'hour' else 'FLOAT'} }}".encode(),
        )
    ds = tfr.load(f"{pipeline}/Transform/transformed_examples/5", "train")
    assert [each["hour"].tolist() for each in ds] == [[0], [1]]


def test_layouts_without_execution_numbers_are_read(tmp_path):
    write_shards(str(tmp_path / "BigQueryExampleGen_73/examples/Split-train"), "data_tfrecord", [2])
    write_schema(str(tmp_path / "SchemaGen_99/schema"))
    assert list(tfr.open_folder(tmp_path / "BigQueryExampleGen_73/examples").features) == [
        "trip_miles",
        "payment",
        "hour",
    ]


def test_old_layouts_have_folders_train_and_eval(tmp_path):
    write_shards(str(tmp_path / "train"), "data_tfrecord", [2])
    write_shards(str(tmp_path / "eval"), "data_tfrecord", [1])
    write_schema(str(tmp_path))
    found = tfr.open_folder(tmp_path)
    assert (found.kind, list(found.splits)) == ("tfx", ["train", "eval"])


def test_folders_of_other_stores_are_opened():
    root = "memory://tfx/taxi"
    write_shards(f"{root}/CsvExampleGen/examples/1/Split-train", "data_tfrecord", [3])
    write_schema(f"{root}/SchemaGen/schema/3")
    assert len(list(tfr.load(examples_of(root), "train"))) == 3
    assert list(tfr.open_folder(examples_of(root)).class_names) == ["payment"]


def test_without_a_schema_records_say_what_they_are(tmp_path):
    write_shards(str(tmp_path / "Split-train"), "data_tfrecord", [3])
    assert sorted(tfr.open_folder(tmp_path).features) == ["hour", "payment", "trip_miles"]


def test_a_schema_that_is_named_is_used_of_any_folder(tmp_path):
    write_shards(str(tmp_path / "any"), "x.tfrecord", [3], suffix="")
    write_schema(str(tmp_path))
    path = tmp_path / "schema.pbtxt"
    assert tfr.open_folder(tmp_path / "any").kind == "shards"
    assert tfr.open_folder(tmp_path / "any", schema=path).class_names == {"payment": ("Cash", "Card")}
    assert tfr.load(tmp_path / "any", "x", schema=path)[1]["trip_miles"].tolist() == [1.5]


def test_missing_shards_and_empty_splits_are_named(pipeline, tmp_path):
    folder = f"{examples_of(pipeline)}/Split-train"
    (tmp_path / folder / "data_tfrecord-00001-of-00002.gz").unlink()
    with pytest.raises(
        tfr.errors.NotFoundError,
        match=r"Split-train; 1 shards .* are missing: 'data_tfrecord-00001-of-00002\.gz'",
    ):
        tfr.open_folder(examples_of(pipeline))
    (tmp_path / folder / "data_tfrecord-00000-of-00002.gz").unlink()
    with pytest.raises(tfr.errors.NotFoundError, match="the split 'train' has no shards"):
        tfr.open_folder(examples_of(pipeline))


def test_parquet_is_refused(tmp_path):
    make_folder(str(tmp_path / "Split-train"))
    write_bytes(str(tmp_path / "Split-train/data_parquet-00000-of-00001.parquet"), b"")
    with pytest.raises(tfr.errors.UnimplementedError, match="its examples are Parquet files"):
        tfr.open_folder(tmp_path)


def test_unknown_splits_name_those_that_there_are(pipeline):
    with pytest.raises(
        tfr.errors.NotFoundError, match=r"Unknown split 'test'. Should be one of \['eval', 'train'\]"
    ):
        tfr.load(examples_of(pipeline), "test")


def test_a_feature_that_records_lack_is_named(pipeline):
    write_schema(f"{pipeline}/SchemaGen/schema/12", SCHEMA.replace(b"trip_miles", b"trip_hours"))
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"trip_hours.* is required but could not be found"
    ):
        list(tfr.load(examples_of(pipeline), "train"))


def test_features_that_no_example_has_are_left_out_with_a_warning(pipeline):
    write_schema(f"{pipeline}/SchemaGen/schema/12", SCHEMA + b"feature { name: 'rows' type: STRUCT }")
    with pytest.warns(UserWarning, match="features of types that are not read: 'rows'"):
        assert "rows" not in tfr.open_folder(examples_of(pipeline)).features


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"nonsense", "line 1: expected protobuf's text format"), (b"feature {" * 9999, "more than 100 messages"),
        (b"", "expected a schema"), (b"feature { type: INT }", "expected a schema"), (b"feature: 3", "expected {"),
        (b"feature { name: 'x' type: INT shape { dim { size: 4000000000 } } }", "expected a shape"),
        (b"feature { name: 'x' type: INT shape { dim { size: big } } }", "size: expected an integer"),
        (b"feature { name: 'x' type: INT presence { min_fraction: all } }", "min_fraction: expected a number"),
        (b"feature { name: 'x' } sparse_feature { name: 'y' }", "expected names of index and value features"),
        (b"\xff\xfe\x00", "expected text"),
    ],
)  # fmt: skip
def test_a_schema_that_is_none_is_refused(pipeline, data, text):
    write_schema(f"{pipeline}/SchemaGen/schema/12", data)
    with pytest.raises(tfr.errors.DataLossError) as caught:
        tfr.open_folder(examples_of(pipeline))
    assert text in str(caught.value)
    assert str(caught.value).startswith(f"{pipeline}/SchemaGen/schema/12/schema.pbtxt")


def test_a_schema_that_is_named_is_used_whatever_the_folder_is(tmp_path):
    write_schema(str(tmp_path))
    path = tmp_path / "schema.pbtxt"
    example = {"trip_miles": [1.5], "payment": ["Cash"], "hour": [3]}
    tfr.write_tfds(tmp_path / "taxi/1.0.0", {"train": [example]})
    with tfr.ShardWriter(tmp_path / "ours/train", shards=1) as writer:
        writer.write_example(example)
    (tmp_path / "detection").mkdir()
    with tfr.TFRecordWriter(str(tmp_path / "detection/train.record")) as writer:
        writer.write_example(example)
    (tmp_path / "detection/label_map.pbtxt").write_text("item { id: 1 name: 'a' }")
    for folder, split in (("taxi/1.0.0", "taxi-train"), ("ours", "train"), ("detection", "train")):
        assert tfr.open_folder(tmp_path / folder, schema=path).class_names == {"payment": ("Cash", "Card")}
        assert tfr.load(tmp_path / folder, split, schema=path)[0]["hour"].tolist() == [3]
        with pytest.raises(tfr.errors.NotFoundError, match=r"no-such\.pbtxt"):
            tfr.open_folder(tmp_path / folder, schema=tmp_path / "no-such.pbtxt")


def test_a_schema_without_types_is_refused_and_numbers_of_types_are_read(pipeline):
    write_schema(f"{pipeline}/SchemaGen/schema/12", b"feature { name: 'hour' type: STRUCT }")
    with pytest.raises(tfr.errors.UnimplementedError, match=r"none of its features is .* of a type that is"):
        tfr.open_folder(examples_of(pipeline))
    write_schema(f"{pipeline}/SchemaGen/schema/12", b"feature { name: 'hour' type: 2 }")
    assert tfr.load(examples_of(pipeline), "train")[1]["hour"].tolist() == [1]
