"""Forks and object stores: a child that would need its parent's threads says so at once; nothing hangs.

Each test is a program of its own, as a test process has more threads than any of these should see.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import tfrkit as tfr
from tfrkit.stores.files import list_files, read_bytes

START = """
import os, sys, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # a fork with threads: this is what is tried here
import tfrkit as tfr
from tfrkit.stores.files import create, open_source, read_bytes, write_bytes

url = sys.argv[1]

def in_child(work):
    '''Run in a forked process; print what became of it, and how it ended.'''
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        began = time.monotonic()
        try:
            print("child:", work())
        except tfr.errors.FailedPreconditionError as error:
            print("child raised:", "spawn" in str(error), error.message[:60])
        print("in time:", time.monotonic() - began < 1)
        sys.exit(7)  # the interpreter ends as usual: that must not hang, either
    print("status:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture
def run(s3_server, s3_bucket, unique_prefix, tmp_path):
    """Run a program with the URL of a file of 100,000 records; return what it printed."""
    tfr.configure_store(f"s3://{s3_bucket}", **s3_server.options())
    url = f"s3://{s3_bucket}/{unique_prefix}a.tfrecord"
    with tfr.TFRecordWriter(url) as writer:
        writer.write_many([b"%d" % number * 40 for number in range(100_000)])

    def run(code, *, seconds=60):
        script = tmp_path / "program.py"
        script.write_text(START + textwrap.dedent(code))
        done = subprocess.run(
            [sys.executable, str(script), url],
            env={**os.environ, **s3_server.environment(), "TFRKIT_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    run.url, run.folder = url, url.rpartition("/")[0]
    return run


RAISED = ["child raised: True ", "in time: True", "status: 7"]


def raised(lines):
    return [line[: len(wanted)] for line, wanted in zip(lines, RAISED, strict=True)] == RAISED


def test_a_child_of_a_parent_that_has_read_raises(run):
    assert raised(run("len(read_bytes(url)); in_child(lambda: read_bytes(url))"))


def test_children_of_a_parent_that_has_not_used_a_store_work(run):
    lines = run(
        """
        ds = tfr.TFRecordDataset(url)
        for _ in range(2):
            in_child(lambda: sum(1 for _ in ds))
        print(sum(1 for _ in ds))
        """,
        seconds=120,
    )
    assert [line for line in lines if "time" not in line] == ["child: 100000", "status: 7"] * 2 + ["100000"]


@pytest.mark.parametrize(
    "opened",
    [
        "source = open_source(url); source.read_ahead(0); source.read(10); work = lambda: source.read(1 << 23)",
        "source = open_source(url); work = lambda: source.read_at(1 << 20, 10)",
        "source = open_source(url, cache=True); work = lambda: source.read_at(1 << 20, 1 << 10)",
        "blocks = iter(tfr.read_blocks(url)); next(blocks); work = lambda: sum(len(block) for block in blocks)",
        "file = tfr.RecordFile(url); file[3]; work = lambda: file[99_000]",
        "file = tfr.RecordFile(url); work = lambda: file.take([5, 70_000, 99_999])",
        "files = tfr.RecordFiles([url]); files[3]; work = lambda: files.take([5, 70_000, 99_999])",
        "it = iter(tfr.TFRecordDataset(url).batch(10)); next(it); work = lambda: sum(1 for _ in it)",
    ],
)
def test_what_the_parent_has_open_raises_in_a_child(run, opened):
    assert raised(run(f"{opened}\nin_child(work)"))


def test_what_is_in_the_cache_can_be_read_in_a_child_but_not_opened(run):
    lines = run(
        """
        source = open_source(url, cache=True)
        content = b"".join(iter(lambda: source.read(1 << 20), b""))
        in_child(lambda: source.read_at(1 << 20, 1 << 23) == content[1 << 20 : 9 << 20])
        in_child(lambda: open_source(url, cache=True))
        """
    )
    assert lines[:3] == ["child: True", "in time: True", "status: 7"]
    assert raised(lines[3:])


def test_what_the_parent_reads_goes_on_after_a_fork(run):
    lines = run(
        """
        blocks = iter(tfr.read_blocks(url))
        count = len(next(blocks))
        in_child(lambda: read_bytes(url))
        print(count + sum(len(block) for block in blocks))
        """
    )
    assert raised(lines[:3])
    assert lines[3:] == ["100000"]


@pytest.mark.parametrize("size", [100, 30 << 20])
def test_a_child_does_not_touch_its_parents_upload(run, size):
    lines = run(
        f"""
        output = create(url + ".new")
        output.write(bytes({size}))
        in_child(lambda: output.write(b"child"))
        in_child(lambda: output.close())
        output.write(b"end")
        output.close()
        """
    )
    assert raised(lines[:3])
    assert raised(lines[3:])
    assert read_bytes(run.url + ".new") == bytes(size) + b"end"


def test_a_writer_that_a_child_drops_is_the_parents(run):
    lines = run(
        """
        writer = tfr.TFRecordWriter(url + ".new")
        writer.write_many([b"x" * 1000] * 20_000)
        def drop():
            global writer
            del writer
        in_child(drop)
        writer.write(b"last")
        writer.close()
        """
    )
    assert lines == ["child: None", "in time: True", "status: 7"]
    records = list(tfr.read_records(run.url + ".new"))
    assert (len(records), records[-1]) == (20_001, b"last")
    assert len(list(list_files(run.folder))) == 2


LOADER = """
class Records(torch.utils.data.IterableDataset):
    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        return (len(record) for record in self.dataset)
"""


def test_workers_of_torch_raise_or_work(run, tmp_path):
    (tmp_path / "records.py").write_text("import torch\n" + LOADER)
    lines = run(
        """
        import torch
        from records import Records
        from tfrkit.stores.object_config import configure_store

        def main():
            # Said here, where workers do not come by: datasets take it along.
            for name in [name for name in os.environ if name.startswith("AWS_")]:
                options[name] = os.environ.pop(name)
            configure_store(
                "/".join(url.split("/")[:3]), endpoint=options["AWS_ENDPOINT_URL"], region=options["AWS_REGION"],
                access_key_id=options["AWS_ACCESS_KEY_ID"], secret_access_key=options["AWS_SECRET_ACCESS_KEY"],
            )
            records = Records(tfr.TFRecordDataset(url))
            print(sum(1 for _ in records))
            loader = torch.utils.data.DataLoader(records, num_workers=2, multiprocessing_context="fork")
            began = time.monotonic()
            try:
                print(sum(1 for _ in loader))
            except tfr.errors.FailedPreconditionError as error:
                print("raised", "multiprocessing_context='spawn'" in str(error), time.monotonic() - began < 3)
            loader = torch.utils.data.DataLoader(
                records, batch_size=1000, num_workers=2, multiprocessing_context="spawn"
            )
            print(sum(len(batch) for batch in loader))

        options = {}
        if __name__ == "__main__":
            main()
        """,
        seconds=240,
    )
    assert lines == ["100000", "raised True True", "200000"]
