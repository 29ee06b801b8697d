from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

HANGS = "import time\n\ndef test_hangs():\n    time.sleep(60)\n"
CRASHES = "import faulthandler\n\ndef test_crashes():\n    faulthandler._sigsegv()\n"


@pytest.mark.parametrize(
    ("code", "expected"), [(HANGS, "in test_hangs"), (CRASHES, "in test_crashes")], ids=["hangs", "crashes"]
)
def test_threads_of_a_worker_that_ended_are_shown_after_all_tests(code, expected, tmp_path):
    (tmp_path / "test_it.py").write_text(code)
    options = [
        "-o",
        "faulthandler_timeout=1",
        "-o",
        "faulthandler_exit_on_timeout=true",
        "-p",
        "no:cacheprovider",
    ]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "1",
        "-p",
        "tests.support.hangs",
        *options,
        str(tmp_path),
    ]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    summary = done.stdout.partition("where the threads of gw0-")[2]
    assert "stood in test_it.py::test_" in summary
    assert expected in summary
