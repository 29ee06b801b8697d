"""Builds that are interrupted or run out of room: they end soon and cleanly, and can go on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.build.support.made import Endless, Numbers, job, left_over, mixed, tree
from tests.robustness.test_disk_full import ROOM, small_disk
from tfrkit.build.job.job import Progress, ShardGroup, run_job
from tfrkit.cli.main import terminated_like_interrupted
from tfrkit.errors import FailedPreconditionError, ResourceExhaustedError


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seed", [None, 1])
def test_signal_stops_all_tasks_and_leaves_only_what_is_finished(number, seed, tmp_path):
    recipes = (Numbers(0, 100), Endless(), Endless())
    made = job(tmp_path, ShardGroup("a", recipes[:1], 1), ShardGroup("b", recipes, 3, shuffle_seed=seed))

    def send(now: Progress) -> None:
        if now.shards_done:
            os.kill(os.getpid(), number)

    with terminated_like_interrupted(), pytest.raises(KeyboardInterrupt):
        run_job(made, workers=3, progress=send)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    names = {path.name for path in tmp_path.iterdir()}
    assert names <= {".tfrkit", "a-00000-of-00001.tfrecord", "b-00000-of-00003.tfrecord"}
    assert not [name for name in left_over(tmp_path) if name.endswith(".tmp") or "b-00001" in name]
    whole = ShardGroup("b", (Numbers(0, 100), *(Numbers(n, 25) for n in (1, 2))), 3, shuffle_seed=seed)
    report = run_job(replace(made, groups=(made.groups[0], whole)))
    assert report.resumed == len(names) - 1


@pytest.mark.parametrize("shuffled", [False, True])
def test_full_disk_leaves_nothing_half_and_the_job_goes_on_when_there_is_room(shuffled, tmp_path):
    count, room = (1000, 450_000) if shuffled else (3000, 600_000)  # 4 x 76 kB of frames, or 4 x 230 kB
    recipes = tuple(Numbers(number, count, size=60) for number in range(4))
    with small_disk(tmp_path / "small") as folder:
        limited = folder.is_mount()  # else only single files have a limit
        filler = folder / "filler"
        filler.write_bytes(bytes(ROOM - room) if limited else b"")
        made = job(folder / "out", mixed(recipes, 4) if shuffled else ShardGroup("train", recipes, 4))
        if limited:
            with pytest.raises(
                ResourceExhaustedError,
                match=r"out/train-0000\d-of-00004\.tfrecord; No space left on device\. \d of 4 shards are whole, and "
                r"nothing half-written is left\. "
                r"Make room, then run the same job again",
            ):
                run_job(made, workers=1)
            assert not [name for name in left_over(folder) if name.endswith(".tmp")]
        whole = len(list((folder / "out").glob("*.tfrecord")))
        filler.unlink()
        assert run_job(made, workers=1).resumed == whole
        found = tree(folder / "out")
        run_job(replace(made, folder=str(tmp_path / "other")))
        assert found == tree(tmp_path / "other")


def test_folder_that_is_a_file_is_an_error_that_says_so(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FailedPreconditionError, match=r"file; it is a file, not a folder\. Choose another"):
        run_job(job(tmp_path / "file"))
    with pytest.raises(FailedPreconditionError, match=r"below; Not a directory"):
        run_job(job(tmp_path / "file" / "below"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_that_is_interrupted_ends_with_130_and_a_line(number, tmp_path):
    lines = b"".join(b'{"id": %d}\n' % row for row in range(80_000))
    for name in "abcdefghijkl":
        (tmp_path / f"{name}.jsonl").write_bytes(lines)
    arguments = [
        "build",
        "table",
        tmp_path / "*.jsonl",
        tmp_path / "out",
        "--shards",
        "per-input",
        "--workers",
        "1",
    ]
    process = subprocess.Popen([sys.executable, "-m", "tfrkit", *arguments], stderr=subprocess.PIPE)
    while process.poll() is None and not list((tmp_path / "out").glob("*.tfrecord")):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.decode() == (
        "\ninterrupted: what is finished stays, and the same command again does the rest\n"
    )
    assert not [name for name in left_over(tmp_path / "out") if name.endswith(".tmp")]
    whole = [path.name for path in (tmp_path / "out").glob("*.tfrecord")]
    assert 0 < len(whole) < 12
