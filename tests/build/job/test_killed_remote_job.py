"""Builds into S3 that are killed, at once with others, or cut off: the same command ends with the bytes of a disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import tfrkit as tfr
from tests.build.job.test_remote_job import SHARDS, cache, rows, tree, versions
from tests.support.servers.fault_proxy import Fault
from tfrkit import build
from tfrkit.errors import FailedPreconditionError
from tfrkit.records.manifest import read_manifest

__all__ = ["cache", "rows"]  # fixtures

BUILD = """
import json, os, signal, sys, time
from tfrkit import build
from tfrkit.build.job import run_job, staging
from tfrkit.stores import files

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

rows, out, options, place = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4]
if place == "ready":
    staging.StagingArea.move = die
elif place == "moved":
    move, left = files.move, [7]
    def moving(source, target):
        left[0] -= 1
        if not left[0]:
            die()
        move(source, target)
    files.move = moving
elif place == "report":
    run_job.change_manifest = die
elif place == "manifest":
    run_job.JobRun._tick_last = lambda self: None
    staging.StagingArea.remove = die
elif place == "journal":
    from tfrkit.build.job import object_journal
    object_journal.ObjectJournal._remove_rest, begun = die, object_journal.ObjectJournal._remove_rest
    begin = object_journal.ObjectJournal.begin.__func__
    def beginning(cls, folder, header):
        cls._remove_rest = begun
        try:
            return begin(cls, folder, header)
        finally:
            cls._remove_rest = die
    object_journal.ObjectJournal.begin = classmethod(beginning)

def progress(now):
    if place == "hang" and now.shards_done >= 2:
        print("here", flush=True)
        time.sleep(600)
    if place.isdigit() and now.shards_done >= int(place):
        die()

report = build.table(rows, out, progress=progress, **options)
print(report.resumed)
"""


def built(environment: dict[str, str], *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BUILD, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "compression": "GZIP"}], ids=str)
def test_killed_build_resumes(options, rows, s3_folder, s3_server, tmp_path):
    given = {"shards": SHARDS, "workers": 1, **options}
    build.table(rows, tmp_path / "out", **given)
    killed = built(s3_server.environment(), rows, s3_folder, json.dumps(given), 5)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    there = versions(s3_folder)
    assert len([name for name in there if ".idx" not in name]) >= 5
    began = time.monotonic()
    report = build.table(rows, s3_folder, **given)
    assert time.monotonic() - began < 15  # a process of this machine is known to be dead
    assert report.resumed >= 5
    noted = {name for name in there if ".idx" not in name}
    kept = {name: there[name] for name in sorted(noted)[: report.resumed]}
    assert kept.items() <= versions(s3_folder).items()
    assert tree(s3_folder) == tree(str(tmp_path / "out"))


def test_second_process_is_refused_while_the_first_lives(rows, s3_folder, s3_server, tmp_path):
    given = {"shards": 8, "workers": 1}
    first = subprocess.Popen(
        [sys.executable, "-c", BUILD, str(rows), s3_folder, json.dumps(given), "hang"],
        env=os.environ | s3_server.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "here\n"
        before = versions(s3_folder)
        with pytest.raises(
            FailedPreconditionError, match="another process is writing 'data' there right now"
        ):
            build.table(rows, s3_folder, overwrite=True, **given)
        assert before.items() <= versions(s3_folder).items()
    finally:
        first.kill()
        first.communicate()
    assert build.table(rows, s3_folder, **given).resumed >= 2
    build.table(rows, tmp_path / "out", **given)
    assert tree(s3_folder) == tree(str(tmp_path / "out"))


@pytest.mark.parametrize("place", ["ready", "moved", "report", "manifest", "journal"])
def test_kill_while_a_build_is_published_is_mended_by_the_same_command(
    place, rows, s3_folder, s3_server, tmp_path
):
    given = {"shards": 6, "overwrite": True}
    build.table(rows, tmp_path / "out", **given)
    build.table(rows, s3_folder, shards=3)
    killed = built(s3_server.environment(), rows, s3_folder, json.dumps(given), place)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    named = {entry["name"] for entry in read_manifest(s3_folder)["shards"]}
    assert named <= tree(s3_folder).keys()
    again = built(s3_server.environment(), rows, s3_folder, json.dumps(given), "nowhere")
    assert again.returncode == 0, again.stderr
    if place != "journal":  # then it was complete, and overwrite begins anew
        assert again.stdout == "6\n"
    assert tree(s3_folder) == tree(str(tmp_path / "out"))


def test_bytes_are_the_same_under_faults_and_a_kill(rows, s3_server, s3_folder, fault_proxy, tmp_path):
    given = {"shards": SHARDS, "workers": 2, "shuffle": True, "seed": 5}
    build.table(rows, tmp_path / "out", **given)
    proxy = fault_proxy(
        s3_server.port,
        Fault("error", every=20, status=503),
        Fault("cut", every=10),
        Fault("cut_upload", every=10, methods=("PUT", "POST")),
        Fault("refuse", every=10),
    )
    environment = s3_server.environment(endpoint=proxy.endpoint)
    killed = built(environment, rows, s3_folder, json.dumps(given), 4)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = built(environment, rows, s3_folder, json.dumps(given), "nowhere")
    assert again.returncode == 0, again.stderr
    assert int(again.stdout) >= 4
    seen = proxy.counts()
    assert seen["cut"] > 3
    assert seen["error"] > 2
    assert tree(s3_folder) == tree(str(tmp_path / "out"))
    assert list(tfr.read_records(s3_folder + "/data-*")) == list(
        tfr.read_records(str(tmp_path / "out/data-*"))
    )
