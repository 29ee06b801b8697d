"""tfrkit's messages beside TensorFlow's: what they take, refuse, write and print."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from google.protobuf.internal import api_implementation

import tfrkit as tfr
from tests.oracle.support.message_scenarios import LISTS, NAMES, SCENARIOS
from tests.oracle.support.oracle import Failure, assert_same, tensorflow
from tests.oracle.support.parse_scenarios import DAMAGED, PARSED
from tests.support.rule_table import ROOT
from tests.support.rules import tf_rule

SAY_ALL = """
import sys
from tests.oracle.support.oracle import tensorflow
from tests.oracle.support import message_scenarios, parse_scenarios
import tfrkit
for name, scenario in message_scenarios.SCENARIOS.items():
    ours, theirs = scenario(tfrkit), scenario(tensorflow().train)
    assert ours == theirs, f"{name}: tfrkit {ours}, TensorFlow {theirs}"
numbers = tfrkit.FloatList(value=[1 / 3, 123456789])
print(tfrkit.Example.__module__, repr(str(numbers)))
"""


def see(name: str) -> list[Any]:
    """Run a scenario with both; give what TensorFlow's messages gave, under upb."""
    assert api_implementation.Type() == "upb", "the texts below are upb's"
    theirs = SCENARIOS[name](tensorflow().train)
    assert_same(SCENARIOS[name](tfr), theirs, name)
    return theirs


def type_error(text: str) -> Failure:
    """A TypeError of this text."""
    return Failure("TypeError", text)


@tf_rule("2 schema")
def test_schema():
    seen = see("schema")
    assert [row[:4] for row in seen[-3:]] == [
        ("tensorflow.BytesList", "value", 1, 12),
        ("tensorflow.FloatList", "value", 1, 2),
        ("tensorflow.Int64List", "value", 1, 3),
    ]
    assert [(row[1], row[2], row[6]) for row in seen if row[0] == "tensorflow.Feature"] == [
        ("bytes_list", 1, "kind"),
        ("float_list", 2, "kind"),
        ("int64_list", 3, "kind"),
    ]


@tf_rule("2 names")
def test_names():
    assert see("full_names") == [f"tensorflow.{name}" for name in (*NAMES, *LISTS)]
    train = tensorflow().train
    assert {getattr(train, name).__module__ for name in NAMES[:2]} == {"tensorflow.core.example.example_pb2"}
    assert {getattr(train, name).__module__ for name in (*NAMES[2:], *LISTS)} == {
        "tensorflow.core.example.feature_pb2"
    }
    assert all(getattr(tfr, name).__module__.startswith("tfrkit.") for name in (*NAMES, *LISTS))


@tf_rule("2 packed")
@tf_rule("2 negative int64")
def test_bytes_of_numbers():
    ints, floats, negative, _ = see("bytes_of_numbers")
    assert ints == b"\n\x04\x01\x02\xac\x02"
    assert floats == b"\n\x08\x00\x00\x00?\x00\x00\x00\xc0"
    assert negative == b"\n\n" + b"\xff" * 9 + b"\x01"


@tf_rule("2 unset value in a map")
@tf_rule("2 empty list is written")
@tf_rule("2 empty message")
def test_bytes_of_the_unset():
    seen = see("bytes_of_the_unset")
    assert seen == [b"\n\x05\n\x01a\x12\x00", b"\x1a\x00", b"\x12\x00", b"\n\x00", b"\n\x00", b"", False]


@tf_rule("2 map order")
@tf_rule("2 deterministic order")
def test_deterministic_order():
    first, order, readable, second, *_ = see("deterministic_order")
    assert first == second
    assert readable
    assert order == ["Z", "aa", "a", "m", "z", "é", "特征", ""]


@tf_rule("2 text layout")
@tf_rule("2 text floats")
@tf_rule("2 text bytes")
@tf_rule("2 text keys")
@tf_rule("2 text of the unset")
def test_texts():
    ints, floats, strings, keys, unset, empty, *_ = see("texts")
    assert ints == "int64_list {\n  value: 32\n  value: -1\n}\n"
    assert " ".join(line.split()[-1] for line in floats.splitlines()[1:-1]) == (
        "0.333333343 1e+10 123456792 inf -inf nan 0.1 16 1.4013e-45 3.4e+38 -0 1e-05 123456"
    )
    assert r'"\000\377\"\'\n\t\\\303\251abc\177"' in strings
    assert 'key: "é 中 \\n\\""' in keys
    assert (unset, empty) == ("", "int64_list {\n}\n")


@tf_rule("2 text map order")
def test_text_map_order():
    keys, _ = see("text_map_order")
    bytes_order = see("deterministic_order")[1]
    assert keys == [f'  key: "{key}"' for key in reversed(bytes_order)]


@tf_rule("2 int64 iterables")
@tf_rule("2 int64 bytes")
@tf_rule("2 list of None")
def test_int64_list_takes_iterables():
    seen = see("int64_iterables")
    assert not any(isinstance(item, Failure) for item in seen)
    assert seen[12:15] == [[97, 98], [97, 98], []]


@tf_rule("2 int64 floats")
@tf_rule("2 int64 bool")
@tf_rule("2 int64 others")
@tf_rule("2 int64 range")
@tf_rule("2 not iterable")
def test_int64_list_refuses():
    seen = see("int64_refusals")
    assert seen[0] == type_error("'float' object cannot be interpreted as an integer")
    assert seen[3] == type_error("Field tensorflow.Int64List.value: Expected an int, got a boolean.")
    assert {item.name for item in seen[:9]} == {"TypeError"}
    assert seen[9] == Failure("ValueError", "Value out of range: 9223372036854775808")
    assert seen[10] == Failure("ValueError", "Value out of range: -9223372036854775809")
    assert seen[13] == type_error("must assign iterable")


@tf_rule("2 float numbers")
@tf_rule("2 float rounding")
@tf_rule("2 float overflow")
@tf_rule("2 float str")
@tf_rule("2 float huge int")
def test_float_list():
    seen = see("float_values")
    infinity = float("inf")
    assert seen[:2] == [[1.0, 2.5, 1.0, 0.10000000149011612, 3.0, 0.5, 1.0], [0.10000000149011612]]
    assert seen[4:6] == [[infinity], [infinity, -infinity]]
    assert seen[11] == type_error("must be real number, not str")
    assert seen[13].name == "OverflowError"


@tf_rule("2 bytes types")
@tf_rule("2 bytes str")
@tf_rule("2 bytes one")
def test_bytes_list():
    seen = see("bytes_values")
    assert seen[:4] == [[b"a", b""], [b"a"], [b"x"], [b"ab", b"c"]]
    assert seen[6] == type_error("expected bytes, str found")
    assert seen[8:12] == [
        type_error(f"expected bytes, {name} found") for name in ("bytearray", "memoryview", "int", "int")
    ]


@tf_rule("2 unknown keyword")
@tf_rule("2 positional")
@tf_rule("2 dict as message")
@tf_rule("2 wrong class")
@tf_rule("2 None is unset")
@tf_rule("2 several kinds")
def test_constructors():
    seen = see("constructor_arguments")
    assert seen[0] == Failure("ValueError", 'Protocol message Int64List has no "values" field.')
    assert seen[2] == type_error("No positional arguments allowed")
    assert "value: 1" in seen[4]
    assert {item.name for item in seen[5:9]} == {"TypeError"}
    assert seen[9:11] == [None, b""]
    assert seen[11:] == [
        "float_list {\n  value: 2\n}\n",
        "int64_list {\n  value: 1\n}\n",
        "float_list {\n}\n",
    ]


@tf_rule("2 map keys")
def test_map_keys():
    seen = see("map_keys")
    assert seen[0] == ["abc", "中"]
    assert seen[1].name == seen[3].name == "UnicodeDecodeError"


@tf_rule("2 missing key")
@tf_rule("2 map assignment")
def test_missing_keys():
    seen = see("missing_keys")
    assert seen[:6] == [False, None, 0, None, 1, b"\n\x05\n\x01x\x12\x00"]
    assert seen[6] == Failure("ValueError", "Message objects may not be assigned")
    assert seen[7] == "int64_list {\n  value: 1\n}\n"


@tf_rule("2 assignment")
@tf_rule("2 unknown attribute")
@tf_rule("2 presence")
def test_assignments():
    seen = see("assignments")
    end = "in protocol message object."
    assert seen[0].message == f'Assignment not allowed to map, or repeated field "value" {end}'
    assert seen[1].message == f'Assignment not allowed to message field "int64_list" {end}'
    assert {item.name for item in seen[:7]} == {"AttributeError"}
    assert seen[7] == Failure("ValueError", "Field tensorflow.Int64List.value does not have presence.")


@tf_rule("2 reading sets nothing")
@tf_rule("2 writing sets the kind")
def test_kinds():
    seen = see("kinds")
    assert seen[:3] == [[], None, b""]
    assert seen[3] == "int64_list"
    assert seen[5:8] == ["float_list", "float_list {\n  value: 1.5\n}\n", []]
    assert seen[8:11] == ["bytes_list", b"\n\x00", []]


@tf_rule("2 equality")
def test_equality():
    assert see("equality")[:4] == [True, True, False, False]
    assert see("equality")[4].name == "TypeError"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("message_methods", marks=tf_rule("2 message methods")),
        pytest.param("list_methods", marks=tf_rule("2 list methods")),
        pytest.param("map_methods", marks=tf_rule("2 map methods")),
    ],
)
def test_methods(name):
    assert see(name)


@tf_rule("2 parse runs")
@tf_rule("2 parse same kind twice")
@tf_rule("2 parse last kind")
@tf_rule("2 parse duplicate key")
@tf_rule("2 parse concatenated")
@tf_rule("2 parse unknown fields")
@tf_rule("2 parse entry defaults")
def test_messages_parse_as_protobuf():
    seen = see("standard_parsing")
    texts = dict(zip(PARSED, seen[::2], strict=True))
    again = dict(zip(PARSED, seen[1::2], strict=True))
    assert texts["runs"].count("value:") == 8
    assert "bytes_list" in texts["last kind"]
    assert "float_list" in texts["duplicate key"]
    assert texts["concatenated"].count("key:") == 3
    assert b"zz" in again["unknown fields"]
    assert 'key: ""' in texts["no key"]


@tf_rule("2 parse corrupt")
@tf_rule("2 parse bad utf-8")
def test_messages_refuse_damage():
    seen = see("damaged_parsing")
    start = "Error parsing message with type 'tensorflow.Example': "
    assert seen[:-1] == [Failure("DecodeError", f"{start}Wire format was corrupt")] * len(DAMAGED)
    assert seen[-1] == Failure("DecodeError", f"{start}String field had bad UTF-8")


@tf_rule("2 parse entry with unknown field")
def test_entry_with_unknown_field_is_lost_by_upb():
    assert see("entry_with_unknown_field") == [["b"]]


@tf_rule("2 pure Python")
@pytest.mark.slow
def test_pure_python_protobuf():
    environment = {
        **os.environ,
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    run = subprocess.run(
        [sys.executable, "-c", SAY_ALL],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert "0.33333334" in run.stdout
    assert "123456790.0" in run.stdout
