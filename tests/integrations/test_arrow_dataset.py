from __future__ import annotations

import pickle
from pathlib import Path

import datafusion
import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pytest

import tfrkit
from tfrkit.integrations.arrow_dataset import referenced_columns

ROWS = 1000


@pytest.fixture
def path(tmp_path):
    with tfrkit.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write_batch(
            {
                "aa": [b"x" * 50] * ROWS,
                "f": [number / 2 for number in range(ROWS)],
                "label": list(range(ROWS)),
                "name": [f"n{number}" for number in range(ROWS)],
            }
        )
    return str(tmp_path / "a.tfrecord")


@pytest.fixture
def dataset(path):
    return tfrkit.scan(path, text=True).dataset()


def test_is_a_dataset_with_the_schema_of_the_scan(dataset, path):
    assert isinstance(dataset, pads.Dataset)
    assert dataset.schema == tfrkit.scan(path, text=True).schema
    assert "1 file" in repr(dataset)


def test_columns_of_the_condition_come_first_and_others_of_the_rows_left(dataset, decoded):
    table = dataset.to_table(columns=["name"], filter=pc.field("label") >= 990)
    assert table.to_pydict() == {"name": [f"n{number}" for number in range(990, 1000)]}
    assert decoded == {"label": ROWS, "name": 10}


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        (pc.field("f") < 2, 4),
        (pc.scalar(True), ROWS),
        (pc.scalar(False), 0),
        (pc.scalar(None), 0),
        ((pc.field("label") > 3) & ~(pc.field("name") == "n7") | pc.field("f").is_null(), ROWS - 5),
        (pc.field(2) < 3, 3),
        (pc.field("label").isin([1, 5, 5000]), 2),
    ],
    ids=["one", "true", "false", "null", "several", "by place", "in"],
)
def test_count_of_a_condition(dataset, expression, count):
    assert dataset.count_rows(filter=expression) == count
    assert dataset.to_table(filter=expression).num_rows == count
    assert dataset.filter(expression).count_rows() == count


def test_count_of_all_decodes_nothing(dataset, decoded):
    assert dataset.count_rows() == ROWS
    assert not decoded


def test_columns_may_be_expressions(dataset, decoded):
    made = {"next": pc.field("label") + 1, "three": pc.scalar(3)}
    table = dataset.to_table(columns=made, filter=pc.field("label") < 2)
    assert table.to_pydict() == {"next": [1, 2], "three": [3, 3]}
    assert set(decoded) == {"label"}
    assert dataset.to_table(columns={"three": pc.scalar(3)}).num_rows == ROWS
    assert dataset.scanner(columns=made).projected_schema == table.schema


def test_no_columns_and_repeated_columns(dataset):
    assert dataset.to_table(columns=[]).num_rows == ROWS
    assert dataset.scanner(columns=["label", "label"]).to_table().column_names == ["label", "label"]


def test_head_reads_no_more_than_it_needs(dataset, decoded):
    assert dataset.head(3, columns=["label"]).to_pydict() == {"label": [0, 1, 2]}
    assert dataset.head(2, columns=["label"], filter=pc.field("f") > 10).to_pydict() == {"label": [21, 22]}


def test_batches_are_no_larger_than_asked(dataset):
    sizes = [batch.num_rows for batch in dataset.to_batches(columns=["label"], batch_size=300)]
    assert max(sizes) == 300
    assert sum(sizes) == ROWS


def test_condition_looks_only_at_the_rows_of_a_limited_scan(path):
    dataset = tfrkit.scan(path).limit(5).dataset()
    assert dataset.to_table(columns=["label"], filter=pc.field("f") >= 1).to_pydict() == {"label": [2, 3, 4]}
    assert dataset.head(1, columns=["label"], filter=pc.field("f") >= 1).to_pydict() == {"label": [2]}
    assert duckdb.sql("select count(*) from dataset where label > 1").fetchall() == [(3,)]


def test_where_of_the_scan_comes_before(path, decoded):
    dataset = tfrkit.scan(path, where="label < 10").dataset()
    table = dataset.to_table(columns=["name"], filter=pc.field("f") >= 4)
    assert table.to_pydict() == {"name": [b"n8", b"n9"]}
    assert decoded == {"label": ROWS, "f": 10, "name": 2}


def test_source_columns_can_be_asked_for_and_filtered(path):
    dataset = tfrkit.scan(path, with_source=True).dataset()
    table = dataset.to_table(columns=["_record", "label"], filter=pc.field("_record") == 7)
    assert table.to_pydict() == {"_record": [7], "label": [7]}
    found = duckdb.sql("select label from dataset where _file like '%a.tfrecord' and _record < 2").fetchall()
    assert found == [(0,), (1,)]


def test_wrong_condition_is_the_error_of_arrow(dataset):
    with pytest.raises(pa.ArrowInvalid, match="nothing"):
        dataset.to_table(filter=pc.field("nothing") > 1)
    with pytest.raises(pa.ArrowNotImplementedError):
        dataset.to_table(filter=pc.field("name") + 1 > 3)
    with pytest.raises(KeyError, match="nothing"):
        dataset.to_table(columns=["nothing"])


def test_other_methods_of_datasets(dataset):
    assert dataset.sort_by([("label", "descending")]).head(1)["label"].to_pylist() == [999]
    joined = dataset.filter(pc.field("label") < 2).join(
        dataset, "label", join_type="inner", right_suffix="_r"
    )
    assert joined.count_rows() == 2
    assert dataset.take([5, 3], columns=["label"]).to_pydict() == {"label": [5, 3]}
    assert [fragment.count_rows() for fragment in dataset.get_fragments()] == [ROWS]
    with pytest.raises(TypeError, match="cast what it returns"):
        dataset.replace_schema(dataset.schema)
    with pytest.raises(TypeError, match="make it again"):
        pickle.dumps(dataset)


def test_duckdb_pushes_columns_and_conditions(dataset, decoded):
    found = duckdb.sql("select sum(f) from dataset where label >= 990 and name <> 'n995'").fetchall()
    assert found == [(4475.0,)]
    assert decoded["f"] == 9
    assert "aa" not in decoded


def test_datafusion_pushes_columns_and_conditions(dataset, decoded):
    context = datafusion.SessionContext()
    context.register_dataset("t", dataset)
    assert context.sql("select name from t where label >= 998").to_pydict() == {"name": ["n998", "n999"]}
    assert "aa" not in decoded
    assert context.sql("select count(*) as n from t").to_pydict() == {"n": [ROWS]}


def test_damage_is_reported_to_the_engine(path):
    data = bytearray(Path(path).read_bytes())
    data[-6] ^= 1
    Path(path).write_bytes(data)
    spec = {"label": tfrkit.FixedLenFeature([], "int64")}
    dataset = tfrkit.scan(path, spec=spec).dataset()
    with pytest.raises(tfrkit.errors.DataLossError, match="corrupted record"):
        dataset.to_table()
    with pytest.raises(duckdb.Error, match="corrupted record"):
        duckdb.sql("select sum(label) from dataset").fetchall()


def test_columns_of_an_expression_among_many():
    schema = pa.schema([(f"c{number}", pa.int64()) for number in range(10_000)])
    expression = (pc.field("c5") > 1) & (pc.field("c9000") < 4) | pc.field("c77").is_null()
    assert referenced_columns(expression, schema) == ["c5", "c77", "c9000"]
    assert referenced_columns(pc.scalar(True), schema) == []
    assert referenced_columns(pc.field(3) > 1, schema) == schema.names


@pytest.mark.parametrize("name", ["a b", "名字", "a'b\"c", "a\nb", "x.y", ".x[0]", "", "true", "a\\b"])
def test_columns_of_odd_names_are_found(name):
    schema = pa.schema([("other", pa.int64()), (name, pa.int64()), ("more", pa.int64())])
    assert referenced_columns(pc.field(name) > 1, schema) == [name]
