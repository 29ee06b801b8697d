"""The snippets with which people make features, Examples and SequenceExamples: tfrkit prints what TensorFlow prints.

Each is a function of a namespace that stands for TensorFlow; both sides use the same protobuf, so that the texts can be
compared as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, assert_same, attempt, tensorflow
from tests.oracle.support.parsing import fixed, ours, theirs, variable
from tests.support.rules import tf_rule

PIXELS = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)


def both(snippet: Callable[[Any], list[Any]]) -> list[Any]:
    """Run a snippet with both; give what TensorFlow gave."""
    seen = snippet(tensorflow().train)
    assert_same(snippet(tfr), seen)
    return seen


def _int64_feature(train: Any, value: int) -> Any:
    return train.Feature(int64_list=train.Int64List(value=[value]))


def _bytes_feature(train: Any, value: bytes) -> Any:
    return train.Feature(bytes_list=train.BytesList(value=[value]))


@tf_rule("2 text layout")
def test_printed_features_of_every_kind():
    def snippet(train: Any) -> list[Any]:
        features = [
            _int64_feature(train, 32),
            _bytes_feature(train, b"32"),
            train.Feature(float_list=train.FloatList(value=[16, 32])),
            train.Feature(bytes_list=train.BytesList(value=[b"32", b"16"])),
            train.Feature(int64_list=train.Int64List(value=[16, 32])),
        ]
        return [str(one) for one in features] + [repr(one) for one in features]

    seen = both(snippet)
    assert seen[0] == "int64_list {\n  value: 32\n}\n"
    assert seen[1] == 'bytes_list {\n  value: "32"\n}\n'
    assert seen[2].split() == ["float_list", "{", "value:", "16", "value:", "32", "}"]


def test_helpers_make_the_same_features():
    train = tensorflow().train
    pairs = [
        (tfr.int64_feature(32), _int64_feature(train, 32)),
        (tfr.bytes_feature(b"32"), _bytes_feature(train, b"32")),
        (tfr.float_feature(1.5), train.Feature(float_list=train.FloatList(value=[1.5]))),
        (tfr.float_list_feature([16, 32]), train.Feature(float_list=train.FloatList(value=[16, 32]))),
        (
            tfr.bytes_list_feature([b"32", b"16"]),
            train.Feature(bytes_list=train.BytesList(value=[b"32", b"16"])),
        ),
        (tfr.int64_list_feature([16, 32]), train.Feature(int64_list=train.Int64List(value=[16, 32]))),
    ]
    for our, their in pairs:
        assert str(our) == str(their)
        assert our.SerializeToString() == their.SerializeToString()


@tf_rule("2 unknown keyword")
def test_misspelt_list_names():
    def snippet(train: Any) -> list[Any]:
        return [
            attempt(lambda: train.Feature(byte_list=train.BytesList(value=[b"x"]))),
            attempt(lambda: train.Feature(bytes_list=train.ByteList(value=[b"x"]))).name,
        ]

    assert both(snippet) == [
        Failure("ValueError", 'Protocol message Feature has no "byte_list" field.'),
        "AttributeError",
    ]


def test_image_with_label_and_shape():
    def snippet(train: Any) -> list[Any]:
        shape = np.array(PIXELS.shape, np.int32).tobytes()
        features = train.Features(
            feature={
                "label": _int64_feature(train, 7),
                "shape": _bytes_feature(train, shape),
                "image": _bytes_feature(train, PIXELS.tobytes()),
            }
        )
        example = train.Example(features=features)
        again = train.Example.FromString(example.SerializeToString())
        image = np.frombuffer(again.features.feature["image"].bytes_list.value[0], np.uint8)
        return [
            str(example),
            example.SerializeToString(deterministic=True),
            image.reshape(PIXELS.shape).tolist(),
        ]

    seen = both(snippet)
    assert seen[2] == PIXELS.tolist()
    spec = {"label": fixed(), "shape": fixed((), "string"), "image": fixed((), "string")}
    for records in (seen[1], [seen[1]] * 3):
        assert_same([ours(records, spec)], [theirs(records, spec)])


def test_line_of_a_table():
    """Fields of a line that are still text are refused, converted ones are taken."""

    def snippet(train: Any) -> list[Any]:
        price, name, label = "3.5\t茶\t1\n".strip("\n").split("\t")
        raw = [
            attempt(lambda: train.FloatList(value=np.array(price, dtype=float))),
            attempt(lambda: train.BytesList(value=name)),
            attempt(lambda: train.Int64List(value=label)),
        ]
        features = {
            "price": train.Feature(float_list=train.FloatList(value=[float(price)])),
            "name": _bytes_feature(train, name.encode()),
            "label": _int64_feature(train, int(label)),
        }
        return [*raw, str(train.Example(features=train.Features(feature=features)))]

    seen = both(snippet)
    assert [one.name for one in seen[:3]] == ["TypeError"] * 3
    assert '"\\350\\214\\266"' in seen[3]


def _movie_example(train: Any) -> Any:
    names = train.BytesList(value=[b"The Shawshank Redemption", b"Fight Club"])
    ratings = train.FloatList(value=[9.0, 9.7])
    features = {
        "Age": _int64_feature(train, 29),
        "Movie": train.Feature(bytes_list=names),
        "Movie Ratings": train.Feature(float_list=ratings),
        "Suggestion": _bytes_feature(train, b"Inception"),
        "Suggestion Purchased": train.Feature(float_list=train.FloatList(value=[1.0])),
        "Purchase Price": train.Feature(float_list=train.FloatList(value=[9.99])),
    }
    return train.Example(features=train.Features(feature=features))


def test_movie_recommendation():
    def snippet(train: Any) -> list[Any]:
        example = _movie_example(train)
        ratings = example.features.feature["Movie Ratings"].float_list.value
        return [
            str(example),
            example.SerializeToString(deterministic=True),
            list(ratings),
            example.ByteSize(),
        ]

    text, record, ratings, _ = both(snippet)
    assert "value: 9.7" in text
    assert ratings == [9.0, float(np.float32(9.7))]
    spec = {
        "Age": fixed(),
        "Movie": variable("string"),
        "Movie Ratings": variable("float32"),
        "Suggestion": fixed((), "string"),
        "Suggestion Purchased": fixed((), "float32"),
        "Purchase Price": fixed((), "float32"),
    }
    for records in (record, [record, record]):
        assert_same([ours(records, spec)], [theirs(records, spec)])


def _movie_ratings(train: Any) -> Any:
    def strings(values: list[bytes]) -> Any:
        return train.Feature(bytes_list=train.BytesList(value=values))

    def numbers(values: list[float]) -> Any:
        return train.Feature(float_list=train.FloatList(value=values))

    names = train.FeatureList(feature=[strings([b"The Shawshank Redemption"]), strings([b"Fight Club"])])
    ratings = train.FeatureList(feature=[numbers([9.0]), numbers([9.7])])
    actors = train.FeatureList(
        feature=[strings([b"Tim Robbins", b"Morgan Freeman"]), strings([b"Brad Pitt"])]
    )
    context = {"Locale": _bytes_feature(train, b"pt_BR"), "Age": _int64_feature(train, 19)}
    lists = {"Movie Names": names, "Movie Ratings": ratings, "Movie Actors": actors}
    return train.SequenceExample(
        context=train.Features(feature=context), feature_lists=train.FeatureLists(feature_list=lists)
    )


def test_movie_ratings_as_a_sequence_example():
    def snippet(train: Any) -> list[Any]:
        message = _movie_ratings(train)
        lists = message.feature_lists.feature_list
        again = train.SequenceExample.FromString(message.SerializeToString())
        return [
            str(message),
            message.SerializeToString(deterministic=True),
            [list(step.bytes_list.value) for step in lists["Movie Actors"].feature],
            again == message,
        ]

    _, record, actors, same = both(snippet)
    assert actors == [[b"Tim Robbins", b"Morgan Freeman"], [b"Brad Pitt"]]
    assert same
    io = tensorflow().io
    given = []
    for module, string in ((tfr, "bytes"), (io, tensorflow().string)):
        context, lists = module.parse_single_sequence_example(
            record,
            {"Locale": module.FixedLenFeature([], string)},
            {
                "Movie Ratings": module.FixedLenSequenceFeature([], "float32"),
                "Movie Actors": module.RaggedFeature(string),
            },
        )
        locale = context["Locale"]
        given.append(
            (
                locale if isinstance(locale, bytes) else locale.numpy(),
                np.asarray(lists["Movie Ratings"]).tolist(),
                lists["Movie Actors"].to_list(),
            )
        )
    assert given[0] == given[1] == (b"pt_BR", [9.0, float(np.float32(9.7))], actors)


@tf_rule("2 text keys")
@tf_rule("2 text bytes")
@pytest.mark.parametrize("key", ["电影", "标签", "é", "混 mixed/键"])
def test_keys_and_text_in_chinese(key):
    text = "霸王别姬,1993"

    def snippet(train: Any) -> list[Any]:
        example = train.Example(features=train.Features(feature={key: _bytes_feature(train, text.encode())}))
        feature = train.Example.FromString(example.SerializeToString()).features.feature
        return [str(example), example.SerializeToString(), feature[key].bytes_list.value[0].decode()]

    shown, record, back = both(snippet)
    assert f'key: "{key}"' in shown
    assert text not in shown
    assert back == text
    for records in (record, [record]):
        spec = {key: fixed((), "string")}
        assert_same([ours(records, spec)], [theirs(records, spec)])
