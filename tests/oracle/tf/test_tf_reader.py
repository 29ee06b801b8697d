"""TensorFlow 1's TFRecordReader in a graph and a session, and tfrkit's at once: the same steps give the same.

A script is a list of steps such as "read" or "upto:3"; after each the counts and the size of the queue are compared.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.tf_scenarios import fails, ours, same
from tests.support.rules import tf_rule

Make = Callable[[Any], Any]
A, B, C, Z = "a", "b", "c", "z"
_PLACE = re.compile(r"^Graph execution error:.*?\nNode: '[^']*'\n|\n\t \[\[.*$", re.DOTALL)
_NAME = re.compile(r"'\w*(fifo_queue|input_producer)'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some files, in the folder that is the current one."""
    path = tmp_path_factory.mktemp("readers")
    tf = tensorflow()
    for name, records, options in (
        (A, [b"a0", b"a1", b"a2"], None),
        (B, [], None),
        (C, [b"c0"], None),
        (Z, [b"z0", b"z1"], "GZIP"),
    ):
        with tf.io.TFRecordWriter(str(path / name), options) as writer:
            for record in records:
                writer.write(record)
    whole = (path / A).read_bytes()
    (path / "bad").write_bytes(whole[:20] + b"\xff" + whole[21:])
    (path / "bad data").write_bytes(whole[:31] + b"\xff" + whole[32:])
    (path / "cut").write_bytes(whole[:-3])
    (path / "tail").write_bytes(whole + b"12345")
    (path / "folder").mkdir()
    return path


class InGraph:
    """A reader and a queue of TensorFlow's in a session."""

    def __init__(self, files: list[str], make: Make, dtype: str = "string") -> None:
        tf = tensorflow()
        v1 = tf.compat.v1
        graph = tf.Graph()
        with graph.as_default():
            queue = v1.FIFOQueue(20, dtype, shapes=[[]])
            reader = make(v1)
            self._count, self._state = v1.placeholder("int64", []), v1.placeholder("string", [])
            self._ops = {
                "read": reader.read(queue),
                "upto": reader.read_up_to(queue, self._count),
                "reset": reader.reset(),
                "state": reader.serialize_state(),
                "restore": reader.restore_state(self._state),
                "counts": (reader.num_records_produced(), reader.num_work_units_completed(), queue.size()),
            }
            self._session = v1.Session(graph=graph)
            self._session.run(queue.enqueue_many([files]))
            self._session.run(queue.close())

    def __call__(self, step: str, value: Any = None) -> Any:
        """Run one step."""
        feeds = {"upto": {self._count: value}, "restore": {self._state: value}}.get(step, {})
        return self._session.run(self._ops[step], feed_dict=feeds)


class AtOnce:
    """A reader and a queue of tfrkit's."""

    def __init__(self, files: list[str], make: Make, dtype: str = "string") -> None:
        tf = ours()
        self.queue = tf.FIFOQueue(20, dtype, shapes=[[]])
        self.reader = make(tf.compat.v1)
        self.queue.enqueue_many([files])
        self.queue.close()

    def __call__(self, step: str, value: Any = None) -> Any:
        """Run one step."""
        reader, queue = self.reader, self.queue
        found: Any = {
            "read": lambda: reader.read(queue),
            "upto": lambda: reader.read_up_to(queue, value),
            "reset": reader.reset,
            "state": reader.serialize_state,
            "restore": lambda: reader.restore_state(value),
            "counts": lambda: (
                reader.num_records_produced(),
                reader.num_work_units_completed(),
                queue.size(),
            ),
        }[step]()
        return _numpy(found)


def _numpy(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_numpy, value))
    return value if value is None else value.numpy()


def attempt(call: Callable[[], Any]) -> Any:
    """What a call gives as plain values, or its failure."""
    try:
        return _plain(call())
    except Exception as error:
        text = _PLACE.sub("", str(getattr(error, "message", error))).strip()
        return Failure(type(error).__name__, _NAME.sub(r"'\1'", text.split(": goo.gle")[0]))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.tolist() if hasattr(value, "tolist") else value


def agree(folder: Path, files: list[str], steps: str, make: Make | None = None) -> list[Any]:
    """Both give the same at every step, and count the same; what TensorFlow gives is returned."""
    make = make or (lambda tf: tf.TFRecordReader())
    paths = [str(folder / name) for name in files]
    found: list[list[Any]] = []
    for kind in (AtOnce, InGraph):
        run = kind(paths, make)
        outcomes = []
        for step in steps.split():
            verb, _, value = step.partition(":")
            given: Any = int(value) if verb == "upto" else value.encode("latin-1").decode("unicode_escape")
            outcomes.append(attempt(functools.partial(run, verb, given)))
            outcomes.append(attempt(functools.partial(run, "counts")))
        found.append(outcomes)
    for number, (mine, theirs) in enumerate(zip(*found, strict=True)):
        if isinstance(theirs, Failure) and isinstance(mine, Failure):
            assert mine.name == theirs.name, (number, mine, theirs)
            assert mine.message.startswith(theirs.message), (number, mine, theirs)
        else:
            assert mine == theirs, (number, mine, theirs)
    return found[1]


@tf_rule("4 read")
@tf_rule("4 files")
@tf_rule("4 queue ends")
@tf_rule("4 counters")
def test_records_of_files_one_after_another(folder: Path) -> None:
    found = agree(folder, [A, B, C], "read read read read read read")
    assert found[2] == (str(folder / A).encode() + b":18", b"a1")
    assert [counts[:2] for counts in found[1::2]] == [(1, 0), (2, 0), (3, 0), (4, 2), (4, 3), (4, 3)]
    assert found[8].name == "OutOfRangeError"


@tf_rule("4 read_up_to")
def test_several_records_never_of_two_files(folder: Path) -> None:
    found = agree(folder, [A, B, C], "upto:0 upto:2 upto:5 upto:5 upto:5")
    assert [len(each[0]) for each in found[:8:2]] == [0, 2, 1, 1]
    agree(folder, [A, C], "upto:3 upto:1 upto:9")
    agree(folder, [A, C], "read upto:2 read read")


def test_negative_number_of_records_is_an_error(folder: Path) -> None:
    run = AtOnce([str(folder / A)], lambda tf: tf.TFRecordReader())
    assert attempt(lambda: run("upto", -1)).name == "InvalidArgumentError"  # TensorFlow ends the process


@tf_rule("4 reset")
def test_reset_drops_the_rest_of_a_file(folder: Path) -> None:
    agree(folder, [A, C], "read reset read read reset read")
    agree(folder, ["bad", C], "read read reset read")


@tf_rule("4 damaged")
@pytest.mark.parametrize("name", ["bad", "bad data", "cut", "tail", Z])
def test_damaged_file(folder: Path, name: str) -> None:
    agree(folder, [name, C], "read read read read read upto:2 reset read")
    agree(folder, [name, C], "upto:5 upto:5 read")
    agree(folder, [name, C], "read upto:1 upto:3")


@tf_rule("4 missing")
def test_missing_file_and_folder(folder: Path) -> None:
    agree(folder, ["no", C, "none"], "read read read read")
    agree(folder, [A, "no", C], "upto:5 upto:5 upto:5 upto:5")
    agree(folder, ["folder", C], "read read upto:2")


@tf_rule("4 options")
@pytest.mark.parametrize("options", ["GZIP", 2, "object", None, "FOO"])
def test_options(folder: Path, options: Any) -> None:
    def make(tf: Any) -> Any:
        return tf.TFRecordReader(options=tf.io.TFRecordOptions("GZIP") if options == "object" else options)

    if options != "FOO":
        agree(folder, [Z], "read read read", make)
        return
    for tf in (ours(), tensorflow()):
        with (
            tf.Graph().as_default() if tf is not ours() else tf.name_scope("x"),
            pytest.raises(ValueError, match='Not a valid compression_type: "FOO"'),
        ):
            make(tf.compat.v1)


@tf_rule("4 queue of a reader")
def test_queue_must_hold_names(folder: Path) -> None:
    tf = tensorflow()
    v1 = tf.compat.v1
    for types, shapes, row, text in (
        ("int32", [[]], 1, "Expected queue with single string component"),
        (["string", "string"], [[], []], ("a", "b"), "Expected single component queue"),
        ("string", None, [["a", "b"]], "Expected to dequeue a one-element string tensor"),
    ):
        queue = ours().FIFOQueue(3, types, shapes)
        queue.enqueue(row)
        mine = attempt(lambda queue=queue: ours().TFRecordReader().read(queue))
        with tf.Graph().as_default(), v1.Session() as session:
            queue = v1.FIFOQueue(3, types, shapes)
            session.run(queue.enqueue(row))
            reading = v1.TFRecordReader().read(queue)
            theirs = attempt(lambda session=session, reading=reading: session.run(reading))
        assert mine == theirs == Failure("InvalidArgumentError", text)
    with pytest.raises(AttributeError, match="'str' object has no attribute 'queue_ref'"):
        ours().TFRecordReader().read("abc")


@pytest.mark.parametrize("reads", range(6))
def test_state_goes_on_in_another_reader(folder: Path, reads: int) -> None:
    """Other than TensorFlow's, the reader can be saved: UnimplementedError there."""
    tf = ours()
    paths = [str(folder / name) for name in (A, B, C)]

    def run(reader: Any, queue: Any) -> list[Any]:
        found = []
        while not isinstance(outcome := attempt(lambda: _numpy(reader.read(queue))), Failure):
            found.append(outcome)
        return found

    queue, reader = tf.FIFOQueue(9, "string", [[]]), tf.TFRecordReader()
    queue.enqueue_many([paths])
    queue.close()
    for _ in range(reads):
        attempt(functools.partial(reader.read, queue))
    state = reader.serialize_state()
    other = tf.TFRecordReader()
    assert other.supports_serialize is True
    other.restore_state(state)
    assert int(other.num_records_produced()) == int(reader.num_records_produced()) == min(reads, 4)
    assert int(other.num_records_units_completed()) == int(reader.num_work_units_completed())
    left = tf.FIFOQueue(9, "string", [[]])
    names = [queue.dequeue() for _ in range(int(queue.size()))]
    for name in names:
        left.enqueue(name)
    left.close()
    again = tf.FIFOQueue(9, "string", [[]])
    for name in names:
        again.enqueue(name)
    again.close()
    rest = run(other, left)
    assert rest == run(reader, again)
    assert len(rest) == max(0, 4 - reads)


@tf_rule("4 string_input_producer")
@pytest.mark.parametrize(
    ("shuffle", "seed", "count"), [(False, None, 5), (True, 1, 6), (True, 5, 6), (True, 77, 13), (True, 3, 1)]
)
def test_string_input_producer(shuffle: bool, seed: int | None, count: int) -> None:
    names = [f"file {number}" for number in range(count)]
    queue = ours().train.string_input_producer(names, num_epochs=3, shuffle=shuffle, seed=seed)
    mine = [queue.dequeue().numpy() for _ in range(3 * count)]
    ended = attempt(queue.dequeue)
    tf = tensorflow()
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.train.string_input_producer(names, num_epochs=3, shuffle=shuffle, seed=seed)
        taken = queue.dequeue()
        session.run(v1.local_variables_initializer())
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        theirs = [session.run(taken) for _ in range(3 * count)]
        assert ended == attempt(lambda: session.run(taken))
        coordinator.request_stop()
        coordinator.join(threads)
    assert mine == theirs


@tf_rule("4 string_input_producer arguments")
def test_string_input_producer_arguments() -> None:
    for names, epochs in (([], None), (["a"], 0), ([["a"]], None)):
        producer = ours().train.string_input_producer
        mine = attempt(functools.partial(producer, names, num_epochs=epochs))
        with tensorflow().Graph().as_default():
            producer = tensorflow().compat.v1.train.string_input_producer
            theirs = attempt(functools.partial(producer, names, num_epochs=epochs))
        assert mine.name == theirs.name == "ValueError"
        assert mine.message == theirs.message + ("" if names else ", got no strings")


@tf_rule("4 match_filenames_once")
def test_match_filenames_once(folder: Path) -> None:
    for pattern in (str(folder / "*"), [str(folder / "c*"), str(folder / "a")], str(folder / "x*")):
        mine = ours().train.match_filenames_once(pattern).numpy().tolist()
        v1 = tensorflow().compat.v1
        with tensorflow().Graph().as_default(), v1.Session() as session:
            found = v1.train.match_filenames_once(pattern)
            session.run(v1.local_variables_initializer())
            assert mine == session.run(found).tolist()


@tf_rule("4 queue elements")
@tf_rule("4 queue order")
@tf_rule("4 dequeue_many")
def test_fifo_queue() -> None:
    def case(tf: Any) -> Any:
        queue = tf.queue.FIFOQueue(9, ["int32", "string"], shapes=[[], [2]])
        queue.enqueue((1, ["a", "b"]))
        queue.enqueue([2, ["c", "d"]])
        queue.enqueue_many(([5, 6, 7], [["e", "f"], ["g", "h"], ["i", ""]]))
        sizes = queue.size(), queue.is_closed(), queue.dtypes, queue.names
        first = queue.dequeue(), queue.dequeue_many(2), queue.dequeue_many(0)
        queue.close()
        return sizes, first, queue.dequeue_up_to(9), queue.is_closed()

    same(case)


def _shuffled(tf: Any) -> Any:
    queue = tf.queue.RandomShuffleQueue(20, 2, ["int32"], shapes=[[]], seed=3)
    queue.enqueue_many([list(range(10))])
    found = [queue.dequeue(), queue.dequeue_many(4)]
    queue.enqueue_many([list(range(10, 16))])
    queue.close()
    return found, queue.dequeue_many(3), [queue.dequeue() for _ in range(8)]


def _named(tf: Any) -> Any:
    queue = tf.queue.FIFOQueue(9, ["int32", "float32"], names=["a", "b"], shapes=[[], []])
    queue.enqueue({"a": 1, "b": 2.5})
    return queue.dequeue()


@tf_rule("4 queue order")
@pytest.mark.parametrize("case", [_shuffled, _named])
def test_other_queues(case: Callable[[Any], Any]) -> None:
    same(case)


def _closed(tf: Any) -> Any:
    queue = tf.queue.FIFOQueue(9, ["int64"], [[]], name="q")
    queue.enqueue_many([[1, 2]])
    queue.close()
    return queue


QUEUE_ERRORS: list[Callable[[Any], Any]] = [
    lambda tf: _closed(tf).enqueue(1),
    lambda tf: _closed(tf).enqueue_many([[1]]),
    lambda tf: _closed(tf).dequeue_many(3),
    lambda tf: _closed(tf).close(),
    lambda tf: [queue.dequeue() for queue in [_closed(tf)] * 3],
    lambda tf: _closed(tf).dequeue_many(-1),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], [[2]]).enqueue([[1, 2, 3]]),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], [[]]).enqueue("x"),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], [[]]).enqueue(1.5),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], [[]]).enqueue(tf.constant(1.5)),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], [[]]).enqueue({"a": 1}),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], [[]]).enqueue_many(3),
    lambda tf: tf.queue.FIFOQueue(3, ["int32", "int32"], [[], []]).enqueue_many(([1, 2], [1])),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"]).dequeue_many(1),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], [[], []]),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], [[None]]),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], names=["a", "b"]),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], names=["a"]).enqueue(1),
    lambda tf: tf.queue.FIFOQueue(3, ["int32"], names=["a"]).enqueue({"b": 1}),
    lambda tf: tf.queue.RandomShuffleQueue(2, 5, ["int32"]),
]


@tf_rule("4 queue closed")
@tf_rule("4 queue arguments")
@pytest.mark.parametrize("number", range(len(QUEUE_ERRORS)))
def test_queue_errors(number: int) -> None:
    def unnamed(tf: Any) -> Any:
        try:
            QUEUE_ERRORS[number](tf)
        except Exception as error:
            text = str(getattr(error, "message", error))
            return type(error).__name__, re.sub(r"'(\d+|_\d+_\w+)'", "'q'", text).split("}} ")[-1].split(
                " [Op"
            )[0]
        return None

    mine, theirs = unnamed(ours()), unnamed(tensorflow())
    assert mine is not None
    assert mine == theirs


@tf_rule("4 queue blocking")
def test_queue_blocks() -> None:
    import threading

    def case(tf: Any) -> Any:
        queue, failures = tf.queue.FIFOQueue(1, "int32", [[]]), []
        thread = threading.Timer(0.05, lambda: queue.enqueue(4))
        thread.start()
        first = queue.dequeue()
        thread.join()
        queue.enqueue(1)

        def wait() -> None:
            try:
                queue.enqueue(2)
            except tf.errors.CancelledError as error:
                failures.append(str(error.message).split("}} ")[-1].split(" [Op")[0])

        thread = threading.Thread(target=wait)
        thread.start()
        threading.Event().wait(0.1)
        queue.close(cancel_pending_enqueues=True)
        thread.join()
        return first, failures, queue.dequeue()

    same(case)


def test_dequeue_of_more_than_the_capacity() -> None:
    import threading

    def case(tf: Any) -> Any:
        queue = tf.queue.FIFOQueue(2, "int32", [[]])
        thread = threading.Thread(target=lambda: queue.enqueue_many([list(range(6))]))
        thread.start()
        found = queue.dequeue_many(5)
        thread.join()
        return found, queue.dequeue()

    same(case)


def test_wrong_calls_fail_alike() -> None:
    fails(
        lambda tf: tf.queue.FIFOQueue(1, []), "InvalidArgumentError", "Length for attr 'component_types' of 0"
    )
