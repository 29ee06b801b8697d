from __future__ import annotations

import os
import subprocess
import sys

import tfrkit as tfr


def test_files_become_one(command, words):
    done = command("merge", "words.tfrecord", "words.tfrecord", "all.tfrecord.gz")
    assert done.code == 0
    assert done.out.splitlines()[1].split()[0] == "all.tfrecord.gz"
    assert list(tfr.read_records("all.tfrecord.gz")) == 2 * list(tfr.read_records("words.tfrecord"))


def test_output_that_is_an_input_is_bad_usage(command, words):
    done = command("merge", "words.tfrecord", "words.tfrecord", "--overwrite")
    assert done.code == 2
    assert "it is an input, and the output would replace it" in done.err


def test_name_of_another_compression_is_bad_usage(command, words):
    done = command("merge", "words.tfrecord", "all.tfrecord", "--compression", "zstd")
    assert done.code == 2
    assert "Expected a file of ZSTD compression but 'all.tfrecord' has the suffix of none" in done.err


def test_one_argument_is_bad_usage(command, words):
    assert command("merge", "words.tfrecord").code == 2


def test_pipe_into_a_process_with_odd_names(words, tmp_path):
    """The real command, with standard input, in a folder whose name is no Unicode."""
    folder = tmp_path / "数据 \udcff"
    folder.mkdir()
    with open(tmp_path / "words.tfrecord", "rb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "tfrkit", "merge", "-", os.path.join(folder, "全部.tfrecord"), "--quiet"],
            stdin=stream,
            capture_output=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (folder / "全部.tfrecord").read_bytes() == (tmp_path / "words.tfrecord").read_bytes()
