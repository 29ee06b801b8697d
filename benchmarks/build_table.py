"""Claims: `tfr build table` of TSV at 10 x the seed's program under TensorFlow, of Parquet at 2 x our own TSV.

3,000,000 lines of six floats, three strings and an int in 8 files, the whole command with its start-up on two cores,
into 8 shards. The seed's program has its two processes. Peak memory of the command is at most 500 MB.

Shards are synced before they get their names, so that a disk of 500 MB/s would be what both commands wait for. They are
written in memory; a second table has the same on the disk, for information.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.data import folder, in_memory, scratch
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child

FILES = 8
LINES = 3_000_000
NAMES = (*(f"fea{i}" for i in range(1, 10)), "label")
LIMIT_MB = 500.0
OURS = "tfr build table, TSV"
PARQUET = "tfr build table, Parquet"
SEED = "the seed's program, TensorFlow"


def _columns(number: int, lines: int) -> dict[str, list[str]]:
    random = np.random.default_rng(number)
    words = [f"word{i:05}" for i in range(5000)]
    columns = {}
    for name in NAMES[:6]:
        columns[name] = [f"{value:.6f}" for value in random.standard_normal(lines).tolist()]
    for name in NAMES[6:9]:
        columns[name] = [words[i] for i in random.integers(0, len(words), lines).tolist()]
    columns["label"] = [str(value) for value in random.integers(0, 10, lines).tolist()]
    return columns


def _make(settings: Settings) -> tuple[list[Path], list[Path], int]:
    """Make the files if they are not there: as the seed's program wants them, without a header."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    lines = max(1, round(LINES * settings.scale / FILES))
    place = folder(settings.scale) / "tables"
    place.mkdir(parents=True, exist_ok=True)
    texts = [place / f"part-{number:05}.tsv" for number in range(FILES)]
    tables = [path.with_suffix(".parquet") for path in texts]
    for number, (text, table) in enumerate(zip(texts, tables, strict=True)):
        if table.exists():
            continue
        columns = _columns(number, lines)
        rows = zip(*columns.values(), strict=True)
        text.write_text("".join(["\t".join(row) + "\n" for row in rows]))
        arrays = {name: np.array(columns[name], np.float32) for name in NAMES[:6]}
        arrays |= {name: columns[name] for name in NAMES[6:9]}
        pq.write_table(pa.table({**arrays, "label": np.array(columns["label"], np.int64)}), table)
    return texts, tables, lines * FILES


def _run(command: list[str], files: list[Path], lines: int, out: Path) -> Callable[[], int]:
    """Run a command into a new folder."""

    def run() -> int:
        out.mkdir(parents=True)
        filled = [str(out) if word == "OUT" else word for word in command]
        at = filled.index("FILES")
        subprocess.run([sys.executable, *filled[:at], *map(str, files), *filled[at + 1 :]], check=True)
        return lines

    return run


def _build(*options: str) -> list[str]:
    return ["-m", "tfrkit", "build", "table", "FILES", "OUT", "--shards", "8", "--quiet", *options]


def contenders(settings: Settings, *, place: str, seed: bool) -> list[Contender]:
    """Ours and perhaps the seed's, into new folders in a place."""
    texts, tables, lines = _make(settings)
    size = sum(path.stat().st_size for path in texts)
    commands = [(OURS, _build("--names", ",".join(NAMES)), texts, None), (PARQUET, _build(), tables, None)]
    if seed:
        commands.append((SEED, ["-m", "benchmarks.tsv_seed", "OUT", "FILES"], texts, 1))
    return [
        Contender(name, _run(command, files, lines, out), "records", lines, size, output=out, at_most=turns)
        for number, (name, command, files, turns) in enumerate(commands)
        for out in [Path(place, str(number))]
    ]


def peak(settings: Settings, *, place: str) -> float:
    """Peak memory of the command on the TSV files, in MB."""
    texts, _, _ = _make(settings)
    out = str(Path(place, "peak"))
    arguments = ["build", "table", *map(str, texts), out, "--names", ",".join(NAMES), "--quiet"]
    code = (
        "import sys; from benchmarks.memory import peak_mb; from tfrkit.cli.main import run; "
        "run(sys.argv[1:]); print(peak_mb())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, text=True, stdout=subprocess.PIPE
    )
    return float(done.stdout.split()[-1])


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("build_table")
    title = "Tables of 3,000,000 rows and 10 columns into 8 shards"
    with in_memory(settings.scale) as place:
        results = in_child("build_table", "contenders", settings, cores=2, place=place, seed=True)
        memory = in_child("build_table", "peak", settings, cores=2, place=place)
    report.add_results(f"{title} in memory, 2 cores", results)
    named = by_name(results)
    report.ratio("TSV, 2 cores", named[OURS], [named[SEED]], 10.0)
    report.ratio("Parquet, 2 cores", named[PARQUET], [named[OURS]], 2.0)
    report.add_claim(Claim(f"Peak memory of {OURS}", memory, LIMIT_MB, "MB", "at most"))
    with tempfile.TemporaryDirectory(dir=scratch(settings.scale)) as place:
        on_disk = in_child("build_table", "contenders", settings, cores=2, place=place, seed=False)
    report.add_results(f"{title} on the disk, 2 cores", on_disk)
    return report
