"""Misspelt names are answered with the right one."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit import tf
from tfrkit.model.near_names import SuggestsNames


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shufle", "'Dataset' object has no attribute 'shufle'. Did you mean 'shuffle'?"),
        ("bacth", "'Dataset' object has no attribute 'bacth'. Did you mean 'batch'?"),
        ("prefetchh", "'Dataset' object has no attribute 'prefetchh'. Did you mean 'prefetch'?"),
        ("Map", "'Dataset' object has no attribute 'Map'. Did you mean 'map'?"),
        ("quux", "'Dataset' object has no attribute 'quux'"),
        ("_bacth", "'Dataset' object has no attribute '_bacth'"),
    ],
)
@pytest.mark.parametrize("dataset", [tfr.Dataset.range(3), tf.data.Dataset.range(3)], ids=["tfrkit", "tf"])
def test_verbs_of_a_dataset_are_suggested(dataset, name, message):
    with pytest.raises(AttributeError) as caught:
        getattr(dataset, name)
    assert str(caught.value) == message


def test_class_methods_and_iterators_suggest_too():
    with pytest.raises(
        AttributeError,
        match=r"^class 'Dataset' has no attribute 'from_tensor_slice'\. Did you mean 'from_tensor_slices'\?$",
    ):
        tfr.Dataset.from_tensor_slice([1])  # type: ignore[attr-defined]
    with pytest.raises(
        AttributeError, match=r"^'DatasetIterator' object has no attribute 'sate'\. Did you mean 'state'\?$"
    ):
        iter(tfr.Dataset.range(3)).sate()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"has no attribute 'get_nxt'\. Did you mean 'get_next'\?$"):
        iter(tf.data.Dataset.range(3)).get_nxt()
    with pytest.raises(
        AttributeError, match=r"^'Options' object has no attribute 'thread'\. Did you mean 'threads'\?$"
    ):
        _ = tfr.Options().thread


def test_what_protocols_ask_for_is_absent():
    dataset = tfr.Dataset.range(3)
    assert not hasattr(dataset, "numpy")
    assert not hasattr(dataset, "__array__")
    assert getattr(dataset, "shape", None) is None
    assert np.asarray(dataset, object).shape == (3,)  # a sequence, as its elements have numbers
    for copied in (copy.copy(dataset), copy.deepcopy(dataset), pickle.loads(pickle.dumps(dataset))):
        assert list(copied) == [0, 1, 2]
    bare = tfr.Dataset.__new__(tfr.Dataset)  # as `pickle` makes it, before it has any attribute
    with pytest.raises(AttributeError, match=r"^'Dataset' object has no attribute 'node'"):
        _ = bare.node


def test_an_error_inside_a_property_stays():
    class Broken(SuggestsNames):
        @property
        def value(self) -> int:
            return [].length  # type: ignore[attr-defined,no-any-return]

    with pytest.raises(AttributeError, match=r"^'list' object has no attribute 'length'$"):
        _ = Broken().value
