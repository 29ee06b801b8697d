"""The messages are protobuf's, are those of tf.train, and live beside TensorFlow's in one process."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

import tfrkit as tfr
from tfrkit.model import messages

NAMES = messages.__all__


def example() -> tfr.Example:
    return tfr.Example(
        features=tfr.Features(
            feature={
                "age": tfr.Feature(int64_list=tfr.Int64List(value=[29, -1])),
                "movie": tfr.Feature(bytes_list=tfr.BytesList(value=[b"The Shawshank Redemption", b"\xff"])),
                "none": tfr.Feature(),
                "rating": tfr.Feature(float_list=tfr.FloatList(value=[9.0, 9.7])),
            }
        )
    )


def sequence_example() -> tfr.SequenceExample:
    made = tfr.SequenceExample(context=example().features)
    made.feature_lists.feature_list["steps"].feature.add().int64_list.value.extend([1, 2])
    made.feature_lists.feature_list["empty"].SetInParent()
    return made


@pytest.mark.parametrize("name", NAMES)
def test_class_stands_in_its_module_under_its_name(name):
    cls = getattr(tfr, name)
    assert cls is getattr(messages, name)
    assert (cls.__module__, cls.__name__) == ("tfrkit.model.messages", name)
    assert cls.DESCRIPTOR.full_name == f"tensorflow.{name}"


def test_fields_have_the_numbers_of_tf_train():
    numbers = {
        f"{name}.{field.name}": field.number
        for name in NAMES
        for field in getattr(tfr, name).DESCRIPTOR.fields
    }
    assert numbers == {
        "BytesList.value": 1,
        "Example.features": 1,
        "Feature.bytes_list": 1,
        "Feature.float_list": 2,
        "Feature.int64_list": 3,
        "FeatureList.feature": 1,
        "FeatureLists.feature_list": 1,
        "Features.feature": 1,
        "FloatList.value": 1,
        "Int64List.value": 1,
        "SequenceExample.context": 1,
        "SequenceExample.feature_lists": 2,
    }


@pytest.mark.parametrize("make", [example, sequence_example])
def test_pickle_and_deepcopy_give_equal_messages(make):
    message = make()
    assert pickle.loads(pickle.dumps(message)) == message
    assert copy.deepcopy(message) == message
    assert type(message).FromString(message.SerializeToString()) == message


@pytest.mark.parametrize("name", NAMES)
def test_classes_pickle(name):
    cls = getattr(tfr, name)
    assert pickle.loads(pickle.dumps(cls)) is cls


def test_bytes_are_those_of_the_format():
    made = tfr.Example()
    made.features.feature["a"].SetInParent()
    assert made.SerializeToString() == bytes.fromhex("0a07 0a05 0a0161 1200")
    assert tfr.Feature(int64_list=tfr.Int64List()).SerializeToString() == bytes.fromhex("1a00")
    assert tfr.Int64List(value=[1, 300]).SerializeToString() == bytes.fromhex("0a03 01 ac02")  # packed
    assert tfr.FloatList(value=[1.0]).SerializeToString() == bytes.fromhex("0a04 0000803f")
    assert tfr.Example(features=tfr.Features()).SerializeToString() == bytes.fromhex("0a00")


def test_the_last_kind_of_a_feature_wins():
    made = tfr.Feature(int64_list=tfr.Int64List(value=[1]))
    made.float_list.value.append(2.0)
    assert made.WhichOneof("kind") == "float_list"
    assert not made.HasField("int64_list")


def test_text_is_protobufs():
    assert str(tfr.Feature(int64_list=tfr.Int64List(value=[3]))) == "int64_list {\n  value: 3\n}\n"


def test_messages_of_other_types_are_told_apart():
    assert messages.is_message(example())
    assert messages.message_name(example()) == "tensorflow.Example"
    assert not messages.is_message(b"")
    assert not messages.is_message(tfr.Example.DESCRIPTOR)


def test_bytes_of_a_message_do_not_depend_on_the_order_of_making():
    forwards, backwards = tfr.Example(), tfr.Example()
    for key in "abcdefgh":
        forwards.features.feature[key].int64_list.value.append(1)
    for key in "hgfedcba":
        backwards.features.feature[key].int64_list.value.append(1)
    assert messages.message_bytes(forwards) == messages.message_bytes(backwards)


BESIDE_TENSORFLOW = """
import pickle
{imports}
ours = tfr.make_example({{"a": [1, 2], "b": 0.5, "c": b"x"}})
theirs = tf.train.Example.FromString(ours.SerializeToString())
assert type(ours) is not type(theirs)
assert tfr.Example.FromString(theirs.SerializeToString()) == ours
assert str(theirs) == str(ours)
assert pickle.loads(pickle.dumps(ours)) == ours
assert {{key: list(value) for key, value in tfr.to_dict(theirs).items()}} == {{"a": [1, 2], "b": [0.5], "c": [b"x"]}}
assert tfr.make_example({{"a": theirs.features.feature["a"]}}) == tfr.make_example({{"a": [1, 2]}})
"""


@pytest.mark.parametrize(
    "imports",
    ["import tensorflow as tf\nimport tfrkit as tfr", "import tfrkit as tfr\nimport tensorflow as tf"],
    ids=["tensorflow first", "tfrkit first"],
)
@pytest.mark.parametrize("implementation", ["upb", "python"])
def test_lives_beside_tensorflow(imports, implementation):
    code = BESIDE_TENSORFLOW.format(imports=imports)
    environment = {
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": implementation,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PATH": "",
    }
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
