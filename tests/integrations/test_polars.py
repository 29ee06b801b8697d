from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

import tfrkit
from tfrkit.errors import UnimplementedError
from tfrkit.integrations.polars import without_hints

ROWS = 1000


@pytest.fixture
def path(tmp_path):
    with tfrkit.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write_batch(
            {
                "aa": [b"x" * 50] * ROWS,
                "f": [number / 2 for number in range(ROWS)],
                "ids": [[number, 7] for number in range(ROWS)],
                "label": list(range(ROWS)),
                "name": [f"n{number}" for number in range(ROWS)],
            }
        )
    return str(tmp_path / "a.tfrecord")


@pytest.fixture
def frame(path):
    return tfrkit.scan(path, text=True).to_polars()


def test_schema(frame):
    assert frame.collect_schema() == {
        "aa": pl.String, "f": pl.Float32, "ids": pl.List(pl.Int64), "label": pl.Int64, "name": pl.String,
    }  # fmt: skip


def test_condition_is_decoded_first_and_the_rest_of_the_rows_left(frame, decoded):
    found = frame.filter(pl.col("label") >= 990).select("name").collect()
    assert found["name"].to_list() == [f"n{number}" for number in range(990, 1000)]
    assert decoded.pop("name") == 10
    assert decoded == {"label": ROWS + 10}  # polars asks for it among the columns too


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_limits_are_of_rows_before_or_after_the_condition(frame, engine):
    big = pl.col("label") > 2
    assert frame.head(5).filter(big).collect(engine=engine)["label"].to_list() == [3, 4]
    assert frame.filter(big).head(5).collect(engine=engine)["label"].to_list() == [3, 4, 5, 6, 7]
    assert frame.slice(3, 2).collect(engine=engine)["label"].to_list() == [3, 4]
    assert frame.tail(1).collect(engine=engine)["label"].to_list() == [999]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_first_rows_of_a_sort(frame, engine):
    few = frame.filter(pl.col("label") < 77).sort("f", descending=True).head(2)
    assert few.select("label").collect(engine=engine)["label"].to_list() == [76, 75]
    assert frame.top_k(1, by="f").collect(engine=engine)["label"].to_list() == [999]
    assert frame.sort("f").head(1).collect(engine=engine)["label"].to_list() == [0]


def test_conditions_that_are_no_comparison(frame):
    assert frame.filter(pl.lit(True)).select(pl.len()).collect().item() == ROWS
    assert frame.filter(pl.lit(None, pl.Boolean)).collect().height == 0
    assert frame.filter(pl.col("ids").list.contains(3)).collect()["label"].to_list() == [3]
    assert frame.filter(pl.col("name").str.ends_with("99")).select(pl.len()).collect().item() == 10
    assert frame.filter(pl.col("label") > pl.col("label").mean()).collect().height == ROWS // 2
    assert frame.filter(
        pl.col("label").map_batches(lambda x: x == 4, pl.Boolean, is_elementwise=True)
    ).collect()["label"].to_list() == [4]


def test_no_row_has_all_columns(frame):
    found = frame.filter(pl.col("label") < 0).collect()
    assert found.height == 0
    assert found.schema == frame.collect_schema()


def test_where_limit_and_source_of_the_scan(path):
    scan = tfrkit.scan(path, ["label"], "label >= 10", with_source=True, limit=5)
    found = scan.to_polars().filter(pl.col("_record") > 12).collect()
    assert found.to_dict(as_series=False) == {"label": [13, 14], "_file": [path, path], "_record": [13, 14]}


def test_many_scans_at_once_in_many_threads(frame):
    parts = [frame.filter(pl.col("label") % 7 == rest).select("name", "label") for rest in range(7)]
    assert sorted(pl.concat(parts).collect()["label"].to_list()) == list(range(ROWS))
    assert sum(each.height for each in pl.collect_all(parts)) == ROWS
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda part: part.collect().height, parts)) == ROWS


def test_hints_of_sorts_are_taken_out_of_conditions():
    hint = {"Display": {"inputs": [{"Column": "f"}], "fmt_str": "dynamic_pred: 1234"}}
    real = {"BinaryExpr": {"left": {"Column": "a"}, "op": "Gt", "right": {"Literal": 3}}}

    def both(left, right, op="And"):
        return {"BinaryExpr": {"left": left, "op": op, "right": right}}

    assert without_hints(hint) is None
    assert without_hints(real) == real
    assert without_hints(both(hint, real)) == real
    assert without_hints(both(both(real, hint), real)) == both(real, real)
    with pytest.raises(UnimplementedError, match="Collect the scan"):
        without_hints(both(hint, real, "Or"))


def test_pandas(path):
    found = tfrkit.scan(path, ["label", "name"], "label >= 998", text=True).to_pandas()
    assert found.to_dict("list") == {"label": [998, 999], "name": ["n998", "n999"]}
