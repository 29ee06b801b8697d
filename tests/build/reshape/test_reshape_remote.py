"""Commands that move frames from URL to URL: the same bytes as from folder to folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, put_records
from tests.build.support.remote import local, stored, upload
from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.build.reshape.compress import compress
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.merge import merge
from tfrkit.build.reshape.reshard import reshard
from tfrkit.build.reshape.sample import sample
from tfrkit.build.reshape.select import select
from tfrkit.build.reshape.shuffle import shuffle
from tfrkit.build.reshape.split import split
from tfrkit.errors import AlreadyExistsError, DataLossError, InvalidArgumentError, NotFoundError
from tfrkit.stores.files import read_bytes, write_bytes

NAMES = ("a b.tfrecord", "ü%20.tfrecord.gz", "日本?.tfrecord")
COMMANDS: dict[str, Callable[[Any, str], Any]] = {
    "reshard": lambda paths, out: reshard(paths, f"{out}/all", shards=4),
    "reshard by bytes": lambda paths, out: reshard(paths, f"{out}/all", shards=3, balance="bytes"),
    "merge": lambda paths, out: merge(paths, f"{out}/all.tfrecord.gz"),
    "split": lambda paths, out: split(paths, out, {"train": 0.8, "validation": 0.2}, seed=1),
    "sample": lambda paths, out: sample(paths, f"{out}/some.tfrecord", count=50, seed=1),
    "shuffle": lambda paths, out: shuffle(paths, f"{out}/mixed", shards=2, seed=1),
    "compress": lambda paths, out: compress(paths, out, compression="GZIP"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, name in enumerate(NAMES):
        kind = "GZIP" if name.endswith(".gz") else ""
        put_records(tmp_path / "in" / name, RECORDS[number * 100 : number * 100 + 100], kind)
    return tmp_path / "in"


@pytest.mark.parametrize("name", COMMANDS)
def test_command_writes_the_same_bytes_from_url_to_url(name, folder, tmp_path, remote):
    COMMANDS[name]([folder / file for file in NAMES], str(tmp_path / "local"))
    upload(folder, f"{remote}/in")
    report = COMMANDS[name]([f"{remote}/in/{file}" for file in NAMES], f"{remote}/out")
    assert stored(f"{remote}/out") == local(tmp_path / "local")
    assert report.records == (50 if name == "sample" else 300)


def test_select_reads_and_writes_urls(tmp_path, memory):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_batch({"label": list(range(100))})
    write_bytes(f"{memory}/a.tfrecord", (tmp_path / "a.tfrecord").read_bytes())
    select(tmp_path / "a.tfrecord", tmp_path / "local" / "b.tfrecord", where="label < 10")
    select(f"{memory}/a.tfrecord", f"{memory}/out/b.tfrecord", where="label < 10")
    assert stored(f"{memory}/out") == local(tmp_path / "local")


def test_patterns_of_urls(folder, memory):
    upload(folder, f"{memory}/in")
    reshard(f"{memory}/in/*.tfrecord*", f"{memory}/out/all", shards=2)
    assert sorted(tfr.read_records(f"{memory}/out/all-*")) == sorted(RECORDS)
    with pytest.raises(NotFoundError, match="No files matched pattern"):
        reshard(f"{memory}/none/*", f"{memory}/out/none", shards=2)
    with pytest.raises(NotFoundError, match=r"memory://.*/gone\.tfrecord; No such file"):
        reshard(f"{memory}/gone.tfrecord", f"{memory}/out/none", shards=2)


def test_input_is_never_replaced(folder, memory):
    upload(folder, f"{memory}/in")
    with pytest.raises(InvalidArgumentError, match="it is an input, and the output would replace it"):
        merge(f"{memory}/in/*.tfrecord", f"{memory}/in/a b.tfrecord", overwrite=True)
    reshard(f"{memory}/in/*.tfrecord", f"{memory}/out/all", shards=1)
    with pytest.raises(AlreadyExistsError):
        reshard(f"{memory}/in/*.tfrecord", f"{memory}/out/all", shards=2)


@pytest.mark.parametrize("out", ["s3://bucket", "memory://train"])
def test_whole_bucket_is_no_prefix(out, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgumentError, match="Expected a name in a bucket, such as"):
        reshard(folder / NAMES[0], out, shards=2)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_object_that_changes_after_the_survey_is_an_error(folder, memory, monkeypatch):
    upload(folder, f"{memory}/in")
    survey = FrameInput.survey

    def changed(self, *options):
        seen = survey(self, *options)
        path = f"{memory}/in/{NAMES[0]}"
        write_bytes(path, read_bytes(path))  # the same bytes, but another version
        return seen

    monkeypatch.setattr(FrameInput, "survey", changed)
    with pytest.raises(InputChangedError, match=r"a b\.tfrecord: this input has changed since the job began"):
        reshard(f"{memory}/in/*.tfrecord", f"{memory}/out/all", shards=2)
    assert stored(f"{memory}/out") == {}


def test_damage_behind_a_url_is_reported_as_that_of_a_local_file(folder, tmp_path, memory):
    data = bytearray((folder / NAMES[0]).read_bytes())
    data[5000] ^= 1
    (folder / NAMES[0]).write_bytes(data)
    upload(folder, f"{memory}/in")
    expected = reshard(folder / NAMES[0], tmp_path / "local" / "all", shards=2, on_corrupt="skip")
    report = reshard(f"{memory}/in/{NAMES[0]}", f"{memory}/out/all", shards=2, on_corrupt="skip")
    assert (report.bad, report.listed) == (expected.bad, expected.listed)
    assert stored(f"{memory}/out") == local(tmp_path / "local")
    with pytest.raises(DataLossError, match=r"a b\.tfrecord"):
        reshard(f"{memory}/in/{NAMES[0]}", f"{memory}/again/all", shards=2)


def test_server_without_ranges_is_read_once_into_a_temporary_file(folder, tmp_path, http_server):
    http_server.manners.ranges = False
    http_server.files["a.tfrecord"] = (folder / NAMES[0]).read_bytes()
    reshard(f"{http_server.url}/a.tfrecord?sig=secret", tmp_path / "out" / "all", shards=3)
    assert list(tfr.read_records(tmp_path / "out" / "all-*")) == RECORDS[:100]
    assert not any(b"secret" in data for data in local(tmp_path / "out").values())
