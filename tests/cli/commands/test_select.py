from __future__ import annotations

import tfrkit as tfr


def test_records_and_features_are_selected(command, words):
    done = command(
        "select", "words.tfrecord", "few.tfrecord", "--where", "number >= 1 and name != 'two'", "--name", "name=text"
    )  # fmt: skip
    assert done.code == 0
    examples = list(tfr.read_examples("few.tfrecord"))
    assert all(sorted(example) == ["number", "text"] for example in examples)
    assert 2 not in [int(example["number"][0]) for example in examples]


def test_key_and_drop(command, words):
    assert command("select", "words.tfrecord", "a", "--key", "name").code == 0
    assert command("select", "words.tfrecord", "b", "--drop", "number").code == 0
    assert all(list(example) == ["name"] for example in tfr.read_examples("a/words.tfrecord"))
    assert list(tfr.read_records("a/words.tfrecord")) == list(tfr.read_records("b/words.tfrecord"))


def test_bad_expressions_and_options_are_bad_usage(command, words):
    done = command("select", "words.tfrecord", "a", "--where", "number = 1")
    assert done.code == 2
    assert "at character 8 of 'number = 1'" in done.err
    done = command("select", "words.tfrecord", "a", "--name", "number")
    assert (
        done.code,
        "Expected OLD=NEW, such as image=picture, for rename (--name) but got 'number'" in done.err,
    ) == (2, True)
    done = command("select", "words.tfrecord", "a")
    assert (done.code, "There is nothing to select" in done.err) == (2, True)


def test_literal_of_another_kind_is_bad_data(command, words):
    done = command("select", "words.tfrecord", "a", "--where", "number == 'one'")
    assert done.code == 1
    assert "expected to compare 'number' with a number but got text" in done.err
