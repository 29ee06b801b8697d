"""inspect and infer_spec on files of every kind."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.records.support.made import flip, put
from tfrkit.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfrkit.records.describe.choose_records import choose_files
from tfrkit.records.describe.schema import RecordPlace


def examples(dicts) -> list[bytes]:
    return [tfr.make_example(values).SerializeToString() for values in dicts]


def write(path, records, **options) -> str:
    with tfr.TFRecordWriter(path, **options) as writer:
        writer.write_many(records)
    return str(path)


@pytest.fixture
def numbers(tmp_path) -> list[str]:
    """Three files of 50 Examples each, `n` counting on."""
    return [
        write(
            tmp_path / f"n-{f}.tfrecord",
            examples({"n": 50 * f + i, "x": [0.5] * (i % 3 + 1)} for i in range(50)),
        )
        for f in range(3)
    ]


def test_everything_is_looked_at(numbers):
    schema = tfr.inspect(numbers)
    assert (schema.kind, schema.records, schema.files, schema.sampled) == (
        "Example",
        150,
        tuple(numbers),
        False,
    )
    assert schema.features["n"].kinds["int64"].range == (0, 149)
    counts = schema.features["x"].counts
    assert (counts.min, counts.max, counts.usual, counts.times) == (1, 3, 1, 51)
    assert schema.spec == {"n": tfr.FixedLenFeature([], "int64"), "x": tfr.VarLenFeature("float32")}
    assert schema.data_bytes == sum(len(record) for record in tfr.read_records(numbers))


def test_spec_parses_the_records(numbers):
    spec = tfr.infer_spec(numbers)
    batch = tfr.parse_example(list(tfr.read_records(numbers)), spec)
    assert batch["n"].tolist() == list(range(150))
    assert batch["x"][2].tolist() == [0.5] * 3


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_result_does_not_depend_on_threads(tmp_path, threads):
    records = examples({f"k{i % 7}": b"%d" % i, "n": i if i % 11 else 0.5} for i in range(20_000))
    path = write(tmp_path / "a.tfrecord", records)
    assert tfr.inspect(path, threads=threads, policy=tfr.TFRKIT) == tfr.inspect(path)


def test_conflicting_kinds_name_a_record_of_each(tmp_path):
    first = write(tmp_path / "a.tfrecord", examples({"v": i} for i in range(3)))
    second = write(tmp_path / "b.tfrecord", examples([{"v": 5}, {"v": 0.5}, {"v": b"x", "w": 1}]))
    schema = tfr.inspect([first, second])
    (conflict,) = schema.conflicts
    assert {kind: use.first for kind, use in conflict.kinds.items()} == {
        "int64": RecordPlace(first, 0),
        "float32": RecordPlace(second, 1),
        "bytes": RecordPlace(second, 2),
    }
    assert schema.spec == {"w": tfr.VarLenFeature("int64")}
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.infer_spec([first, second])
    assert f"'v' is int64 in 4 (first: record 0 of {first!r})" in str(caught.value)
    assert f"float32 in 1 (first: record 1 of {second!r})" in str(caught.value)
    assert (caught.value.path, caught.value.record) == (second, 1)


def test_record_that_is_neither_is_an_error_with_its_place(tmp_path):
    path = write(tmp_path / "a.tfrecord", [*examples([{"a": 1}] * 5), b"hello world"])
    schema = tfr.inspect(path)
    assert (schema.kind, schema.examples, schema.records) == ("mixed", 5, 6)
    assert schema.others[0].looks_like == "UTF-8 text"
    assert "1 neither Example nor SequenceExample, first: record 5 of" in str(schema)
    with pytest.raises(InvalidArgumentError, match=r"record 5 of .* which looks like UTF-8 text") as caught:
        tfr.infer_spec(path)
    assert (caught.value.path, caught.value.record) == (path, 5)


def test_files_without_examples_have_no_spec(tmp_path):
    path = write(tmp_path / "a.tfrecord", [b"one", b"two"])
    schema = tfr.inspect(path)
    assert schema.kind == "other"
    with pytest.raises(InvalidArgumentError, match="neither an Example nor a SequenceExample is record 0"):
        _ = schema.spec


def test_sequence_examples_have_two_specs(tmp_path):
    records = [
        tfr.make_sequence_example({"id": i}, {"pair": [[1, 2]] * i, "words": [[b"x"] * s for s in range(3)]})
        for i in range(4)
    ]
    records.append(tfr.make_sequence_example({"id": 4}, {"words": [[b"x"]]}))
    path = write(tmp_path / "a.tfrecord", [record.SerializeToString() for record in records])
    schema = tfr.inspect(path)
    assert schema.kind == "SequenceExample"
    assert schema.context_spec == {"id": tfr.FixedLenFeature([], "int64")}
    assert schema.sequence_spec == {
        "pair": tfr.FixedLenSequenceFeature([2], "int64", True),
        "words": tfr.VarLenFeature("bytes"),
    }
    steps = schema.feature_lists["pair"].steps
    assert (steps.min, steps.max) == (0, 3)
    with pytest.raises(InvalidArgumentError, match="Use context_spec and sequence_spec") as caught:
        tfr.infer_spec(path)
    assert (caught.value.path, caught.value.record) == (path, 0)


def test_mixed_examples_and_sequences_are_reported(tmp_path):
    sequence = tfr.make_sequence_example({"a": 1}, {"s": [[1]]}).SerializeToString()
    path = write(tmp_path / "a.tfrecord", [*examples([{"a": 1}]), sequence])
    schema = tfr.inspect(path)
    assert schema.kind == "mixed"
    assert schema.firsts == {"Example": RecordPlace(path, 0), "SequenceExample": RecordPlace(path, 1)}
    assert schema.sequence_spec == {"s": tfr.FixedLenSequenceFeature([], "int64", True)}


def test_empty_records_are_examples_without_features(tmp_path):
    path = write(tmp_path / "a.tfrecord", [b"", b"\x0a\x00"])
    schema = tfr.inspect(path)
    assert (schema.kind, schema.examples, schema.features, schema.spec) == ("Example", 2, {}, {})


def test_no_records(tmp_path):
    path = write(tmp_path / "a.tfrecord", [])
    assert tfr.inspect(path).kind == "none"
    assert str(tfr.inspect(path)) == f"no records in {path}"
    with pytest.raises(InvalidArgumentError, match="no records to infer a spec from"):
        tfr.infer_spec(path)


def test_unset_empty_and_missing_features_are_no_fixed_ones(tmp_path):
    unset, empty = tfr.Example(), tfr.Example()
    _ = unset.features.feature["a"]
    empty.features.feature["a"].int64_list.SetInParent()
    full = tfr.make_example({"a": 1})
    for other in (unset, empty, tfr.Example()):
        path = write(tmp_path / "a.tfrecord", [m.SerializeToString() for m in (full, other)])
        assert tfr.infer_spec(path) == {"a": tfr.VarLenFeature("int64")}
    only_unset = write(tmp_path / "b.tfrecord", [unset.SerializeToString()])
    assert tfr.infer_spec(only_unset) == {}
    assert tfr.inspect(only_unset).features["a"].kind is None


# -- samples -----------------------------------------------------------------------------------------------------------


def test_sample_is_spread_over_the_files(numbers):
    schema = tfr.inspect(numbers, sample=6)
    assert (schema.records, schema.sampled) == (6, True)
    assert schema.features["n"].kinds["int64"].range == (0, 101)
    assert tfr.inspect(numbers, sample=6) == schema


def test_sample_takes_more_of_longer_files(tmp_path):
    sizes = (2, 40, 3)
    files = [write(tmp_path / f"{i}.tfrecord", examples([{"n": i}] * size)) for i, size in enumerate(sizes)]
    assert tfr.inspect(files, sample=30).records == 30
    assert tfr.inspect(files, sample=1000).records == 45


def test_sample_of_few_takes_some_files(numbers):
    assert tfr.inspect(numbers, sample=2).files == (numbers[0], numbers[1])
    assert choose_files(list(range(10)), 4) == [0, 2, 5, 7]


def test_sample_reads_only_what_is_needed(numbers, tmp_path):
    damaged = put(tmp_path / "d.tfrecord", flip(Path(numbers[0]).read_bytes(), -10))
    assert tfr.inspect(damaged, sample=10).records == 10
    with pytest.raises(DataLossError):
        tfr.inspect(damaged)


def test_sample_of_a_file_with_an_index_comes_from_everywhere(tmp_path):
    path = write(tmp_path / "a.tfrecord", examples({"n": i} for i in range(100)), index=True)
    schema = tfr.inspect(path, sample=10)
    assert schema.records == 10
    assert schema.features["n"].kinds["int64"].range == (0, 90)
    assert tfr.inspect([path, path], sample=300).records == 200


def test_sample_names_records_by_their_number_in_the_file(tmp_path):
    records = examples([{"n": 1}] * 50 + [{"n": 0.5}] * 50)
    path = write(tmp_path / "a.tfrecord", records, index=True)
    assert tfr.inspect(path, sample=10).features["n"].kinds["float32"].first == RecordPlace(path, 50)


def test_sample_from_a_stream(numbers):
    data = Path(numbers[0]).read_bytes()
    assert tfr.inspect([io.BytesIO(data), numbers[1]], sample=80).records == 80


@pytest.mark.parametrize("sample", [0, -1])
def test_sample_must_be_positive(numbers, sample):
    with pytest.raises(ValueError, match=f"expected sample to be at least 1 but got {sample}"):
        tfr.inspect(numbers, sample)


# -- reading -----------------------------------------------------------------------------------------------------------


def test_damage_is_an_error_or_skipped(numbers, tmp_path):
    damaged = put(tmp_path / "d.tfrecord", flip(Path(numbers[0]).read_bytes(), 200))
    with pytest.raises(DataLossError):
        tfr.inspect(damaged)
    schema = tfr.inspect(damaged, on_corrupt="skip")
    assert (schema.records, schema.skipped) == (49, 1)
    assert "1 damage was passed over" in str(schema)


def test_missing_file():
    with pytest.raises(NotFoundError):
        tfr.inspect("nothing-*.tfrecord")


@pytest.mark.parametrize("sample", [None, 20])
def test_compressed_files(tmp_path, sample):
    path = write(tmp_path / "a.tfrecord.gz", examples({"n": i} for i in range(30)))
    assert tfr.inspect(path, sample).spec == {"n": tfr.FixedLenFeature([], "int64")}
    assert tfr.inspect(path, sample, compression="gzip").records == (sample or 30)


def test_progress_is_told(numbers):
    told = []
    schema = tfr.inspect(numbers, progress=lambda records, size: told.append((records, size)))
    assert told[-1] == (150, schema.data_bytes)
