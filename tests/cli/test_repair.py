from __future__ import annotations

import json

import tfrkit as tfr


def test_whole_records_are_saved(command, words, folder):
    data = bytearray((folder / "words.tfrecord").read_bytes())
    data[80] ^= 1
    (folder / "words.tfrecord").write_bytes(data)
    done = command("repair", "words.tfrecord", "mended.tfrecord.gz")
    assert done == (
        0,
        (
            "words.tfrecord -> mended.tfrecord.gz: 4 records saved, 1 damage with 52 bytes lost\n"
            "  lost bytes 53-105 after 1 record: bad data CRC\n"
        ),
        "",
    )
    names = [example["name"] for example in tfr.read_examples("mended.tfrecord.gz")]
    assert names == [[b"zero"], [b"two"], [b"three"], [b"four"]]


def test_a_whole_file_is_copied(command, words):
    done = command("repair", "words.tfrecord", "copy.tfrecord", "--json")
    found = json.loads(done.out)
    assert (done.code, found["records"], found["lost"]) == (0, 5, [])
    assert command("repair", "words.tfrecord", "other.tfrecord").out == (
        "words.tfrecord -> other.tfrecord: 5 records saved, nothing lost\n"
    )


def test_what_is_there_is_replaced_only_if_asked(command, words, folder):
    (folder / "old.tfrecord").write_bytes(b"precious")
    done = command("repair", "words.tfrecord", "old.tfrecord")
    assert done == (
        2,
        "",
        "error: old.tfrecord: exists already\n\nhint: choose another name, or pass --overwrite.\n",
    )
    assert (folder / "old.tfrecord").read_bytes() == b"precious"
    assert command("repair", "words.tfrecord", "old.tfrecord", "--overwrite").code == 0
    assert len(tfr.RecordFile("old.tfrecord")) == 5


def test_onto_itself_is_refused(command, words):
    done = command("repair", "words.tfrecord", "./words.tfrecord", "--overwrite")
    assert done.code == 1
    assert done.err.startswith("error: cannot repair 'words.tfrecord' onto itself.")


def test_a_file_without_any_record_ends_with_1(command, folder):
    (folder / "a.tfrecord").write_bytes(b"nothing of the kind" * 10)
    done = command("repair", "a.tfrecord", "b.tfrecord")
    assert done.code == 1
    assert "0 records saved" in done.out


def test_several_files_and_folders_are_refused(command, words, folder):
    (folder / "words2.tfrecord").write_bytes((folder / "words.tfrecord").read_bytes())
    done = command("repair", "words*", "b.tfrecord")
    assert done.code == 2
    assert done.err.startswith("error: expected one file to repair but got 'words*', which is 2 files\n")
    (folder / "out").mkdir()
    assert command("repair", "words.tfrecord", "out").err.startswith("error: out: is a folder\n")
