from __future__ import annotations

import contextlib
import io
import json
import sys

import numpy as np
import pytest

import tfrkit as tfr
import tfrkit.tf


def run_program(text, monkeypatch, *, tensorflow=False):
    """Run a printed program; TensorFlow's by our namespace of the same names."""
    if tensorflow:
        monkeypatch.setitem(sys.modules, "tensorflow", tfrkit.tf)
    namespace: dict[str, object] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "program", "exec"), namespace)
    return namespace, printed.getvalue()


def test_a_table_has_every_feature(command, words):
    done = command("schema", "words.tfrecord")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "5 Examples in words.tfrecord\n"
        "\n"
        "feature  kind   present  values  content\n"
        "name     bytes  all      1       UTF-8 text, 3 to 5 bytes, such as 'zero'\n"
        "number   int64  all      1       0 to 4\n"
    )


def test_json_is_a_schema(command, words):
    done = command("schema", "words.tfrecord", "--json")
    assert tfr.Schema.from_json(done.out) == tfr.inspect("words.tfrecord")


def test_a_sample_looks_at_some_records(command, words):
    assert command("schema", "words.tfrecord", "-n", "2").out.startswith("a sample of 2 Examples in")
    assert json.loads(command("schema", "words.tfrecord", "-n", "2", "--json").out)["records"] == 2


def test_python_is_a_program_that_reads_the_files(command, words, monkeypatch):
    done = command("schema", "words.tfrecord", "--python")
    assert done.out.startswith('import tfrkit as tfr\n\nfiles = [\n    "words.tfrecord",\n]\nspec = {\n')
    assert '    "number": tfr.FixedLenFeature([], "int64"),  # 0 to 4\n' in done.out
    namespace, printed = run_program(done.out, monkeypatch)
    assert namespace["spec"] == tfr.infer_spec("words.tfrecord")
    assert printed == "{'name': (5,), 'number': (5,)}\n"


@pytest.fixture
def odd(folder):
    """Examples with all that can be odd about a spec, compressed."""
    with tfr.TFRecordWriter("odd.tfrecord.gz") as writer:
        for number in range(3):
            writer.write_example({
                "var": np.arange(number), "fixed": [0.5, 1.5], "texts": ["a"] * (number + 1), "it's \"x\"\n\x1b名": 1,
                **({"sometimes": 1} if number else {}),
            })  # fmt: skip


@pytest.mark.parametrize("flavour", ["--python", "--tensorflow"])
def test_programs_read_odd_features(command, odd, monkeypatch, flavour):
    done = command("schema", "odd.tfrecord.gz", flavour)
    assert done.code == 0
    namespace, printed = run_program(done.out, monkeypatch, tensorflow=flavour == "--tensorflow")
    assert sorted(namespace["spec"]) == sorted(tfr.infer_spec("odd.tfrecord.gz"))
    assert "'fixed': " in printed


def test_tensorflow_is_told_the_compression(command, odd):
    out = command("schema", "odd.tfrecord.gz", "--tensorflow").out
    assert out.startswith("import tensorflow as tf\n")
    assert "tf.data.TFRecordDataset(files, compression_type='GZIP')" in out
    assert '    "fixed": tf.io.FixedLenFeature([2], tf.float32),  # 0.5 to 1.5\n' in out
    assert '    "texts": tf.io.VarLenFeature(tf.string),' in out


@pytest.mark.parametrize("flavour", ["--python", "--tensorflow"])
def test_programs_read_sequence_examples(command, folder, monkeypatch, flavour):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        for number in range(1, 4):
            lists = {"fixed": [[1, 2]] * number, "var": [np.arange(step) for step in range(number)]}
            writer.write(tfr.make_sequence_example({"id": number}, lists).SerializeToString())
    done = command("schema", "a.tfrecord", flavour)
    assert done.code == 0
    namespace, printed = run_program(done.out, monkeypatch, tensorflow=flavour == "--tensorflow")
    assert list(namespace["context_spec"]) == ["id"]
    assert list(namespace["sequence_spec"]) == ["fixed", "var"]
    assert "'fixed': " in printed


def test_features_of_several_kinds_are_left_out_and_named(command, folder, monkeypatch):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_example({"x": 1, "y": 1})
        writer.write_example({"x": 1.5, "y": 1})
    done = command("schema", "a.tfrecord", "--python")
    assert done.err.startswith("note: left out: feature 'x' is int64 in 1")
    namespace, _ = run_program(done.out, monkeypatch)
    assert list(namespace["spec"]) == ["y"]


def test_records_that_are_no_examples_have_a_table_and_no_program(command, folder):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write(b"just some text, no Example")
    assert command("schema", "a.tfrecord").code == 0
    done = command("schema", "a.tfrecord", "--python")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(
        "error: Could not parse example input: neither an Example nor a SequenceExample"
    )


def test_no_records_give_no_program(command, folder):
    (folder / "a.tfrecord").write_bytes(b"")
    done = command("schema", "a.tfrecord", "--python")
    assert (done.code, done.err.splitlines()[0]) == (1, "error: there are no records to read")


def test_one_form_at_a_time(command, words):
    done = command("schema", "words.tfrecord", "--json", "--python")
    assert done == (2, "", "error: expected one of --json, --python, --tensorflow\n\nhint: choose one.\n")


def test_standard_input_is_inspected(command, words, folder):
    done = command("schema", "-", stdin=(folder / "words.tfrecord").read_bytes())
    assert done.out.startswith("5 Examples in ")
