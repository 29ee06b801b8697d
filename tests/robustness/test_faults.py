"""Calls that change the disk go wrong, in each of four ways, under builds, appends, overwrites and exports.

What is there afterwards is one of the whole states, or says that it is not; `tfr verify` tells the truth about it; and
the same command again ends in what it gives undisturbed. `TFRKIT_FAULTS=all` tries every call; else each
scenario has a limit, and the calls are spread over all of it, other ones for each fault.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.build.support.made import left_over
from tests.robustness.support.fault_runner import FULL_DISK, INTERRUPT, IO_ERROR, KILL, Ending, Runner
from tests.robustness.support.fault_scenarios import NEW, OLD, SCENARIOS
from tfrkit.cli.main import run
from tfrkit.records.manifest import read_manifest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and /proc are Linux's")
FAULTS = {"kill": KILL, "full disk": FULL_DISK, "io error": IO_ERROR, "interrupt": INTERRUPT}
REASONS = {FULL_DISK: "No space left on device", IO_ERROR: "Input/output error"}
MOST = sys.maxsize if os.environ.get("TFRKIT_FAULTS") == "all" else 25
Tree = dict[str, bytes]


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = Runner(tmp_path_factory.mktemp("faults"))
    yield runner
    runner.close()


def visible(folder: Path) -> Tree:
    """What users see: files, but for names that begin with a dot."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def result(folder: Path, kind: str, *, left: bool = False) -> object:
    """What a command has made: all files, hidden ones too; of a file that is appended to its records alone.

    A killed writer leaves its temporary file, as it cannot be known whether another one still writes; so does one that
    meets an error while it removes it.
    """
    if kind == "file":
        (name,) = visible(folder)
        hidden = [path.name for path in folder.rglob("*") if path.is_file() and path.name != name]
        return list(tfr.read_records(folder / name)), [n for n in hidden if not left or ".tmp" not in n]
    files = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    return {name: data for name, data in files.items() if not left or ".tmp" not in name}


def verify_says_all_is_well(folder: Path) -> bool:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return run(["verify", str(folder), "--quiet"]) == 0


def check_set(out: Path, old: Tree, new: Tree, states: list[Tree]) -> None:
    """Whole shards only, a manifest that names what is there, and no praise for half a set."""
    seen = visible(out)
    shards = {name: data for name, data in seen.items() if ".tfrecord" in name}
    for name, data in shards.items():
        assert data in (old.get(name), new.get(name)), name
    for entry in read_manifest(str(out))["shards"]:
        if old not in states and shards.get(entry["name"]) == old.get(entry["name"]):
            continue  # lost or damaged, as it was before
        assert len(shards[entry["name"]]) == entry["bytes"]
        assert sum(1 for _ in tfr.read_records(out / entry["name"])) == entry["records"]
    if shards:
        well = verify_says_all_is_well(out)
        assert not well or shards in [{n: s[n] for n in s if ".tfrecord" in n} for s in states]
        assert well or seen not in states or left_over(out)


def check_file(out: Path, old: Tree, new: Tree, states: list[Tree]) -> None:
    """All old records and some of the new, in order; behind them at most a torn tail."""
    (name,) = visible(out)
    report = tfr.verify(out / name)
    assert [damage.kind for damage in report.damages] in ([], ["truncated"])
    records = list(tfr.read_records(out / name, on_corrupt="skip"))
    assert records == (OLD + NEW)[: len(records)]
    assert len(records) >= len(OLD)
    if report.ok:
        assert len(tfr.RecordFile(out / name)) == len(records)  # an index that is there fits


def check_export(out: Path, old: Tree, new: Tree, states: list[Tree]) -> None:
    assert visible(out) in states


CHECKS = {"set": check_set, "file": check_file, "export": check_export}


def check_ending(ending: Ending, fault: str, out: Path, new: Tree) -> None:
    """A command that is not killed says what happened, or has done all."""
    assert "Traceback" not in ending.text, ending.text
    if ending.how == "done":
        assert visible(out).keys() == new.keys()
    elif fault == INTERRUPT:
        assert ending.how == "interrupted", ending
    elif fault == KILL:
        assert ending.how == "killed", ending
    else:
        assert ending.how == "failed"
        assert REASONS[fault] in ending.text


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_fault_at_any_call_leaves_a_whole_state_and_the_command_ends_the_same(
    scenario, fault, runner, tmp_path
):
    before = tmp_path / "before"
    before.mkdir()
    assert runner.run(scenario, "prepare", before).how == "done"
    old = visible(before / "out")
    kind, was_whole = SCENARIOS[scenario].kind, SCENARIOS[scenario].whole
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(before, undisturbed)
    ended = runner.run(scenario, "work", undisturbed)
    assert (ended.how, ended.text.count("Traceback")) == ("done", 0), ended.text
    new, wanted = visible(undisturbed / "out"), result(undisturbed / "out", kind)
    numbers = range(1, ended.calls + 1)
    if ended.calls > MOST:
        numbers = sorted(random.Random(scenario + fault).sample(numbers, MOST))
    hits = 0
    for at in numbers:
        folder = tmp_path / str(at)
        shutil.copytree(before, folder)
        ending = runner.run(scenario, "work", folder, FAULTS[fault], at)
        try:
            check_ending(ending, FAULTS[fault], folder / "out", new)
            CHECKS[kind](folder / "out", old, new, [old, new] if was_whole else [new])
            again = runner.run(scenario, "work", folder)
            assert again.how == "done", again.text
            assert result(folder / "out", kind, left=FAULTS[fault] in (KILL, IO_ERROR)) == wanted
        except BaseException as error:
            error.add_note(f"{scenario}, {fault} at call {at} of {ended.calls}; it ended: {ending}")
            raise
        hits += ending.how != "done"
        shutil.rmtree(folder)
    assert hits or fault != "kill"
