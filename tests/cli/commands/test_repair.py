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


def damage(path, at=14):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_several_files_need_a_folder(command, words, folder):
    (folder / "words2.tfrecord").write_bytes((folder / "words.tfrecord").read_bytes())
    done = command("repair", "words*", "b.tfrecord")
    assert done.code == 2
    assert done.err.startswith("error: expected a folder for 2 files but got 'b.tfrecord'\n")
    assert command("repair", "words.tfrecord").err.startswith(
        "error: expected SOURCE and TARGET but got one path\n"
    )
    assert command("repair", "words.tfrecord", "--replace", "--overwrite").code == 2
    damage(folder / "words2.tfrecord")
    done = command("repair", "words*", "out/")
    assert (done.code, done.err) == (0, "2 files, 1 damaged: 9 records saved\n")
    assert done.out == (
        "words.tfrecord -> out/words.tfrecord: 5 records saved, nothing lost\n"
        "words2.tfrecord -> out/words2.tfrecord: 4 records saved, 1 damage with 53 bytes lost\n"
        "  lost bytes 0-53 after 0 records: bad data CRC\n"
    )
    assert command("repair", "words.tfrecord", "out").err.startswith(
        "error: out/words.tfrecord; exists already"
    )
    assert command("repair", "words.tfrecord", "out", "--overwrite").code == 0


def test_a_folder_is_mended_where_it_is(command, folder):
    with tfr.ShardWriter("out/a", shards=4) as writer:
        writer.write_many([b"x" * 10] * 40)
    damage(folder / "out" / "a-00001-of-00004.tfrecord")
    (folder / "out" / "a-00002-of-00004.tfrecord").write_text("<html>not found</html>")
    done = command("repair", "out", "--replace")
    assert done.code == 1
    assert done.out.startswith(
        "out/a-00001-of-00004.tfrecord: 9 records saved, 1 damage with 26 bytes lost, "
        "1 record fewer than in the manifest\n  lost bytes 0-26 after 0 records: bad data CRC\n"
    )
    assert (
        "a-00002-of-00004.tfrecord: NOT REPAIRED: out/a-00002-of-00004.tfrecord; there is no intact"
        in done.out
    )
    assert (
        done.err
        == "4 files, 1 damaged: 29 records saved, 1 record of the manifest lost, 1 file not repaired\n"
    )
    found = json.loads(command("verify", "out", "--json").out)
    assert [file["ok"] for file in found["files"]] == [True, True, False, True]
    (folder / "out" / "a-00002-of-00004.tfrecord").unlink()
    assert command("repair", "out", "--replace", "--quiet").err == (
        "warning: out/a-00002-of-00004.tfrecord: MISSING: the manifest names it, but it is not there\n"
    )


def test_a_file_without_records_is_named_by_what_it_looks_like(command, folder):
    (folder / "a.parquet").write_bytes(b"PAR1" + bytes(range(100)))
    done = command("repair", "a.parquet", "new.tfrecord")
    assert done.code == 1
    assert done.err == "a.parquet looks like a Parquet file. Make records of it with `tfr build table`\n"
