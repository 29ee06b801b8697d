"""What people do with tf.train's messages, as functions of the namespace that has the classes.

Each gives a list of what was seen: values, texts, bytes and failures, which are the same for TensorFlow's messages
and for tfrkit's. They run under whichever implementation protobuf has chosen in this process.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.oracle.support.oracle import Failure, attempt, tensorflow

Scenario = Callable[[Any], list[Any]]
_MODULES = re.compile(r"(?:tensorflow\.core|tfrkit)[\w.]*\.(?=[A-Z])| at 0x\w+")
SCENARIOS: dict[str, Scenario] = {}
NAMES = ("Example", "SequenceExample", "Features", "FeatureLists", "FeatureList", "Feature")
LISTS = ("BytesList", "FloatList", "Int64List")


def scenario(function: Scenario) -> Scenario:
    """Put a function into the table, under its name."""
    SCENARIOS[function.__name__] = function
    return function


def values_of(make: Callable[[], Any]) -> Any:
    """The values of a list message, or the failure to make it."""
    made = attempt(make)
    return refusal(lambda: made) if isinstance(made, Failure) else [_plain(value) for value in made.value]


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytes) else value  # pure Python keeps numpy's class


def refusal(make: Callable[[], Any]) -> Failure:
    """The failure to make a message, with the names of classes free of their modules, and without addresses."""
    failure = attempt(make)
    assert isinstance(failure, Failure), failure
    return failure._replace(message=_MODULES.sub("", failure.message))


def each(message: Any, values: list[Any]) -> list[Any]:
    """The list message made of each of the values."""
    return [values_of(lambda value=value: message(value=value)) for value in values]


@scenario
def schema(train: Any) -> list[Any]:
    seen = []
    for name in (*NAMES, *LISTS):
        descriptor = getattr(train, name).DESCRIPTOR
        for field in descriptor.fields:
            kind = field.message_type.full_name if field.message_type else field.type
            oneof = field.containing_oneof.name if field.containing_oneof else None
            packed = bool(field.is_packed) if field.type != field.TYPE_MESSAGE else None
            repeated = getattr(field, "is_repeated", None)
            seen.append((descriptor.full_name, field.name, field.number, kind, repeated, packed, oneof))
    return seen


@scenario
def full_names(train: Any) -> list[Any]:
    return [getattr(train, name).DESCRIPTOR.full_name for name in (*NAMES, *LISTS)]


@scenario
def bytes_of_numbers(train: Any) -> list[Any]:
    return [
        train.Int64List(value=[1, 2, 300]).SerializeToString(),
        train.FloatList(value=[0.5, -2.0]).SerializeToString(),
        train.Int64List(value=[-1]).SerializeToString(),
        train.Int64List(value=[-(2**63), 2**63 - 1]).SerializeToString(),
    ]


@scenario
def bytes_of_the_unset(train: Any) -> list[Any]:
    return [
        train.Features(feature={"a": train.Feature()}).SerializeToString(),
        train.Feature(int64_list=train.Int64List()).SerializeToString(),
        train.Feature(float_list=train.FloatList(value=[])).SerializeToString(),
        train.Example(features={}).SerializeToString(),
        train.Example(features=train.Features()).SerializeToString(),
        train.Example().SerializeToString(),
        train.Feature(int64_list=train.Int64List()) == train.Feature(),
    ]


KEYS = ("a", "m", "Z", "aa", "é", "z", "", "特征")


@scenario
def deterministic_order(train: Any) -> list[Any]:
    seen = []
    for keys in (KEYS, KEYS[::-1]):
        message = train.Features(feature={key: train.Feature() for key in keys})
        text = message.SerializeToString(deterministic=True)
        seen.append(text)
        seen.append(
            [
                key
                for _, key in sorted(
                    (text.find(b"\x0a" + bytes([len(key.encode())]) + key.encode() + b"\x12"), key)
                    for key in keys
                )
            ]
        )
        seen.append(train.Features.FromString(message.SerializeToString()) == message)
    return seen


@scenario
def texts(train: Any) -> list[Any]:
    floats = [
        1 / 3,
        1e10,
        123456789,
        float("inf"),
        float("-inf"),
        float("nan"),
        0.1,
        16,
        1e-45,
        3.4e38,
        -0.0,
        1e-5,
        123456,
    ]
    return [
        str(train.Feature(int64_list={"value": [32, -1]})),
        str(train.Feature(float_list={"value": floats})),
        str(train.Feature(bytes_list={"value": [b"\x00\xff\"'\n\t\\\xc3\xa9abc\x7f", "中".encode()]})),
        str(train.Features(feature={'é 中 \n"': train.Feature(int64_list={})})),
        str(train.Feature()),
        str(train.Feature(int64_list=train.Int64List())),
        str(train.Example()),
        str(train.Example(features={})),
        repr(train.Feature(int64_list={"value": [32]})),
        str(
            train.SequenceExample(
                feature_lists={"feature_list": {"a": {"feature": [{}, {"float_list": {"value": [1]}}]}}}
            )
        ),
    ]


@scenario
def text_map_order(train: Any) -> list[Any]:
    message = train.Features(feature={key: train.Feature() for key in KEYS})
    lines = str(message).splitlines()
    return [[line for line in lines if "key" in line], str(train.Example(features=message))]


@scenario
def int64_iterables(train: Any) -> list[Any]:
    tf = tensorflow()
    return each(
        train.Int64List,
        [
            [1, 2], (1, 2), range(3), {5}, {7: 0, 8: 0}.keys(), iter([1, 2]), (item for item in (3, 4)),
            np.array([1, 2], np.int32), np.array([1], np.uint64), [np.int8(3), np.uint16(4)],
            tf.constant([1, 2], tf.int64), [tf.constant(3)], b"ab", bytearray(b"ab"), None, [], [True + 1],
        ],
    )  # fmt: skip


@scenario
def int64_refusals(train: Any) -> list[Any]:
    return each(
        train.Int64List,
        [
            [1.0], [np.float32(1)], np.array([1.0]), [True], [np.bool_(True)], np.array([True]), ["1"], "12",
            [None], [2**63], [-(2**63) - 1], [2**63 - 1, -(2**63)], [2**70], 5, [[1]], [b"1"],
            np.array([2**63], np.uint64),
        ],
    )  # fmt: skip


@scenario
def float_values(train: Any) -> list[Any]:
    return each(
        train.FloatList,
        [
            [1, 2.5, True, np.float64(0.1), np.int32(3), np.float16(0.5), np.bool_(True)],
            [0.1], [1 / 3], [3.4028235e38], [3.4028236e38], [1e300, -1e300],
            [float("inf")], np.array([0.1, 0.2]), np.array([1, 2]), None, range(2),
            ["1"], "12", [10**400], [None], 5, [b"1"], [[1.0]], [2**64],
        ],
    )  # fmt: skip


@scenario
def bytes_values(train: Any) -> list[Any]:
    return each(
        train.BytesList,
        [
            [b"a", b""], (b"a",), [np.bytes_(b"x")], np.array([b"ab", b"c"]), None, {b"k": 1},
            ["a"], "ab", [bytearray(b"a")],
            [memoryview(b"a")], [1], b"ab", [None], 5, np.array(["a"]), np.array([b"a"], object),
        ],
    )  # fmt: skip


@scenario
def constructor_arguments(train: Any) -> list[Any]:
    feature = train.Feature
    return [
        attempt(lambda: train.Int64List(values=[1])),
        attempt(lambda: train.Feature(byte_list=1)),
        attempt(lambda: train.Int64List([1])),
        attempt(lambda: train.Example({})),
        str(train.Example(features={"feature": {"a": {"int64_list": {"value": [1]}}}})),
        refusal(lambda: feature(int64_list=train.FloatList(value=[1]))),
        refusal(lambda: train.Example(features=feature())),
        refusal(lambda: train.Features(feature={"a": 5})),
        refusal(lambda: train.Features(feature={"a": train.Int64List()})),
        feature(int64_list=None).WhichOneof("kind"),
        train.Example(features=None).SerializeToString(),
        str(feature(int64_list={"value": [1]}, float_list={"value": [2]})),
        str(feature(float_list={"value": [2]}, int64_list={"value": [1]})),
        str(feature(bytes_list={"value": [b"x"]}, int64_list={"value": [1]}, float_list={})),
    ]


@scenario
def map_keys(train: Any) -> list[Any]:
    features = train.Features(feature={b"abc": {}, "中": {}})
    return [
        sorted(features.feature),
        attempt(lambda: sorted(train.Features(feature={b"\xff": {}}).feature)),
        attempt(lambda: features.feature[5]),
        attempt(lambda: features.feature[b"\xff\xfe"]),
        attempt(lambda: "\ud800" in features.feature),
    ]


@scenario
def missing_keys(train: Any) -> list[Any]:
    features = train.Features()
    seen: list[Any] = ["x" in features.feature, features.feature.get("x"), len(features.feature)]
    seen += [features.feature["x"].WhichOneof("kind"), len(features.feature), features.SerializeToString()]

    def assign() -> None:
        features.feature["y"] = train.Feature()

    seen.append(attempt(assign))
    features.feature["y"].CopyFrom(train.Feature(int64_list={"value": [1]}))
    return [*seen, str(features.feature["y"])]


@scenario
def assignments(train: Any) -> list[Any]:
    numbers, feature, example = train.Int64List(), train.Feature(), train.Example()
    features = train.Features()
    return [
        attempt(lambda: setattr(numbers, "value", [1])),
        attempt(lambda: setattr(feature, "int64_list", numbers)),
        attempt(lambda: setattr(example, "features", features)),
        attempt(lambda: setattr(features, "feature", {})),
        attempt(lambda: setattr(numbers, "values", [1])),
        attempt(lambda: numbers.values),
        attempt(lambda: feature.byte_list),
        attempt(lambda: numbers.HasField("value")),
        attempt(lambda: features.HasField("feature")),
        attempt(lambda: feature.HasField("no")),
        feature.HasField("int64_list"),
        attempt(lambda: feature.WhichOneof("no")),
    ]


@scenario
def kinds(train: Any) -> list[Any]:
    feature = train.Feature()
    seen = [list(feature.int64_list.value), feature.WhichOneof("kind"), feature.SerializeToString()]
    feature.int64_list.value.append(3)
    seen += [feature.WhichOneof("kind"), str(feature)]
    feature.float_list.value.extend([1.5])
    seen += [feature.WhichOneof("kind"), str(feature), list(feature.int64_list.value)]
    feature.bytes_list.SetInParent()
    seen += [feature.WhichOneof("kind"), feature.SerializeToString(), list(feature.float_list.value)]
    feature.ClearField("kind")
    return [*seen, feature.WhichOneof("kind"), feature.SerializeToString()]


@scenario
def equality(train: Any) -> list[Any]:
    one, two = (train.Feature(int64_list={"value": [1]}) for _ in range(2))
    three = train.Feature(int64_list={"value": [2]})
    return [
        one == two,
        one != three,
        one == three,
        one == 5,
        attempt(lambda: hash(one)),
        attempt(lambda: {one: 1}),
    ]


@scenario
def message_methods(train: Any) -> list[Any]:
    example = train.Example(features={"feature": {"a": {"int64_list": {"value": [1, 2]}}}})
    data = example.SerializeToString()
    seen: list[Any] = [data, example.SerializePartialToString(), train.Example.FromString(data) == example]
    other = train.Example()
    seen += [other.ParseFromString(data), other == example, other.MergeFromString(data), other == example]
    other.MergeFrom(train.Example(features={"feature": {"b": {}}}))
    seen += [
        sorted(other.features.feature),
        example.ByteSize(),
        example.HasField("features"),
        example.IsInitialized(),
    ]
    other.CopyFrom(example)
    seen += [other == example, [field.name for field, _ in example.ListFields()]]
    other.features.feature["a"].int64_list.ClearField("value")
    seen.append(str(other))
    other.ClearField("features")
    seen.append(other.HasField("features"))
    other.features.SetInParent()
    seen.append(other.HasField("features"))
    other.Clear()
    seen += [other.HasField("features"), other.ByteSize(), example.DESCRIPTOR.name]
    numbers = train.Int64List(value=[1])
    numbers.MergeFrom(train.Int64List(value=[2, 3]))
    return [*seen, list(numbers.value), refusal(lambda: numbers.MergeFrom(train.FloatList()))]


@scenario
def list_methods(train: Any) -> list[Any]:
    numbers = train.Int64List(value=[3, 1, 2]).value
    numbers.append(9)
    numbers.extend([7, 8])
    numbers.insert(1, 5)
    seen = [
        list(numbers),
        numbers.pop(),
        numbers.pop(0),
        numbers.remove(9),
        list(numbers),
        numbers[1:],
        numbers[-1],
        len(numbers),
    ]
    del numbers[0]
    numbers[:] = [4, 6, 5]
    numbers[0] = -4
    seen.append(list(numbers))
    numbers.sort(reverse=True)
    seen.append(list(numbers))
    numbers.reverse()
    seen += [
        list(numbers),
        5 in numbers,
        attempt(lambda: numbers[9]),
        attempt(lambda: numbers.remove(77)),
        numbers == [-4, 5, 6],
    ]
    steps = train.FeatureList()
    steps.feature.add().int64_list.value.append(1)
    steps.feature.append(train.Feature())
    return [*seen, str(steps), len(steps.feature), attempt(lambda: numbers.append("x"))]


@scenario
def map_methods(train: Any) -> list[Any]:
    entries = train.Features(feature={"a": {"int64_list": {"value": [1]}}, "b": {}}).feature
    seen: list[Any] = ["a" in entries, "c" in entries, len(entries), sorted(entries), sorted(entries.keys())]
    seen += [sorted((key, str(value)) for key, value in entries.items()), sorted(map(str, entries.values()))]
    seen += [
        str(entries.get("a")),
        entries.get("c", 7),
        attempt(lambda: str(entries.pop("a"))),
        str(entries.pop("zz")),
    ]
    seen += [attempt(lambda: entries.update({"d": train.Feature()})), sorted(entries)]
    entries.get_or_create("e").float_list.value.append(1)
    seen.append(sorted(entries))
    entries.clear()
    return [*seen, len(entries)]
