"""The files that the benchmarks read: made once by TensorFlow, always the same.

Kept in `benchmarks/data/x<scale>`; delete the folder to make them again. What is in the records comes from
`samples`. Making a million Examples one by one takes minutes, so some ten thousand distinct ones are made and
written in random order. GZIP does not notice: its window of 32 kB holds about 50 of them. XZ and ZSTD look
back further, so the `sample_*` files, which the comparison of compressions uses, hold every record once.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent / "data"
VERSION = 3  # raise it when the content changes, so that older files are replaced
FRAME_OVERHEAD = 16
_MEMORY_BYTES = 6 << 30  # that must be free for what a command writes at scale 1


@dataclass(frozen=True, slots=True)
class Dataset:
    """Files of one kind.

    payload_bytes is the sum of the records, stream_bytes the same with their frames: the size of the plain
    files.
    """

    name: str
    plain: tuple[Path, ...]
    gzip: tuple[Path, ...]
    records: int
    payload_bytes: int

    @property
    def stream_bytes(self) -> int:
        """Bytes of the frames before compression."""
        return self.payload_bytes + FRAME_OVERHEAD * self.records


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a dataset is made of: records drawn from the distinct ones, or each once if not `cycled`."""

    pool: str
    records: int
    distinct: int
    files: int
    gzip: bool = True
    cycled: bool = True


KINDS = {
    "A": _Kind("examples", records=1_000_000, distinct=20_000, files=4),
    "A_one": _Kind("examples", records=1_000_000, distinct=20_000, files=1),
    "A_shuffled": _Kind("shuffled", records=1_000_000, distinct=20_000, files=4, gzip=False),
    "B": _Kind("photos", records=20_000, distinct=500, files=4),
    "C": _Kind("tokens", records=80_000, distinct=2_000, files=4, gzip=False),
    "D": _Kind("sequences", records=400_000, distinct=5_000, files=4, gzip=False),
    "sample_examples": _Kind("examples", records=20_000, distinct=20_000, files=1, gzip=False, cycled=False),
    "sample_photos": _Kind("photos", records=500, distinct=500, files=1, gzip=False, cycled=False),
    "sample_pixels": _Kind("pixels", records=12, distinct=12, files=1, gzip=False, cycled=False),
}

COSTS = {"photos": 37, "sequences": 3, "tokens": 12}  # kB in a record, about, where it is not below 1


def folder(scale: float) -> Path:
    """Where the files of this scale are."""
    return ROOT / f"x{scale:g}"


def scratch(scale: float) -> Path:
    """A folder on the same file system for what the benchmarks write, made if it is missing."""
    path = folder(scale) / "scratch"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def in_memory(scale: float) -> Iterator[str]:
    """A folder in memory, where that has room: commands that sync what they write would show the disk's speed."""
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free > _MEMORY_BYTES * scale
    with tempfile.TemporaryDirectory(dir=memory if has_room else scratch(scale)) as path:
        yield path


def dataset(name: str, scale: float) -> Dataset:
    """Describe the files of one kind, which `make` has made."""
    entry = json.loads((folder(scale) / "made.json").read_text())["datasets"][name]
    plain, gzip = (tuple(folder(scale) / file for file in entry[key]) for key in ("plain", "gzip"))
    return Dataset(name, plain, gzip, entry["records"], entry["payload_bytes"])


def payloads(path: Path) -> Iterator[bytes]:
    """Records of a plain file that is known to be whole: no CRC is checked."""
    data = path.read_bytes()
    position = 0
    while position < len(data):
        (length,) = struct.unpack_from("<Q", data, position)
        yield data[position + 12 : position + 12 + length]
        position += FRAME_OVERHEAD + length


def make(scale: float) -> None:
    """Make whatever is missing of the files of this scale, with TensorFlow, on two processes."""
    made = folder(scale) / "made.json"
    if made.exists() and json.loads(made.read_text())["version"] == VERSION:
        return
    folder(scale).mkdir(parents=True, exist_ok=True)
    print(f"# making the files in {made.parent} with TensorFlow", file=sys.stderr, flush=True)
    start = time.perf_counter()
    jobs = [job for name, kind in KINDS.items() for job in _plan(name, kind, scale)]
    jobs.sort(key=lambda job: -job["cost"])  # long ones first, so that both processes end together
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        sizes = list(processes.map(_write_file, jobs))
    datasets: dict[str, dict[str, Any]] = {}
    for job, size in sorted(zip(jobs, sizes, strict=True), key=lambda pair: Path(pair[0]["path"]).name):
        entry = datasets.setdefault(
            job["dataset"], {"plain": [], "gzip": [], "records": 0, "payload_bytes": 0}
        )
        entry["gzip" if job["gzip"] else "plain"].append(Path(job["path"]).name)
        if not job["gzip"]:
            entry["records"] += job["records"]
            entry["payload_bytes"] += size
    made.write_text(json.dumps({"version": VERSION, "datasets": datasets}, indent=1) + "\n")
    print(f"# made in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


def _plan(name: str, kind: _Kind, scale: float) -> list[dict[str, Any]]:
    """List the files of one kind, plain and GZIP. Pure: no I/O."""
    per_file = max(1, round(kind.records * scale / kind.files))
    jobs = []
    for gzip in [False, True] if kind.gzip else [False]:
        for number in range(kind.files):
            suffix = ".tfrecord.gz" if gzip else ".tfrecord"
            stem = f"{name}-{number:05}-of-{kind.files:05}" if kind.files > 1 else name
            jobs.append({
                "dataset": name, "path": str(folder(scale) / (stem + suffix)), "gzip": gzip,
                "pool": kind.pool, "cycled": kind.cycled, "seed": number, "records": per_file,
                "distinct": min(kind.distinct, max(per_file * kind.files, 1)),
                "cost": per_file * COSTS.get(kind.pool, 1) * (20 if gzip else 1),
            })  # fmt: skip
    return jobs


def _write_file(job: dict[str, Any]) -> int:
    """Write one file with TensorFlow, in a worker process; returns the sum of its payload bytes."""
    import numpy as np

    from benchmarks import samples
    from benchmarks.rivals import tensorflow

    tf = tensorflow()
    pool = samples.pool(job["pool"], job["distinct"])
    if job["cycled"]:
        order = np.random.default_rng(job["seed"]).integers(len(pool), size=job["records"]).tolist()
    else:
        order = list(range(min(len(pool), job["records"])))
    unfinished = Path(job["path"] + ".part")
    with tf.io.TFRecordWriter(str(unfinished), "GZIP" if job["gzip"] else "") as writer:
        for number in order:
            writer.write(pool[number])
    unfinished.rename(job["path"])
    return sum(len(pool[number]) for number in order)


if __name__ == "__main__":
    make(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
