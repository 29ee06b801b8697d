"""A compression that is added works everywhere, with nothing but its own file."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import lz4.frame
import pytest

import tfrkit as tfr
from tests.codecs.lz4_codec import LZ4
from tests.codecs.support.suite import RECORDS, CodecSuite
from tfrkit.cli.main import run
from tfrkit.codecs.gzip import GZIP
from tfrkit.codecs.member import MEMBERS
from tfrkit.codecs.table import add_codec, canonical, names, remove_codec
from tfrkit.errors import InvalidArgumentError

ROWS = [{"id": number, "name": f"name {number}"} for number in range(500)]


@pytest.fixture(autouse=True)
def added():
    add_codec(LZ4)
    yield
    remove_codec("LZ4")


@pytest.fixture
def tfr_command(tmp_path, monkeypatch, capsys):
    """Run `tfr` in an empty folder, and return what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> str:
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return call


class TestLz4(CodecSuite):
    @pytest.fixture
    def codec(self):
        return LZ4


def write_examples(path: str) -> None:
    with tfr.TFRecordWriter(path) as writer:
        for row in ROWS:
            writer.write_example(row)


def read_rows(pattern: str) -> list[dict[str, object]]:
    spec = {"id": tfr.FixedLenFeature([], "int64"), "name": tfr.FixedLenFeature([], "bytes")}
    parsed = (tfr.parse_example(block, spec) for block in tfr.read_blocks(pattern))
    pairs = [pair for columns in parsed for pair in zip(columns["id"].tolist(), columns["name"], strict=True)]
    return [{"id": number, "name": name.decode()} for number, name in sorted(pairs)]


def test_other_programs_read_what_is_written(tmp_path):
    path = str(tmp_path / "a.tfrecord.lz4")
    write_examples(path)
    with lz4.frame.open(path) as file, tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as plain:
        plain.write_many(list(tfr.read_records(path)))
        data = file.read()
    assert data == (tmp_path / "a.tfrecord").read_bytes()


def test_commands_take_it(tfr_command):
    write_examples("a.tfrecord")
    tfr_command("compress", "a.tfrecord", "small", "--compression", "lz4", "--level", "3", "--quiet")
    assert sorted(path.name for path in Path("small").glob("*.tfrecord*")) == ["a.tfrecord.lz4"]
    assert Path("small/a.tfrecord.lz4").read_bytes().startswith(LZ4.magic[0])
    assert "500" in tfr_command("count", "small/a.tfrecord.lz4")
    assert len(tfr_command("head", "small/a.tfrecord.lz4", "-n", "3", "--json").splitlines()) == 3
    assert "name" in tfr_command("schema", "small")
    tfr_command("verify", "small")
    tfr_command("merge", "small/a.tfrecord.lz4", "a.tfrecord", "all.tfrecord.lz4", "--quiet")
    tfr_command("reshard", "all.tfrecord.lz4", "many/part", "--shards", "3", "--quiet")  # as the input is
    assert sorted(path.name for path in Path("many").glob("part*")) == [
        f"part-0000{number}-of-00003.tfrecord.lz4" for number in range(3)
    ]
    tfr_command("repair", "all.tfrecord.lz4", "mended.tfrecord.lz4", "--quiet")
    assert Path("mended.tfrecord.lz4").read_bytes() == Path("all.tfrecord.lz4").read_bytes()
    rows = json.loads(tfr_command("compress", "--table", "a.tfrecord", "--json", "--quiet"))["compressions"]
    assert [row["tensorflow"] for row in rows if row["compression"] == "lz4"] == [False]
    tfr_command("export", "jsonl", "all.tfrecord.lz4", "all.jsonl", "--quiet")
    assert len(Path("all.jsonl").read_text().splitlines()) == 1000


def test_tables_are_built_from_it_and_into_it(tfr_command):
    text = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    Path("rows.jsonl").write_bytes(text)
    csv = "id,name\n" + "".join(f"{row['id']},{row['name']}\n" for row in ROWS)
    Path("rows.csv.lz4").write_bytes(lz4.frame.compress(csv.encode()))
    Path("rows.jsonl.lz4").write_bytes(lz4.frame.compress(text))
    for name in ("rows.jsonl", "rows.jsonl.lz4", "rows.csv.lz4"):
        tfr_command("build", "table", name, f"out-{name}", "--shards", "2", "--compression", "lz4", "--quiet")
        shards = sorted(Path(f"out-{name}").glob("*.tfrecord*"))
        assert [path.name.partition("-of-")[2] for path in shards] == ["00002.tfrecord.lz4"] * 2
        assert read_rows(f"out-{name}/*.tfrecord.lz4") == ROWS
        assert tfr.verify(f"out-{name}").ok
    # The same job again finds all of it done.
    assert "500" in tfr_command(
        "build", "table", "rows.jsonl", "out-rows.jsonl", "--shards", "2", "--compression", "lz4", "--json"
    )


def test_a_folder_of_it_is_repaired_where_it_is(tmp_path):
    with tfr.ShardWriter(tmp_path / "a", shards=2, compression="lz4") as writer:
        writer.write_many(RECORDS)
    shard = tmp_path / "a-00001-of-00002.tfrecord.lz4"
    shard.write_bytes(shard.read_bytes()[:-100])
    assert not tfr.verify(str(tmp_path)).ok
    tfr.repair_files([str(tmp_path)])
    mended = list(tfr.read_records(shard))
    assert 500 < len(mended) < 1500
    assert mended == RECORDS[1::2][: len(mended)]


def test_without_it_such_a_file_is_read_by_none(tmp_path):
    write_examples(str(tmp_path / "a.tfrecord.lz4"))
    program = (
        "import sys, tfrkit as tfr\n"
        "try: print(sum(1 for _ in tfr.read_records(sys.argv[1])))\n"
        "except tfr.errors.DataLossError as error: print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.tfrecord.lz4")], capture_output=True, text=True
    )
    assert done.stdout == "DataLossError\n"


def test_the_page_about_adding_one_shows_this_one():
    root = Path(__file__).parents[2]
    code = (root / "tests/codecs/lz4_codec.py").read_text("utf-8")
    assert f"```python\n{code}```\n" in (root / "docs/adding-a-codec.md").read_text("utf-8")


def test_it_can_be_taken_out_again_but_what_is_built_in_cannot():
    remove_codec("LZ4")
    remove_codec("GZIP")
    assert names() == ("", "GZIP", "ZLIB", "XZ", "ZSTD")
    with pytest.raises(InvalidArgumentError, match="expected none, GZIP, ZLIB, XZ or ZSTD"):
        canonical("lz4")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "there is one of that name"),
        ({"name": ""}, "expected a name of capitals and digits other than NONE and AUTO"),
        ({"name": "none"}, "expected a name of capitals and digits other than NONE and AUTO"),
        ({"name": "AUTO"}, "expected a name of capitals and digits other than NONE and AUTO"),
        ({"name": "A", "suffixes": ()}, "expected suffixes in lower case that begin with a dot"),
        ({"name": "A", "suffixes": ("lz4",)}, "expected suffixes in lower case that begin with a dot"),
        ({"name": "A", "suffixes": (".a", ".gzip")}, "GZIP has the suffix .gzip, too"),
        ({"name": "A", "suffixes": (".a",), "magic": (b"\x1f",)}, "files of GZIP begin with the same bytes"),
        (
            {"name": "A", "suffixes": (".a",), "magic": (), "members": MEMBERS},
            "index files have no number for it, so that it has no members",
        ),
        (
            {"name": "A", "suffixes": (".a",), "magic": (), "index_number": GZIP.index_number},
            "index files have no number for it, so that it has no members",
        ),
    ],
)
def test_what_would_be_ambiguous_is_refused(changes, reason):
    wrong = replace(LZ4, **changes)
    with pytest.raises(InvalidArgumentError) as caught:
        add_codec(wrong)
    assert str(caught.value) == f"The compression {wrong.name!r} cannot be added: {reason}."
