"""Jobs into stores: the bytes of a local folder, resumed after kills, cut connections and lost claims."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.build.job.test_output_ownership import PowerCutError, interrupted
from tests.build.support.image_samples import photos, write_files
from tests.build.support.made import Numbers, job, mixed, train
from tests.support.weak_store import weak_url
from tfrkit import build
from tfrkit.build.job.file_journal import FileJournal
from tfrkit.build.job.job import Progress, ShardGroup, dry_run, run_job
from tfrkit.build.job.job_plan import Job
from tfrkit.build.job.object_journal import ObjectJournal
from tfrkit.build.job.output_ownership import claim, header_of
from tfrkit.build.job.shuffle_tasks import PartTask
from tfrkit.build.job.staging import shuffle_folder
from tfrkit.build.reshape.reshard import reshard
from tfrkit.engines.local import ThreadEngine
from tfrkit.errors import (
    AbortedError,
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    OpError,
    UnavailableError,
)
from tfrkit.records.check.journal_objects import JournalObjects, journal_folders
from tfrkit.records.check.unfinished import unfinished_jobs
from tfrkit.records.manifest import read_manifest
from tfrkit.stores import files, lease
from tfrkit.stores.json_file import json_line
from tfrkit.stores.object_config import configure_store
from tfrkit.stores.table import store_of

ROWS = 4000
SHARDS = 16


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "rows.csv"
    path.parent.mkdir()
    lines = [f"{number},{number % 7}.5,{'ab' * (number % 9)}\n" for number in range(ROWS)]
    path.write_text("id,score,text\n" + "".join(lines) + "only one value\n")
    return path


def tree(folder: str) -> dict[str, bytes]:
    """All files below a folder or URL, without the empty files that local locks leave."""
    found = {}
    for info in files.list_files(folder, recursive=True):
        name = info.path.removeprefix(folder).lstrip("/")
        if not name.endswith(".lock"):
            found[name] = files.read_bytes(info.path)
    return found


def versions(folder: str) -> dict[str, str]:
    """The versions of the shards in a folder, by name, wherever they wait; moved ones count as new."""
    return {
        info.path.removeprefix(folder): f"{info.version} {info.modified_ns}"
        for info in files.list_files(folder, recursive=True)
        if ".tfrecord" in os.path.basename(info.path) and "/done/" not in info.path
    }


# -- the same bytes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"compression": "GZIP"}, {"shuffle": True, "seed": 3}], ids=str)
def test_table_has_the_bytes_of_a_local_folder(options, rows, remote_folder, tmp_path, cache):
    local = build.table(rows, tmp_path / "out", shards=SHARDS, **options)
    remote = build.table(rows, remote_folder + "/out/", shards=SHARDS, **options)
    assert tree(remote_folder + "/out") == tree(str(tmp_path / "out"))
    assert replace(remote, folder=local.folder, seconds=local.seconds) == local
    again = build.table(rows, remote_folder + "/out", shards=SHARDS, **options)
    assert again.resumed == SHARDS
    assert not list(cache.rglob("*-part-*"))


def test_images_and_reshard_have_the_bytes_of_a_local_folder(remote_folder, tmp_path):
    source = write_files(tmp_path / "photos", photos({"cat": 5, "dog": 7}))
    for folder in (str(tmp_path / "out"), remote_folder + "/out"):
        build.images(source, folder, shards=3, split="train=0.75,validation=0.25")
    assert tree(remote_folder + "/out") == tree(str(tmp_path / "out"))
    for folder in (str(tmp_path / "again"), remote_folder + "/again"):
        reshard(str(tmp_path / "out" / "train-*"), folder + "/all", shards=2, compression="GZIP")
    assert tree(remote_folder + "/again") == tree(str(tmp_path / "again"))


def test_local_folder_by_url_is_a_local_folder(rows, tmp_path):
    build.table(rows, tmp_path / "one", shards=2)
    build.table(rows, f"file://{tmp_path}/two", shards=2)
    assert tree(str(tmp_path / "two")) == tree(str(tmp_path / "one"))


# -- resuming ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups", [(train(bad_every=70),), (mixed(), train(prefix="b")), (mixed(shards=None), mixed(prefix="b"))]
)
def test_interrupted_job_does_the_missing_shards_and_ends_with_the_same_bytes(
    groups, remote_folder, tmp_path
):
    made = job(remote_folder, *groups, files={"labels.txt": b"x\n"})
    interrupted(made, 2)
    there = versions(remote_folder)
    assert not files.is_there(remote_folder + "/manifest.json")
    assert len(journal_folders(remote_folder)) == 1
    assert dry_run(made).state == "resume"
    report = run_job(made)
    assert report.resumed >= 2
    assert there.items() <= versions(remote_folder).items()
    run_job(replace(made, folder=str(tmp_path / "out")))
    assert tree(remote_folder) == tree(str(tmp_path / "out"))


def test_shuffle_resumes_where_its_temporary_files_are_and_makes_them_again_elsewhere(
    remote_folder, tmp_path, monkeypatch
):
    made = job(remote_folder, mixed())
    run_job(replace(made, folder=str(tmp_path / "out")))
    interrupted(made, 1)
    there = versions(remote_folder)
    folder = Path(shuffle_folder(remote_folder, header_of(made).digest))
    assert folder.is_relative_to(tmp_path / "cache" / "jobs")
    assert list(folder.iterdir())
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "another"))  # another machine
    assert run_job(made, workers=3).resumed == 1
    assert there.items() <= versions(remote_folder).items()
    assert tree(remote_folder) == tree(str(tmp_path / "out"))
    assert not list((tmp_path / "another").rglob("*-part-*"))


class OtherMachine(ThreadEngine):
    """Runs tasks as a machine whose cache folder is another one, where it says so by its name."""

    def __init__(self, here: str, there: str, *, parts: bool) -> None:
        super().__init__()
        self._here, self._there, self._parts = here, there, parts

    def start(self, tasks: Sequence[Any], workers: int) -> Any:
        return super().start([self._moved(task) for task in tasks], workers)

    def _moved(self, task: Any) -> Any:
        def moved(path: str) -> str:
            return path.replace(self._here, self._there)

        if isinstance(task, PartTask):
            return replace(task, path=moved(task.path), mark=moved(task.mark)) if self._parts else task
        [recipe] = task.recipes
        there = tuple(replace(file, path=moved(file.path)) for file in recipe.files)
        return replace(task, recipes=(replace(recipe, files=there),))


@pytest.mark.parametrize("parts", [True, False])
def test_machine_without_the_temporary_files_of_a_shuffle_is_named(parts, tmp_path, cache, unique_prefix):
    made = job(f"memory://{unique_prefix}out", mixed())
    engine = OtherMachine(str(cache), str(tmp_path / "another"), parts=parts)
    with pytest.raises(
        FailedPreconditionError,
        match=r"another/jobs/mix-.*; the machine '.+' does not see .* set TFRKIT_CACHE to",
    ):
        run_job(made, engine=engine)
    assert not (tmp_path / "another").exists()
    assert run_job(made).resumed == 0
    run_job(replace(made, folder=str(tmp_path / "out")))
    assert tree(made.folder) == tree(str(tmp_path / "out"))
    assert not list((cache / "jobs").iterdir())


def test_parts_of_a_shuffle_that_are_not_those_of_the_journal_are_made_again(tmp_path):
    recipes = tuple(Numbers(number, 4000, size=900) for number in range(3))
    made = job("memory://parts/out", mixed(recipes, 3))
    expected = run_job(replace(made, folder=str(tmp_path / "out")))
    interrupted(made, 1)
    folder = Path(shuffle_folder("memory://parts/out", header_of(made).digest))
    part = min(folder.iterdir())
    data = bytearray(part.read_bytes())
    data[8:16] = bytes(8)  # no chunk has this head
    heads = json.loads(files.read_bytes(_entry("memory://parts/out", "mix-0-part-00000")))
    last = 16 * len(heads["buckets"])
    data[last : last + 8] = (1).to_bytes(8, "little")
    part.write_bytes(data)
    assert run_job(made).records == expected.records
    assert tree("memory://parts/out") == tree(str(tmp_path / "out"))


def _entry(folder: str, task: str) -> str:
    (journal,) = journal_folders(folder)
    return f"{journal}/done/{task}.json"


def test_shards_that_are_lost_or_damaged_are_made_again(remote_folder, tmp_path):
    made = job(remote_folder, train())
    run_job(made)
    before = tree(remote_folder)
    first, second = sorted(name for name in before if name.endswith("of-00004.tfrecord"))[:2]
    files.remove(f"{remote_folder}/{first}")
    files.write_bytes(f"{remote_folder}/{second}", b"other")
    assert dry_run(made).finished == 2
    assert run_job(made).resumed == 2
    assert tree(remote_folder) == before


def test_entries_that_cannot_be_believed_count_for_nothing(tmp_path):
    made = job("memory://entries/out", train())
    interrupted(made, 2)
    done = sorted(info.path for info in files.list_files(journal_folders(made.folder)[0] + "/done"))
    files.write_bytes(done[0], b"{cut")
    files.write_bytes(done[1].replace("train-", "other-"), files.read_bytes(done[1]))
    files.write_bytes(done[0].replace("00000-of", "../x-00000-of"), b'{"name": "../../x"}')
    assert run_job(made).resumed == len(done) - 1
    run_job(replace(made, folder=str(tmp_path / "out")))
    assert tree(made.folder) == tree(str(tmp_path / "out"))


# -- a store that stops answering, at every request ------------------------------------------------------------------


@contextmanager
def silent_after(scheme: str, requests: int) -> Iterator[list[str]]:
    """Let a store do some requests that change something and answer none after these; yields what was done."""
    store: Any = store_of(f"{scheme}://x")
    done: list[str] = []
    lock = threading.Lock()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: str, *args: Any, **options: Any) -> Any:
            with lock:
                if len(done) >= requests:
                    raise UnavailableError(f"{path}; the store does not answer", path=path)
                if not path.endswith(".lock"):
                    done.append(f"{name} {path}")
            return function(path, *args, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("write", "remove", "move", "remove_tree"):
            patch.setattr(store, name, counted(name, getattr(store, name)))
        yield done


def old_set(folder: str) -> None:
    run_job(job(folder, train(2, 50), files={"old.txt": b"x\n"}, made_by={"source": "old"}))


BEFORE: dict[str, tuple[Callable[[str], object], dict[str, Any]]] = {
    "empty": (lambda folder: None, {}),
    "overwrite": (old_set, {"overwrite": True}),
    "limit": (lambda folder: None, {"max_bad": 1000}),
}


@pytest.mark.parametrize("case", BEFORE)
def test_job_ends_with_the_same_bytes_wherever_the_store_stops_answering(case, unique_prefix, tmp_path):
    prepare, options = BEFORE[case]
    groups = (train(3, 60, bad_every=25), mixed(tuple(Numbers(n, 30) for n in range(2)), 2, prefix="m"))
    local = job(tmp_path / "out", *groups, files={"labels.txt": b"x\n"})
    run_job(local)
    expected = tree(str(tmp_path / "out"))
    for requests in itertools.count():
        folder = f"memory://{unique_prefix}{requests}"
        prepare(folder)
        made = replace(local, folder=folder)
        with contextlib.suppress(OpError), silent_after("memory", requests) as done:
            run_job(made, workers=2, **options)
        if len(done) < requests:  # it never was silent
            assert tree(folder) == expected
            assert requests > 20
            break
        named = {entry["name"] for entry in read_manifest(folder)["shards"]}
        assert all(files.is_there(f"{folder}/{name}") for name in named), requests
        run_job(made, workers=2, **options)
        assert tree(folder) == expected, (requests, done)


# -- who owns it -----------------------------------------------------------------------------------------------------


def test_two_at_once_are_one_and_a_refusal(remote_folder, tmp_path):
    made = job(remote_folder, train())
    held = claim(made, overwrite=False)
    assert isinstance(held.own, ObjectJournal)
    with pytest.raises(FailedPreconditionError, match="another process is writing 'train' there right now"):
        run_job(made)
    with pytest.raises(FailedPreconditionError, match="another process is writing"):
        dry_run(made)
    run_job(job(remote_folder, train(prefix="other")))  # under other names it may
    held.own.close()
    run_job(made)
    assert not [name for name in tree(remote_folder) if "/job-" in name]


def test_unfinished_jobs_are_seen(remote_folder):
    made = job(remote_folder, train(), mixed(prefix="m"))
    interrupted(made, 2)
    (found,) = unfinished_jobs(remote_folder)
    assert found.prefixes == ("m", "train")
    assert (found.running, found.waiting) == (False, False)
    assert len(found.finished) >= 2
    assert all(
        files.file_size(f"{remote_folder}/{name}") == size for name, (_, size) in found.finished.items()
    )
    held = claim(made, overwrite=False).own
    assert held is not None
    assert unfinished_jobs(remote_folder)[0].running
    held.close()
    run_job(made)
    assert unfinished_jobs(remote_folder) == []


def test_journal_in_a_local_folder_is_still_a_file(tmp_path):
    held = claim(job(tmp_path / "out"), overwrite=False)
    assert isinstance(held.own, FileJournal)
    held.own.close()


def theirs(made: Job) -> str:
    """Let another machine hold the journal of an interrupted job; return the name of its lease."""
    (journal,) = journal_folders(made.folder)
    holder = {"token": "theirs", "count": 1, "machine": "another", "process": 1, "began": 1}
    files.write_bytes(JournalObjects.lock_of(journal), json_line(holder))
    return JournalObjects.lock_of(journal)


def test_claim_of_another_machine_that_is_not_renewed_is_taken_over(remote_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "STALE_SECONDS", 2.0)
    monkeypatch.setattr(lease, "POLL_SECONDS", 0.1)
    made = job(remote_folder, train())
    interrupted(made, 2)
    theirs(made)
    began = time.monotonic()
    assert run_job(made).resumed >= 2
    assert time.monotonic() - began > 2
    run_job(replace(made, folder=str(tmp_path / "out")))
    assert tree(remote_folder) == tree(str(tmp_path / "out"))


def test_claim_of_another_machine_that_is_renewed_is_respected(remote_folder, monkeypatch):
    monkeypatch.setattr(lease, "POLL_SECONDS", 0.1)
    made = job(remote_folder, train())
    interrupted(made, 2)
    path = theirs(made)
    stop = threading.Event()

    def renew() -> None:
        for count in itertools.count(2):
            holder = {"token": "theirs", "count": count, "machine": "another", "process": 1, "began": 1}
            files.write_bytes(path, json_line(holder))
            if stop.wait(0.3):
                return

    thread = threading.Thread(target=renew)
    thread.start()
    try:
        before = versions(remote_folder)
        for start in (dry_run, run_job):
            with pytest.raises(FailedPreconditionError, match="another process is writing 'train'"):
                start(made)
        assert versions(remote_folder) == before
    finally:
        stop.set()
        thread.join()


def test_process_that_has_lost_its_claim_publishes_and_removes_nothing(unique_prefix, monkeypatch):
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.2)
    made = job(f"memory://{unique_prefix}out", train())
    seen: dict[str, str] = {}

    def progress(now: Any) -> None:
        if now.shards_done >= 2 and not seen:
            theirs(made)
            seen.update(versions(made.folder))
            time.sleep(1)

    class Slow(Numbers):
        def blocks(self, reporter):
            for block in super().blocks(reporter):
                time.sleep(0.02)
                yield block

    slow = ShardGroup("train", tuple(Slow(number, 300 + number) for number in range(8)), 8)
    with pytest.raises(AbortedError, match="another one has taken its work over"):
        run_job(replace(made, groups=(slow,)), workers=1, progress=progress)
    assert not files.is_there(made.folder + "/manifest.json")
    assert seen.items() <= versions(made.folder).items()
    (journal,) = journal_folders(made.folder)
    assert b"theirs" in files.read_bytes(JournalObjects.lock_of(journal))


# -- what is there already ---------------------------------------------------------------------------------------------


def test_other_shards_are_refused_and_overwritten(remote_folder, tmp_path):
    old_set(remote_folder)
    before = tree(remote_folder)
    made = job(remote_folder, train(), files={"labels.txt": b"x\n"})
    with pytest.raises(AlreadyExistsError, match="there are 2 shards of 'train' already"):
        run_job(made)
    assert dry_run(made).state == "exists"
    assert tree(remote_folder) == before
    interrupted(made, 2, overwrite=True)
    unfinished = {name: data for name, data in tree(remote_folder).items() if "/job-" not in name}
    assert unfinished == before  # until all new ones are whole
    assert run_job(made, overwrite=True).resumed >= 2
    run_job(replace(made, folder=str(tmp_path / "out")))
    assert tree(remote_folder) == tree(str(tmp_path / "out"))


def test_too_much_bad_input_publishes_nothing_and_a_larger_limit_only_publishes(remote_folder, tmp_path):
    made = job(remote_folder, train(bad_every=50))
    with pytest.raises(InvalidArgumentError, match="inputs are bad, and at most 3 may be"):
        run_job(made, max_bad=3)
    assert not [name for name in tree(remote_folder) if not name.startswith(".tfrkit/")]
    assert run_job(made, max_bad="50%").resumed == 4
    run_job(replace(made, folder=str(tmp_path / "out")))
    assert tree(remote_folder) == tree(str(tmp_path / "out"))


def test_error_leaves_nothing_if_nothing_is_finished(remote_folder):
    with pytest.raises(InvalidArgumentError, match="All 10 inputs are bad"):
        run_job(job(remote_folder, train(4, 1, bad_every=1)))
    assert tree(remote_folder) == {}


def test_store_without_conditions_is_built_into(tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "SETTLE_SECONDS", 0.1)
    made = job(weak_url(tmp_path / "weak"), train(), mixed(prefix="b"))
    interrupted(made, 2)
    assert run_job(made).resumed >= 2
    run_job(replace(made, folder=str(tmp_path / "out")))
    assert tree(str(tmp_path / "weak")) == tree(str(tmp_path / "out"))


# -- other stores, and secrets -----------------------------------------------------------------------------------------


def test_azure_is_built_into(azure_server, azure_container, unique_prefix, tmp_path):
    configure_store(f"az://{azure_container}", **azure_server.options())
    folder = f"az://{azure_container}/{unique_prefix}out"
    old_set(folder)
    made = job(folder, train(), mixed(prefix="m"), files={"labels.txt": b"x\n"})
    interrupted(made, 2, overwrite=True)
    assert run_job(made, overwrite=True).resumed >= 2
    run_job(replace(made, folder=str(tmp_path / "out")))
    assert tree(folder) == tree(str(tmp_path / "out"))
    assert run_job(made).resumed == 7


def test_signature_of_an_input_is_nowhere_in_what_a_job_leaves(rows, http_server, tmp_path, unique_prefix):
    secret = "5ecret0f4s1gnature"
    http_server.manners.signature = secret
    http_server.files["rows.csv"] = rows.read_bytes()
    url = f"{http_server.url}/rows.csv?sig={secret}"
    for folder in (f"memory://{unique_prefix}out", str(tmp_path / "out")):
        with pytest.raises(PowerCutError):
            build.table(url, folder, shards=8, workers=1, progress=stop_after_two)
        journal = tree(folder)
        report = build.table(url, folder, shards=8)
        assert report.resumed >= 2
        assert report.bad
        said = {**journal, **tree(folder), "report": repr(report).encode()}
        assert not [name for name, data in said.items() if secret.encode() in data or secret in name]


def stop_after_two(now: Progress) -> None:
    if now.shards_done >= 2:
        raise PowerCutError
