from __future__ import annotations

import json
import os

from tests.folders.support.made_folders import digits, write_tfds


def test_a_folder_is_described(command, folder):
    write_tfds("digits", digits(10))
    done = command("folder", "digits")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("digits 1.0.0 (tfds)\ndigits\nsplits:\n  train: 10 records in 2 shards\n")
    assert "  label: zero, one, two\n" in done.out


def test_json_has_shards_and_classes(command, folder):
    write_tfds("digits", digits(10))
    found = json.loads(command("folder", "digits", "--json").out)
    assert (found["kind"], found["splits"]["train"]["records"]) == ("tfds", 10)
    assert found["classes"] == {"label": ["zero", "one", "two"]}


def test_a_folder_of_no_kind_is_an_error(command, folder):
    done = command("folder", "nothing")
    assert done.code != 0
    assert "No such folder" in done.err


def test_a_schema_may_be_named(command, folder):
    write_tfds("digits", digits(2))
    for name in ("dataset_info.json", "features.json"):
        os.remove(f"digits/{name}")
    with open("schema.pbtxt", "w") as file:
        file.write('feature { name: "label" type: INT }')
    done = command("folder", "digits", "--schema", "schema.pbtxt")
    assert (done.code, done.out.splitlines()[0], done.out.splitlines()[-1]) == (
        0,
        "digits (tfx)",
        "  label: VarLen(int64)",
    )
