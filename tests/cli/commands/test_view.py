"""`tfr view`, as a process."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tfrkit
from tfrkit.cli.main import run


def write(path: Path) -> Path:
    with tfrkit.TFRecordWriter(path) as writer:
        writer.write(tfrkit.make_example({"label": 3}).SerializeToString())
    return path


@contextmanager
def viewer(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "tfrkit", "view", "--no-open", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_an_address_that_opens_the_page_and_ends_with_a_signal(
    tmp_path: Path, how: signal.Signals
) -> None:
    with viewer(str(write(tmp_path / "a.tfrecord")), "--where", "label == 3") as (process, address):
        found = re.fullmatch(
            r"http://(127\.0\.0\.1:\d+)(/\?token=[\w-]{43}&where=label%20%3D%3D%203)", address
        )
        assert found is not None
        connection = http.client.HTTPConnection(found[1], timeout=20)
        connection.request("GET", found[2])
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Location"]) == (303, "/?where=label+%3D%3D+3")
        connection.close()
        os.kill(process.pid, how)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")


def test_another_address_warns(tmp_path: Path) -> None:
    with viewer(str(write(tmp_path / "a.tfrecord")), "--host", "0.0.0.0") as (process, address):
        assert "token=" in address
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert "others on the network can reach 0.0.0.0" in err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nothing.tfrecord"], "no such file"),
        (["{file}", "--where", "label =="], "Expected a number"),
        (["{file}", "--port", "70000"], "port"),
        (["{file}", "--compare", "nothing.tfrecord"], "no such file"),
        (["{file}", "--records", "1"], "--records is for --export"),
        (["{file}", "--proto", "a.pb:M", "--where", "label == 3"], "--where is for Examples"),
        (["{file}", "--proto", "a.pb:M", "--export", "page.html"], "--export is for Examples"),
        (["{file}", "--proto", "nothing.pb:M"], "--proto: nothing.pb; No such file"),
        (
            ["{file}", "--export", "page.html", "--records", "1,-2"],
            "expected numbers with commas between them",
        ),
        (["{file}", "--export", "page.html", "--records", "1"], "there is no record 1"),
    ],
)
def test_bad_usage_is_said_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    file = str(write(tmp_path / "a.tfrecord"))
    assert run(["view", "--no-open", *(each.format(file=file) for each in arguments)]) in (1, 2)
    captured = capsys.readouterr()
    assert text in captured.err
    assert captured.out == ""


def test_a_page_is_written_instead(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "page.html"
    assert run(["view", str(write(tmp_path / "a.tfrecord")), "--export", str(target)]) == 0
    assert b"<!doctype html>" in target.read_bytes()
    assert f"{target}" in capsys.readouterr().err


def test_chosen_records_are_on_the_page(tmp_path: Path) -> None:
    file, target = tmp_path / "a.tfrecord", tmp_path / "page.html"
    with tfrkit.TFRecordWriter(file) as writer:
        writer.write_batch({"n": list(range(1000, 1020))})
    assert run(["view", str(file), "--export", str(target), "--records", "3, 17"]) == 0
    page = target.read_text()
    assert [number for number in range(1000, 1020) if f"<pre>{number}</pre>" in page] == [1003, 1017]


def test_the_help_does_not_import_the_viewer() -> None:
    program = (
        "import sys; from tfrkit.cli.main import run; run(['--help']); "
        "print([name for name in sys.modules if 'viewer' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "view " in done.stdout
    assert done.stdout.strip().endswith("[]")
