"""Exports by engines: the same files as with threads, and nothing half-published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.support import ray as ray_support
from tfrkit.build.job.progress import Progress
from tfrkit.errors import InvalidArgumentError

ENGINES = ["processes", pytest.param("ray", marks=ray_support.cluster)]


@pytest.fixture
def shards(tmp_path) -> Path:
    with tfr.ShardWriter(tmp_path / "in" / "a", shards=3) as writer:
        writer.write_batch({"n": np.arange(900), "name": [f"row {number}" for number in range(900)]})
    return tmp_path / "in"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_files_report_and_progress_are_those_of_threads(engine, form, shards, tmp_path, request):
    if engine == "ray":
        request.getfixturevalue("ray")

    def run(name: str, engine: str) -> tuple[dict, Progress]:
        seen: list[Progress] = []
        report = tfr.build.export(
            shards / "*.tfrecord", tmp_path / name, form, engine=engine, progress=seen.append
        ).to_dict()
        files = [(Path(file["path"]).name, file["records"], file["bytes"]) for file in report["files"]]
        return {**report, "files": files, "seconds": 0}, seen[-1]

    wanted, last = run("threads", "threads")
    found, end = run("other", engine)
    assert found == wanted
    assert tree(tmp_path / "other") == tree(tmp_path / "threads")
    assert [path.name for path in (tmp_path / "other").iterdir() if path.name.startswith(".")] == []
    assert (end.records, end.shards_done, end.done_bytes) == (last.records, last.shards_done, last.done_bytes)


def test_an_error_in_a_task_leaves_nothing(shards, tmp_path):
    (shards / "b.tfrecord").write_bytes((shards / "a-00000-of-00003.tfrecord").read_bytes()[:-5])
    with pytest.raises(tfr.errors.DataLossError):
        tfr.build.export(shards / "*.tfrecord", tmp_path / "out", "csv", engine="processes")
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").rglob("*")) == []


def test_what_fails_while_it_is_written_is_told_with_its_place_and_leaves_nothing(
    shards, tmp_path, monkeypatch
):
    from tfrkit.build.export import export_table

    def gone(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export_table.files, "move", gone)
    with pytest.raises(OSError, match="No space left"):
        tfr.build.export(shards / "*.tfrecord", tmp_path / "out", "jsonl", engine="processes")
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_standard_output_is_of_threads_only(shards):
    with pytest.raises(InvalidArgumentError, match="expected the engine 'threads'"):
        tfr.build.export(shards / "*.tfrecord", "-", "csv", engine="processes")
