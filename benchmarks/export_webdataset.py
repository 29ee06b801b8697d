"""Claim: `export_webdataset` at webdataset's `ShardWriter` x 4 for photos, and x 10 for many small features.

The rival is the loop that one writes: our `read_examples`, a dict with the same files for each record, `ShardWriter`.
Ours reads the inputs once more before, to settle what features are, and waits for the disk. Both write to memory, where
that has room. Rates count payload bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.data import dataset, in_memory
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS, OURS_ONE, SHARD_WRITER = "export_webdataset", "export_webdataset, workers=1", "webdataset.ShardWriter"
KINDS = {"B": ("photos", 3, 4.0), "sample_examples": ("small features", 1, 10.0)}  # turns of the rival, claim
_SHARDS = 8


def _names(paths: list[str]) -> dict[str, tuple[str, bool]]:
    """Return what a feature is called in a sample, as the export does, and whether it has one value."""
    import tfrkit as tfr

    schema = tfr.inspect(paths)
    names = {}
    for name, feature in schema.features.items():
        single = feature.counts.max == feature.counts.min == 1
        numbers = "cls" if single and feature.kind == "int64" else "npy"
        texts = "jpg" if "image" in feature.looks_like else "txt"
        suffix = texts if feature.kind == "bytes" else numbers
        names[name] = (f"{name.replace('/', '_')}.{suffix}", single)
    return names


def _rival(paths: list[str], names: dict[str, tuple[str, bool]], out: Path, per_file: int) -> int:
    import numpy as np
    import webdataset

    import tfrkit as tfr

    out.mkdir(parents=True)
    number = 0
    with webdataset.ShardWriter(str(out / "a-%06d.tar"), maxcount=per_file, verbose=0) as writer:
        for example in tfr.read_examples(paths):
            sample: dict[str, Any] = {"__key__": f"{number:09d}"}
            for name, value in example.items():
                title, single = names[name]
                sample[title] = value[0] if single else np.asarray(value)
            writer.write(sample)
            number += 1
    return number


def contenders(settings: Settings, *, kind: str, folder: str) -> list[Contender]:
    """Ours, and the loop."""
    import tfrkit as tfr

    data = dataset(kind, settings.scale)
    paths = [str(path) for path in data.plain]
    for path in data.plain:  # into the page cache
        path.read_bytes()
    out = Path(folder) / "webdataset"

    def ours(**options: Any) -> int:
        return tfr.build.export_webdataset(paths, out / "a", shards=_SHARDS, **options).records

    rival: Callable[[], int] = partial(_rival, paths, _names(paths), out, -(-data.records // _SHARDS))
    amount: dict[str, Any] = {"records": data.records, "bytes": data.payload_bytes, "output": out}
    return [
        Contender(OURS, ours, "records", **amount),
        Contender(OURS_ONE, partial(ours, workers=1), "records", **amount),
        Contender(SHARD_WRITER, rival, "records", **amount, at_most=KINDS[kind][1]),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("export_webdataset")
    for kind, (what, _, required) in KINDS.items():
        with in_memory(settings.scale) as folder:
            results = in_child("export_webdataset", "contenders", settings, cores=2, kind=kind, folder=folder)
        where = f"{what}, 2 cores"
        report.add_results(f"Samples of WebDataset: {where}", results)
        named = by_name(results)
        report.ratio(where, named[OURS], [named[SHARD_WRITER]], required)
        report.ratio(f"{what}, one worker", named[OURS_ONE], [named[SHARD_WRITER]], None)
    return report
