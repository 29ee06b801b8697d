from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

import tfrkit as tfr


def test_examples_are_shown_with_kinds_and_values(command, words):
    done = command("head", "words.tfrecord", "-n", "2")
    assert done.code == 0
    assert done.out == (
        "record 0 of words.tfrecord, 37 bytes\n"
        "  name    bytes  'zero'\n"
        "  number  int64  0\n"
        "\n"
        "record 1 of words.tfrecord, 36 bytes\n"
        "  name    bytes  'one'\n"
        "  number  int64  1\n"
    )


def test_json_has_one_object_a_line(command, words):
    done = command("head", "words.tfrecord", "--json", "--count", "2", "--skip", "1")
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"file": "words.tfrecord", "record": 1, "bytes": 36, "features": {"name": ["one"], "number": [1]}},
        {"file": "words.tfrecord", "record": 2, "bytes": 36, "features": {"name": ["two"], "number": [2]}},
    ]


def test_keys_choose_features(command, words):
    done = command("head", "words.tfrecord", "-n1", "--key", "number")
    assert done.out == "record 0 of words.tfrecord, 37 bytes\n  number  int64  0\n"
    both = command("head", "words.tfrecord", "-n1", "--json", "--key", "number", "--key", "name")
    assert json.loads(both.out)["features"] == {"name": ["zero"], "number": [0]}


def test_a_key_that_no_record_has_names_a_near_one(command, words):
    done = command("head", "words.tfrecord", "--key", "nmae")
    assert done.code == 2
    assert done.err == (
        "error: no record shown has a feature 'nmae'\n\n"
        "hint: did you mean 'name'? The first record has 'name', 'number'.\n"
    )


def shown(command, features, *options):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_example(features)
    done = command("head", "a.tfrecord", *options)
    assert done.code == 0, done.err
    return done.out


def test_long_lists_are_summarised(command, folder):
    assert "  x  int64  0, 1, 2, 3, 4, 5, 6, 7, ... 1,000 values\n" in shown(command, {"x": range(1000)})
    assert f"  x  int64  {', '.join(map(str, range(1000)))}\n" in shown(command, {"x": range(1000)}, "--full")
    assert json.loads(shown(command, {"x": range(1000)}, "--json"))["features"]["x"] == {
        "first": list(range(8)),
        "values": 1000,
    }
    full = shown(command, {"x": range(1000)}, "--json", "--full")
    assert json.loads(full)["features"]["x"] == list(range(1000))


def test_images_are_summarised(command, folder):
    png = tfr.image.encode_png(np.zeros((8, 12, 3), np.uint8))
    png = getattr(png, "item", lambda: png)()
    assert f"  x  bytes  PNG image 12x8, {len(png)} bytes\n" in shown(command, {"x": png})
    found = json.loads(shown(command, {"x": png}, "--json"))["features"]["x"]
    assert found == [{"looks_like": "PNG image 12x8", "bytes": len(png)}]
    full = json.loads(shown(command, {"x": png}, "--json", "--full"))["features"]["x"]
    assert full[0]["base64"].startswith("iVBORw0KGgo")
    assert "  x  bytes  0x89504e470d0a1a0a" in shown(command, {"x": png}, "--full")


def test_long_texts_are_cut(command, folder):
    text = "lorem ipsum " * 20
    assert f"  x  bytes  {text[:100]!r}..., 240 bytes\n" in shown(command, {"x": text})
    assert f"  x  bytes  {text!r}\n" in shown(command, {"x": text}, "--full")
    assert json.loads(shown(command, {"x": text}, "--json"))["features"]["x"] == [
        {"first": text[:100], "bytes": 240}
    ]


def test_floats_are_the_shortest_and_json_stays_json(command, folder):
    values = [0.1, float("nan"), float("inf"), float("-inf"), 3e38]
    assert "  x  float32  0.1, nan, inf, -inf, 3e+38\n" in shown(command, {"x": values})
    found = json.loads(shown(command, {"x": values}, "--json"), parse_constant=pytest.fail)
    assert found["features"]["x"] == [0.1, "NaN", "Infinity", "-Infinity", 3e38]


def test_bytes_that_are_no_text_are_hexadecimal(command, folder):
    assert "  x  bytes  0x00ff01\n" in shown(command, {"x": b"\x00\xff\x01"})
    assert "  x  bytes  0xff000102030405060708090a0b0c0d0e..., 33 bytes\n" in shown(
        command, {"x": b"\xff" + bytes(range(32))}
    )


def test_names_and_texts_command_no_terminal(command, folder):
    out = shown(command, {"a\x1b[2J\n": "b\x1b]0;x\x07"})
    assert "\x1b" not in out
    assert r"a\x1b[2J\n" in out
    assert out.count("\n") == 2


def test_wide_names_are_aligned(command, folder):
    assert "  ab    int64  1\n  名字  bytes  '中文'\n" in shown(command, {"名字": "中文", "ab": 1})


def test_features_without_values_and_without_kind(command, folder):
    message = tfr.Example()
    message.features.feature["unset"].SetInParent()
    message.features.feature["empty"].int64_list.SetInParent()
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write(message.SerializeToString())
        writer.write(b"")
    out = command("head", "a.tfrecord").out
    assert "  empty  int64  (no values)\n  unset  -      (no kind)\n" in out
    assert "record 1 of a.tfrecord, 0 bytes\n  (no features)\n" in out
    assert json.loads(command("head", "a.tfrecord", "--json", "-n1").out)["features"] == {
        "empty": [],
        "unset": None,
    }


def test_sequence_examples_have_context_and_lists(command, folder):
    steps = [[1, 2], [], [3]]
    message = tfr.make_sequence_example(
        {"id": 7}, {"words": [["a"], ["rose"]], "steps": [np.array(step, int) for step in steps]}
    )
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write(message.SerializeToString())
    done = command("head", "a.tfrecord")
    assert done.out.splitlines()[0].endswith(", SequenceExample")
    assert done.out.splitlines()[1:] == [
        "  context:",
        "    id  int64  7",
        "  feature lists:",
        "    steps  int64  3 steps: [1, 2] [] [3]",
        "    words  bytes  2 steps: ['a'] ['rose']",
    ]
    found = json.loads(command("head", "a.tfrecord", "--json").out)
    assert found["context"] == {"id": [7]}
    assert found["feature_lists"] == {"words": [["a"], ["rose"]], "steps": steps}
    one = json.loads(command("head", "a.tfrecord", "--json", "--key", "words").out)
    assert (one["context"], list(one["feature_lists"])) == ({}, ["words"])


def test_records_that_are_no_examples_are_shown_as_what_they_are(command, folder):
    records = [
        b'{"a": [1, 2]}',
        "grüße\nzwei".encode(),
        bytes(range(100)),
        tfr.make_example({"x": 1}).SerializeToString(),
    ]
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_many(records)
    lines = command("head", "a.tfrecord").out.splitlines()
    assert lines[:6] == [
        "record 0 of a.tfrecord, 13 bytes, no Example: JSON",
        '  {"a": [1, 2]}',
        "",
        "record 1 of a.tfrecord, 12 bytes, no Example: UTF-8 text",
        "  grüße",
        "  zwei",
    ]
    assert lines[7] == "record 2 of a.tfrecord, 100 bytes, no Example: binary data"
    assert lines[9] == "  000010  10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f  ................"
    assert lines[12] == "  ..."
    assert lines[-1] == "  x  int64  1"
    found = [json.loads(line) for line in command("head", "a.tfrecord", "--json", "--full").out.splitlines()]
    assert [list(one)[-1] for one in found] == ["other", "other", "other", "features"]
    assert found[0]["other"] == '{"a": [1, 2]}'
    assert found[2]["other"]["base64"].startswith("AAECAwQ")


def test_a_key_may_have_another_kind_in_each_record(command, folder):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        for value in (1, 2.5, "three"):
            writer.write_example({"x": value})
    out = command("head", "a.tfrecord").out
    assert [line for line in out.splitlines() if line.startswith("  x")] == [
        "  x  int64  1",
        "  x  float32  2.5",
        "  x  bytes  'three'",
    ]


def test_standard_input_is_read_plain_and_compressed(command, words, folder):
    data = (folder / "words.tfrecord").read_bytes()
    plain = command("head", "-", "-n", "1", stdin=data)
    assert plain.code == 0
    assert "'zero'" in plain.out
    assert "'zero'" in command("head", "-", "-n", "1", stdin=zlib.compress(data)).out


def test_random_records_come_from_all_files_and_a_seed_repeats_them(command, folder):
    with tfr.ShardWriter("out/a", shards=3) as writer:
        for number in range(300):
            writer.write_example({"n": number})
    first = command("head", "out", "--random", "--seed", "5", "-n", "30", "--json")
    found = [json.loads(line) for line in first.out.splitlines()]
    assert len({(one["file"], one["record"]) for one in found}) == 30
    assert len({one["file"] for one in found}) == 3
    assert all(one["features"]["n"] == [one["record"] * 3 + int(one["file"][10])] for one in found)
    assert command("head", "out", "--random", "--seed", "5", "-n", "30", "--json").out == first.out
    assert command("head", "out", "--random", "--seed", "6", "-n", "30", "--json").out != first.out


def test_random_takes_all_if_there_are_fewer(command, words):
    done = command("head", "words.tfrecord", "--random", "-n", "50", "--skip", "2", "--json")
    assert [json.loads(line)["record"] for line in done.out.splitlines()] == [2, 3, 4]


def test_random_needs_files_and_seed_needs_random(command, words):
    refused = command("head", "-", "--random")
    assert (refused.code, refused.err.splitlines()[0]) == (
        2,
        "error: --random cannot choose from standard input: it needs files",
    )
    refused = command("head", "words.tfrecord", "--seed", "1")
    assert (refused.code, refused.err.splitlines()[0]) == (2, "error: --seed needs --random")


@pytest.mark.parametrize("compression", ["none", "GZIP", "ZLIB"])
@pytest.mark.parametrize("index", [True, False])
def test_skip_goes_over_files_with_and_without_index(command, folder, compression, index):
    for file in range(3):
        with tfr.TFRecordWriter(
            f"{file}.tfrecord", compression=compression, index=index and compression != "ZLIB"
        ) as w:
            w.write_many([f"record {file * 10 + number}".encode() for number in range(10)])
    done = command("head", "*.tfrecord", "--skip", "17", "-n", "4", "--json")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [one["other"] for one in found] == [f"record {number}" for number in (17, 18, 19, 20)]
    assert [(one["file"], one["record"]) for one in found] == [
        ("1.tfrecord", 7),
        ("1.tfrecord", 8),
        ("1.tfrecord", 9),
        ("2.tfrecord", 0),
    ]
    assert command("head", "*.tfrecord", "--skip", "30") == (0, "", "no records\n")


def test_damage_ends_it_or_is_left_out(command, words, folder):
    data = bytearray((folder / "words.tfrecord").read_bytes())
    data[60] ^= 1
    (folder / "words.tfrecord").write_bytes(data)
    done = command("head", "words.tfrecord", "--key", "number")
    assert done.code == 1
    assert done.out == "record 0 of words.tfrecord, 37 bytes\n  number  int64  0\n"
    assert done.err.startswith("error: corrupted record at ")
    assert done.err.endswith(
        "\n\nhint: `tfr verify words.tfrecord` lists all damage, `tfr repair words.tfrecord NEW` saves what is whole.\n"
    )
    rest = command("head", "words.tfrecord", "--key", "number", "--on-corrupt", "skip", "--json")
    assert (rest.code, rest.err) == (0, "1 damage was skipped: `tfr verify` lists all damage\n")
    assert [json.loads(line)["features"]["number"] for line in rest.out.splitlines()] == [[0], [2], [3], [4]]
    before = command("head", "words.tfrecord", "-n", "1", "--on-corrupt", "skip")
    assert (before.code, before.err) == (0, "")  # nothing is said of what was not read


def test_count_zero_shows_nothing(command, words):
    assert command("head", "words.tfrecord", "-n", "0") == (0, "", "")


def test_an_empty_file_is_told(command, folder):
    (folder / "a.tfrecord").write_bytes(b"")
    assert command("head", "a.tfrecord") == (0, "", "no records\n")


def test_what_is_no_file_of_records_is_told_without_advice_to_repair(command, folder):
    (folder / "a.txt").write_text("some text that is no record " * 5)
    done = command("head", "a.txt")
    assert done.code == 1
    assert done.err.endswith("The file looks like text. TFRecord files are binary; is this the right file?\n")


PROTO = """
syntax = "proto3";
package pkg;
message Lens { string name = 1; repeated float points = 2; }
message Frame { int64 id = 1; repeated Lens lenses = 2; bytes image = 3; }
"""


@pytest.fixture
def frames(folder):
    """A `.proto` file, and records: three frames (of which one is empty) and a picture."""
    (folder / "frame.proto").write_text(PROTO)
    lens = b"\x0a\x04wide\x12\x08" + np.array([0.5, 1], "<f4").tobytes()
    records = [
        b"\x08\x07" + 2 * (b"\x12" + bytes([len(lens)]) + lens),
        b"",
        b"\xff\xd8\xff\xe0\0\x10JFIF",
        b"\x08\x09",
    ]
    with tfr.TFRecordWriter("frames.tfrecord") as writer:
        writer.write_many(records)


def test_messages_of_any_type_are_shown_by_a_proto_file(command, frames):
    done = command("head", "frames.tfrecord", "--proto", "frame.proto:pkg.Frame", "-n", "3")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "record 0 of frames.tfrecord, 38 bytes, pkg.Frame\n"
        "  id             int64    7\n"
        "  lenses.name    bytes    'wide', 'wide'\n"
        "  lenses.points  float32  2 steps: [0.5, 1.0] [0.5, 1.0]\n"
        "\n"
        "record 1 of frames.tfrecord, 0 bytes, pkg.Frame\n"
        "  (no fields)\n"
        "\n"
        "record 2 of frames.tfrecord, 10 bytes, no pkg.Frame: JPEG image\n"
        "  000000  ff d8 ff e0 00 10 4a 46 49 46                    ......JFIF\n"
    )


def test_messages_are_json_with_their_fields(command, frames):
    done = command("cat", "frames.tfrecord", "--proto", "frame.proto:.pkg.Frame", "--json", "--key", "id")
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"file": "frames.tfrecord", "record": 0, "bytes": 38, "message": "pkg.Frame", "fields": {"id": [7]}},
        {"file": "frames.tfrecord", "record": 1, "bytes": 0, "message": "pkg.Frame", "fields": {}},
        {
            "file": "frames.tfrecord",
            "record": 2,
            "bytes": 10,
            "other": {"looks_like": "JPEG image", "bytes": 10},
        },
        {"file": "frames.tfrecord", "record": 3, "bytes": 2, "message": "pkg.Frame", "fields": {"id": [9]}},
    ]
    steps = command("head", "frames.tfrecord", "--proto", "frame.proto:pkg.Frame", "--json", "-n1").out
    assert json.loads(steps)["fields"]["lenses.points"] == [[0.5, 1.0], [0.5, 1.0]]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "frame.proto:pkg.Fraem",
            "No descriptor found for message type 'pkg.Fraem'. Did you mean 'pkg.Frame'",
        ),
        ("frame.proto", "expected a file of descriptors or .proto file and the full name of a message"),
        ("none.proto:pkg.Frame", "none.proto: No such file or directory"),
        ("frames.tfrecord:pkg.Frame", "'frames.tfrecord' are no serialised FileDescriptorSet."),
    ],
)
def test_a_wrong_type_of_messages_is_bad_usage(command, frames, text, error):
    done = command("head", "frames.tfrecord", "--proto", text)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: --proto: {error}")
