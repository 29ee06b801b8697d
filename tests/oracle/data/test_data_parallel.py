"""map, prefetch, interleave and from_generator: tf.data and tfrkit side by side, calls at once included."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.oracle.support.data_scenarios import USER, agree, fails, ours, theirs
from tests.oracle.support.oracle import tensorflow
from tests.support.rules import tf_rule

CALLS = [None, 1, 3, -1]


def _table(lib, values):
    """Numbers that a function looks up: in TensorFlow a tensor, in tfrkit an array."""
    return values if lib.name == "tfrkit" else tensorflow().constant(values)


def _not(condition):
    return not condition if isinstance(condition, (bool, np.bool_)) else ~condition


# ---- map


@tf_rule("5 map error")
@pytest.mark.parametrize("calls", CALLS)
def test_errors_of_map_come_in_their_places(calls):
    def case(lib):
        return lib.Dataset.range(8).map(lambda x: lib.check((x != 2) & (x != 3) & (x != 7), x * 2), calls)

    agree(case, [0, 2, USER, USER, 8, 10, 12, USER])


@tf_rule("5 map error")
@pytest.mark.parametrize("seed", range(12))
def test_maps_in_a_row(seed):
    rng = random.Random(seed)
    stages = [(rng.randrange(12), rng.choice(CALLS), rng.choice([None, 0, 1, -1])) for _ in range(3)]

    def case(lib):
        ds = lib.Dataset.range(12)
        for bad, calls, depth in stages:
            ds = ds.map(lambda x, bad=bad: lib.check(x % 12 != bad, x + 1), num_parallel_calls=calls)
            ds = ds if depth is None else ds.prefetch(depth)
        return ds

    agree(case)


@tf_rule("5 map order")
def test_without_order_the_elements_are_the_same():
    def found(lib):
        ds = lib.Dataset.range(40).map(lambda x: x * 3, num_parallel_calls=4, deterministic=False)
        return sorted(int(x) for x in ds)

    assert found(ours()) == found(theirs()) == [3 * x for x in range(40)]


@tf_rule("5 map order")
@pytest.mark.parametrize("calls", CALLS)
def test_order_is_kept(calls):
    agree(
        lambda lib: lib.Dataset.range(30).map(lambda x: x * x, num_parallel_calls=calls),
        [x * x for x in range(30)],
    )


@tf_rule("5 map arguments")
def test_tuples_are_arguments_and_dicts_are_one():
    agree(
        lambda lib: (
            lib.Dataset.range(3)
            .map(lambda x: (x, x + 1))
            .map(lambda a, b: {"d": b - a, "a": a})
            .map(lambda d: d["a"] + d["d"])
        ),
        [1, 2, 3],
    )


@tf_rule("5 map constants")
def test_constants_become_tensors():
    agree(lambda lib: lib.Dataset.range(1).map(lambda x: (1, 2.5, "a", x)), [(1, 2.5, b"a", 0)])


def test_wrong_numbers_of_calls():
    message = "num_parallel_calls must be greater than zero."
    for wrong in (0, -2):
        agree(
            lambda lib, wrong=wrong: lib.Dataset.range(3).map(lambda x: x, num_parallel_calls=wrong),
            fails("InvalidArgumentError", message),
        )


def test_stop_iteration_in_a_function_is_an_error():
    def function(x):
        if x == 1:
            raise StopIteration
        return x

    def case(lib):
        if lib.name == "tfrkit":
            return lib.Dataset.range(3).map(function)
        tf = tensorflow()
        return lib.Dataset.range(3).map(
            lambda x: tf.ensure_shape(tf.numpy_function(function, [x], tf.int64), [])
        )

    agree(
        case,
        [0, fails("InvalidArgumentError", "Function invocation produced OutOfRangeError: StopIteration"), 2],
    )


# ---- prefetch


@tf_rule("5 prefetch")
@pytest.mark.parametrize("depth", [0, 1, 3, 100, -1])
def test_prefetch_changes_nothing(depth):
    agree(
        lambda lib: lib.Dataset.range(6).map(lambda x: lib.check(x != 3, x)).prefetch(depth),
        [0, 1, 2, USER, 4, 5],
    )


@tf_rule("5 prefetch size")
@pytest.mark.parametrize("depth", [-2, -100])
def test_wrong_depths(depth):
    message = "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning"
    agree(lambda lib: lib.Dataset.range(6).prefetch(depth), fails("InvalidArgumentError", message))


# ---- interleave


@tf_rule("5 flat_map")
def test_flat_map():
    agree(
        lambda lib: lib.Dataset.range(4).flat_map(lambda x: lib.Dataset.range(x).map(lambda y: 10 * x + y)),
        [10, 20, 21, 30, 31, 32],
    )


@tf_rule("5 interleave order")
@tf_rule("5 interleave parallel")
@pytest.mark.parametrize("seed", range(40))
def test_random_interleaves(seed):
    rng = random.Random(seed)
    cycle, block, count = rng.randint(1, 5), rng.randint(1, 4), rng.randint(0, 9)
    calls = rng.choice([None, rng.randint(1, cycle), -1])
    sizes = np.array([rng.choice([0, 0, 1, 2, 3, 7]) for _ in range(count + 1)])

    def case(lib):
        table = _table(lib, sizes)
        return lib.Dataset.range(count).interleave(
            lambda x: lib.Dataset.range(table[x]).map(lambda y: 100 * x + y), cycle, block, calls
        )

    agree(case)


@tf_rule("5 interleave error")
@pytest.mark.parametrize("seed", range(60))
def test_random_interleaves_that_fail(seed):
    rng = random.Random(1000 + seed)
    cycle, block, count = rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 8)
    calls = rng.choice([None, rng.randint(1, cycle), -1])
    sizes = np.array([rng.choice([0, 1, 2, 3, 5]) for _ in range(count)])
    inputs = np.array([rng.random() < 0.12 for _ in range(count)])
    functions = np.array([rng.random() < 0.12 for _ in range(count)])
    elements = np.array([rng.choice([-1, -1, 0, 1, 2]) for _ in range(count)])

    def case(lib):
        size, bad_input, bad_call, bad = (_table(lib, each) for each in (sizes, inputs, functions, elements))
        source = lib.Dataset.range(count).map(lambda x: lib.check(_not(bad_input[x]), x))
        return source.interleave(
            lambda x: lib.Dataset.range(lib.check(_not(bad_call[x]), size[x])).map(
                lambda y: lib.check(bad[x] != y, 100 * x + y)
            ),
            cycle,
            block,
            calls,
        )

    agree(case)


@tf_rule("5 interleave deterministic")
def test_without_order_all_elements_come():
    def total(lib):
        ds = lib.Dataset.range(6).interleave(
            lib.Dataset.range, cycle_length=3, num_parallel_calls=3, deterministic=False
        )
        return sorted(int(x) for x in ds)

    assert total(ours()) == total(theirs())


@tf_rule("5 interleave cycle_length")
@tf_rule("5 interleave block_length")
@tf_rule("5 interleave calls")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cycle_length": 0}, "cycle_length must be greater than zero."),
        ({"cycle_length": -2}, "cycle_length must be greater than zero."),
        ({"block_length": 0}, "block_length must be greater than zero."),
        ({"cycle_length": 2, "num_parallel_calls": 0}, "num_parallel_calls must be greater than zero."),
        (
            {"cycle_length": 0, "num_parallel_calls": 2},
            "`cycle_length` must be `tf.data.AUTOTUNE` or greater than 0",
        ),
        ({"cycle_length": 2, "block_length": 0, "num_parallel_calls": 2}, "`block_length` must be > 0"),
        ({"cycle_length": 2, "num_parallel_calls": 3}, "If `cycle_length` is set to a fixed value, "),
    ],
)
def test_wrong_arguments_of_interleave(arguments, message):
    agree(
        lambda lib: lib.Dataset.range(4).interleave(lib.Dataset.range, **arguments),
        fails("InvalidArgumentError", message),
    )


# ---- from_generator


class Odd:
    """Something that no type fits."""

    def __repr__(self) -> str:
        return "Odd()"


YIELDED = {
    "to int": (
        "int32",
        [],
        [1, 2.7, np.float64(3.9), True, np.int64(7), "x", b"y", None, Odd(), [1], 2**40, 300],
    ),
    "to small int": ("uint8", [], [1, -1, 300, 255.9, "a"]),
    "to float": ("float32", [], [1, 2.5, "3.5", np.int64(7), "x", [], True]),
    "to half": ("float16", [], [1.5, np.float32(1e10)]),
    "to bool": ("bool", [], [1, 0, "a", "", 2.5, None, np.bool_(True)]),
    "to string": ("string", [], ["a", b"b", ["x"], np.array("q"), "\u00e9", np.bytes_(b"n")]),
    "to strings": ("string", [None], [np.array(["a", "bc"]), np.array([b"a"]), ["a", b"b"], "x", []]),
    "shape": ("int32", [2], [np.array([1, 2]), np.array([1.5, 2]), [1, 2, 3], (4, 5), [[1, 2]], 5, [1, [2]]]),
    "part of a shape": ("int64", [None, 2], [[[1, 2]], np.zeros((3, 2)), np.zeros((0, 2)), [[1]], [1, 2], 0]),
    "any shape": ("int64", None, [[1], [[1, 2]], 3]),
}


@tf_rule("5 from_generator types")
@tf_rule("5 from_generator shape")
@tf_rule("5 from_generator wrong type")
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("name", YIELDED)
def test_what_a_generator_yields(name):
    dtype, shape, values = YIELDED[name]
    agree(
        lambda lib: lib.Dataset.from_generator(
            lambda: iter(values), output_signature=lib.TensorSpec(shape, dtype)
        )
    )


STRUCTURES = {
    "tuple": lambda spec: (spec([], "int32"), spec([], "float32")),
    "dict": lambda spec: {"b": spec([], "int32"), "a": spec([None], "float32")},
    "nested": lambda spec: ({"a": spec([], "int32")}, (spec([], "string"),)),
}
BUILT = [
    (1, 2.5), [1, 2], (1,), (1, 2, 3), 5, {"a": 1}, {"a": [1], "b": 2}, {"b": 2, "a": [1, 2]},
    {"a": [1], "b": 2, "c": 3}, ({"a": 1}, ("x",)), ({"a": 1}, "x"), ((1,), ("x",)), (1, (2,)), None,
]  # fmt: skip


@tf_rule("5 from_generator wrong type")
@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_that_a_generator_yields(name):
    make = STRUCTURES[name]
    agree(lambda lib: lib.Dataset.from_generator(lambda: iter(BUILT), output_signature=make(lib.TensorSpec)))


def _raises(error):
    yield 1
    yield 2
    raise error


@tf_rule("5 from_generator error")
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ZeroDivisionError("oh"), "UnknownError"),
        (KeyError("oh"), "UnknownError"),
        (OSError("oh"), "UnknownError"),
        (AssertionError(), "UnknownError"),
        (RuntimeError("oh"), "UnknownError"),
        (StopIteration("oh"), "UnknownError"),
        (ValueError("oh"), "InvalidArgumentError"),
        (TypeError("oh"), "InvalidArgumentError"),
        (NotImplementedError("oh"), "UnimplementedError"),
        (MemoryError("oh"), "ResourceExhaustedError"),
    ],
)
def test_exceptions_of_a_generator_end_it(error, kind):
    name = "RuntimeError: generator raised" if isinstance(error, StopIteration) else type(error).__name__
    agree(
        lambda lib: lib.Dataset.from_generator(
            lambda: _raises(error), output_signature=lib.TensorSpec([], "int32")
        ),
        [1, 2, fails(kind, name)],
    )


@tf_rule("5 from_generator")
def test_generators_are_called_for_every_pass():
    def numbers(first, rest):
        yield first
        yield from rest

    agree(lambda lib: lib.Dataset.from_generator(numbers, "int64", args=(3, [4, 5])), [3, 4, 5], passes=2)
    agree(lambda lib: lib.Dataset.from_generator(numbers, "int64", [], args=(3, [4, 5])).repeat(2))
    agree(lambda lib: lib.Dataset.from_generator(lambda: [[1], [2, 3]], "int64", [None]).padded_batch(2))


@tf_rule("5 from_generator callable")
@tf_rule("5 from_generator signature")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda lib: lib.Dataset.from_generator([1], "int32"), "`generator` must be a Python callable."),
        (
            lambda lib: lib.Dataset.from_generator(list),
            "To specify the output signature you need to provide either the `output_signature` argument or the",
        ),
        (
            lambda lib: lib.Dataset.from_generator(list, output_shapes=[]),
            "To specify the output signature you need to provide either the `output_signature` argument or the",
        ),
        (
            lambda lib: lib.Dataset.from_generator(
                list, "int32", output_signature=lib.TensorSpec([], "int32")
            ),
            "The `output_types` argument can not be used together with the `output_signature` argument.",
        ),
        (
            lambda lib: lib.Dataset.from_generator(
                list, output_shapes=[], output_signature=lib.TensorSpec([], "int32")
            ),
            "The `output_shapes` argument can not be used together with the `output_signature` argument.",
        ),
        (
            lambda lib: lib.Dataset.from_generator(list, output_signature=7),
            "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found <class 'int'> which",
        ),
    ],
    ids=["list", "nothing", "shapes only", "types too", "shapes too", "no spec"],
)
def test_wrong_arguments_of_from_generator(make, message):
    agree(make, fails("TypeError", message))
