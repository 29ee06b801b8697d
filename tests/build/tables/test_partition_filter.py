"""Partitions are chosen by conditions on paths: what does not meet them is not even opened."""

from __future__ import annotations

import json
import os

import pytest

import tfrkit
from tests.build.support.tables import content, rows, write_lines
from tfrkit.build.tables.partition_filter import parse_partitions
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError

DAYS = ["2023-12-31", "2024-01-01", "2024-01-02", "2024-01-10"]


def days(*conditions: str) -> list[str]:
    said = [{"dt": day} for day in DAYS]
    chosen = parse_partitions(conditions).choose(said)
    return [day for day, is_chosen in zip(DAYS, chosen, strict=True) if is_chosen]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["dt=2024-01-01"], DAYS[1:2]),
        (["dt == 2024-01-01"], DAYS[1:2]),
        (["dt!=2024-01-01"], [DAYS[0], *DAYS[2:]]),
        (["dt<2024-01-01"], DAYS[:1]),
        (["dt <= '2024-01-01'"], DAYS[:2]),
        (['dt>"2024-01-01"'], DAYS[2:]),
        (["dt>=2024-01-01", "dt<2024-01-10"], DAYS[1:3]),
        (["dt in (2024-01-01, '2024-01-10',)"], [DAYS[1], DAYS[3]]),
        ([], DAYS),
    ],
)
def test_all_conditions_hold(conditions, expected):
    assert days(*conditions) == expected


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ("h<10", "9", True),
        ("h=3", "03", True),
        ("h='3'", "03", False),
        ("h<10", "1e3", False),
        ("h<10", "x", False),  # as text
        ("h>=10a", "9", True),  # as text
        ("h=1.50", "1.5", True),
        ("h=9007199254740993", "9007199254740992", False),
        ("h in (1, 2)", "2.0", True),
        ("h=a b", "a b", True),
        ("h=''", "", True),
        ("h='a,b'", "a,b", True),
        ("h in (de,fr)", "fr", True),
        ("h=a=b", "a=b", True),
        ("h!=1", None, False),
    ],
)
def test_numbers_are_compared_as_numbers_and_all_else_as_text(condition, value, expected):
    [found] = parse_partitions(condition).conditions
    assert found.holds(value) is expected


def test_file_without_the_key_meets_no_condition():
    null = {"a": "__HIVE_DEFAULT_PARTITION__"}
    assert parse_partitions("a!=1").choose([{"a": "2"}, {}, {"b": "2"}, null]) == [True, False, False, False]


@pytest.mark.parametrize(
    "given", ["", "dt", "dt>", "=3", "dt in ()", "dt in", "dt=a,b", "dt='a", 3, "dt ~ 3"]
)
def test_what_is_no_condition_is_an_error(given):
    with pytest.raises(InvalidArgumentError) as caught:
        parse_partitions([given])
    assert str(caught.value) == (
        "Expected KEY=VALUE, or another of !=, <, <=, > and >=, or KEY in (VALUE, VALUE), for partition (--partition) "
        f"but got {given!r}, such as dt>=2024-01-01."
    )


def test_unknown_key_names_the_closest():
    with pytest.raises(InvalidArgumentError) as caught:
        parse_partitions("contry=de").choose([{"country": "de", "dt": "1"}])
    assert str(caught.value) == (
        "partition (--partition): no input is in a folder 'contry=...'. Did you mean 'country'?"
    )
    with pytest.raises(InvalidArgumentError, match=r"no input is in a folder 'dt=...'. There are none."):
        parse_partitions("dt=1").choose([{}, {}])


def test_conditions_that_no_file_meets_are_an_error():
    with pytest.raises(InvalidArgumentError) as caught:
        days("dt>2025", "dt<2026")
    assert str(caught.value) == (
        "partition (--partition): none of the 4 input files meets dt>2025 and dt<2026. "
        "There are dt=2023-12-31, dt=2024-01-01, dt=2024-01-02, dt=2024-01-10."
    )


@pytest.fixture
def tree(tmp_path):
    for number, day in enumerate(DAYS):
        for country in ("de", "fr"):
            write_lines(tmp_path / "t" / f"dt={day}" / f"country={country}" / "a.jsonl", {"n": number})
    return tmp_path / "t"


def test_files_of_other_partitions_are_not_opened(tree, tmp_path):
    (tree / "dt=2023-12-31" / "country=de" / "a.jsonl").unlink()
    os.symlink("nowhere", tree / "dt=2023-12-31" / "country=de" / "a.jsonl")
    (tree / "dt=2023-12-31" / "country=fr" / "b.parquet").write_bytes(b"another format")
    report = tfrkit.build.table(tree, tmp_path / "out", partition=["dt>=2024-01-01", "country=de"])
    assert [row["n"] for row in rows(tmp_path / "out")] == [[1], [2], [3]]
    assert (report.files_left_out, report.records, report.bad) == (6, 3, {})
    said = json.loads((tmp_path / "out" / "report.json").read_bytes())["jobs"]
    assert [job["files_left_out"] for job in said.values()] == [6]
    made = json.loads((tmp_path / "out" / "manifest.json").read_bytes())["jobs"]
    assert [job["made_by"]["partition"] for job in made.values()] == [["dt>=2024-01-01", "country=de"]]


def test_new_partition_that_is_not_wanted_makes_no_other_job(tree, tmp_path):
    tfrkit.build.table(tree, tmp_path / "out", partition="dt<2024-01-02")
    before = content(tmp_path / "out")
    write_lines(tree / "dt=2024-02-01" / "country=de" / "a.jsonl", {"n": 9})
    report = tfrkit.build.table(tree, tmp_path / "out", partition="dt<2024-01-02")
    assert (report.resumed, report.files_left_out, content(tmp_path / "out")) == (1, 4, before)
    write_lines(tree / "dt=2022-02-01" / "country=de" / "a.jsonl", {"n": 9})
    with pytest.raises(AlreadyExistsError):
        tfrkit.build.table(tree, tmp_path / "out", partition="dt<2024-01-02")


def test_partitions_are_chosen_without_columns_of_them_and_in_patterns(tree, tmp_path):
    tfrkit.build.table(f"{tree}/dt=*", tmp_path / "out", partition=["dt=2024-01-01"], partitions=False)
    assert rows(tmp_path / "out") == [{"n": [1]}, {"n": [1]}]


def test_partitions_of_urls_are_chosen(tree, tmp_path):
    from tfrkit.stores.files import write_bytes

    base = f"memory://{tmp_path.name}-partitions"
    for path in sorted(tree.rglob("*.jsonl")):
        write_bytes(f"{base}/{path.relative_to(tree)}", path.read_bytes())
    report = tfrkit.build.table(base, tmp_path / "out", partition=["dt in (2024-01-01)", "country!=de"])
    assert (rows(tmp_path / "out"), report.files_left_out) == (
        [{"n": [1], "dt": [b"2024-01-01"], "country": [b"fr"]}],
        7,
    )


def test_partition_of_a_table_in_memory_is_an_error(tmp_path):
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(
        InvalidArgumentError, match="partition: this option is for files, and the input is a table"
    ):
        tfrkit.build.table(pa.table({"a": [1]}), tmp_path / "out", partition="dt=1")
