"""States: an iterator made from one gives exactly the rest, in another process and on another number of threads."""

from __future__ import annotations

import functools
import json
import os
import pickle
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.calls import END, LIMIT, chain_folder, difference, ended, outcomes
from tests.data.support.chains import build
from tests.data.support.random_large import make_large_chain, with_small_blocks
from tests.data.support.resume import KINDS, dataset_of, made, resumed, started
from tests.data.support.spaces import tfrkit_space
from tests.data.test_plain import GROUP

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the chains read."""
    return chain_folder(tmp_path_factory.mktemp("chains"))


def stops(dataset: Any, rng: random.Random, count: int) -> tuple[list[Any], dict[int, Any]]:
    """Go through a dataset; give all outcomes, and the states (as JSON) after some numbers of them."""
    wanted = sorted({0, *(rng.randrange(30) for _ in range(count))})
    iterator = iter(dataset)
    found: list[Any] = []
    states: dict[int, Any] = {}
    while len(found) < LIMIT and not ended(found):
        if wanted and wanted[0] == len(found):
            states[wanted.pop(0)] = json.loads(json.dumps(iterator.state()))
        found += outcomes(iterator, 1)
    states[len(found)] = json.loads(json.dumps(iterator.state()))
    return found, states


def cases(kind: str, seeds: range, folder: Path, count: int) -> list[tuple[int, int, Any, list[Any]]]:
    """(seed, stopping point, state, what must come after it) of all chains that can be built."""
    found = []
    for seed in seeds:
        try:
            dataset = dataset_of(kind, seed, folder)
        except (ValueError, TypeError, tfr.errors.OpError):
            continue
        whole, states = stops(dataset, random.Random(seed), count)
        rests = {stop: whole[stop:] or whole[-1:] for stop in states}
        found += [(seed, stop, state, rests[stop]) for stop, state in states.items()]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("group", range(20))
def test_a_resumed_iterator_gives_exactly_the_rest(kind: str, group: int, folder: Path) -> None:
    for seed, stop, state, rest in cases(kind, range(group * GROUP, (group + 1) * GROUP), folder, 3):
        found = resumed(kind, seed, folder, state, threads=1 + stop % 3)[: len(rest)]
        assert not (where := difference(found, rest)), (
            f"seed {seed}: {made(kind, seed)}\nafter {stop}: {where}"
        )


def resume_elsewhere(tasks: list[Any], folder: Path, scratch: Path, hash_seed: str) -> list[list[Any]]:
    """Run tasks (see tests/data/support/resume.py) in a new process."""
    (scratch / "tasks.json").write_text(json.dumps(tasks))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.data.support.resume",
            folder,
            scratch / "tasks.json",
            scratch / "found.pickle",
        ],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        timeout=300,
    )
    results: list[list[Any]] = pickle.loads((scratch / "found.pickle").read_bytes())
    return results


@pytest.mark.parametrize(("kind", "hash_seed"), [("any", "1"), ("features", "2"), ("any", "3")])
def test_a_new_process_gives_exactly_the_rest(
    kind: str, hash_seed: str, folder: Path, tmp_path: Path
) -> None:
    first = 5000 * int(hash_seed)
    found = cases(kind, range(first, first + 5 * GROUP), folder, 2)
    tasks = [(kind, seed, state, 1 + stop % 3) for seed, stop, state, _ in found]
    for (seed, stop, _, rest), given in zip(
        found, resume_elsewhere(tasks, folder, tmp_path, hash_seed), strict=True
    ):
        where = difference(given[: len(rest)], rest)
        assert not where, f"seed {seed}: {made(kind, seed)}\nafter {stop}: {where}"


@pytest.mark.parametrize("seed", range(100, 130))
def test_a_resumed_iterator_over_many_elements_gives_exactly_the_rest(seed: int, folder: Path) -> None:
    rng = random.Random(seed)
    chain = make_large_chain(seed)
    size = 1000 << seed % 5
    dataset = with_small_blocks(build(chain, tfrkit_space(), folder), size)
    whole = outcomes(iter(dataset), 20_000)
    fresh = with_small_blocks(build(chain, tfrkit_space(), folder), size)
    iterator, done = iter(fresh), 0
    for stop in sorted({rng.randrange(len(whole)) for _ in range(3)}):
        outcomes(iterator, stop - done)
        done = stop
        state = json.loads(json.dumps(iterator.state()))
        again = with_small_blocks(build(chain, tfrkit_space(), folder), 3000)
        where = difference(outcomes(again.iter_from(state), 20_000), whole[stop:])
        assert not where, f"{chain}\nafter {stop}: {where[:2000]}"


def test_a_resumed_iterator_can_be_saved_again(folder: Path) -> None:
    for seed in range(700, 760):
        try:
            whole, states = stops(dataset_of("any", seed, folder), random.Random(seed), 0)
        except (ValueError, TypeError, tfr.errors.OpError):
            continue
        state: Any = states[0]
        found: list[Any] = []
        while not ended(found) and len(found) < 40:
            iterator = started("any", seed, folder, state)
            found += outcomes(iterator, 1)
            state = json.loads(json.dumps(iterator.state()))
        where = difference(found, whole[: len(found)])
        assert not where, f"seed {seed}: {made('any', seed)}\n{where}"


# ---- what a state is


def test_states_of_one_iterator_are_independent() -> None:
    dataset = tfr.Dataset.range(10).shuffle(4, seed=3).batch(2)
    iterator = iter(dataset)
    states = [iterator.state()]
    found = []
    for batch in iterator:
        found.append(batch.tolist())
        states.append(iterator.state())
    for number, state in enumerate(states):
        assert [batch.tolist() for batch in dataset.iter_from(state)] == found[number:]


def test_a_state_in_the_middle_of_a_run_drops_what_was_given() -> None:
    dataset = tfr.Dataset.range(5000)
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(1500)] == list(range(1500))
    assert list(map(int, dataset.iter_from(iterator.state()))) == list(range(1500, 5000))


def test_a_state_after_an_error_goes_on_after_it() -> None:
    dataset = tfr.Dataset.range(5).map(lambda x: 12 // (3 - int(x)))
    iterator = iter(dataset)
    found = outcomes(iterator, 4)
    assert found[3][0] == "ZeroDivisionError"
    assert outcomes(dataset.iter_from(iterator.state())) == [-12, END]


def test_an_error_that_is_due_comes_after_resuming() -> None:
    dataset = tfr.Dataset.range(4).batch(2).map(lambda x: x[x[0] :].reshape(-1)).unbatch()
    iterator = iter(dataset)
    for _ in range(3):
        rest = outcomes(dataset.iter_from(iterator.state()))
        assert not difference(rest, outcomes(iterator, 1) + rest[1:])


def test_a_state_at_the_end_is_the_end() -> None:
    dataset = tfr.Dataset.range(3).map(lambda x: x + 1).batch(2)
    iterator = iter(dataset)
    assert len(list(iterator)) == 2
    assert list(dataset.iter_from(iterator.state())) == []


def test_state_dict_and_load_state_dict_move_an_iterator() -> None:
    dataset = tfr.Dataset.range(10).map(lambda x: x * 2)
    first, second = iter(dataset), iter(dataset)
    assert [int(next(first)) for _ in range(4)] == [0, 2, 4, 6]
    assert int(next(second)) == 0
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert list(map(int, second)) == [8, 10, 12, 14, 16, 18]


def test_a_state_that_is_refused_leaves_the_iterator_where_it_is() -> None:
    iterator = iter(tfr.Dataset.range(5))
    assert int(next(iterator)) == 0
    with pytest.raises(tfr.errors.InvalidArgumentError, match="the state is of another pipeline"):
        iterator.load_state_dict(iter(tfr.Dataset.range(6)).state())
    assert list(map(int, iterator)) == [1, 2, 3, 4]


def write_records(path: Path, count: int) -> Path:
    """A file of numbered records."""
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([b"record %d" % number for number in range(count)])
    return path


@pytest.mark.parametrize("buffer", [1000, 20_000])
def test_a_state_is_small(buffer: int, tmp_path: Path) -> None:
    path = write_records(tmp_path / "a.tfrecord", 30_000)
    records = tfr.TFRecordDataset(path)
    for dataset in (
        records.shuffle(buffer, seed=1).batch(64),
        records.map(lambda x: x + b"!").shuffle(buffer, seed=1),
        tfr.Dataset.range(30_000).shuffle(buffer, seed=1).map(lambda x: x + 1).prefetch(3),
        records.batch(100).unbatch().shuffle(buffer, seed=1),
        records.cache().repeat(2),
    ):
        iterator = iter(dataset)
        for _ in range(150):
            next(iterator)
        assert len(json.dumps(iterator.state())) < 65_536 + 16 * buffer, dataset.explain()


def test_a_state_of_another_pipeline_is_refused() -> None:
    state = iter(tfr.Dataset.range(10).batch(2)).state()
    for other in (
        tfr.Dataset.range(10).batch(3),
        tfr.Dataset.range(11).batch(2),
        tfr.Dataset.range(10),
        tfr.Dataset.range(10).batch(2).map(lambda x: x),
        tfr.Dataset.range(10).batch(2, drop_remainder=True),
    ):
        with pytest.raises(tfr.errors.InvalidArgumentError, match="the state is of another pipeline"):
            other.iter_from(state)


def _other(x: Any) -> Any:
    return x - 1


def test_it_says_which_stage_is_another() -> None:
    def make(size: int = 2, function: Any = lambda x: x + 1, count: int = 9) -> tfr.Dataset:
        return tfr.Dataset.range(count).map(function).shuffle(3, seed=1).batch(size)

    state = json.loads(json.dumps(iter(make()).state()))
    source = r"\(the source is stage 0\)"
    for other, wanted in (
        (make(size=3), rf"expected batch\(2\) at stage 3 {source} but the dataset has batch\(3\)"),
        (
            make(count=8),
            rf"expected range\(0, 9, 1\) at stage 0 {source} but the dataset has range\(0, 8, 1\)",
        ),
        (
            make(function=_other),
            rf"expected map\(<lambda>\) at stage 1 {source} but the dataset has map\(_other\)",
        ),
        (
            make(function=lambda x: x + 2),
            rf"expected map\(<lambda>\) at stage 1 {source} but the dataset's has other arguments or another",
        ),
        (
            make().prefetch(1),
            rf"expected the end at stage 4 {source} but the dataset has prefetch\(1\) before it",
        ),
        (
            tfr.Dataset.range(9).map(lambda x: x + 1).batch(2),
            rf"expected shuffle\(3.*\) at stage 2 {source} but the dataset does not have it",
        ),
        (
            tfr.Dataset.zip(make(), make(4)),
            rf"expected the end at stage 4 {source} but the dataset has range.*, zip.* before it",
        ),
    ):
        with pytest.raises(
            tfr.errors.InvalidArgumentError, match=f"the state is of another pipeline: {wanted}"
        ):
            other.iter_from(state)


def test_stages_that_are_put_together_in_another_way() -> None:
    ones = [tfr.Dataset.range(number) for number in (1, 2, 3)]
    state = iter(tfr.Dataset.zip(tfr.Dataset.zip(ones[0], ones[1]), ones[2])).state()
    other = tfr.Dataset.zip(ones[0], tfr.Dataset.zip(ones[1], ones[2]))
    with pytest.raises(tfr.errors.InvalidArgumentError, match="of another pipeline"):
        other.iter_from(state)


def test_a_state_of_another_function_is_refused() -> None:
    state = iter(tfr.Dataset.range(10).map(lambda x: x + 1)).state()
    with pytest.raises(tfr.errors.InvalidArgumentError, match="the state is of another pipeline"):
        tfr.Dataset.range(10).map(lambda x: x + 2).iter_from(state)


def doubled(x: int, times: int = 2, seen: list[int] = []) -> int:  # noqa: B006 - it is to change
    seen.append(x)
    return x * times


def tripled(lock: object, x: int) -> int:
    return x * 3


@pytest.mark.parametrize(
    ("function", "other"),
    [
        (np.sqrt, np.exp),
        (abs, float),
        (functools.partial(tripled, threading.Lock()), functools.partial(doubled, times=3)),
        (functools.partial(doubled, times=3), functools.partial(doubled, times=4)),
        (lambda x, y=1: x + y, lambda x, y=2: x + y),
    ],
    ids=["ufunc", "built-in", "lock", "partial", "default"],
)
def test_functions_of_all_kinds_are_told_apart(function: Any, other: Any) -> None:
    iterator = iter(tfr.Dataset.range(4).map(function))
    next(iterator)
    state = iterator.state()
    assert len(list(tfr.Dataset.range(4).map(function).iter_from(state))) == 3
    with pytest.raises(tfr.errors.InvalidArgumentError, match="the state is of another pipeline"):
        tfr.Dataset.range(4).map(other).iter_from(state)


def test_what_a_function_remembers_is_no_part_of_the_name_of_a_pipeline() -> None:
    dataset = tfr.Dataset.range(4).map(doubled)
    before = iter(dataset).state()
    assert len(list(dataset)) == 4
    assert len(list(dataset.iter_from(before))) == 4


def test_what_is_no_state_is_refused() -> None:
    for wrong in (3, [], {}, {"version": 1}):
        with pytest.raises(tfr.errors.InvalidArgumentError, match="expected a state"):
            tfr.Dataset.range(3).iter_from(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [1, 99])
def test_a_state_of_another_version_is_refused(version: int) -> None:
    state = dict(iter(tfr.Dataset.range(3)).state(), version=version)
    wanted = rf"expected a state of version 3 but got one of version {version}\. Start the epoch over, or resume it"
    with pytest.raises(tfr.errors.InvalidArgumentError, match=wanted):
        tfr.Dataset.range(3).iter_from(state)


@pytest.mark.parametrize("change", ["longer", "other tail", "gone"])
def test_a_state_whose_file_changed_is_refused(change: str, tmp_path: Path) -> None:
    path = write_records(tmp_path / "a.tfrecord", 20)
    dataset = tfr.TFRecordDataset(path).shuffle(5, seed=1)
    iterator = iter(dataset)
    next(iterator)
    state = iterator.state()
    if change == "longer":
        write_records(path, 21)
    elif change == "other tail":
        path.write_bytes(path.read_bytes()[:-5] + b"xxxxx")
    else:
        path.unlink()
    with pytest.raises(tfr.errors.OpError, match=r"a\.tfrecord"):
        dataset.iter_from(state)


def test_files_that_moved_are_the_same_files(tmp_path: Path) -> None:
    path = write_records(tmp_path / "a.tfrecord", 5)
    iterator = iter(tfr.TFRecordDataset(path))
    assert next(iterator) == b"record 0"
    state = iterator.state()
    (tmp_path / "there").mkdir()
    moved = path.rename(tmp_path / "there" / "a.tfrecord")
    assert next(tfr.TFRecordDataset(moved).iter_from(state)) == b"record 1"


PRINTS = """
import tfrkit as tfr
def keep(x, words=("a", "b")):
    return str(x) in {"1", "2", "three", "four"} or x not in words
spec = {"a": tfr.FixedLenFeature([], "int64", 3), "b": tfr.VarLenFeature("bytes")}
ds = tfr.Dataset.from_tensor_slices(({"k": [b"a", b"bc"], "j": [1, 2]}, [1.5, 2.5])).shuffle(3, seed=1)
ds = ds.map(lambda x, y: x["k"]).cache().filter(keep).parse(spec).select("a").prefetch(2)
print(iter(ds).state()["pipeline"])
"""


def test_the_name_of_a_pipeline_is_the_same_in_every_process() -> None:
    names = {
        subprocess.run(
            [sys.executable, "-c", PRINTS],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            timeout=60,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(names) == 1


def test_options_are_no_part_of_the_name_of_a_pipeline() -> None:
    dataset = tfr.Dataset.range(5).map(lambda x: x)
    state = iter(dataset).state()
    assert len(list(dataset.with_options(tfr.Options(threads=1, deterministic=True)).iter_from(state))) == 5


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("at", {"foo": 1}),
        ("at", None),
        ("skip", "x"),
        ("skip", -1),
        ("check", 3),
        ("files", 3),
        ("files", {"each": 1}),
    ],
)
def test_a_state_that_was_damaged_is_refused(key: str, value: Any) -> None:
    dataset = tfr.Dataset.range(10).map(lambda x: x).batch(2)
    state = dict(iter(dataset).state(), **{key: value})
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"not as it was written|the files are not those"
    ):
        dataset.iter_from(state)


def test_state_of_a_pipeline_without_shuffle_keeps_what_a_position_counts():
    ds = tfr.Dataset.range(10).batch(2)
    iterator = iter(ds)
    next(iterator), next(iterator)
    position = iterator.position()
    assert position["samples"] == 4
    assert ds.iter_from(iterator.state()).position() == position
