"""Manifest, report and journal by others' hands: one class of error, and nothing outside the folder is touched."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.build.job.test_output_ownership import interrupted
from tests.build.support.made import job, mixed, train, tree
from tfrkit.build.job.job import run_job
from tfrkit.build.job.report import read_report
from tfrkit.cli.main import run
from tfrkit.errors import AlreadyExistsError, DataLossError, FailedPreconditionError, OpError
from tfrkit.records.manifest import read_manifest

NAMES = [
    "../victim/kept",
    "../victim",
    "x/../../victim",
    "..",
    ".",
    "",
    "a\0b",
    "\ud800",
    "victim/kept",
    "a" * 300,
]
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(NAMES),
)
odd = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Give a document with something else in one place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], new)
    return copy


@pytest.fixture(scope="module")
def made():
    """Folders as jobs leave them: one that is complete, one that was interrupted."""
    with tempfile.TemporaryDirectory() as folder:
        groups = (mixed(), train(2, 20, prefix="b", bad_every=7))
        run_job(job(Path(folder) / "complete", *groups, files={"labels.txt": b"x\n"}))
        interrupted(job(Path(folder) / "begun", *groups, files={"labels.txt": b"x\n"}), 1)
        yield Path(folder), groups


def survives(folder: Path, groups: Any) -> None:
    """Do what reads those files; errors are tfrkit's own, and say which file."""
    victim = folder.parent / "victim"
    victim.mkdir()
    (victim / "kept").write_bytes(b"precious")
    for read in (read_manifest, read_report):
        with contextlib.suppress(DataLossError):
            read(str(folder))
    tfr.verify(folder)  # which never raises, whatever a folder with shards has
    tfr.repair_files(folder)
    assert run(["count", str(folder)]) in (0, 1)
    errors: list[OpError] = []
    for overwrite in (False, True):
        allowed = DataLossError if overwrite else (DataLossError, AlreadyExistsError, FailedPreconditionError)
        try:
            run_job(job(folder, *groups, files={"labels.txt": b"x\n"}), overwrite=overwrite)
        except allowed as error:
            errors.append(error)
    assert all(error.path is not None and str(folder) in str(error) for error in errors)
    assert tree(victim) == {"kept": b"precious"}
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, "victim"}


@pytest.mark.parametrize("name", ["manifest.json", "report.json"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_anything_in_any_field_of_a_document_is_read_or_refused(name, made, data):
    source, groups = made
    content = json.loads((source / "complete" / name).read_bytes())
    where = data.draw(st.sampled_from(list(places(content))))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "out"
        shutil.copytree(source / "complete", folder)
        (folder / name).write_text(json.dumps(put(content, where, data.draw(odd))))
        survives(folder, groups)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_anything_in_any_field_of_a_journal_is_read_or_left_out(made, data):
    source, groups = made
    [journal] = (source / "begun" / ".tfrkit").glob("job-*.jsonl")
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    where = data.draw(st.sampled_from(list(places(lines))[1:]))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "out"
        shutil.copytree(source / "begun", folder)
        text = "".join(json.dumps(line) + "\n" for line in put(lines, where, data.draw(odd)))
        (folder / ".tfrkit" / journal.name).write_text(text)
        survives(folder, groups)


@pytest.mark.parametrize("name", ["manifest.json", "report.json"])
@pytest.mark.parametrize("text", [b"[" * 100_000, b"", b"\xff\xfe{}", b'{"a": ' * 5000, b"9" * 10_000])
def test_what_is_no_document_is_one_error(name, text, made, tmp_path):
    shutil.copytree(made[0] / "complete", tmp_path / "out")
    (tmp_path / "out" / name).write_bytes(text)
    with pytest.raises(DataLossError) as caught:
        run_job(job(tmp_path / "out", *made[1], files={"labels.txt": b"x\n"}))
    assert isinstance(caught.value, OpError)
    assert caught.value.path == str(tmp_path / "out" / name)
    assert str(caught.value).endswith((" it.", " it away."))
