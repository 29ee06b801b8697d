from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import tfrkit as tfr


def test_table(command, words):
    done = command("sql", "select name, number, number / 2 as half from 'words.tfrecord' where number > 2")
    assert done == (0, "name   number  half\nthree       3   1.5\nfour        4   2.0\n", "")


def test_json_and_csv(command, words):
    query = "select number, [name] as names, null as nothing from 'words.tfrecord' where number = 1"
    assert command("sql", query, "--json") == (0, '{"number": 1, "names": ["one"], "nothing": null}\n', "")
    assert command("sql", query, "--csv").out == 'number,names,nothing\n1,"[""one""]",\n'


def test_values_of_all_types(command, folder):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_example({"b": b"\xff\xfe", "f": 0.1, "ids": [1, 2]})
    query = "select b, f, ids, sum(ids[1]) over () as s, 'nan'::float as n, date '2020-01-02' as d, {'x': 1.5} as o"
    query += " from 'a.tfrecord'"
    assert json.loads(command("sql", query, "--json").out) == {
        "b": {"base64": "//4="}, "f": 0.1, "ids": [1, 2], "s": 1, "n": "NaN", "d": "2020-01-02", "o": {"x": 1.5},
    }  # fmt: skip
    assert "<2 bytes>" in command("sql", query).out


def test_count_limits_rows_and_a_table_says_that_there_are_more(command, folder):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_batch({"x": list(range(150))})
    done = command("sql", "from 'a.tfrecord'")
    assert len(done.out.splitlines()) == 101
    assert done.err.startswith("100 rows shown, and there are more")
    assert command("sql", "from 'a.tfrecord'", "-n", "2") == (0, "x\n0\n1\n", "")
    assert len(command("sql", "from 'a.tfrecord'", "--csv").out.splitlines()) == 151
    assert command("sql", "from 'a.tfrecord'", "--csv", "-n", "1").out == "x\n0\n"


def test_parquet(command, words):
    query = "select name from 'words.tfrecord' where number < 2"
    assert command("sql", query, "--parquet", "o.parquet") == (0, "", "o.parquet: 2 rows\n")
    assert pq.read_table("o.parquet").to_pydict() == {"name": ["zero", "one"]}
    done = command("sql", query, "--parquet", "o.parquet")
    assert (done.code, "exists already" in done.err) == (2, True)
    assert command("sql", query, "--parquet", "o.parquet", "--overwrite").code == 0
    failed = command("sql", "select cast(name as int) from 'words.tfrecord'", "--parquet", "p.parquet")
    assert (failed.code, os.path.exists("p.parquet")) == (1, False)


def test_source_and_blobs(command, words):
    query = "select * from 'words.tfrecord' where number = 1"
    assert command("sql", query, "--with-source", "--csv").out == (
        "name,number,_file,_record\none,1,words.tfrecord,1\n"
    )
    assert "BLOB" in command("sql", "describe 'words.tfrecord'", "--blobs").out


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("selec", "syntax error"),
        ("select nothing from 'words.tfrecord'", '"nothing" not found'),
        ("from nothing", "Name files in quotes"),
        ("from 'nothing.tfrecord'", "nothing.tfrecord; No such file"),
    ],
    ids=["syntax", "column", "table", "file"],
)
def test_a_wrong_query_ends_with_2(command, words, query, text):
    done = command("sql", query)
    assert (done.code, done.out) == (2, "")
    assert text in done.err
    assert "Traceback" not in done.err


def test_damage_ends_with_1_in_our_words(command, words):
    with tfr.TFRecordWriter("a.tfrecord", index=False) as writer:
        writer.write_batch({"x": [1, 2, 3]})
    data = bytearray(Path("a.tfrecord").read_bytes())
    data[-6] ^= 1
    Path("a.tfrecord").write_bytes(data)
    done = command("sql", "select sum(x) from 'a.tfrecord'")
    assert done.code == 1
    assert "corrupted record" in done.err
    assert "tfr repair" in done.err
    done = command("sql", "select sum(x) from 'a.tfrecord'", "--on-corrupt", "skip", "--csv")
    assert done.out.splitlines()[1] == "3"


def test_outputs_exclude_each_other(command, words):
    done = command("sql", "from 'words.tfrecord'", "--json", "--csv")
    assert (done.code, "--json and --csv exclude each other" in done.err) == (2, True)


def test_interrupt_ends_a_long_query_at_once(words):
    query = "select count(*) from 'words.tfrecord', range(100000) a, range(100000) b"
    query += " where a.range * b.range % 7 = number"
    child = subprocess.Popen(
        [sys.executable, "-m", "tfrkit", "sql", query],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(3)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (130, "", "\ninterrupted\n")
