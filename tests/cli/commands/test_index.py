from __future__ import annotations

import json

import pytest

import tfrkit as tfr
from tfrkit.records.access.zones import load_zones
from tfrkit.stores.files import open_source


def test_indexes_are_made_once(command, words, folder):
    done = command("index", "words.tfrecord")
    assert done == (0, "records  state  index\n      5  made   .tfrkit/words.tfrecord.idx\n", "")
    made = (folder / ".tfrkit" / "words.tfrecord.idx").read_bytes()
    assert tfr.Index.from_bytes(made).frames[-1] == (folder / "words.tfrecord").stat().st_size
    assert command("index", "words.tfrecord").out.splitlines()[1].split()[1] == "good"
    assert command("index", "words.tfrecord", "--overwrite").out.splitlines()[1].split()[1] == "made"


def test_check_makes_nothing_and_tells_missing_from_stale(command, words, folder):
    done = command("index", "words.tfrecord", "--check")
    assert (done.code, done.out.splitlines()[1]) == (1, "      -  missing  .tfrkit/words.tfrecord.idx")
    assert not (folder / ".tfrkit").exists()
    command("index", "words.tfrecord")
    assert command("index", "words.tfrecord", "--check").code == 0
    with tfr.TFRecordWriter("words.tfrecord") as writer:
        writer.write(b"another")
    done = command("index", "words.tfrecord", "--check")
    assert (done.code, done.out.splitlines()[1]) == (1, "      -  stale  .tfrkit/words.tfrecord.idx")
    assert command("index", "words.tfrecord", "--json").code == 0
    assert command("index", "words.tfrecord", "--check").code == 0


def test_zones_are_made_once_beside_the_index(command, words, folder):
    done = command("index", "words.tfrecord", "--zones")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "records  state  index\n"
        "      5  made   .tfrkit/words.tfrecord.idx\n"
        "      5  made   .tfrkit/words.tfrecord.zones\n"
    )
    assert load_zones("words.tfrecord", open_source("words.tfrecord")).records == 5
    found = json.loads(command("index", "words.tfrecord", "--zones", "--json").out)["files"]
    assert [(each["index_file"], each["state"]) for each in found] == [
        (".tfrkit/words.tfrecord.idx", "good"),
        (".tfrkit/words.tfrecord.zones", "good"),
    ]
    done = command("index", "words.tfrecord", "--zones", "--overwrite")
    assert [line.split()[1] for line in done.out.splitlines()[1:]] == ["made", "made"]


def test_check_of_zones_tells_missing_from_stale(command, words, folder):
    command("index", "words.tfrecord")
    assert command("index", "words.tfrecord", "--check").code == 0
    done = command("index", "words.tfrecord", "--check", "--zones")
    assert (done.code, done.out.splitlines()[2]) == (
        1,
        "      -  missing  .tfrkit/words.tfrecord.zones",
    )
    assert not (folder / ".tfrkit" / "words.tfrecord.zones").exists()
    command("index", "words.tfrecord", "--zones")
    assert command("index", "words.tfrecord", "--check", "--zones").code == 0
    (folder / ".tfrkit" / "words.tfrecord.zones").write_bytes(b"TFRKZON1")
    done = command("index", "words.tfrecord", "--check", "--zones")
    assert (done.code, done.out.splitlines()[2].split()[1]) == (1, "stale")


@pytest.mark.parametrize(
    ("name", "options"),
    [("a.tfrecord.xz", {}), ("a.tfrecord.gz", {"members": False}), ("a.tfrecord.zlib", {})],
)
def test_one_stream_has_zones_and_no_index(name, options, command, folder):
    with tfr.TFRecordWriter(name, **options) as writer:
        writer.write_batch({"x": [1, 2, 3]})
    done = command("index", name, "--zones")
    assert done == (0, f"records  state  index\n      3  made   .tfrkit/{name}.zones\n", "")
    assert command("index", name, "--zones", "--check").code == 0


def test_damaged_shard_has_no_zones(command, words, folder):
    data = bytearray((folder / "words.tfrecord").read_bytes())
    data[20] ^= 1
    (folder / "words.tfrecord").write_bytes(data)
    done = command("index", "words.tfrecord", "--zones")
    assert done.code == 1
    assert done.out.splitlines()[2].split()[1:] == ["failed", ".tfrkit/words.tfrecord.zones"]
    assert "corrupted record at 12" in done.err


def test_text_has_offset_and_size_of_each_record(command, words, folder):
    done = command("index", "words.tfrecord", "--text", "--json")
    assert json.loads(done.out) == {
        "files": [
            {
                "path": "words.tfrecord",
                "index_file": "words.tfrecord.idx",
                "state": "made",
                "records": 5,
                "error": "",
            }
        ]
    }
    lines = (folder / "words.tfrecord.idx").read_text().splitlines()
    assert lines[:2] == ["0 53", "53 52"]
    assert command("index", "words.tfrecord", "--text", "--check").code == 0
    (folder / "words.tfrecord.idx").write_text("0 53\n")
    assert command("index", "words.tfrecord", "--text", "--check").code == 1


def test_gzip_in_members_has_an_index_and_one_stream_has_none(command, folder):
    with tfr.TFRecordWriter("a.tfrecord.gz", index=False) as writer:
        writer.write_many([b"x"] * 10)
    with tfr.TFRecordWriter("b.tfrecord.zlib") as writer:
        writer.write_many([b"x"] * 10)
    done = command("index", "a.tfrecord.gz", "b.tfrecord.zlib")
    assert done.code == 1
    assert done.out == (
        "records  state   index\n"
        "     10  made    .tfrkit/a.tfrecord.gz.idx\n"
        "      -  failed  .tfrkit/b.tfrecord.zlib.idx\n"
    )
    assert done.err.startswith(
        "b.tfrecord.zlib: b.tfrecord.zlib; one ZLIB stream can only be read from the start."
    )
    assert len(tfr.RecordFile("a.tfrecord.gz")) == 10


def test_damage_fails_and_the_other_files_go_on(command, words, folder):
    (folder / "bad.tfrecord").write_bytes((folder / "words.tfrecord").read_bytes()[:-3])
    done = command("index", "bad.tfrecord", "words.tfrecord", "--quiet")
    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith("bad.tfrecord: truncated record at ")
    assert (folder / ".tfrkit" / "words.tfrecord.idx").exists()


def test_standard_input_cannot_have_one(command):
    done = command("index", "-")
    assert done.code == 2
    assert done.err.startswith("error: this command cannot read standard input")


def test_manifest_names_all_shards_of_a_folder(command, words, folder):
    (folder / "set").mkdir()
    (folder / "words.tfrecord").rename(folder / "set" / "words.tfrecord")
    done = command("index", "set", "--manifest")
    assert done == (0, "folder  shards  records\nset          1        5\n", "made by: words: tfr index\n")
    assert command("verify", "set").code == 0
    said = json.loads(command("index", "set", "--manifest", "--json").out)["folders"][0]
    assert (said["records"], said["conflicts"], said["shards"][0]["name"]) == (5, [], "words.tfrecord")
    assert not (folder / "set" / ".tfrkit" / "words.tfrecord.idx").exists()
    content = json.loads((folder / "set" / "manifest.json").read_text())
    content["shards"][0]["records"] = 4
    (folder / "other.json").write_text(json.dumps(content))
    done = command("index", "set", "--manifest", "--from", "other.json")
    size = (folder / "set" / "words.tfrecord").stat().st_size
    assert done.code == 0
    assert done.err == (
        "made by: words: tfr index\n"
        f"conflict: words.tfrecord: other.json says 4 records in {size} bytes, but there are 5 in {size}\n"
    )


def test_manifest_takes_folders_and_no_other_options(command, words, folder):
    done = command("index", "words.tfrecord", "--manifest")
    assert (done.code, done.err) == (
        2,
        "error: words.tfrecord; there is no such folder. Name the folder that has the shards.\n",
    )
    done = command("index", ".", "--manifest", "--check")
    assert done.code == 2
    assert (
        "--from is for --manifest, which goes without --text, --zones, --check and --overwrite." in done.err
    )
    done = command("index", "words.tfrecord", "--from", "x")
    assert done.code == 2
    assert (
        "--from is for --manifest, which goes without --text, --zones, --check and --overwrite." in done.err
    )
    (folder / "empty").mkdir()
    done = command("index", "empty", "--manifest")
    assert (done.code, done.err) == (
        2,
        "error: empty; no shards in this folder. Name the folder that has them.\n",
    )
