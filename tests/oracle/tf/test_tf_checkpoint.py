"""tf.train.Checkpoint and CheckpointManager of iterators: the same calls give the same names, elements and errors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.support.oracle import tensorflow
from tests.oracle.support.tf_scenarios import ours, outcome, same
from tests.support.rules import tf_rule


def _dataset(tf: Any) -> Any:
    return tf.data.Dataset.range(20).shuffle(5, seed=1).batch(3)


def _rest(iterator: Any) -> list[list[int]]:
    return [batch.numpy().tolist() for batch in iterator]


def _both(monkeypatch: pytest.MonkeyPatch, folder: Path, case: Any) -> Any:
    """Run a case in a folder of its own with each library; give what TensorFlow gave."""
    found = []
    for name, module in (("ours", ours()), ("theirs", tensorflow())):
        (folder / name).mkdir()
        monkeypatch.chdir(folder / name)
        found.append(outcome(module, case))
    assert found[0] == found[1]
    return found[1]


@tf_rule("6 Checkpoint")
def test_saving_and_restoring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def case(tf: Any) -> Any:
        iterator = iter(_dataset(tf))
        next(iterator)
        checkpoint = tf.train.Checkpoint(it=iterator)
        numbers = [int(checkpoint.save_counter)]
        first = checkpoint.save("folder/name")
        next(iterator)
        second = checkpoint.save(file_prefix="folder/name")
        numbers.append(int(checkpoint.save_counter))
        third = checkpoint.write("other/exact")
        rests = [_rest(iterator)]
        for path in (first, second, third):
            checkpoint.restore(path).assert_consumed()
            numbers.append(int(checkpoint.save_counter))
            rests.append(_rest(iterator))
        fresh = tf.train.Checkpoint(it=iter(_dataset(tf)))
        fresh.restore(first).assert_existing_objects_matched().assert_nontrivial_match().expect_partial()
        rests.append(_rest(fresh.it))
        lists = [Path("folder/checkpoint").read_text(), os.path.exists(first + ".index")]
        latest = [tf.train.latest_checkpoint(each) for each in ("folder", "other", "nothing")]
        return first, second, third, numbers, rests, lists, latest, fresh.save("folder/name")

    found = _both(monkeypatch, tmp_path, case)
    assert found[1][0] == "folder/name-1"


@tf_rule("6 Checkpoint structure")
def test_structures_of_objects(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def case(tf: Any) -> Any:
        def make() -> Any:
            inner = tf.train.Checkpoint(it=iter(_dataset(tf)))
            return tf.train.Checkpoint(
                a=inner, many=[iter(_dataset(tf)), iter(_dataset(tf))], ds=_dataset(tf)
            )

        one = make()
        next(one.a.it)
        next(one.many[1])
        next(one.many[1])
        path = one.save("x")
        other = make()
        other.restore(path).assert_consumed()
        return path, _rest(other.a.it), _rest(other.many[0]), _rest(other.many[1])

    _both(monkeypatch, tmp_path, case)


@tf_rule("6 Checkpoint deferred")
def test_objects_that_come_after_restoring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def case(tf: Any) -> Any:
        iterator = iter(_dataset(tf))
        next(iterator)
        path = tf.train.Checkpoint(it=iterator).save("x")
        late = tf.train.Checkpoint()
        status = late.restore(path)
        status.assert_existing_objects_matched()
        try:
            status.assert_consumed()
        except AssertionError as error:
            text = str(error)[:41]
        late.it = iter(_dataset(tf))
        status.assert_consumed()
        return text, _rest(late.it)

    _both(monkeypatch, tmp_path, case)


@tf_rule("6 Checkpoint errors")
@pytest.mark.parametrize("number", range(7))
def test_errors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int) -> None:
    def case(tf: Any) -> Any:
        checkpoint = tf.train.Checkpoint(it=iter(_dataset(tf)))
        path = checkpoint.save("x")
        calls = [
            lambda: tf.train.Checkpoint(step=5),
            lambda: checkpoint.restore("no-1"),
            lambda: checkpoint.read("no-1"),
            lambda: checkpoint.restore(None).assert_consumed(),
            lambda: tf.train.CheckpointManager(checkpoint, "m", max_to_keep=0),
            lambda: tf.train.CheckpointManager(checkpoint, "m"),
            lambda: tf.train.Checkpoint(other=iter(_dataset(tf))).restore(path).assert_consumed(),
        ]
        try:
            calls[number]()
        except Exception as error:
            return type(error).__name__, str(getattr(error, "message", error)).split("[<")[0]
        return None

    assert _both(monkeypatch, tmp_path, case) is not None


@tf_rule("6 Checkpoint of another dataset")
def test_other_dataset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def case(tf: Any) -> Any:
        path = tf.train.Checkpoint(it=iter(_dataset(tf))).save("x")
        other = tf.train.Checkpoint(it=iter(tf.data.Dataset.range(10)))
        with pytest.raises(
            tf.errors.NotFoundError, match="Failed to restore dataset iterator from checkpoint"
        ):
            other.restore(path)

    _both(monkeypatch, tmp_path, case)


@tf_rule("6 CheckpointManager")
def test_manager(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def case(tf: Any) -> Any:
        def make(name: str = "ckpt", keep: int | None = 2) -> Any:
            checkpoint = tf.train.Checkpoint(it=iter(_dataset(tf)))
            return tf.train.CheckpointManager(checkpoint, "folder", keep, checkpoint_name=name)

        manager = make()
        found = [(manager.latest_checkpoint, manager.checkpoints, manager.restore_or_initialize())]
        for number in (None, None, None, 17):
            next(manager.checkpoint.it)
            path = manager.save(checkpoint_number=number)
            names = sorted(name for name in os.listdir("folder") if name.endswith(".index"))
            found.append((path, manager.latest_checkpoint, manager.checkpoints, names))
        again = make("model", 3)
        found.append((again.checkpoints, again.restore_or_initialize(), _rest(again.checkpoint.it)))
        found.append((again.save(), again.checkpoints, tf.train.latest_checkpoint("folder")))
        endless = make(keep=None)
        found.append([endless.save() for _ in range(2)] + endless.checkpoints)
        return found

    _both(monkeypatch, tmp_path, case)


def test_interval_and_first_call(tmp_path: Path) -> None:
    tf = ours()
    calls: list[int] = []
    checkpoint = tf.train.Checkpoint(it=iter(_dataset(tf)))
    step = [0]

    class Step:
        def __int__(self) -> int:
            return step[0]

    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, 3, step_counter=Step(), checkpoint_interval=5, init_fn=lambda: calls.append(1)
    )
    assert manager.restore_or_initialize() is None
    assert calls == [1]
    saved = []
    for number in range(12):
        step[0] = number
        saved.append(manager.save() is not None)
    assert [number for number, each in enumerate(saved) if each] == [0, 5, 10]
    with pytest.raises(ValueError, match="step_counter"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 3, checkpoint_interval=5)


def test_file_of_another_library_is_refused(tmp_path: Path) -> None:
    tf = ours()
    (tmp_path / "x-1.index").write_bytes(b"\x00\x01not json")
    with pytest.raises(tf.errors.DataLossError, match="expected a checkpoint of tfrkit"):
        tf.train.Checkpoint().restore(str(tmp_path / "x-1"))


@tf_rule("6 numpy iterator state")
def test_numpy_iterator_saves_and_restores() -> None:
    def case(tf: Any) -> Any:
        iterator = _dataset(tf).as_numpy_iterator()
        next(iterator)
        state = iterator.save()
        first = [batch.tolist() for batch in iterator]
        iterator.restore(state)
        return first, [batch.tolist() for batch in iterator], hasattr(iterator, "next")

    same(case)
