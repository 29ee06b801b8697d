"""Errors that a program makes itself: the classes of tf.errors take what TensorFlow's take."""

from __future__ import annotations

import copy
import pickle
import types

import pytest

import tfrkit as tfr
from tests.oracle.support.oracle import Failure
from tests.oracle.support.tf_scenarios import same
from tests.support.rules import tf_rule

CLASSES = [name for name in tfr.errors.__all__ if name.endswith("Error") and name != "MissingExtraError"]
NUMBERED = [name for name in CLASSES if name != "OpError"]


def facts(error):
    """What a program can ask an error."""
    made = (error.message, error.error_code, error.node_def, error.op, str(error))
    return [type(error).__name__, *made, error.experimental_payloads]


@tf_rule("6 making errors")
@pytest.mark.parametrize("name", NUMBERED)
def test_errors_are_made_as_in_tensorflow(name):
    for given in (
        (None, None, "text"),
        (None, None, "text", {"key": b"value"}),
        ("node", None, "other", {}, 2),
    ):
        same(lambda tf, given=given: facts(getattr(tf.errors, name)(*given)))
    same(lambda tf: facts(getattr(tf.errors, name)(node_def=None, op=None, message="text")))
    same(lambda tf: facts(getattr(tf.errors, name)(None, op=None, message="text")))
    same(lambda tf: facts(getattr(tf.errors, name)(None, None, message="text")))


@tf_rule("6 making errors")
def test_the_base_class_takes_its_number():
    same(lambda tf: facts(tf.errors.OpError(None, None, "text", 11)))
    same(lambda tf: facts(tf.errors.OpError(None, None, "text", 11, {"a": b"b"})))
    same(lambda tf: facts(tf.errors.OpError(node_def=None, op=None, message="text", error_code=3)))
    same(lambda tf: facts(tf.compat.v1.OpError(None, None, "text", error_code=99)))


@tf_rule("6 making errors")
@pytest.mark.parametrize("name", CLASSES)
def test_arguments_that_are_missing_or_unknown(name):
    for given, named in (
        ((), {}),
        ((None, "text"), {}),
        ((), {"message": "text"}),
        ((None, None, "text"), {"other": 1}),
        ((None, None, "text"), {"message": "twice"}),
    ):
        for module in (tfr, __import__("tensorflow")):
            with pytest.raises(TypeError):
                getattr(module.errors, name)(*given, **named)
    if name == "OpError":
        for module in (tfr, __import__("tensorflow")):
            with pytest.raises(TypeError, match="error_code"):
                module.errors.OpError(None, None, "text")


@tf_rule("6 making errors")
@pytest.mark.parametrize("name", CLASSES)
def test_errors_travel_between_processes(name):
    given = (None, None, "text", 7) if name == "OpError" else (None, None, "text")
    for twin in (lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy):
        same(lambda tf, twin=twin: facts(twin(getattr(tf.errors, name)(*given))))


@tf_rule("6 making errors")
def test_an_operation_is_in_the_text():
    op = types.SimpleNamespace(name="layer/Add", traceback=[("a.py", 3, "main", "x + y")], _original_op=None)
    found = same(lambda tf: str(tf.errors.InternalError(None, op, "text")))
    assert "layer/Add" in found


@tf_rule("6 making errors")
def test_errors_are_caught_by_name():
    def case(tf):
        class Mine(tf.errors.InvalidArgumentError):
            def __init__(self, number):
                super().__init__(None, None, f"number {number}")

        class Numbered(tf.errors.OpError):
            def __init__(self, number):
                super().__init__(None, None, f"number {number}", number)

        found = []
        for error, cls in (
            (Mine(4), tf.errors.InvalidArgumentError),
            (Numbered(5), tf.errors.OpError),
            (tf.errors.OutOfRangeError(None, None, "end"), tf.errors.OutOfRangeError),
        ):
            try:
                raise error
            except cls as caught:
                found.append(facts(caught))
        return found

    assert not isinstance(same(case), Failure)


class TwoArguments(tfr.errors.DataLossError):
    """A subclass with arguments of its own."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}", path="a.tfrecord", record=3, offset=88)
        self.second = second


def test_subclasses_and_places_travel_too():
    twin = pickle.loads(pickle.dumps(TwoArguments(1, 2)))
    assert (str(twin), twin.second, twin.path, twin.record, twin.offset) == (
        "1 and 2",
        2,
        "a.tfrecord",
        3,
        88,
    )
    lost = tfr.errors.from_os_error(FileNotFoundError(2, "No such file or directory"), "b.tfrecord")
    twin = pickle.loads(pickle.dumps(lost))
    assert (twin.errno, twin.filename, twin.path) == (2, "b.tfrecord", "b.tfrecord")
    assert twin.args == lost.args
