"""A store that is added works everywhere, with nothing but its own file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.stores.sqlite_store import SqliteStore
from tests.stores.support.reading_suite import Place
from tests.stores.support.suite import StoreSuite
from tfrkit.cli.main import run
from tfrkit.errors import NotFoundError
from tfrkit.stores.files import list_tree, read_bytes, write_bytes
from tfrkit.stores.table import add_store

ROOT = Path(__file__).parents[2]
ROWS = [{"id": number, "name": f"name {number}"} for number in range(500)]


@pytest.fixture(autouse=True)
def added(tmp_path):
    made = []

    def make() -> SqliteStore:
        made.append(SqliteStore(str(tmp_path / "files.db")))
        return made[-1]

    add_store("sqlite", make)
    yield
    for store in made:
        store.database.close()


class TestSqlite(StoreSuite):
    @pytest.fixture
    def place(self):
        return Place("sqlite://here", lambda name, data: write_bytes(f"sqlite://here/{name}", data))


def write_examples(pattern: str) -> None:
    with tfr.ShardWriter(pattern, shards=2) as writer:
        for row in ROWS:
            writer.write_example(row)


def test_pipelines_and_random_access_take_it():
    write_examples("sqlite://data/train")
    spec = {"id": tfr.FixedLenFeature([], "int64")}
    dataset = tfr.TFRecordDataset("sqlite://data/train-*.tfrecord").shuffle(100, seed=1).batch(100)
    parsed = dataset.map(lambda batch: tfr.parse_example(batch, spec))
    assert sorted(number for batch in parsed for number in batch["id"].tolist()) == list(range(500))
    files = tfr.RecordFiles("sqlite://data/train-*.tfrecord")
    assert len(files) == 500
    assert files.locate(250) == ("sqlite://data/train-00001-of-00002.tfrecord", 0)


def test_commands_take_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_examples("sqlite://data/train")
    write_bytes("sqlite://data/rows.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in ROWS))
    for arguments, expected in (
        (["head", "sqlite://data/train-00000-of-00002.tfrecord", "-n", "2"], "name"),
        (["count", "sqlite://data/train-*.tfrecord"], "500"),
        (["verify", "sqlite://data"], "ok"),
        (["merge", "sqlite://data/train-*.tfrecord", "sqlite://data/all.tfrecord.gz", "--quiet"], ""),
        (["count", "sqlite://data/all.tfrecord.gz"], "500"),
        (["build", "table", "sqlite://data/rows.jsonl", "sqlite://built", "--shards", "2", "--quiet"], ""),
        (["verify", "sqlite://built"], "ok"),
    ):
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        assert code == 0, (arguments, err)
        assert expected in out, arguments
    manifest = json.loads(read_bytes("sqlite://built/manifest.json"))
    assert sum(shard["records"] for shard in manifest["shards"]) == 500
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files.db"]
    assert all(".tmp" not in info.path for info in list_tree("sqlite://built"))


def test_missing_file_is_named():
    with pytest.raises(NotFoundError, match=r"^sqlite://data/nothing; No such file or directory"):
        list(tfr.read_records("sqlite://data/nothing"))


def test_page_about_adding_one_shows_this_one():
    code = (ROOT / "tests/stores/sqlite_store.py").read_text("utf-8")
    assert f"```python\n{code}```\n" in (ROOT / "docs/adding-a-store.md").read_text("utf-8")


def test_nothing_else_knows_it():
    found = subprocess.run(
        ["grep", "-rlE", "sqlite://|SqliteStore", "src"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == ""
