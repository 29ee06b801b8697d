from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.support.examples import example, example_dicts, plain, sequence, write
from tests.records.support.made import flip
from tfrkit import make_example, read_examples, to_dict
from tfrkit.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfrkit.testing.reference import frames


def records_of(dicts):
    return [make_example(features).SerializeToString() for features in dicts]


@pytest.mark.parametrize("conflicts", [False, True])
@given(st.data())
def test_dicts_are_those_of_to_dict(tmp_path_factory, conflicts, data):
    records = records_of(data.draw(st.lists(example_dicts(conflicts=conflicts), max_size=6)))
    path = write(tmp_path_factory.mktemp("examples") / "a.tfrecord", *records)
    found = list(read_examples(path))
    expected = [to_dict(record) for record in records]
    assert plain(found) == plain(expected)
    assert [list(row) for row in found] == [list(row) for row in expected]  # in the order of the keys


@given(
    st.lists(example_dicts(conflicts=True), max_size=5), st.sets(st.sampled_from(["i", "f", "ü", "nowhere"]))
)
def test_columns_chooses_features(tmp_path_factory, dicts, columns):
    records = records_of(dicts)
    path = write(tmp_path_factory.mktemp("examples") / "a.tfrecord", *records)
    rows = [to_dict(record) for record in records]
    expected = [{key: row[key] for key in row if key in columns} for row in rows]
    assert plain(list(read_examples(path, columns))) == plain(expected)


def test_columns_choose_of_too_many(tmp_path):
    path = write(tmp_path / "a", example(**{f"{number:06}": number for number in range(70_000)}))
    assert list(read_examples(path, ["069999", "nowhere"])) == [{"069999": np.array([69_999])}]
    assert len(next(read_examples(path))) == 70_000


@pytest.mark.parametrize("columns", ["label", b"label", ["a", 3]], ids=str)
def test_columns_that_are_no_names_are_refused(tmp_path, columns):
    with pytest.raises(TypeError, match=r"^expected (a list of names|names of features as str)"):
        read_examples(write(tmp_path / "a.tfrecord"), columns)


def test_many_blocks_and_files(tmp_path):
    for name in ("a", "b"):
        write(tmp_path / f"{name}.tfrecord", *[example(n=i, name=name) for i in range(500)])
    found = list(read_examples(tmp_path / "*.tfrecord", block_bytes=1000))
    assert [row["n"].tolist() for row in found] == [[i] for i in range(500)] * 2
    assert [row["name"] for row in found] == [[b"a"]] * 500 + [[b"b"]] * 500


def test_options_are_those_of_read_blocks(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(frames([example(n=1)])))
    assert (
        len(list(read_examples(path, compression="GZIP", crc=False, threads=1, max_record_bytes=1000))) == 1
    )
    with pytest.raises(NotFoundError):
        read_examples(tmp_path / "*.nothing")


def test_records_without_features(tmp_path):
    assert list(read_examples(write(tmp_path / "a", b"", b"\n\x00"))) == [{}, {}]
    assert list(read_examples(write(tmp_path / "b"))) == []


def test_rows_with_fixed_and_varying_counts(tmp_path):
    rows = [{"two": [1, 2], "some": [0.5] * i, "words": ["x"] * i} for i in range(4)]
    found = list(
        read_examples(
            write(
                tmp_path / "a",
                *[
                    example(
                        **{
                            **row,
                            "some": np.array(row["some"], np.float32),
                            "words": np.array(row["words"], "S1"),
                        }
                    )
                    for row in rows
                ],
            )
        )
    )
    assert [row["two"].tolist() for row in found] == [[1, 2]] * 4
    assert [len(row["some"]) for row in found] == [len(row["words"]) for row in found] == [0, 1, 2, 3]
    assert {row["some"].dtype for row in found} == {np.dtype(np.float32)}


def test_sequence_examples_have_the_form_of_to_dict(tmp_path):
    records = [
        sequence({"user": 7}, {"ratings": [[4.5], []], "movies": [["a"], ["b", "c"]]}),
        sequence({"user": 8}, {}),
        sequence({}, {"ratings": []}),
    ]
    found = list(read_examples(write(tmp_path / "a", *records)))
    assert plain(found) == plain([to_dict(record, sequence=True) for record in records])


def test_columns_choose_in_context_and_lists(tmp_path):
    path = write(tmp_path / "a", sequence({"user": 7, "other": 1}, {"ratings": [[4.5]], "movies": [["a"]]}))
    assert plain(list(read_examples(path, ["user", "movies"]))) == [
        {"context": {"user": ("int64", [7])}, "feature_lists": {"movies": [[b"a"]]}}
    ]


def test_file_of_sequence_examples_stays_one(tmp_path):
    records = [sequence({"n": i}, {"steps": [[i]]} if i < 20 else {}) for i in range(40)]
    path = write(tmp_path / "a", *records)
    other = write(tmp_path / "b", example(n=1))
    found = list(read_examples([path, other], block_bytes=200))
    assert all("context" in row for row in found[:40])
    assert plain(found[40]) == {"n": ("int64", [1])}


def test_record_that_is_no_example_is_named_and_passed(tmp_path):
    path = write(tmp_path / "a", example(n=1), b"plain text", example(n=2))
    rows = read_examples(path)
    assert plain(next(rows)) == {"n": ("int64", [1])}
    with pytest.raises(
        InvalidArgumentError, match=r"^expected an Example or a SequenceExample but record 1 of '"
    ) as e:
        next(rows)
    assert (e.value.path, e.value.record) == (str(path), 1)
    assert plain(next(rows)) == {"n": ("int64", [2])}
    assert next(rows, None) is None


def test_broken_sequence_example_is_named_and_passed(tmp_path):
    good = sequence({"n": 1}, {"steps": [[1]]})
    path = write(tmp_path / "a", good, b"\x12\x05", good)
    rows = read_examples(path)
    next(rows)
    with pytest.raises(InvalidArgumentError, match=r"SequenceExample.*; in record 1 of '.*'$"):
        next(rows)
    assert "context" in next(rows)


def test_damaged_file_is_an_error_and_the_next_one_is_read(tmp_path):
    data = frames([example(n=i) for i in range(3)])
    (tmp_path / "a").write_bytes(flip(data, len(data) - 6))
    write(tmp_path / "b", example(n=9))
    rows = read_examples([tmp_path / "a", tmp_path / "b"])
    assert [next(rows)["n"][0], next(rows)["n"][0]] == [0, 1]
    with pytest.raises(DataLossError):
        next(rows)
    assert next(rows)["n"][0] == 9
    rows = read_examples([tmp_path / "a", tmp_path / "b"], on_corrupt="skip")
    assert [row["n"][0] for row in rows] == [0, 1, 9]
    assert rows.skipped == len(rows.damages) == 1


def test_close_ends_it(tmp_path):
    rows = read_examples(write(tmp_path / "a", example(n=1), example(n=2)))
    next(rows)
    rows.close()
    assert next(rows, None) is None
