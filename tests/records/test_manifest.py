from __future__ import annotations

import contextlib
import json
import multiprocessing
from pathlib import Path

import pytest

from tfrkit.errors import DataLossError
from tfrkit.records.manifest import (
    ShardEntry,
    change_manifest,
    manifest_entries,
    read_manifest,
    update_manifest,
)


def entry(name: str, records: int = 3) -> ShardEntry:
    return ShardEntry(name, records, 53, "")


def test_text_is_as_defined(tmp_path):
    update_manifest(str(tmp_path), [entry("b"), entry("ä")], [], {"train": {"writer": "test"}})
    assert (tmp_path / "manifest.json").read_text("utf-8") == (
        '{\n "format": "tfrkit-manifest",\n "made_by": {\n  "train": {\n   "writer": "test"\n  }\n },\n'
        ' "shards": [\n'
        '  {\n   "bytes": 53,\n   "compression": "",\n   "name": "b",\n   "records": 3\n  },\n'
        '  {\n   "bytes": 53,\n   "compression": "",\n   "name": "ä",\n   "records": 3\n  }\n'
        ' ],\n "version": 1\n}\n'
    )


def test_folder_without_one_has_an_empty_manifest(tmp_path):
    assert read_manifest(str(tmp_path)) == {
        "format": "tfrkit-manifest",
        "version": 1,
        "shards": [],
        "made_by": {},
    }


def test_updates_are_merged(tmp_path):
    folder = str(tmp_path)
    update_manifest(folder, [entry("a"), entry("b")], [], {"one": {"x": 1}})
    update_manifest(folder, [entry("c"), entry("a", 7)], ["b", "missing"], {"two": {}})
    content = read_manifest(folder)
    assert [(shard["name"], shard["records"]) for shard in content["shards"]] == [("a", 7), ("c", 3)]
    assert content["made_by"] == {"one": {"x": 1}, "two": {}}


def test_what_others_wrote_into_it_is_kept(tmp_path):
    update_manifest(str(tmp_path), [entry("a")], [], {})
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "spec": {"label": "int64"}}))
    update_manifest(str(tmp_path), [entry("b")], [], {})
    assert read_manifest(str(tmp_path))["spec"] == {"label": "int64"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected JSON but got: Expecting property name"),
        ("[]", "expected a tfrkit manifest but got something else. Move it away."),
        ('{"name": "web app"}', "expected a tfrkit manifest but got something else. Move it away."),
        (
            '{"format": "tfrkit-manifest", "version": 2}',
            "expected version 1 but got 2. Use a newer tfrkit.",
        ),
    ],
)
def test_what_is_no_manifest_is_not_overwritten(text, message, tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text(text)
    with pytest.raises(DataLossError) as caught:
        update_manifest(str(tmp_path), [entry("a")], [], {})
    assert str(caught.value).startswith(f"{path}; {message}")
    assert path.read_text() == text


def _add(folder: str, who: int) -> None:
    for number in range(25):
        update_manifest(folder, [entry(f"{who}-{number:02d}")], [], {str(who): {"n": number}})


def test_processes_that_update_at_once_lose_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add, args=(str(tmp_path), who)) for who in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    content = read_manifest(str(tmp_path))
    assert [shard["name"] for shard in content["shards"]] == [
        f"{who}-{number:02d}" for who in range(2) for number in range(25)
    ]
    assert content["made_by"] == {"0": {"n": 24}, "1": {"n": 24}}
    assert [path.name for path in Path(tmp_path, ".tfrkit").iterdir()] == ["manifest.lock"]


def test_manifest_is_written_only_if_something_changes(tmp_path):
    update_manifest(str(tmp_path), [entry("a")], [], {"a": {"n": 1}})
    before = (tmp_path / "manifest.json").stat().st_ino
    update_manifest(str(tmp_path), [entry("a")], [], {"a": {"n": 1}})
    assert (tmp_path / "manifest.json").stat().st_ino == before


def test_jobs_that_no_prefix_refers_to_are_left_out(tmp_path):
    def change(content):
        content["jobs"] = {"11": {}, "22": {}}
        content["made_by"]["a"] = {"job": "22"}

    change_manifest(str(tmp_path), change)
    assert read_manifest(str(tmp_path))["jobs"] == {"22": {}}


def test_names_that_are_no_utf8_come_back(tmp_path):
    update_manifest(str(tmp_path), [entry("\udcff 中.tfrecord")], [], {})
    assert read_manifest(str(tmp_path))["shards"][0]["name"] == "\udcff 中.tfrecord"
    assert "中".encode() in (tmp_path / "manifest.json").read_bytes()


def test_remains_of_a_killed_update_are_removed(tmp_path):
    left = tmp_path / ".tfrkit" / "manifest.json.123-0123abcd.tmp"
    left.parent.mkdir()
    left.write_bytes(b"half")
    update_manifest(str(tmp_path), [entry("a")], [], {})
    assert not left.exists()


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


ODD = [
    "null",
    "7",
    "-1",
    "1.5",
    "true",
    '"x"',
    "[]",
    "{}",
    "[1]",
    '{"a": 1}',
    '[{"a": []}]',
    "1" * 30,
    "NaN",
    "1e999",
    nested(90),
]
HEAD = '{"format": "tfrkit-manifest", "version": 1, '
ENTRY = {"name": "a.tfrecord", "records": 3, "bytes": 53, "compression": ""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + '"shards": ' + nested(100_000) + "}",
            "expected JSON but got: more than 100 lists and objects",
        ),
        (
            HEAD + '"shards": [], "x": ' + nested(150) + "}",
            "expected JSON but got: more than 100 lists and objects",
        ),
        (HEAD + '"shards": [], "shards": []}', "expected JSON but got: the key 'shards' is there twice"),
        (HEAD + '"shards": NaN}', "expected a list of shards but got nan"),
        (HEAD + '"shards": [], "x": ' + "9" * 5000 + "}", "expected JSON but got: Exceeds the limit"),
        (HEAD + '"x": 1}', "expected a list of shards but got None"),
        ('{"format": "tfrkit-manifest", "version": true}', "expected version 1 but got True"),
        (HEAD + '"shards": [], "made_by": []}', "made_by: expected an object of objects but got []"),
        (
            HEAD + '"shards": [], "made_by": {"a": 1}}',
            "made_by: expected an object of objects but got {'a': 1}",
        ),
        (HEAD + '"shards": [], "jobs": {"../x": {}}}', "jobs: expected hex digits but got '../x'"),
        (
            HEAD + '"shards": [], "jobs": {"aa": {"files": ["../x"]}}}',
            "jobs: files of aa: expected plain names of files but got ['../x']",
        ),
    ],
)
def test_what_cannot_be_believed_is_one_error(text, message, tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text(text)
    with pytest.raises(DataLossError) as caught:
        read_manifest(str(tmp_path))
    assert str(caught.value).startswith(f"{path}; {message}")
    assert caught.value.path == str(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "latin-1"])
def test_other_encodings_are_refused(encoding, tmp_path):
    (tmp_path / "manifest.json").write_text(HEAD + '"shards": [], "x": "ä"}', encoding)
    with pytest.raises(DataLossError, match="expected JSON but got: "):
        read_manifest(str(tmp_path))


@pytest.mark.parametrize(
    "name", ["../a", "/a", "a/b", "..", ".", "", "a\0", "\ud800", ".tfrkit", "manifest.json", "x" * 300]
)
def test_names_that_lead_out_of_the_folder_are_refused(name, tmp_path):
    content = {"format": "tfrkit-manifest", "version": 1, "shards": [{**ENTRY, "name": name}]}
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(DataLossError, match=r"shards\[0\]: name: expected the plain name of a file but got "):
        read_manifest(str(tmp_path))


@pytest.mark.parametrize(
    "field", ["format", "version", "shards", "made_by", "jobs", "name", "records", "bytes", "compression"]
)
def test_odd_types_in_any_field_are_read_or_refused(field, tmp_path):
    for odd in ODD:
        shard = dict(ENTRY)
        content = {"format": "tfrkit-manifest", "version": 1, "shards": [shard], "made_by": {}, "jobs": {}}
        (shard if field in shard else content)[field] = json.loads(odd)
        (tmp_path / "manifest.json").write_text(json.dumps(content))
        with contextlib.suppress(DataLossError):
            manifest_entries(read_manifest(str(tmp_path)))
        with contextlib.suppress(DataLossError):
            update_manifest(str(tmp_path), [entry("b")], ["a.tfrecord"], {"b": {"n": 1}})
