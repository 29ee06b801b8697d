"""What is pickled takes along what `configure_store` was given for its files."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import tfrkit as tfr

READ = "import pickle, sys; print(list(pickle.load(sys.stdin.buffer)))"


@pytest.mark.parametrize("kind", [tfr.RecordFile, tfr.RecordFiles, tfr.TFRecordDataset])
def test_another_process_finds_the_store(
    kind: Callable[[str], Sequence[bytes]], s3_folder: str, tmp_path: Path
) -> None:
    path = f"{s3_folder}/a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([b"one", b"two"])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run(
        [sys.executable, "-c", READ],
        input=pickle.dumps(kind(path)),
        env={**environment, "HOME": str(tmp_path), "TFRKIT_CACHE": str(tmp_path)},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().strip() == "[b'one', b'two']"
