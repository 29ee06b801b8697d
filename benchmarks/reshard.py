"""Claims: `tfr merge` and `tfr reshard` of plain files at 0.4 x `cat` of the same files to one file.

The whole commands with their start-up on two cores; the files are in the page cache. `cat` checks nothing, makes no
index and does not wait for the disk; ours does all three. The third line shows `cat` with the waiting. Select, sample
and shuffle are shown without a requirement. Peak memory is at most 500 MB.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.data import dataset, scratch
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child

CAT = "cat"
SYNCED = "cat, and sync of the file"
MERGE = "tfr merge"
RESHARD = "tfr reshard --shards 8"
REQUIRED = 0.4
LIMIT_MB = 500.0
# Of no requirement: name, and the command with PATHS and OUT.
OTHERS = {
    "tfr sample --fraction 0.1": "sample PATHS OUT/some.tfrecord --fraction 0.1",
    "tfr split, 0.9 and 0.1": "split PATHS OUT",
    "tfr shuffle": "shuffle PATHS OUT/mixed --shards 8",
    "tfr compress, GZIP": "compress PATHS OUT",
}


def _files(settings: Settings) -> list[Path]:
    """Examples of numbers and photos: small records and large ones."""
    return [*dataset("A", settings.scale).plain, *dataset("B", settings.scale).plain]


def _place(settings: Settings) -> Path:
    return scratch(settings.scale) / "reshard"


def _shell(text: str, place: Path, size: int) -> Callable[[], int]:
    """Run a command line into a new folder each time: removing one takes time, too."""
    turn = 0

    def run() -> int:
        nonlocal turn
        turn += 1
        out = place / str(turn)
        out.mkdir(parents=True)
        subprocess.run(text.replace("OUT", shlex.quote(str(out))), shell=True, check=True)
        return size

    return run


def _tfr(text: str, files: list[Path]) -> str:
    paths = " ".join(shlex.quote(str(path)) for path in files)
    return f"{shlex.quote(sys.executable)} -m tfrkit {text.replace('PATHS', paths)} --quiet > /dev/null"


def contenders(settings: Settings) -> list[Contender]:
    """`cat` and ours."""
    files = _files(settings)
    size = sum(path.stat().st_size for path in files)
    paths = " ".join(shlex.quote(str(path)) for path in files)
    lines = {
        CAT: f"cat {paths} > OUT/all",
        SYNCED: f"cat {paths} > OUT/all && sync OUT/all",
        MERGE: _tfr("merge PATHS OUT/all.tfrecord", files),
        RESHARD: _tfr("reshard PATHS OUT/part --shards 8", files),
    }
    for path in files:  # into the page cache
        path.read_bytes()
    return [
        Contender(name, _shell(line, _place(settings) / f"{number}", size), "bytes", 0, size)
        for number, (name, line) in enumerate(lines.items())
    ]


def others(settings: Settings) -> list[Contender]:
    """What has no requirement."""
    files = list(dataset("A", settings.scale).plain)
    size = sum(path.stat().st_size for path in files)
    return [
        Contender(
            name,
            _shell(_tfr(text, files), _place(settings) / f"other{number}", size),
            "bytes",
            0,
            size,
            at_most=1,
        )
        for number, (name, text) in enumerate(OTHERS.items())
    ]


def peak(settings: Settings, *, command: str) -> float:
    """Peak memory of a command, in MB."""
    out = _place(settings) / f"peak-{command.split(maxsplit=1)[0]}"
    words = [
        word
        for part in shlex.split(command)
        for word in (map(str, _files(settings)) if part == "PATHS" else [part.replace("OUT", str(out))])
    ]
    code = (
        "import sys; from benchmarks.memory import peak_mb; from tfrkit.cli.main import run; "
        "run(sys.argv[1:]); print(peak_mb())"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], check=True, text=True, stdout=subprocess.PIPE)
    return float(done.stdout.split()[-1])


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("reshard")
    try:
        results = in_child("reshard", "contenders", settings, cores=2)
        report.add_results("Frames of plain files, the whole command, 2 cores", results)
        named = by_name(results)
        for name in (MERGE, RESHARD):
            report.ratio(f"{name}, 2 cores", named[name], [named[CAT]], REQUIRED)
        report.add_results(
            "Other commands on dataset A, 2 cores", in_child("reshard", "others", settings, cores=2)
        )
        for command in ("merge PATHS OUT/all.tfrecord", "shuffle PATHS OUT/mixed --shards 8"):
            memory = in_child("reshard", "peak", settings, cores=2, command=command)
            claim = f"Peak memory of tfr {command.split()[0]}"
            report.add_claim(Claim(claim, memory, LIMIT_MB, "MB", "at most"))
    finally:
        shutil.rmtree(_place(settings), ignore_errors=True)
    return report
