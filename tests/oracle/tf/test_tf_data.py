"""tf.data as programs use it: tensors in functions and out of iterators, and what TensorFlow does by default.

The verbs themselves are tested in `test_data_*.py`, which run every case with `tfrkit.tf`, too.
"""

from __future__ import annotations

import collections
import functools
import gzip
import pickle
import re
import threading
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracle.support.data_scenarios import fresh, ours_by_its_names, outcomes, theirs
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.tf_scenarios import ours, outcome, same
from tests.support.rules import tf_rule

Point = collections.namedtuple("Point", "x y")  # noqa: PYI024


def agree(case: Any) -> list[Any]:
    """Every element and error of a pipeline is the same; a case takes a Space."""
    found = []
    for library in (ours_by_its_names(), theirs()):
        with fresh(library):
            found.append(outcomes(case(library), limit=60))
    assert found[0] == found[1]
    return found[1]


def _doubled(x: Any) -> Any:
    return x * 2


# ---- elements


@tf_rule("6 elements")
def test_elements_are_tensors() -> None:
    same(lambda tf: list(tf.data.Dataset.range(5).map(lambda x: (x, {"a": x, "b": [x, x]})).batch(2)))
    same(lambda tf: list(tf.data.Dataset.from_tensor_slices((["a", "b"], [[1.5, 2], [3, 4]]))))
    same(lambda tf: next(iter(tf.data.Dataset.from_tensors(Point(1, "x")).map(lambda p: Point(p.y, p.x)))))
    same(lambda tf: tf.data.Dataset.range(4).reduce(tf.constant(0, tf.int64), lambda total, x: total + x))
    same(lambda tf: tf.data.Dataset.range(4).reduce((np.int64(0), "a"), lambda s, x: (s[0] + x, s[1] + "b")))
    same(lambda tf: tf.data.Dataset.from_tensors((3, "a")).get_single_element())
    same(lambda tf: tf.data.Dataset.range(7).batch(2).cardinality())
    same(lambda tf: len(tf.data.Dataset.range(tf.constant(7, tf.int64)).batch(tf.constant(2, tf.int64))))


@tf_rule("6 elements of other kinds")
def test_sparse_and_ragged_elements() -> None:
    def sparse(tf: Any) -> Any:
        return tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])

    def ragged(tf: Any) -> Any:
        return tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3])

    same(lambda tf: list(tf.data.Dataset.from_tensors({"s": sparse(tf), "r": ragged(tf)})))
    same(lambda tf: list(tf.data.Dataset.from_tensor_slices({"s": sparse(tf), "r": ragged(tf)})))
    same(lambda tf: list(tf.data.Dataset.from_tensors(ragged(tf)).map(lambda r: r.to_tensor())))
    same(lambda tf: list(tf.data.Dataset.from_tensors(sparse(tf)).map(tf.sparse.to_dense)))
    same(lambda tf: list(tf.data.Dataset.from_tensors(sparse(tf)).as_numpy_iterator()))
    for rows in ([[1, 2], [], [3]], [[1, 2], [3, 4]], [["a"], []]):
        case = [row for row in rows if row] or [[0]]
        splits = np.cumsum([0, *map(len, case)])
        flat = [value for row in case for value in row]
        same(
            lambda tf, flat=flat, splits=splits: [
                each.tolist() if isinstance(each, np.ndarray) else each
                for each in next(
                    tf.data.Dataset.from_tensors(
                        tf.RaggedTensor.from_row_splits(flat, splits)
                    ).as_numpy_iterator()
                )
            ]
        )


@tf_rule("6 as_numpy_iterator")
def test_numpy_iterator() -> None:
    def case(tf: Any) -> Any:
        dataset = tf.data.Dataset.from_tensors((1, b"a", ["x", "y"], [[1.5]], None, {"a": True}))
        (found,) = dataset.as_numpy_iterator()
        return found, found[2].flags.writeable, found[3].flags.writeable

    same(case)


@tf_rule("6 element_spec")
def test_element_spec_has_types_and_shapes() -> None:
    def case(tf: Any) -> Any:
        dataset = tf.data.Dataset.from_tensor_slices({"a": [[1, 2]], "b": ["x"]}).batch(4)
        spec = dataset.element_spec
        iterator = iter(dataset)
        return (
            [repr(dataset), repr(spec), repr(iterator.element_spec)],
            [spec["a"].dtype is tf.int32, spec["a"].shape == [None, 2], spec["a"].shape.rank],
            isinstance(spec["b"], tf.TensorSpec),
            isinstance(iterator, tf.data.Iterator),
        )

    same(case)


@tf_rule("6 repr")
def test_text_of_datasets(tmp_path: Path) -> None:
    def case(tf: Any) -> Any:
        data = tf.data.Dataset.range(3)
        made = [
            data, data.map(_doubled), data.map(_doubled, 2), data.batch(2), data.shuffle(2), data.repeat(2),
            data.prefetch(1), data.take(1), data.skip(1), data.cache(), data.filter(lambda x: x > 1),
            data.padded_batch(2), data.ragged_batch(2), data.batch(2).unbatch(), data.enumerate(),
            data.shard(2, 0), data.concatenate(data), data.ignore_errors(), tf.data.TFRecordDataset("x"),
            tf.data.TextLineDataset("x"), tf.data.Dataset.zip(data, data),
            tf.data.Dataset.from_tensors(1), tf.data.Dataset.from_tensor_slices([1]),
            data.with_options(tf.data.Options()), data.flat_map(lambda x: data), data.interleave(lambda x: data),
        ]  # fmt: skip
        return list(map(repr, made))

    same(case)


@tf_rule("6 from_generator")
def test_generators_may_give_tensors() -> None:
    def ragged(tf: Any) -> Any:
        def generate() -> Any:
            yield tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3]), tf.constant("a")

        signature = (tf.RaggedTensorSpec([None, None], tf.int32), tf.TensorSpec([], tf.string))
        return list(tf.data.Dataset.from_generator(generate, output_signature=signature))

    def typed(tf: Any) -> Any:
        def generate(count: Any) -> Any:
            for number in range(count):
                yield tf.constant(number), [b"a\0", b"b"]

        return list(
            tf.data.Dataset.from_generator(
                generate,
                output_types=(tf.int32, tf.string),
                output_shapes=((), (None,)),
                args=(tf.constant(2),),
            )
        )

    def told(tf: Any) -> Any:
        seen = []

        def generate(count: Any, name: Any) -> Any:
            seen.append((type(count).__name__, type(name).__name__))
            yield 1

        list(tf.data.Dataset.from_generator(generate, tf.int32, args=(3, "a")))
        return seen

    same(ragged)
    same(typed)
    same(told)


@tf_rule("6 structures of functions")
def test_structures_that_functions_give() -> None:
    def case(function: Any) -> Any:
        return lambda tf: next(iter(tf.data.Dataset.range(1).map(lambda x: function(tf, x))))

    for function in (
        lambda tf, x: [x, x],
        lambda tf, x: (x, [x, x + 1]),
        lambda tf, x: collections.OrderedDict(b=x, a=1),
        lambda tf, x: {"a": (x, {"b": "text"})},
        lambda tf, x: (x, 1, 2.5, True, "a", None),
        lambda tf, x: np.array([1.5, 2.5]),
        lambda tf, x: (tf.stack([x, x]), ["a", "b"]),
    ):
        same(case(function))


# ---- how it runs


@tf_rule("6 map and batch")
@pytest.mark.parametrize("size", [1, 3, 4, 10])
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("parallel", [None, 1, 2, -1])
def test_error_before_a_batch_loses_the_whole_batch(size: int, drop: bool, parallel: int | None) -> None:
    def case(lib: Any) -> Any:
        return (
            lib.Dataset.range(10).map(lambda x: lib.check((x != 1) & (x != 5), x), parallel).batch(size, drop)
        )

    agree(case)


BETWEEN = {
    "take all": lambda ds: ds.take(-1),
    "skip none": lambda ds: ds.skip(0),
    "repeat once": lambda ds: ds.repeat(1),
    "one shard": lambda ds: ds.shard(1, 0),
    "take some": lambda ds: ds.take(9),
    "prefetch": lambda ds: ds.prefetch(1),
    "prefetch 0": lambda ds: ds.prefetch(0),
    "cache": lambda ds: ds.cache(),
    "enumerate": lambda ds: ds.enumerate(),
    "shuffle": lambda ds: ds.shuffle(1),
    "map": lambda ds: ds.map(_doubled),
    "filter": lambda ds: ds.filter(lambda x: x >= 0),
    "filter and map": lambda ds: ds.filter(lambda x: x >= 0).map(_doubled),
    "ignore_errors": lambda ds: ds.ignore_errors(),
}


@tf_rule("6 map and batch between")
@pytest.mark.parametrize("between", BETWEEN)
def test_only_a_map_right_before_is_one_with_the_batch(between: str) -> None:
    agree(
        lambda lib: BETWEEN[between](
            lib.Dataset.range(10).map(lambda x: lib.check((x != 1) & (x != 5), x))
        ).batch(4)
    )


@tf_rule("6 map and batch kinds")
def test_other_batches() -> None:
    def failing(lib: Any) -> Any:
        return lib.Dataset.range(10).map(lambda x: lib.check((x != 1) & (x != 5), x))

    agree(lambda lib: failing(lib).batch(4, num_parallel_calls=2))
    agree(lambda lib: failing(lib).padded_batch(4))
    agree(lambda lib: failing(lib).ragged_batch(4))
    agree(lambda lib: failing(lib).filter(lambda x: x >= 0).ragged_batch(4))
    agree(lambda lib: failing(lib).batch(4).ignore_errors())
    agree(lambda lib: failing(lib).batch(4).repeat(2))
    agree(lambda lib: failing(lib).batch(4).prefetch(2))
    agree(lambda lib: failing(lib).batch(2).batch(2))
    agree(lambda lib: lib.Dataset.range(2).flat_map(lambda x: failing(lib).batch(4)))
    agree(lambda lib: failing(lib).apply(lib.tf.data.experimental.dense_to_ragged_batch(4)))
    agree(
        lambda lib: lib.Dataset.range(10).apply(
            lib.tf.data.experimental.map_and_batch(lambda x: lib.check(x != 1, x), 4)
        )
    )


@tf_rule("6 map and batch options")
@pytest.mark.parametrize(("name", "value"), [
    ("map_and_batch_fusion", True), ("map_and_batch_fusion", False), ("apply_default_optimizations", False),
    ("apply_default_optimizations", True), ("map_parallelization", False),
])  # fmt: skip
def test_options_undo_it(name: str, value: bool) -> None:
    def case(lib: Any) -> Any:
        options = lib.tf.data.Options()
        setattr(options.experimental_optimization, name, value)
        return lib.Dataset.range(10).map(lambda x: lib.check(x != 1, x)).batch(4).with_options(options)

    agree(case)


@tf_rule("6 shuffle and repeat")
@pytest.mark.parametrize("count", [None, -1, -4, 0, 1, 2])
def test_shuffle_and_repeat_are_one(count: int | None) -> None:
    def case(lib: Any, fused: bool | None, between: int) -> Any:
        options = lib.tf.data.Options()
        if fused is not None:
            options.experimental_optimization.shuffle_and_repeat_fusion = fused
        dataset = lib.Dataset.range(5).shuffle(3, seed=1).take(between).repeat(count)
        return dataset.take(12).with_options(options)

    agree(lambda lib: case(lib, None, -1))
    agree(lambda lib: case(lib, False, -1))
    agree(lambda lib: case(lib, None, 4))


@tf_rule("6 map and batch shapes")
def test_different_shapes_in_a_batch() -> None:
    def case(lib: Any, sizes: list[int]) -> Any:
        lengths = lib.tf.constant(sizes)
        return lib.Dataset.range(len(sizes)).map(lambda x: lib.tf.zeros([lengths[x]])).batch(2)

    mine = outcome(ours(), lambda tf: list(case(ours_by_its_names(), [1, 1, 1, 2])))
    text = "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: [2], [batch]: [1]"
    assert mine.message.startswith(text)
    agree(lambda lib: case(lib, [2, 2, 0, 0]))
    theirs_text = outcome(tensorflow(), lambda tf: list(case(theirs(), [1, 1, 1, 2]))).message
    assert theirs_text.split("Shapes")[0] in text  # which of the two comes first is a matter of threads


@tf_rule("6 stateful functions")
def test_stateful_functions_run_in_order() -> None:
    def case(tf: Any) -> Any:
        seen: list[int] = []

        def note(x: Any) -> Any:
            time.sleep(0.002 * (int(x) % 3))
            seen.append(int(x))
            return x

        dataset = tf.data.Dataset.range(20).map(lambda x: tf.py_function(note, [x], tf.int64))
        return [int(x) for x in dataset], seen

    same(case)


def test_functions_without_state_run_at_once() -> None:
    tf = ours()
    names = set()

    def wait(x: Any) -> Any:
        names.add(threading.get_ident())
        time.sleep(0.002)  # as native code that lets other threads go on
        return x

    assert [int(x) for x in tf.data.Dataset.range(60).map(wait)] == list(range(60))
    assert len(names) > 1


def test_pipelines_pickle_and_go_on_from_a_state() -> None:
    tf = ours()
    dataset = tf.data.Dataset.range(20).map(_doubled).shuffle(5, seed=1).batch(3)
    again = pickle.loads(pickle.dumps(dataset))
    assert repr(again) == repr(dataset)
    iterator = iter(dataset)
    next(iterator)
    state = iterator.state()
    rest = [batch.numpy().tolist() for batch in iterator]
    assert [batch.numpy().tolist() for batch in again.iter_from(state)] == rest
    assert "map(_doubled)" in dataset.explain()


def test_names_of_functions_are_shown() -> None:
    tf = ours()
    assert "filter(_doubled)" in tf.data.Dataset.range(3).filter(_doubled).explain()


# ---- names beside Dataset


@tf_rule("6 data.experimental")
def test_experimental_names() -> None:
    def numbers(tf: Any, apply: Any) -> Any:
        return list(tf.data.Dataset.range(6).apply(apply(tf.data.experimental)))

    for apply in (
        lambda e: e.assert_cardinality(6),
        lambda e: e.ignore_errors(),
        lambda e: e.map_and_batch(_doubled, 4),
        lambda e: e.map_and_batch(_doubled, 4, drop_remainder=True, num_parallel_calls=2),
        lambda e: e.shuffle_and_repeat(3, 2, seed=1),
        lambda e: e.enumerate_dataset(3),
        lambda e: e.dense_to_ragged_batch(4),
        lambda e: e.unique(),
        lambda e: e.take_while(lambda x: x < 3),
        lambda e: e.scan(np.int64(0), lambda s, x: (s + x, s)),
        lambda e: e.copy_to_device("/cpu:0"),
        lambda e: e.map_and_batch(_doubled, 4, 2, False, 2),
    ):
        same(lambda tf, apply=apply: numbers(tf, apply))
    same(lambda tf: list(tf.data.Dataset.range(6).batch(4).apply(tf.data.experimental.unbatch())))
    same(
        lambda tf: list(
            tf.data.Dataset.range(3).apply(
                tf.data.experimental.parallel_interleave(
                    lambda x: tf.data.Dataset.from_tensors(x).repeat(3), 2, 2
                )
            )
        )
    )
    same(lambda tf: tf.data.experimental.cardinality(tf.data.Dataset.range(3)))
    same(lambda tf: tf.data.experimental.get_single_element(tf.data.Dataset.range(1)))
    same(lambda tf: tf.data.experimental.get_structure(tf.data.Dataset.range(1)))
    same(lambda tf: tf.data.experimental.get_structure(3))
    same(lambda tf: list(tf.data.experimental.from_list([(1, "a"), (2, "b")])))
    same(lambda tf: tf.data.experimental.from_list([]))
    same(lambda tf: [each.value for each in tf.data.experimental.AutoShardPolicy])
    same(lambda tf: list(tf.data.experimental.Counter(3, 2).take(3)))
    same(
        lambda tf: list(
            tf.data.experimental.choose_from_datasets(
                [tf.data.Dataset.range(2), tf.data.Dataset.range(5, 9)],
                tf.data.Dataset.from_tensor_slices(np.array([1, 0, 1, 0, 0, 1])),
            )
        )
    )


@tf_rule("6 data.experimental files")
def test_experimental_writer_and_parser(tmp_path: Path) -> None:
    def case(tf: Any) -> Any:
        path = str(tmp_path / "x")
        records = [
            tf.train.Example(
                features=tf.train.Features(
                    feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[n]))}
                )
            ).SerializeToString()
            for n in range(5)
        ]
        tf.data.experimental.TFRecordWriter(path).write(tf.data.Dataset.from_tensor_slices(records))
        parse = tf.data.experimental.parse_example_dataset({"a": tf.io.FixedLenFeature([], tf.int64)})
        return list(tf.data.TFRecordDataset(tf.constant([path])).batch(2).apply(parse))

    same(case)
    same(lambda tf: tf.data.experimental.TFRecordWriter("x").write(tf.data.Dataset.range(3)))


@tf_rule("6 make_batched_features_dataset")
@pytest.mark.parametrize("number", range(6))
def test_batched_features(tmp_path: Path, number: int) -> None:
    def case(tf: Any) -> Any:
        for file in range(3):
            with tf.io.TFRecordWriter(str(tmp_path / f"x{file}")) as writer:
                for record in range(5):
                    value = tf.train.Feature(int64_list=tf.train.Int64List(value=[10 * file + record]))
                    example = tf.train.Example(features=tf.train.Features(feature={"a": value, "b": value}))
                    writer.write(example.SerializeToString())
        spec = {key: tf.io.FixedLenFeature([], tf.int64) for key in "ab"}
        options = [
            {"shuffle": False, "num_epochs": 1},
            {"shuffle_seed": 3, "num_epochs": 2, "label_key": "b"},
            {"shuffle_seed": 3, "shuffle_buffer_size": 4},
            {"shuffle": False, "num_epochs": 1, "reader_num_threads": 2, "drop_final_batch": True},
            {"shuffle": False, "num_epochs": 1, "reader": tf.data.TFRecordDataset, "reader_args": [""]},
            {"label_key": "c"},
        ][number]
        make = tf.data.experimental.make_batched_features_dataset
        dataset = make(str(tmp_path / "x*"), 4, spec, **options)
        return list(dataset.take(9))

    same(case)


@tf_rule("6 FixedLengthRecordDataset")
@pytest.mark.parametrize(
    ("names", "options"),
    [
        (["a", "b"], {}),
        (["a", "b"], {"num_parallel_reads": 2}),
        (["a", "odd"], {}),
        (["a", "short"], {}),
        (["empty", "a"], {}),
        (["none", "a"], {}),
        (["z"], {"compression_type": "GZIP"}),
        (["y", "y"], {"compression_type": "ZLIB"}),
        (["ze", "z", "zs", "z"], {"compression_type": "GZIP"}),
        (["a"], {"compression_type": "GZIP"}),
    ],
)
def test_records_of_one_length(tmp_path: Path, names: list[str], options: dict[str, Any]) -> None:
    for name, data in (
        ("a", b"HHabcdefFF"),
        ("b", b"HHghiFF"),
        ("odd", b"HHabcdeFF"),
        ("short", b"H"),
        ("empty", b""),
    ):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "z").write_bytes(gzip.compress(b"HHabcdefFF"))
    (tmp_path / "ze").write_bytes(gzip.compress(b""))
    (tmp_path / "zs").write_bytes(gzip.compress(b"HHa"))
    (tmp_path / "y").write_bytes(zlib.compress(b"HHabcdefgFF"))
    paths = [str(tmp_path / name) for name in names]

    def case(lib: Any) -> Any:
        return lib.tf.data.FixedLengthRecordDataset(paths, 3, 2, 2, **options)

    found = []
    for library in (ours_by_its_names(), theirs()):
        found.append([_without_names(each) for each in outcomes(case(library), limit=8)])
    assert found[0] == found[1]


def _without_names(outcome: Any) -> Any:
    """An outcome; of an internal error without what TensorFlow calls the stages."""
    if not isinstance(outcome, Failure):
        return outcome
    return outcome.name, re.sub('Iterator "[^"]*"', "Iterator", outcome.message)


def test_records_of_one_length_go_on_from_a_state(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(range(100)))
    dataset = ours().data.FixedLengthRecordDataset([str(tmp_path / "x")] * 2, 4)
    iterator = iter(dataset)
    for _ in range(30):
        next(iterator)
    rest = [each.numpy() for each in dataset.iter_from(iterator.state())]
    assert rest == [each.numpy() for each in iterator]
    assert len(rest) == 20
    for arguments in ((0,), (3, -1), (3, 0, -1), (3, 0, 0, -2), (3, 0, 0, None, "FOO")):
        with pytest.raises(ours().errors.InvalidArgumentError):
            ours().data.FixedLengthRecordDataset("x", *arguments)


def test_missing_verbs_say_what_to_do() -> None:
    dataset = ours().data.Dataset
    for call in (lambda: dataset.load, lambda: dataset.range(3).save, lambda: dataset.range(3).snapshot):
        with pytest.raises(AttributeError, match="does not exist in tfrkit"):
            call()
    with pytest.raises(AttributeError, match="has no attribute 'btach'"):
        dataset.range(3).btach  # noqa: B018


class _Adds:
    """A callable with attributes of its own."""

    def __init__(self) -> None:
        self.function, self.scope = 7, 1

    def __call__(self, x: Any) -> Any:
        return x + self.function


def test_callables_of_all_kinds(tmp_path: Path) -> None:
    with ours().io.TFRecordWriter(str(tmp_path / "x")) as writer:
        writer.write(b"one")
    same(lambda tf: list(tf.data.Dataset.range(3).map(_Adds())))
    same(lambda tf: list(tf.data.Dataset.range(3).map(functools.partial(lambda y, x: x + y, 3))))
    same(lambda tf: list(tf.data.Dataset.range(3).map(tf.function(_doubled))))
    same(lambda tf: list(tf.data.Dataset.from_tensors(str(tmp_path / "x")).flat_map(tf.data.TFRecordDataset)))
    same(
        lambda tf: list(
            tf.data.Dataset.from_tensors(str(tmp_path / "x")).interleave(tf.data.TFRecordDataset, 2)
        )
    )


@tf_rule("6 Optional")
def test_optional() -> None:
    def case(tf: Any) -> Any:
        full = tf.experimental.Optional.from_value((1, "a"))
        empty = tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32))
        last = iter(tf.data.Dataset.range(1))
        found = [last.get_next_as_optional() for _ in range(2)]
        return (
            [full.has_value(), full.get_value(), repr(full.element_spec)],
            [empty.has_value(), repr(empty.element_spec)],
            [each.has_value() for each in found],
            repr(found[1].element_spec),
        )

    same(case)
    same(lambda tf: tf.experimental.Optional.empty(tf.TensorSpec([])).get_value())


@tf_rule("6 iterators of TensorFlow 1")
def test_iterators_of_tensorflow_1() -> None:
    def case(tf: Any) -> Any:
        v1 = tf.compat.v1.data
        iterator = v1.make_one_shot_iterator(tf.data.Dataset.range(3))
        dataset = tf.data.Dataset.range(3).map(lambda x: (x, {"a": "t"})).batch(2)
        types, shapes = v1.get_output_types(dataset), v1.get_output_shapes(dataset)
        return iterator.get_next(), next(iterator), repr(types), repr(shapes)

    same(case)
    same(lambda tf: tf.compat.v1.data.make_initializable_iterator(tf.data.Dataset.range(3)))
    assert int(next(ours().data.Dataset.range(3).make_one_shot_iterator())) == 0
