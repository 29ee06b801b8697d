"""The bytes of an Example as TensorFlow's parsing ops read them, and tfrkit under TensorFlow's policy.

Where protobuf reads the same bytes differently, tfrkit's own policy is held against protobuf beside it.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, assert_same, tensorflow
from tests.oracle.support.parse_scenarios import BAD_KEY, DAMAGED, ENTRY_WITH_UNKNOWN, PARSED
from tests.oracle.support.parsing import failure_text, fixed, make_spec, ours, ragged, steps, theirs, variable
from tests.oracle.support.wire import (
    BYTES,
    END_GROUP,
    FIXED32,
    FIXED64,
    FLOAT,
    GROUP,
    INT64,
    VARINT,
    byte_strings,
    entry,
    example,
    feature,
    field,
    floats,
    group,
    ints,
    packed_floats,
    packed_ints,
    strings,
    tag,
    unpacked_floats,
    unpacked_ints,
    varint,
)
from tests.support.rules import tf_rule

A = entry(b"a", ints(1))
UNPARSABLE = "Could not parse example input, value: '"
# Every kind of a feature of one int64 key, the dense ones with a default, so that a missing key is no error.
SPECS = {
    "dense": {"a": fixed((), "int64", -7)},
    "dense of two": {"a": fixed((2,), "int64", [-7, -8])},
    "required": {"a": fixed()},
    "variable": {"a": variable()},
    "ragged": {"a": ragged()},
    "steps": {"a": steps()},
    "pairs": {"a": steps((2,))},
    "float": {"a": variable("float32")},
    "dense float": {"a": fixed((), "float32", 0.5)},
    "bytes": {"a": variable("string")},
    "dense bytes": {"a": fixed((), "string", b"-")},
    "other key": {"b": variable()},
}


def agree(record: bytes, *names: str, batch: list[bytes] | None = None) -> list[Any]:
    """Parse one record with each spec, as one, as a batch of one and within a batch; give TensorFlow's outcomes."""
    seen = []
    for name in names or SPECS:
        for records in (record, [record], batch or [example(A), record, example(A)]):
            outcome = theirs(records, SPECS[name])
            assert_same([ours(records, SPECS[name])], [outcome], f"{name} of {records!r}")
            seen.append(outcome)
    return seen


def value(outcome: Any, key: str = "a") -> list[int]:
    """The int64 values in a plain result."""
    assert isinstance(outcome, dict), outcome
    dense = outcome[key][-1] if outcome[key][0] != "dense" else outcome[key]
    return [number for (number,) in struct.iter_unpack("<q", dense[3])]


def single(record: bytes, name: str) -> Any:
    """What both make of one record."""
    return agree(record, name)[0]


def batch(record: bytes, name: str) -> Any:
    """What both make of a batch of one record."""
    return agree(record, name)[1]


class TestExample:
    @tf_rule("2.1 features again")
    @pytest.mark.parametrize("times", [0, 1, 2, 5])
    def test_features_may_occur_many_times(self, times):
        record = example(entry(b"b", ints(4))) * times + example(A) + example()
        agree(record)
        assert value(single(record, "required")) == [1]

    @tf_rule("2.1 unknown fields")
    @pytest.mark.parametrize(
        "unknown",
        [
            field(2, b"zz"),
            field(1000, b""),
            tag(3, VARINT) + varint(2**63),
            tag(4, FIXED64) + bytes(8),
            tag(5, FIXED32) + bytes(4),
            tag(1, VARINT) + b"\x05",
            tag(1, FIXED32) + bytes(4),
            tag(0, VARINT) + b"\x00",
            tag(2**29 - 1, VARINT) + b"\x00",
            varint(2**32 + 8) + b"\x01",
            tag(2, VARINT, 5) + b"\x01",
            tag(3, VARINT) + b"\xff" * 9 + b"\x7f",
        ],
        ids=range(12),
    )
    def test_unknown_fields_are_skipped(self, unknown):
        for record in (unknown + example(A), example(A) + unknown):
            agree(record)

    @tf_rule("2.1 groups")
    @tf_rule("2.1 unparsable")
    @pytest.mark.parametrize(
        "bad",
        [group(2), group(1), tag(2, GROUP), tag(2, END_GROUP), tag(1, END_GROUP), b"\x0e", b"\x0f", b"\x17"],
        ids=range(8),
    )
    def test_groups_fail(self, bad):
        for record in (bad + example(A), example(A) + bad):
            agree(record)
            assert failure_text(single(record, "variable")).startswith(UNPARSABLE)

    @tf_rule("2.1 overlong tag")
    @pytest.mark.parametrize("width", [2, 3, 5, 10, 11])
    def test_overlong_tag_is_unknown(self, width):
        record = field(1, A, tag_width=width)
        agree(record)
        if width <= 5:
            assert value(single(record, "dense")) == [-7]

    @tf_rule("2.1 unparsable")
    @pytest.mark.parametrize("length", range(len(example(A, entry(b"b", strings(b"xyz"))))))
    def test_cut_anywhere(self, length):
        agree(example(A, entry(b"b", strings(b"xyz")))[:length], "variable", "dense", "other key")

    @tf_rule("2.1 lengths")
    def test_lengths_beyond_the_end(self):
        for length in (1, 100, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 2, 2**63, 2**64 - 1):
            agree(b"\x0a" + varint(length) + A, "variable", "dense")
            agree(example(b"\x0a" + varint(length) + A[2:]), "variable", "dense")
            agree(example(field(1, field(1, b"a") + b"\x12" + varint(length))), "variable", "dense")
            agree(example(field(1, b"\x0a" + varint(length) + b"a" + field(2, ints(1)))), "variable", "dense")
            agree(
                example(entry(b"a", b"\x1a" + varint(length) + b"\x0a\x01\x05")), "variable", "dense", "float"
            )
            agree(example(entry(b"a", field(INT64, b"\x0a" + varint(length) + b"\x05"))), "variable", "dense")
            if length % 2**32 < 2**20:  # TensorFlow takes the memory first, and dies of too much
                agree(
                    example(entry(b"a", field(BYTES, b"\x0a" + varint(length) + b"x"))),
                    "bytes",
                    "dense bytes",
                )
                agree(
                    example(entry(b"a", field(FLOAT, b"\x0a" + varint(length) + b"1234"))),
                    "float",
                    "dense float",
                )


class TestFeatures:
    @tf_rule("2.1 foreign tag in Features")
    @pytest.mark.parametrize(
        "bad",
        [
            field(2, b""),
            tag(1, VARINT) + b"\x01",
            tag(3, FIXED32) + bytes(4),
            group(1),
            field(1, A, tag_width=2),
            b"\0",
        ],
        ids=range(6),
    )
    def test_foreign_tag_in_features(self, bad):
        for record in (example(bad, A), example(A, bad)):
            agree(record)
            assert failure_text(single(record, "other key")).startswith(UNPARSABLE)

    @tf_rule("2.1 value before key")
    def test_value_before_key(self):
        record = example(field(1, field(2, ints(1)) + field(1, b"a")))
        agree(record)
        assert value(single(record, "required")) == [1]

    @pytest.mark.parametrize(
        "body",
        [
            pytest.param(field(2, ints(1)), marks=tf_rule("2.1 entry without key"), id="no key"),
            pytest.param(field(1, b"a"), marks=tf_rule("2.1 entry without value"), id="no value"),
            pytest.param(b"", marks=tf_rule("2.1 entry without key"), id="empty"),
            pytest.param(
                field(1, b"a") + field(2, ints(1)) + field(2, ints(1)),
                marks=tf_rule("2.1 entry with a third field"),
                id="two values",
            ),
            pytest.param(
                field(1, b"x") + field(1, b"a") + field(2, ints(1)),
                marks=tf_rule("2.1 entry with a third field"),
                id="two keys",
            ),
            pytest.param(
                field(1, b"a") + field(2, ints(1)) + field(3, b""),
                marks=tf_rule("2.1 entry with a third field"),
                id="unknown",
            ),
            pytest.param(
                field(3, b"") + field(1, b"a") + field(2, ints(1)),
                marks=tf_rule("2.1 entry with a third field"),
                id="unknown first",
            ),
        ],
    )
    def test_entry_has_exactly_key_and_value(self, body):
        record = example(field(1, body))
        agree(record)
        assert failure_text(single(record, "other key")).startswith(UNPARSABLE)

    @tf_rule("2.1 two keys or two values")
    def test_two_keys_or_two_values(self):
        keys, values = field(1, b"x") + field(1, b"a"), field(2, ints(5)) + field(2, ints(6))
        record = example(field(1, keys), field(1, values))
        agree(record)
        assert value(single(record, "dense")) == [-7]
        spec = {"": variable()}
        assert value(theirs(record, spec), "") == value(ours(record, spec), "") == [6]

    @tf_rule("2.1 overlong tag")
    def test_overlong_tags_in_an_entry(self):
        body = field(1, b"a", tag_width=2) + field(2, ints(1), tag_width=5)
        agree(example(field(1, body)))
        assert value(single(example(field(1, body)), "required")) == [1]

    @tf_rule("2.1 keys are bytes")
    @pytest.mark.parametrize("key", [b"\xff\xfe", b"a\0", "特征".encode(), b"", b"k" * 200])
    def test_keys_are_bytes(self, key):
        agree(example(entry(key, strings(b"x")), A))
        agree(example(A, entry(key, strings(b"x"))))

    @tf_rule("2.1 keys are bytes")
    def test_keys_beyond_ascii_are_found(self):
        spec = {"特征": fixed(), "": variable("string")}
        record = example(entry("特征".encode(), ints(3)), entry(b"", strings(b"x")))
        for records in (record, [record, record]):
            outcome = theirs(records, spec)
            assert_same([ours(records, spec)], [outcome])
            assert set(value(outcome, "特征")) == {3}


class TestFeature:
    @tf_rule("2.1 first tag is the kind")
    def test_first_list_is_all(self):
        for body, wanted in (
            (ints(1) + ints(2), [1]),
            (ints(1) + floats(2.0), [1]),
            (ints(1) + b"\x07garbage", [1]),
            (ints(1) + strings(b"x"), [1]),
        ):
            record = example(entry(b"a", body))
            agree(record)
            assert value(single(record, "required")) == wanted
        wrong = single(example(entry(b"a", floats(2.0) + ints(1))), "required")
        assert (
            failure_text(wrong)
            == "Key: a.  Data types don't match. Data type: float but expected type: int64"
        )

    @tf_rule("2.1 empty feature")
    def test_empty_feature_has_no_kind(self):
        record = example(entry(b"a", b""))
        agree(record)
        assert value(single(record, "dense")) == [-7]
        assert value(batch(record, "variable")) == []
        assert "is required but could not be found" in failure_text(single(record, "required"))

    @tf_rule("2.1 unsupported kind")
    @pytest.mark.parametrize(
        "body",
        [
            field(4, b""),
            tag(3, VARINT) + b"\x01",
            tag(1, GROUP),
            b"\0",
            b"\xff",
            field(INT64, packed_ints([1]), tag_width=2),
        ],
        ids=range(6),
    )
    def test_other_first_byte(self, body):
        record = example(entry(b"a", body))
        agree(record)
        for outcome in agree(record, "dense", "variable", "ragged", "steps"):
            assert failure_text(outcome) == "Unsupported datatype."
        assert value(single(record, "other key"), "b") == []


class TestLists:
    @tf_rule("2.1 one packed run")
    @pytest.mark.parametrize(
        "rest",
        [packed_ints([5]), unpacked_ints([5]), field(9, b"x"), b"\xff\xff", b"\x0a", group(3)],
        ids=range(6),
    )
    def test_first_packed_run_is_all(self, rest):
        record = example(entry(b"a", feature(INT64, packed_ints([1, 2]) + rest)))
        agree(record)
        assert value(single(record, "variable")) == [1, 2]
        assert value(single(record, "dense of two")) == [1, 2]
        agree(example(entry(b"a", feature(FLOAT, packed_floats([1, 2]) + rest))), "float", "dense float")

    @tf_rule("2.1 one packed run")
    def test_empty_packed_run_is_all(self):
        record = example(entry(b"a", feature(INT64, packed_ints([]) + packed_ints([5]))))
        agree(record)
        assert value(single(record, "variable")) == []

    @tf_rule("2.1 unpacked only")
    def test_unpacked_values(self):
        record = example(entry(b"a", feature(INT64, unpacked_ints([1, -2]))))
        agree(record)
        assert value(single(record, "dense of two")) == [1, -2]
        agree(example(entry(b"a", feature(FLOAT, unpacked_floats([0.5])))), "float", "dense float")

    @tf_rule("2.1 unpacked only")
    @pytest.mark.parametrize(
        "rest",
        [packed_ints([5]), field(9, b"x"), b"\xff\xff", b"\x08", tag(1, VARINT, 2) + b"\x01"],
        ids=range(5),
    )
    def test_unpacked_values_then_others(self, rest):
        record = example(entry(b"a", feature(INT64, unpacked_ints([1]) + rest)))
        agree(record)
        assert failure_text(single(record, "variable")) == (
            "Key: a.  Can't parse serialized Example: Parsing int64_list failed."
        )
        agree(example(entry(b"a", feature(FLOAT, unpacked_floats([1]) + rest))), "float")

    @tf_rule("2.1 incomplete float")
    @pytest.mark.parametrize("tail", [1, 2, 3])
    def test_incomplete_float_is_dropped(self, tail):
        record = example(entry(b"a", feature(FLOAT, field(1, struct.pack("<f", 2.5) + b"abc"[:tail]))))
        agree(record, "float", "dense float")
        assert single(record, "dense float")["a"][3] == struct.pack("<f", 2.5)

    @tf_rule("2.1 long varints")
    @pytest.mark.parametrize("width", range(1, 12))
    def test_varints_of_every_width(self, width):
        for lists in (packed_ints, unpacked_ints):
            record = example(entry(b"a", feature(INT64, lists([1], width))))
            agree(record)
            outcome = single(record, "required")
            if width <= 10:
                assert value(outcome) == [1]
            else:
                assert "Parsing int64_list failed" in failure_text(outcome)

    @tf_rule("2.1 long varints")
    def test_bits_beyond_64_are_dropped(self):
        record = example(entry(b"a", feature(INT64, field(1, b"\xff" * 9 + b"\x7f"))))
        agree(record)
        assert value(single(record, "required")) == [-1]

    @tf_rule("2.1 bytes list tags")
    @pytest.mark.parametrize(
        "rest", [field(2, b"x"), tag(1, VARINT) + b"\x01", b"\x0a", field(1, b"", tag_width=2)], ids=range(4)
    )
    def test_bytes_list_holds_values_only(self, rest):
        for content in (byte_strings([b"x"]) + rest, rest + byte_strings([b"x"])):
            agree(example(entry(b"a", feature(BYTES, content))))

    @tf_rule("2.1 lengths")
    def test_lengths_are_32_bits_wide(self):
        run = b"\x0a" + varint(2**32 + 1) + b"\x05"
        record = example(entry(b"a", b"\x1a" + varint(2**33 + len(run)) + run))
        agree(record)
        assert value(single(record, "required")) == [5]

    @tf_rule("2.1 run beyond its list")
    @pytest.mark.parametrize("length", [3, 100, 2**31, 2**32 - 1])
    def test_packed_ints_that_claim_more_than_there_is(self, length):
        record = example(entry(b"a", feature(INT64, b"\x0a" + varint(length) + b"\x05\x06")))
        agree(record)
        assert value(single(record, "dense of two")) == value(batch(record, "variable")) == [5, 6]

    @tf_rule("2.1 run beyond its list")
    def test_packed_floats_that_claim_more_than_there_is(self):
        record = example(entry(b"a", feature(FLOAT, b"\x0a\x08" + struct.pack("<f", 2.5))))
        agree(record, "float", "dense float")
        assert failure_text(single(record, "float")) == (
            "Key: a.  Can't parse serialized Example: Parsing float_list failed."
        )


class TestDuplicates:
    @tf_rule("2.1 last duplicate")
    def test_last_entry_counts(self):
        for record in (example(A, entry(b"a", ints(2))), example(A) + example(entry(b"a", ints(2)))):
            agree(record)
            assert value(single(record, "required")) == value(batch(record, "variable")) == [2]
        agree(example(entry(b"a", floats(2)), A))
        agree(example(A, entry(b"a", floats(2))))

    @tf_rule("2.1 unset duplicate, dense")
    @tf_rule("2.1 unset duplicate, single")
    @tf_rule("2.1 unset duplicate, batch")
    def test_unset_entry_behind_another(self):
        record = example(A, entry(b"a", b""))
        agree(record)
        for name in ("dense", "required", "steps"):
            assert value(single(record, name)) == value(batch(record, name)) == [1]
        for name in ("variable", "ragged"):
            assert value(single(record, name)) == [1]
            assert value(batch(record, name)) == []


class TestErrors:
    @tf_rule("2.1 last fault is reported")
    def test_last_fault_of_an_example(self):
        spec = {"a": fixed(), "b": fixed(), "c": variable()}
        entries = [entry(b"a", floats(1)), entry(b"b", ints(1, 2)), entry(b"c", strings(b"x"))]
        for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
            record = example(*(entries[number] for number in order))
            for records in (record, [record]):
                outcome = theirs(records, spec)
                assert_same([ours(records, spec)], [outcome])
                assert f"Key: {'abc'[order[-1]]}" in failure_text(outcome)

    @tf_rule("2.1 first example is reported")
    def test_first_example_of_a_batch(self):
        good, no_a, bad = example(A), example(), example(entry(b"a", floats(1)))
        for records in ([good, bad, no_a], [no_a, good, bad], [good, good, b"\xff", no_a]):
            outcome = theirs(records, SPECS["required"])
            assert_same([ours(records, SPECS["required"])], [outcome])
            assert isinstance(outcome, Failure)

    @tf_rule("2.1 overlong unpacked floats")
    @pytest.mark.parametrize("count", [1, 2, 3, 100])
    def test_overlong_unpacked_floats_are_counted(self, count):
        record = example(entry(b"a", feature(FLOAT, unpacked_floats([1.5] * (count + 1)))))
        spec = {"a": fixed((count,), "float32")}
        assert failure_text(ours([record], spec)).startswith(
            f"Name: <unknown>, Key: a, Index: 0.  Number of float values != expected.  Values size: {count + 1} "
            f"but output shape: [{count}]"
        )
        assert failure_text(ours(record, spec)).startswith(
            "Key: a.  Can't parse serialized Example: Some float_list slice was not parsed."
        )

    @tf_rule("2.1 bytes of the message")
    def test_message_that_is_not_utf8(self):
        for records in (b"\xff\xfe", [b"\xff\xfe"]):
            with pytest.raises(UnicodeDecodeError):
                tensorflow().io.parse_example(records, make_spec(SPECS["variable"], tensorflow().io))
            outcome = ours(records, SPECS["variable"])
            assert outcome.name == "InvalidArgumentError"
            assert outcome.message.startswith(UNPARSABLE)


class TestProtobuf:
    """tfrkit's own policy reads what protobuf reads."""

    @tf_rule("2 parse runs")
    @tf_rule("2 parse same kind twice")
    @tf_rule("2 parse last kind")
    @tf_rule("2 parse duplicate key")
    @tf_rule("2 parse concatenated")
    @tf_rule("2 parse unknown fields")
    @tf_rule("2 parse entry defaults")
    @pytest.mark.parametrize("name", PARSED)
    def test_values_are_those_of_the_message(self, name):
        message = tensorflow().train.Example.FromString(PARSED[name])
        message.DiscardUnknownFields()
        canonical = message.SerializeToString()
        for key, content in message.features.feature.items():
            kind = content.WhichOneof("kind") or "int64_list"
            dtype = {"int64_list": "int64", "float_list": "float32", "bytes_list": "string"}[kind]
            for spec in ({key: variable(dtype)}, {key: ragged(dtype)}, {key: steps((), dtype)}):
                for records, plain in ((PARSED[name], canonical), ([PARSED[name]] * 2, [canonical] * 2)):
                    assert_same([ours(records, spec, tfr.TFRKIT)], [theirs(plain, spec)], f"{key} of {name}")

    @tf_rule("2 parse corrupt")
    @pytest.mark.parametrize("name", DAMAGED)
    def test_damage_is_refused(self, name):
        spec = {"a": variable("float32" if name == "incomplete float" else "int64")}
        for records in (DAMAGED[name], [DAMAGED[name]]):
            assert ours(records, spec, tfr.TFRKIT).name == "InvalidArgumentError"

    @tf_rule("2 parse bad utf-8")
    def test_keys_need_not_be_utf8(self):
        assert value(ours(BAD_KEY, {"a": variable()}, tfr.TFRKIT)) == []

    @tf_rule("2 parse entry with unknown field")
    def test_entry_with_unknown_field_stays(self):
        assert value(ours(ENTRY_WITH_UNKNOWN, {"a": variable()}, tfr.TFRKIT)) == [1]
        assert value(ours(ENTRY_WITH_UNKNOWN, {"b": variable()}, tfr.TFRKIT), "b") == [2]
