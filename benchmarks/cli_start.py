"""Claim: `tfr head` and `tfr count` of a file with an index take at most 3 times as long as `import numpy`.

Each run is a new interpreter; the files are in the page cache. An editable install looks for changed sources at every
import, so a copy of the package is measured, byte-compiled as an ordinary install is.
"""

from __future__ import annotations

import compileall
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.data import dataset
from benchmarks.harness import Claim, Report, Settings

LIMIT = 3.0
LEAST_TURNS = 10
# The finder of an editable install would lead back to the sources.
START = (
    "import sys; sys.path.insert(0, {site!r}); "
    "sys.meta_path[:] = [f for f in sys.meta_path if 'Redirecting' not in type(f).__name__]; "
    "from tfrkit.cli.main import main; sys.argv[0] = 'tfr'; main()"
)


def _copy_package(site: Path) -> None:
    """Make an ordinary install of what is imported here."""
    import tfrkit
    from tfrkit import _core

    package = site / "tfrkit"
    shutil.copytree(
        Path(tfrkit.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "_core*")
    )
    shutil.copy(str(_core.__file__), package)
    compileall.compile_dir(package, quiet=2)


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def run(settings: Settings) -> Report:
    """Start the commands and numpy in turns."""
    import tfrkit as tfr

    report = Report("cli_start")
    with TemporaryDirectory() as folder:
        site = Path(folder)
        _copy_package(site)
        shard = str(site / "a.tfrecord")
        shutil.copy(dataset("A", settings.scale).plain[0], shard)
        tfr.RecordFile(shard, index="save").close()
        tfr_command = [sys.executable, "-c", START.format(site=str(site))]
        commands = {
            "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
            "tfr count FILE": [*tfr_command, "count", shard],
            "tfr head FILE": [*tfr_command, "head", shard],
            "tfr head FILE --random -n 3 --json": [
                *tfr_command,
                "head",
                shard,
                "--random",
                "-n",
                "3",
                "--json",
            ],
            "tfr schema FILE -n 100": [*tfr_command, "schema", shard, "-n", "100"],
            "tfr --help": [*tfr_command, "--help"],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(max(LEAST_TURNS, settings.repeat)):
            for name, command in commands.items():
                seconds[name].append(_seconds(command))
    best = {name: min(times) for name, times in seconds.items()}
    numpy, *ours = best
    rows = [[name, f"{best[name]:.3f}", f"{best[name] / best[numpy]:.2f}"] for name in best]
    report.add_table("Seconds that a command takes", ["command", "best s", "x numpy"], rows)
    for name in ours:
        required = LIMIT if name in ("tfr count FILE", "tfr head FILE") else None
        report.add_claim(Claim(f"{name} / {numpy}", best[name] / best[numpy], required, sense="at most"))
    return report
