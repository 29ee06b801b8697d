"""Branches, loops, Python functions and tf.function: the same values and errors, at once and inside of pipelines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.tf_scenarios import ours, outcome, same
from tests.support.rules import tf_rule


def _graph(function: Callable[[Any], Any], value: Any = 0) -> Callable[[Any], Any]:
    """What a function of map gives for one element, in TensorFlow a graph."""

    def case(tf: Any) -> Any:
        dataset = tf.data.Dataset.from_tensors(value).map(function(tf))
        try:
            return next(iter(dataset))
        except Exception as error:
            text = str(getattr(error, "message", error)).split("}} ", 1)[-1].split("\n")[0].split(" [Op:")[0]
            text = text.split("with iterator: ", 1)[-1].split(": ", 1)[-1] if "user-defined" in text else text
            return type(error).__name__, text.replace("pyfunc_", "#").split(" returns")[-1].split("#")[0]

    return case


def check(*cases: Callable[[Any], Any]) -> None:
    """Both give the same in every case."""
    for number, case in enumerate(cases):
        try:
            same(case)
        except AssertionError as error:
            raise AssertionError(f"case {number}: {error}") from None


@tf_rule("6 cond")
def test_cond() -> None:
    check(
        lambda tf: tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2)),
        lambda tf: tf.cond(False, lambda: 1, lambda: (2, "a")),
        lambda tf: tf.cond(tf.constant([True]), lambda: 1, lambda: 2),
        lambda tf: tf.cond(pred=True, true_fn=lambda: [1, 2], false_fn=lambda: 2),
        lambda tf: tf.cond(True, 1, lambda: 2),
        lambda tf: tf.cond(True, lambda: 1, None),
        _graph(lambda tf: lambda x: tf.cond(x < 3, lambda: x + 1, lambda: x)),
        _graph(lambda tf: lambda x: tf.cond(x < 3, lambda: [1, "x"], lambda: [2, "y"])),
    )


@tf_rule("6 case")
def test_case_and_switch_case() -> None:
    check(
        lambda tf: tf.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)]),
        lambda tf: tf.case([(tf.constant(False), lambda: 1)], default=lambda: 5),
        lambda tf: tf.case([(True, lambda: 1)]),
        lambda tf: tf.case([1]),
        _graph(lambda tf: lambda x: tf.case([(x > 3, lambda: 1), (x > 1, lambda: 2)])),
        _graph(lambda tf: lambda x: tf.case([(x > 3, lambda: 1), (x < 1, lambda: 2)])),
        lambda tf: [tf.switch_case(tf.constant(n), [lambda: 1, lambda: 2]) for n in (0, 1, 7, -1)],
        lambda tf: tf.switch_case(tf.constant(7), [lambda: 1, lambda: 2], default=lambda: 9),
        lambda tf: tf.switch_case(tf.constant(1), {1: lambda: 1, 0: lambda: 2}),
        lambda tf: tf.switch_case(tf.constant(1), [(1, lambda: 1), (0, lambda: 2)]),
        lambda tf: tf.switch_case(tf.constant(7), {7: lambda: 1, 2: lambda: 2}),
        lambda tf: tf.switch_case(1, [lambda: 1, lambda: 2]),
    )


@tf_rule("6 while_loop")
def test_while_loop() -> None:
    check(
        lambda tf: tf.while_loop(
            lambda i, j: i < 3, lambda i, j: (i + 1, j * 2), (tf.constant(0), tf.constant(1))
        ),
        lambda tf: tf.while_loop(lambda: True, lambda: 1, []),
        lambda tf: tf.while_loop(1, lambda: 1, [1]),
        _graph(lambda tf: lambda x: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [x])),
        _graph(lambda tf: lambda x: tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (x,))),
        _graph(
            lambda tf: lambda x: tf.while_loop(lambda i: True, lambda i: i + 1, [x], maximum_iterations=5)
        ),
        _graph(lambda tf: lambda x: tf.while_loop(lambda i, j: i < 3, lambda i, j: [i + 1, j * 2], [x, 1])),
        _graph(
            lambda tf: (
                lambda x: tf.while_loop(lambda d: d["a"] < 3, lambda d: [{"a": d["a"] + 1}], [{"a": x}])
            )
        ),
    )


@tf_rule("6 map_fn")
def test_map_fn() -> None:
    check(
        lambda tf: tf.map_fn(lambda x: x * 2, tf.constant([1, 2, 3])),
        lambda tf: tf.map_fn(
            lambda x: (x, tf.cast(x, tf.float32)),
            tf.constant([1, 2]),
            fn_output_signature=(tf.int32, tf.float32),
        ),
        lambda tf: tf.map_fn(
            lambda x: x[0] + x[1], (tf.constant([1, 2]), tf.constant([3, 4])), fn_output_signature=tf.int32
        ),
        lambda tf: tf.map_fn(lambda x: {"a": x["a"] + 1}, {"a": tf.constant([1, 2])}),
        lambda tf: tf.map_fn(lambda x: x, tf.constant([], tf.int32)),
        lambda tf: tf.map_fn(lambda x: tf.stack([x, x]), tf.constant(["a", "b"])),
        lambda tf: tf.map_fn(lambda x: x, tf.constant([1, 2]), dtype=tf.int32),
        lambda tf: tf.map_fn(lambda x: x, tf.constant(1)),
        lambda tf: tf.map_fn(lambda x: x, [1, 2, 3]),
        lambda tf: tf.map_fn(lambda x: tf.cast(x, tf.float32), tf.constant([1, 2, 3])),
        lambda tf: tf.map_fn(lambda x: tf.zeros([x]), tf.constant([1, 2]), fn_output_signature=tf.float32),
        lambda tf: tf.vectorized_map(lambda x: x * 2, tf.constant([1, 2, 3])),
        lambda tf: tf.vectorized_map(
            lambda x: (x[0], x[0] + x[1]), (tf.constant([1, 2]), tf.constant([3, 4]))
        ),
        lambda tf: tf.vectorized_map(lambda x: x[0] + x[1], (tf.constant([1, 2]), tf.constant([3]))),
        lambda tf: tf.foldl(lambda a, x: a + x, tf.constant([1, 2, 3])),
        lambda tf: tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3]), tf.constant(10)),
        lambda tf: tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])),
        lambda tf: tf.scan(
            lambda a, x: a + x, tf.constant([1, 2, 3]), initializer=tf.constant(5), reverse=True
        ),
        _graph(lambda tf: lambda x: tf.map_fn(lambda y: y * 2, x), [1, 2]),
    )


@tf_rule("6 map_fn ragged")
def test_map_fn_with_ragged_tensors() -> None:
    check(
        lambda tf: tf.map_fn(
            tf.zeros, tf.constant([[1], [2]]), fn_output_signature=tf.RaggedTensorSpec([None], tf.float32)
        ),
        lambda tf: tf.map_fn(
            tf.size, tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3]), fn_output_signature=tf.int32
        ),
    )


@tf_rule("6 py_function")
def test_py_function() -> None:
    check(
        lambda tf: tf.py_function(lambda x: x + 1, [tf.constant(1)], tf.int32),
        lambda tf: tf.py_function(lambda x: x.numpy() + 1, [1], tf.int32),
        lambda tf: tf.py_function(lambda x: 1, [1], tf.float32),
        lambda tf: tf.py_function(lambda x, y: (x, y), [1, "a"], [tf.int32, tf.string]),
        lambda tf: tf.py_function(lambda x: x, [1], [tf.int32]),
        lambda tf: tf.py_function(lambda x: (x, x), [1], [tf.int32]),
        lambda tf: tf.py_function(lambda x: None, [1], []),
        lambda tf: tf.py_function(lambda: 5, [], tf.int32),
        lambda tf: tf.py_function(lambda *x: len(x), tf.constant([1, 2]), tf.int32),
        lambda tf: tf.py_function(lambda x: x, [[1, 2]], tf.TensorSpec([2], tf.int32)),
        lambda tf: tf.py_function(lambda: 5, None, tf.int32),
        _graph(lambda tf: lambda x: tf.py_function(lambda y: y + 1, [x], tf.int32)),
        _graph(lambda tf: lambda x: tf.py_function(lambda y: (y, "b"), [x], [tf.int32, tf.string])),
        _graph(lambda tf: lambda x: tf.py_function(lambda y: np.array([1.7]), [x], tf.int32)),
        _graph(lambda tf: lambda x: tf.py_function(lambda y: [1, 2], [x], tf.int32)),
        _graph(lambda tf: lambda x: tf.py_function(lambda y: None, [x], tf.int32)),
        _graph(lambda tf: lambda x: tf.py_function(lambda y: 1 // 0, [x], tf.int32)),
        _graph(lambda tf: lambda x: tf.py_function(lambda y: int("z"), [x], tf.int32)),
        _graph(lambda tf: lambda x: tf.py_function(lambda y: 1.5, [x], tf.int32)),
    )


@tf_rule("6 numpy_function")
def test_numpy_function() -> None:
    def gives(value: Any, types: Any) -> Callable[[Any], Any]:
        return _graph(lambda tf: lambda x: tf.numpy_function(lambda y: value, [x], types))

    check(
        lambda tf: tf.numpy_function(lambda x: x + 1, [np.array([1, 2])], tf.int64),
        lambda tf: tf.numpy_function(lambda x: type(x).__name__, [1.5], tf.string),
        lambda tf: tf.numpy_function(lambda x: (x, x), [1], [tf.int32, tf.int32]),
        lambda tf: tf.numpy_function(lambda x: None, [1], tf.int32),
        lambda tf: tf.numpy_function(lambda x: 1 // 0, [1], tf.int32),
        lambda tf: tf.numpy_function(Tout=tf.int64)(lambda x: x)(3),
        lambda tf: tf.compat.v1.py_func(lambda x: x, [1], tf.int32),
        _graph(lambda tf: lambda x: tf.numpy_function(lambda y: f"{type(y).__name__} {y}", [x], tf.string)),
        _graph(lambda tf: lambda x: tf.numpy_function(lambda y: f"{type(y).__name__} {y}", [x], tf.string), "a"),
        _graph(lambda tf: lambda x: tf.numpy_function(lambda y: y.dtype.name, [x], tf.string), ["a", "b"]),
        _graph(lambda tf: lambda x: tf.numpy_function(lambda y: y * 2, [x], tf.float32), np.float32([1.5])),
        _graph(lambda tf: lambda x: tf.numpy_function(lambda y: 1 // 0, [x], tf.int32)),
        _graph(lambda tf: lambda x: tf.numpy_function(lambda y: int("z"), [x], tf.int32)),
        *(gives(value, types) for value, types in [
            (1, "int64"), (1, "int32"), (1.0, "float64"), (1.0, "float32"), (np.float32(1), "float64"), (True, "bool"),
            (b"abc", "string"), ("abc\u00e9", "string"), (np.array(["a", "bc"]), "string"), ([1, 2], "int64"),
            ([1, 2], ["int64", "int64"]), ((1, 2), ["int64"]), (None, "int32"), (np.zeros((2, 1), np.uint8), "uint8"),
        ]),
    )  # fmt: skip


def test_array_of_a_numpy_function_may_be_written_to() -> None:
    def write(array: Any) -> Any:
        array[0] = 9
        return array

    same(_graph(lambda tf: lambda x: tf.numpy_function(write, [x], tf.int32), [1, 2]))


@tf_rule("6 function")
def test_function() -> None:
    def methods(tf: Any) -> Any:
        class Model:
            @tf.function
            def double(self, x: Any) -> Any:
                return x * 2

            @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
            def first(self, x: Any) -> Any:
                return x[0]

        model = Model()
        return model.double(tf.constant(3)), model.first([1.5, 2.5])

    def typed(tf: Any, value: Any) -> Any:
        function = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.int32)])
        try:
            return function(value)
        except TypeError as error:
            return str(error).split("`. Received")[0]

    check(
        lambda tf: tf.function(lambda x: x + 1)(1),
        lambda tf: tf.function(lambda: (1, [2, "a"], {"b": None}))(),
        lambda tf: tf.function(jit_compile=False)(lambda x: x)(tf.constant([1.5])),
        lambda tf: tf.function(lambda x: x).get_concrete_function(tf.constant(1))(tf.constant(2)),
        methods,
        lambda tf: [typed(tf, value) for value in ([1, 2], [1.5], 3)],
        lambda tf: tf.executing_eagerly(),
        lambda tf: tf.autograph.experimental.do_not_convert(lambda x: x)(3),
    )


@tf_rule("6 print")
def test_print(capfd: pytest.CaptureFixture[str]) -> None:
    def lines(tf: Any) -> None:
        def show(*values: Any, **options: Any) -> None:
            tf.print(*values, output_stream=sys.stdout, **options)

        show(
            tf.constant(1), tf.constant([1, 2, 3]), "a", tf.constant("b"), tf.constant(["x", "y"]), 1.5, None
        )
        show(tf.constant(range(10)), tf.constant(np.arange(40).reshape(10, 4)), summarize=2)
        show(tf.constant(np.arange(12).reshape(2, 2, 3)))
        show(tf.constant([1.0, 0.1, 1 / 3, 1e10, 1e-10, np.nan, np.inf, -0.0, 123456.789]), summarize=-1)
        show(tf.constant([1.0, 0.1, 1 / 3, 1e10], tf.float64), tf.constant([True, False]))
        show({"a": tf.constant(1), "b": [1, "x"]}, (1, tf.constant([2])), (3,), [tf.constant("s")])
        show("a", "b", sep=",", end="!\n")
        show(np.array([1, 2]), b"bytes", 2**40, tf.int32)
        show(tf.constant('\u00e9\n"'))
        show(tf.constant(['\u00e9\n"\x00']), tf.constant([], tf.int32))
        show()

    printed = []
    for tf in (ours(), tensorflow()):
        lines(tf)
        sys.stdout.flush()
        printed.append(capfd.readouterr().out)
    assert printed[0] == printed[1]


def test_print_elsewhere(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    tf = ours()
    tf.print(1, 2)
    assert capsys.readouterr().err == "1 2\n"
    tf.print("a", output_stream=f"file://{tmp_path / 'x'}")
    assert (tmp_path / "x").read_text() == "a\n"
    seen: list[str] = []
    tf.print("a", 3, output_stream=seen.append)
    assert seen == ["a 3"]
    assert isinstance(outcome(tf, lambda tf: tf.print(1, output_stream="nowhere")), Failure)


@tf_rule("6 scopes")
def test_scopes_do_nothing() -> None:
    def case(tf: Any) -> Any:
        with (
            tf.name_scope("a"),
            tf.device("/cpu:0"),
            tf.control_dependencies([tf.constant(1)]),
            tf.init_scope(),
        ):
            return tf.identity(tf.constant(2))

    check(case, lambda tf: tf.no_op(), lambda tf: tf.config.list_physical_devices("GPU"))


def test_graph_mode_is_explained() -> None:
    with pytest.warns(UserWarning, match="tfrkit has no graphs and sessions"):
        ours().compat.v1.disable_v2_behavior()
    ours().compat.v1.enable_eager_execution()
