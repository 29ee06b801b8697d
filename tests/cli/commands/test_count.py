from __future__ import annotations

import json
import os

import pytest

import tfrkit as tfr
from tfrkit.records.access.count import count_records


def test_one_file_gives_a_number(command, words):
    assert command("count", "words.tfrecord") == (0, "5\n", "")


def test_a_folder_gives_a_table_with_the_sum(command, folder):
    with tfr.ShardWriter("out/a", shards=2) as writer:
        writer.write_many([b"x"] * 1001)
    done = command("count", "out")
    assert done.out == (
        "records  file\n"
        "    501  out/a-00000-of-00002.tfrecord\n"
        "    500  out/a-00001-of-00002.tfrecord\n"
        "   1001  total\n"
    )


def test_json_has_files_and_sum(command, words):
    done = command("count", "words.tfrecord", "words.tfrecord", "--json")
    assert json.loads(done.out) == {"files": [{"path": "words.tfrecord", "records": 5}] * 2, "records": 10}


@pytest.mark.parametrize("compression", ["none", "GZIP", "ZLIB", "XZ", "ZSTD"])
def test_every_compression_is_counted_without_an_index(command, folder, compression):
    with tfr.TFRecordWriter("a.tfrecord", compression=compression, index=False) as writer:
        writer.write_many([b"x" * (number % 300) for number in range(3000)])
    assert command("count", "a.tfrecord").out == "3000\n"
    assert command("count", "a.tfrecord", "--exact").out == "3000\n"
    assert command("count", "a.tfrecord", "a.tfrecord").out.splitlines()[-1] == "   6000  total"


def test_standard_input_is_counted(command, words, folder):
    assert command("count", "-", stdin=(folder / "words.tfrecord").read_bytes()).out == "5\n"


def test_an_empty_file_has_no_records(command, folder):
    (folder / "a.tfrecord").write_bytes(b"")
    assert command("count", "a.tfrecord").out == "0\n"


def test_large_records_are_skipped_over(command, folder):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        for size in (0, 70_000, 1 << 21, 5, 70_000):
            writer.write(b"x" * size)
    assert command("count", "a.tfrecord").out == "5\n"


def test_an_index_is_believed_only_while_it_belongs_to_the_file(folder):
    with tfr.TFRecordWriter("a.tfrecord", index=True) as writer:
        writer.write_many([b"abc"] * 7)
    data = bytearray((folder / ".tfrkit" / "a.tfrecord.idx").read_bytes())
    # An index of the right size that claims other numbers would be believed: nothing else is read.
    assert int.from_bytes(data[24:32], "little") == 7
    assert count_records("a.tfrecord") == 7
    with tfr.TFRecordWriter("b.tfrecord") as writer:
        writer.write_many([b"abc"] * 9)
    os.replace("b.tfrecord", "a.tfrecord")
    assert count_records("a.tfrecord") == 9
    data[24] = 8
    (folder / ".tfrkit" / "a.tfrecord.idx").write_bytes(data)
    assert count_records("a.tfrecord") == 9


def test_a_manifest_is_believed_only_if_the_size_is_right(folder):
    with tfr.ShardWriter("out/a", shards=1, index=False) as writer:
        writer.write_many([b"abc"] * 7)
    path = "out/a-00000-of-00001.tfrecord"
    text = (folder / "out" / "manifest.json").read_text()
    (folder / "out" / "manifest.json").write_text(text.replace('"records": 7', '"records": 70'))
    assert count_records(path) == 70
    assert count_records(path, exact=True) == 7
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([b"abc"] * 8)
    assert count_records(path) == 8


@pytest.mark.parametrize(
    "manifest", ["[]", "{", '{"format": "tfrkit-manifest", "version": 1, "shards": [{}]}']
)
def test_a_manifest_of_another_program_is_no_trouble(command, words, folder, manifest):
    (folder / "manifest.json").write_text(manifest)
    assert command("count", "words.tfrecord").out == "5\n"


def test_damaged_files_are_named_and_the_others_counted(command, words, folder):
    (folder / "bad.tfrecord").write_bytes((folder / "words.tfrecord").read_bytes()[:-3])
    done = command("count", "bad.tfrecord", "words.tfrecord")
    assert done.code == 1
    assert done.out == "records  file\n      5  words.tfrecord\n      5  total without 1 damaged\n"
    assert done.err.startswith("error: truncated record at ")
    assert "'bad.tfrecord'" in done.err
    alone = command("count", "bad.tfrecord")
    assert (alone.code, alone.out) == (1, "")


def test_names_that_are_no_utf8_are_counted_and_are_json(command, words, folder):
    name = os.fsdecode(b"caf\xe9.tfrecord")
    os.rename("words.tfrecord", name)
    assert command("count", name).out == "5\n"
    assert json.loads(command("count", name, "--json").out)["files"][0]["path"] == name


def test_a_set_that_is_not_complete_is_counted_and_ends_with_1(command, folder):
    with tfr.ShardWriter("out/a", shards=4) as writer:
        writer.write_many([b"x"] * 8)
    (folder / "out" / "a-00001-of-00004.tfrecord").unlink()
    done = command("count", "out")
    assert done.code == 1
    assert done.out.splitlines()[-1] == "      6  total of a set that is not complete"
    assert done.err == (
        "warning: out/a-00001-of-00004.tfrecord: MISSING: the manifest names it, but it is not there\n"
    )
    done = command("count", "out/*.tfrecord", "--json")
    assert (done.code, json.loads(done.out)["records"]) == (1, 6)
    assert json.loads(done.out)["problems"][0]["kind"] == "missing"
    assert command("count", "out/a-00000-of-00004.tfrecord") == (0, "2\n", "")


def test_a_count_other_than_in_the_manifest_ends_with_1(command, folder):
    with tfr.ShardWriter("out/a", shards=2) as writer:
        writer.write_many([b"x"] * 8)
    with tfr.TFRecordWriter("out/a-00001-of-00002.tfrecord") as writer:
        writer.write_many([b"x"] * 3)
    done = command("count", "out")
    assert (done.code, done.out.splitlines()[-1].split()[0]) == (1, "7")
    assert "DIFFERS: the manifest says 4 records in 68 bytes, but there are 3 in 51" in done.err


def test_what_the_manifest_does_not_name_is_not_counted_but_told(command, folder):
    with tfr.ShardWriter("out/a", shards=2) as writer:
        writer.write_many([b"x"] * 8)
    with tfr.TFRecordWriter("out/extra.tfrecord") as writer:
        writer.write_many([b"x"] * 3)
    done = command("count", "out")
    assert (done.code, done.out.splitlines()[-1].split()) == (0, ["8", "total"])
    assert done.err == "not counted, because the manifest does not name them: out/extra.tfrecord\n"


@pytest.mark.parametrize("names", [["bad.tfrecord"], ["bad.tfrecord", "words.tfrecord"]])
def test_on_corrupt_says_which_records_of_a_damaged_file_count(command, words, folder, names):
    data = bytearray((folder / "words.tfrecord").read_bytes())
    data[-1] ^= 1  # the data of the last record
    data[14] ^= 1  # and of the first
    (folder / "bad.tfrecord").write_bytes(data)
    others = 5 * (len(names) - 1)
    skipped = command("count", *names, "--on-corrupt", "skip")
    assert (skipped.code, skipped.out.split()[-2 if others else 0]) == (0, str(3 + others))
    assert skipped.err == "2 damages were skipped: `tfr verify` lists all damage\n"
    skipped = command("count", *names, "--on-corrupt", "skip", "--json")
    assert json.loads(skipped.out)["skipped"] == 2
    with pytest.warns(tfr.errors.DataLossWarning, match="the rest of the file is left out"):
        stopped = command("count", *names, "--on-corrupt", "stop", "--json")
    assert json.loads(stopped.out)["records"] == others
    assert stopped.err == ""  # the warning says it


def test_on_corrupt_does_not_believe_an_index(command, folder):
    with tfr.TFRecordWriter("a.tfrecord", index=True) as writer:
        writer.write_many([b"abc"] * 7)
    data = bytearray((folder / "a.tfrecord").read_bytes())
    data[13] ^= 1
    (folder / "a.tfrecord").write_bytes(data)
    assert command("count", "a.tfrecord").out == "7\n"
    assert command("count", "a.tfrecord", "--on-corrupt", "skip").out == "6\n"
    assert count_records("a.tfrecord", on_corrupt="skip") == 6


@pytest.mark.parametrize("verb", ["count", "cat", "schema", "stats"])
def test_a_parquet_file_is_not_sent_to_repair(command, folder, verb):
    (folder / "a.parquet").write_bytes(b"PAR1" + bytes(range(200)))
    done = command(verb, "a.parquet")
    assert done.code == 1
    assert done.err == (
        "error: corrupted record at 0 (Is this even a TFRecord file?): length checksum stored 0x07060504, computed "
        "0x984b3c1a, in record 0 (frame at byte 0) of 'a.parquet'. The file looks like a Parquet file. Make records "
        "of it with `tfr build table`.\n"
    )


def test_a_damaged_file_of_records_is_sent_to_repair(command, words, folder):
    (folder / "bad file.tfrecord").write_bytes((folder / "words.tfrecord").read_bytes()[:-3])
    os.utime("bad file.tfrecord", (1, 1))
    done = command("count", "bad file.tfrecord")
    assert done.code == 1
    assert done.err == (
        "error: truncated record at 211' failed with Read less bytes than requested: the frame is 53 bytes long, more "
        "than the file has, in record 4 (frame at byte 211) of 'bad file.tfrecord'. Copy the file again; --on-corrupt "
        "skip takes what is whole.\n"
        "\n"
        "hint: `tfr verify 'bad file.tfrecord'` lists all damage, `tfr repair 'bad file.tfrecord' NEW` saves what is "
        "whole.\n"
    )


def test_a_file_that_is_still_written_is_called_that_and_not_repaired(command, words, folder):
    (folder / "bad.tfrecord").write_bytes((folder / "words.tfrecord").read_bytes()[:-3])
    done = command("count", "bad.tfrecord")
    assert done.err.endswith(
        " of 'bad.tfrecord'. The file is probably still being written: it was modified within the last 30 seconds. "
        "Read it again when it is finished; --on-corrupt skip takes what is whole now. If no program is writing it, "
        "copy it again.\n"
    )
