from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.support.examples import example, example_dicts, sequence, write
from tfrkit import make_example, optional, read_table
from tfrkit.errors import InvalidArgumentError, MissingExtraError
from tfrkit.scanning import chunks


@pytest.fixture(params=[1, 1 << 25], ids=["chunk a block", "one chunk"])
def chunked(request, monkeypatch):
    monkeypatch.setitem(chunks.scan_chunks.__kwdefaults__, "size", request.param)


def test_scalars_lists_and_nulls(tmp_path, chunked):
    rows = [
        {"n": 1, "ids": [1, 2], "word": "a", "tags": ["x", "y"], "f": 0.5},
        {"n": 2, "ids": np.array([], np.int64), "tags": ["z"]},
        {"word": b"\xff", "f": 1.5},
    ]
    table = read_table(write(tmp_path / "a", *[example(**row) for row in rows]), block_bytes=1)
    table.validate(full=True)
    assert table.schema == pa.schema(
        {
            "f": pa.float32(),
            "ids": pa.list_(pa.int64()),
            "n": pa.int64(),
            "tags": pa.list_(pa.binary()),
            "word": pa.binary(),
        }
    )
    assert table.to_pydict() == {
        "f": [0.5, None, 1.5],
        "ids": [[1, 2], [], None],
        "n": [1, 2, None],
        "tags": [[b"x", b"y"], [b"z"], None],
        "word": [b"a", None, b"\xff"],
    }


@given(st.lists(example_dicts(conflicts=False), max_size=6), st.sampled_from([1, 1 << 20]))
def test_table_holds_what_the_examples_hold(tmp_path_factory, dicts, block_bytes):
    records = [make_example(features).SerializeToString() for features in dicts]
    path = write(tmp_path_factory.mktemp("table") / "a", *records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(chunks.scan_chunks.__kwdefaults__, "size", 1)
        table = read_table(path, block_bytes=block_bytes)
    table.validate(full=True)
    keys = sorted({key for row in dicts for key in row})
    assert (table.column_names, table.num_rows) == (keys, len(dicts) if keys else table.num_rows)
    for key in keys:
        values = [row.get(key) for row in dicts]
        lists = [
            None if value is None else np.asarray(value, None if len(value) else float).tolist()
            for value in values
        ]
        lists = [None if value is None else list(value) for value in values]
        scalar = all(len(value) == 1 for value in lists if value is not None)
        expected = [value[0] if scalar and value is not None else value for value in lists]
        assert table[key].to_pylist() == expected, key


def test_columns_choose_and_order(tmp_path):
    path = write(tmp_path / "a", example(a=1, b=2, c=3))
    assert read_table(path, ["c", "a", "c"]).to_pydict() == {"c": [3], "a": [1]}
    with pytest.raises(
        InvalidArgumentError, match=r"columns: no record has a feature 'B'. Did you mean 'b'\?"
    ):
        read_table(path, ["a", "B"])


def test_column_that_no_record_has_is_refused_with_the_nearest(tmp_path, chunked):
    path = write(tmp_path / "a", example(label=1), example(label=2, other=None))
    with pytest.raises(InvalidArgumentError) as caught:
        read_table(path, ["label", "lable"])
    assert caught.value.message == "columns: no record has a feature 'lable'. Did you mean 'label'?"
    assert read_table(path, ["other", "label"]).to_pydict() == {"other": [None, None], "label": [1, 2]}


def test_columns_choose_of_too_many(tmp_path):
    path = write(tmp_path / "a", example(**{f"{number:06}": number for number in range(70_000)}))
    with pytest.raises(InvalidArgumentError, match="too many different features for one table"):
        read_table(path)
    assert read_table(path, ["069999", "000000"]).to_pydict() == {"069999": [69_999], "000000": [0]}


def test_feature_without_a_kind_is_a_column_of_nulls(tmp_path):
    table = read_table(write(tmp_path / "a", example(n=None), example(n=None, m=1)))
    assert table.to_pydict() == {"m": [None, 1], "n": [None, None]}
    assert table["n"].type == pa.null()


def test_nothing_is_an_empty_table(tmp_path):
    assert read_table(write(tmp_path / "a")).num_rows == 0
    assert read_table(write(tmp_path / "a"), ["x"]).schema == pa.schema({"x": pa.null()})


def test_feature_may_be_absent_from_whole_chunks(tmp_path, chunked):
    paths = [write(tmp_path / "a", example(n=1)), write(tmp_path / "b", example(words=["x", "y"], f=[0.5]))]
    assert read_table(paths, block_bytes=1).to_pydict() == {
        "f": [None, 0.5],
        "n": [1, None],
        "words": [None, [b"x", b"y"]],
    }


def test_conflicting_kinds_are_an_error_with_a_record_of_each(tmp_path):
    first = write(tmp_path / "a", example(n=1), example(n=2))
    second = write(tmp_path / "b", example(m=1), example(n=0.5))
    message = (
        rf"^expected one kind for each feature but 'n' is int64 in 2 \(first: record 0 of '{first}'\) and float32 in 1 "
        rf"\(first: record 1 of '{second}'\). A column has one: choose other features with columns="
    )
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        read_table([first, second])
    assert (caught.value.path, caught.value.record) == (str(second), 1)
    assert read_table([first, second], ["m"]).to_pydict() == {"m": [None, None, 1, None]}


def test_record_that_is_no_example_is_named(tmp_path):
    path = write(tmp_path / "a", example(n=1), b"plain text")
    with pytest.raises(InvalidArgumentError, match=rf"neither .* is record 1 of '{path}'") as caught:
        read_table(path)
    assert caught.value.record == 1
    assert caught.value.offset == len(example(n=1)) + 16


def test_sequence_examples(tmp_path, chunked):
    records = [
        sequence({"user": 7}, {"ratings": [4.5, 3.0], "movies": [["a"], ["b", "c"]], "user": [1]}),
        sequence({"user": 8}, {"ratings": [1.0], "movies": [np.array([], "S1")]}),
        sequence({}, {}),
    ]
    table = read_table(write(tmp_path / "a", *records), block_bytes=1)
    table.validate(full=True)
    assert table.to_pydict() == {
        "movies": [[[b"a"], [b"b", b"c"]], [[]], None],
        "ratings": [[4.5, 3.0], [1.0], None],
        "user": [7, 8, None],
        "feature_lists/user": [[1], None, None],
    }
    assert read_table(tmp_path / "a", ["ratings"]).column_names == ["ratings"]


def test_conflicting_kinds_of_lists_are_an_error(tmp_path):
    path = write(tmp_path / "a", sequence({}, {"x": [[1]]}), sequence({}, {"x": [[0.5]]}))
    with pytest.raises(InvalidArgumentError, match=r"int64 in 1 \(first: record 0 of .* and float32 in 1"):
        read_table(path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(optional.importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"^read_table needs the package pyarrow.*'tfrkit\[arrow\]'"):
        read_table(write(tmp_path / "a"))
