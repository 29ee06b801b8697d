"""Tensors without TensorFlow: no warnings, no copies, other frameworks, threads."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading

import numpy as np
import pytest
import torch

from tfrkit import tf
from tfrkit.tf.entry import Absent
from tfrkit.tf.names.math import NAMES

NASTY = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, 0.5], np.float32)
INTEGERS = np.array([0, 1, -1, 2**31 - 1, -(2**31), 7], np.int32)


def functions():
    """Names of functions of one number and of two."""
    for aliases, entry in NAMES.items():
        name = aliases.split()[0]
        if name.startswith("compat.") or isinstance(entry, Absent):
            continue
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        needed = [
            found
            for found in inspect.signature(function).parameters.values()
            if found.default is found.empty and found.kind is found.POSITIONAL_OR_KEYWORD
        ]
        yield name, function, len(needed)


@pytest.mark.parametrize(
    "values", [NASTY, INTEGERS, NASTY[:1][0], INTEGERS[3]], ids=["floats", "ints", "zero", "max"]
)
def test_no_function_warns(values):
    tried = 0
    for _, function, count in functions():
        if count in (1, 2):
            arguments = [tf.constant(values)] * count
            try:
                function(*arguments)
                tried += 1
            except (
                ValueError,
                TypeError,
                NotImplementedError,
                RuntimeError,
                OSError,
                AttributeError,
                IndexError,
            ):
                continue  # a type that it does not take
    assert tried > 30


def test_no_operator_warns():
    for given in (tf.constant(NASTY), tf.constant(NASTY[7]), tf.constant(INTEGERS), tf.constant(INTEGERS[3])):
        for other in (given, 2, -1):
            results = [
                given + other,
                given - other,
                given * other,
                given / other,
                given < other,
                given == other,
            ]
            assert all(isinstance(result, tf.Tensor) for result in results)
        assert isinstance(given // 7, tf.Tensor)
        assert isinstance(given % 7, tf.Tensor)


def test_wrapping_copies_nothing():
    array = np.zeros((4, 4), np.float32)
    tensor = tf.Tensor(array)
    assert np.shares_memory(np.asarray(tensor), array)
    assert not np.shares_memory(tensor.numpy(), array)
    assert np.shares_memory(tf.reshape(tensor, [16]).value, array)
    assert np.shares_memory(tensor[1].value, array)


def test_arrays_of_users_are_not_shared():
    array = np.zeros((4, 4), np.float32)
    made = [
        tf.constant(array),
        tf.convert_to_tensor(array),
        tf.identity(array),
        tf.reshape(array, [-1]),
        tf.transpose(array),
    ]
    assert not any(np.shares_memory(np.asarray(tensor), array) for tensor in made)


def test_an_array_of_a_tensor_cannot_be_written_to():
    seen = np.asarray(tf.constant([1, 2]))
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 5
    taken = tf.constant([1, 2]).numpy()
    taken[0] = 5
    assert taken.tolist() == [5, 2]


def test_other_frameworks_take_tensors():
    tensor = tf.constant([[1.5, 2.5]])
    assert torch.from_numpy(tensor.numpy()).tolist() == [[1.5, 2.5]]
    assert torch.as_tensor(tensor.numpy()).dtype == torch.float32
    assert torch.from_dlpack(tensor).tolist() == [[1.5, 2.5]]
    assert np.from_dlpack(tf.constant([1, 2])).tolist() == [1, 2]


def test_a_tensor_is_small_and_has_no_dict():
    tensor = tf.constant(1)
    assert not hasattr(tensor, "__dict__")
    with pytest.raises(AttributeError):
        tensor.other = 1


def test_numpy_names_say_what_to_do():
    for name in ("T", "reshape", "astype", "tolist"):
        with pytest.raises(AttributeError, match=rf"Use tensor\.numpy\(\)\.{name}"):
            getattr(tf.constant([1]), name)


def test_items_cannot_be_assigned():
    with pytest.raises(TypeError, match="does not support item assignment"):
        tf.constant([1, 2])[0] = 5


@pytest.mark.parametrize("value", [3, [1, 2], "a", ["a", "b"], [[1.5]], True])
def test_tensors_pickle_and_copy(value):
    tensor = tf.constant(value)
    for other in (pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor)):
        assert repr(other) == repr(tensor)


def test_references_are_keys():
    one, two = tf.constant(1), tf.constant(1)
    seen = {one.ref(): "one", two.ref(): "two"}
    assert seen[one.ref()] == "one"
    assert seen[two.ref()] == "two"
    assert one.ref().deref() is one


def test_threads_may_share_tensors():
    tensor, wrong = tf.constant(np.arange(1000, dtype=np.float32)), []

    def work():
        for _ in range(50):
            total = tf.reduce_sum(tensor * 2 + 1)
            if total.numpy() != 1000 * 999 + 1000:
                wrong.append(total)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
