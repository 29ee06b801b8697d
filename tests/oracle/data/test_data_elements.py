"""Elements, their structures and specs, and the iterators that give them, in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.support.data_scenarios import (
    END,
    USER,
    agree,
    agree_on,
    attempt,
    drain,
    fails,
    shown,
    spec_of,
)
from tests.support.rules import tf_rule

STRUCTURES = {
    "number": [1, 2],
    "tuple": ([1, 2], ["a", "b"]),
    "dict": {"a": [1, 2], "b": [1.5, 2.5]},
    "nested": ({"a": [1, 2], "b": ([True, False], [[1, 2], [3, 4]])}, ["x", "y"]),
    "unsorted": {"z": [1, 2], "a": [3, 4]},
    "deep": (((([1, 2],),),),),
}


@tf_rule("5 structures")
@tf_rule("5 element_spec")
@pytest.mark.parametrize("structure", STRUCTURES)
def test_structures(structure):
    values = STRUCTURES[structure]
    agree(lambda lib: lib.Dataset.from_tensor_slices(values))
    agree(lambda lib: lib.Dataset.from_tensors(values))
    agree(lambda lib: lib.Dataset.from_tensor_slices(values).batch(2))
    agree(lambda lib: lib.Dataset.from_tensor_slices(values).map(lambda *x: x if len(x) > 1 else x[0]))


@tf_rule("5 element_spec")
@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "bool", "complex64", "S"]
)
def test_types(dtype):
    values = np.array([[1, 0], [3, 4], [0, 2]]).astype(dtype)
    agree(lambda lib: lib.Dataset.from_tensor_slices(values))
    agree(lambda lib: lib.Dataset.from_tensor_slices(values).batch(2, drop_remainder=True))
    agree(lambda lib: lib.Dataset.from_tensors(values).repeat(2).batch(2).unbatch())


@tf_rule("5 element_spec")
def test_specs_of_verbs():
    agree(lambda lib: lib.Dataset.range(3).batch(2).enumerate())
    agree(lambda lib: lib.Dataset.range(3).batch(2).batch(2, drop_remainder=True))
    agree(lambda lib: lib.Dataset.zip({"a": lib.Dataset.range(3), "b": lib.Dataset.range(2).batch(2)}))
    agree(lambda lib: lib.Dataset.range(3).map(lambda x: {"x": x, "y": (x, x)}))
    agree(lambda lib: lib.Dataset.range(3).map(lambda x: lib.full(3, x)))
    agree(lambda lib: lib.Dataset.range(1, 4).map(lambda x: lib.full(x, x)))


@tf_rule("5 list of map")
def test_list_of_a_function_is_a_tuple():
    agree(lambda lib: lib.Dataset.range(2).map(lambda x: [x, x + 1]), [(0, 1), (1, 2)])
    agree(lambda lib: lib.Dataset.range(2).map(lambda x: {"a": [x, x]}), spec=False)
    agree(lambda lib: lib.Dataset.range(2).map(lambda x: (x, [x, 7])), spec=False)


@tf_rule("5 map constants")
def test_constants_of_a_function():
    agree(lambda lib: lib.Dataset.range(2).map(lambda x: (x, 1, 1.5, "a", True)))
    agree(lambda lib: lib.Dataset.range(2).map(lambda x: np.array([1.5, 2.5])), [[1.5, 2.5]] * 2)
    agree(lambda lib: lib.Dataset.range(1).map(lambda x: 7), [7])


@tf_rule("5 iterator next")
def test_next_after_the_end():
    def case(lib):
        iterator = iter(lib.Dataset.range(2))
        return [shown(drain(iterator)), attempt(lambda: next(iterator)), attempt(lambda: next(iterator))]

    stop = fails("StopIteration", "")
    agree_on(case, [[0, 1, END], stop, stop])


@tf_rule("5 iterator get_next")
def test_get_next():
    def case(lib):
        iterator = iter(lib.Dataset.range(3).map(lambda x: lib.check(x != 1, x)))
        found = [attempt(iterator.get_next) for _ in range(5)]
        return [outcome if isinstance(outcome, tuple) else int(outcome) for outcome in found]

    end = fails("OutOfRangeError", "End of sequence")
    agree_on(case, [0, USER, 2, end, end])


@tf_rule("5 iterator get_next_as_optional")
def test_get_next_as_optional():
    def case(lib):
        iterator = iter(lib.Dataset.range(1))
        found = [iterator.get_next_as_optional() for _ in range(2)]
        values = [attempt(each.get_value) for each in found]
        return [bool(each.has_value()) for each in found], int(values[0]), values[1]

    missing = fails("InvalidArgumentError", "The given optional does not have a value.")
    agree_on(case, ([True, False], 0, missing))


@tf_rule("5 iterator after error")
def test_goes_on_after_errors():
    agree(lambda lib: lib.Dataset.range(6).map(lambda x: lib.check(x % 3 != 1, x)), [0, USER, 2, 3, USER, 5])
    agree(lambda lib: lib.Dataset.range(2).map(lambda x: lib.check(x > 5, x)), [USER, USER])


@tf_rule("5 iterators are independent")
def test_two_iterators():
    def case(lib):
        ds = lib.Dataset.range(4).map(lambda x: x * x)
        one, other = iter(ds), iter(ds)
        return [int(next(iterator)) for iterator in (one, one, other, one, other, other)]

    agree_on(case, [0, 1, 0, 4, 1, 4])


@tf_rule("5 iterator next")
def test_iterator_is_its_own_iterator():
    def case(lib):
        iterator = iter(lib.Dataset.range(4))
        next(iterator)
        return [iter(iterator) is iterator, [int(x) for x in iterator]]

    agree_on(case, [True, [1, 2, 3]])


@tf_rule("5 iterator element_spec")
def test_spec_of_an_iterator():
    spec = ("TensorSpec", "int64", (None,))
    agree_on(lambda lib: [spec_of(iter(lib.Dataset.range(4).batch(2)).element_spec)], [spec])


@tf_rule("5 as_numpy_iterator")
def test_types_of_as_numpy_iterator():
    values = {"a": [[1, 2], [3, 4]], "b": ["x", "y"], "c": ([1.5, 2.5], [True, False])}

    def case(lib):
        found = next(lib.Dataset.from_tensor_slices(values).as_numpy_iterator())
        parts = (found["a"], found["b"], *found["c"])
        return [type(found).__name__, type(found["c"]).__name__, *(type(part).__name__ for part in parts)]

    agree_on(case, ["dict", "tuple", "ndarray", "bytes", "float32", "bool"])


@tf_rule("5 as_numpy_iterator")
@pytest.mark.parametrize("value", [[[1, 2]], [["a", "b"]], np.arange(6.0).reshape(2, 3)], ids=repr)
def test_arrays_of_as_numpy_iterator_are_read_only(value):
    def case(lib):
        found = next(lib.Dataset.from_tensors(value).as_numpy_iterator())
        return [str(found.dtype), str(found.shape), found.tolist(), found.flags.writeable]

    assert agree_on(case)[-1] is False


@tf_rule("5 as_numpy_iterator errors")
def test_as_numpy_iterator_goes_on_after_errors():
    def case(lib):
        return drain(lib.Dataset.range(3).map(lambda x: lib.check(x != 1, x)).as_numpy_iterator())

    agree_on(case, [0, USER, 2, END])


@tf_rule("5 bool")
def test_every_dataset_is_true():
    agree_on(
        lambda lib: [bool(ds) for ds in (lib.Dataset.range(0), lib.Dataset.range(3).repeat())], [True, True]
    )


@tf_rule("5 len")
def test_len():
    agree_on(lambda lib: [len(lib.Dataset.range(7).batch(2))], [4])
    agree_on(lambda lib: [len(lib.Dataset.range(0))], [0])
    agree_on(lambda lib: [len(lib.Dataset.range(7).repeat())], fails("TypeError", "The dataset is infinite."))
    unknown = fails("TypeError", "The dataset length is unknown.")
    agree_on(lambda lib: [len(lib.Dataset.range(7).filter(lambda x: x > 1))], unknown)
