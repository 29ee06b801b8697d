"""Claims: photos into an empty loop of torch at 1.7 x a DataLoader with Pillow; A at 3 x and 10 x the tfrecord package.

Photos B are decoded, resized to 224 x 224 with antialiasing, as Pillow always does, normalised to float32 and put into
batches of 64. The rival is a DataLoader with two worker processes and Pillow. It gets its records by number from our
RecordFiles, and normalises in the workers or, to send less, whole batches in the loop: the faster counts. At this size
neither side can decode a photo of 500 x 375 at a smaller scale (`scaled=True`, `draft`), so both decode all pixels.

Of A all features are parsed, in batches of 1,024. `DataLoader(MapDataset(ds), num_workers=2)` runs at 3 x the tfrecord
package's torch dataset in the same DataLoader, `tfr.torch.loader` at 10 x. The package has its own index files, without
which each of its workers would read everything; it checks no CRC, and gets a part of the records only. An epoch in the
order of `global_shuffle` stands beside.

The peak memory of such an epoch of A, and of B, is at most 300 MB above that of a process that imports torch alone.
Both are peaks of fresh processes (VmHWM). Pages of mapped files count, though the system may take them back any time.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import ChainDataset, DataLoader, Dataset

import tfrkit as tfr
from benchmarks import images, pipelines, rivals, specs
from benchmarks.data import dataset, scratch
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child
from benchmarks.memory import peak_mb

PHOTOS, PHOTOS_QUICK, PILLOW, PILLOW_BATCHES = (
    "tfr.torch.loader",
    "tfr.torch.loader, without antialiasing",
    "DataLoader, 2 workers, Pillow",
    "DataLoader, 2 workers, Pillow, normalised in the loop",
)
LOADER, LOADER_SHUFFLED = "tfr.torch.loader", "tfr.torch.loader, global_shuffle"
MAP, MAP_SHUFFLED = "DataLoader(MapDataset), 2 workers", "DataLoader(MapDataset), 2 workers, global_shuffle"
ITERABLE = "DataLoader(IterableDataset), 2 workers"
TFRECORD = "DataLoader, 2 workers, tfrecord package (no CRC)"
SIDE = 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
PHOTO_SPEC = {"image": tfr.FixedLenFeature([], "bytes"), "label": tfr.FixedLenFeature([], "int64")}
WORKERS = 2
LIMIT_MB = 300.0
CLOSE = 1.0  # of 255: how far Pillow's pixels, which it rounds twice, may be from ours in the mean


def photos(paths: Sequence[Path], *, shuffled: bool = False, antialias: bool = True) -> Any:
    """Ours: batches of photos that are decoded, resized and normalised."""
    records = tfr.TFRecordDataset([str(path) for path in paths])
    parsed = (records.global_shuffle(seed=1) if shuffled else records).parse(PHOTO_SPEC)
    decoded = parsed.decode_image("image", size=(SIDE, SIDE), antialias=antialias)
    batches = decoded.normalize("image", MEAN, STD).batch(images.BATCH)
    return tfr.torch.loader(batches.prefetch(tfr.AUTOTUNE))


class PillowPhotos(Dataset):
    """What one writes by hand: a photo by its number, decoded and resized by Pillow."""

    def __init__(self, paths: Sequence[Path], *, normalize: bool) -> None:
        self._files = tfr.RecordFiles(list(paths))
        self._normalize = Normalize() if normalize else None

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, number: int) -> dict[str, Any]:
        image_module = importlib.import_module("PIL.Image")
        features = tfr.parse_single_example(self._files[number], PHOTO_SPEC)
        with image_module.open(io.BytesIO(features["image"])) as image:
            small = image.convert("RGB").resize((SIDE, SIDE), image_module.Resampling.BILINEAR)
        pixels = torch.from_numpy(np.array(small))
        return {
            "image": pixels if self._normalize is None else self._normalize(pixels),
            "label": int(features["label"]),
        }


class Normalize:
    """(x / 255 - mean) / std of bytes, in two passes."""

    def __init__(self) -> None:
        mean, std = torch.tensor(MEAN), torch.tensor(STD)
        self._factor, self._shift = 1 / (255 * std), mean / std

    def __call__(self, pixels: Any) -> Any:
        """Return float32."""
        return pixels.to(torch.float32).mul_(self._factor).sub_(self._shift)


def _pillow(paths: Sequence[Path], *, normalize: bool) -> Any:
    """Batches of the rival: normalised by the workers, or here."""
    loader = DataLoader(PillowPhotos(paths, normalize=normalize), images.BATCH, num_workers=WORKERS)
    if normalize:
        return loader
    change = Normalize()
    return ({**batch, "image": change(batch["image"])} for batch in loader)


def _require_close(mine: Any, theirs: Any) -> None:
    """See that both sides make the same pictures."""
    one, other = next(iter(mine)), next(iter(theirs))
    far = float(((one["image"] - other["image"]).abs() * torch.tensor(STD)).mean()) * 255
    if one["image"].dtype != other["image"].dtype or one["label"].tolist() != other["label"].tolist():
        raise RuntimeError("expected the same types and labels on both sides but got others")
    if far > CLOSE:
        raise RuntimeError(f"expected pixels within {CLOSE} of Pillow's but got {far:.2f}")


def _drain(batches: Any, key: str) -> int:
    """An empty training loop: take every batch and count its rows."""
    return sum(len(batch[key]) for batch in batches)


def photo_contenders(settings: Settings) -> list[Contender]:
    """Photos into an empty loop."""
    paths, count = images.photos(settings)
    _require_close(photos(paths), _pillow(paths, normalize=True))
    size = sum(path.stat().st_size for path in paths)
    ways = {
        PHOTOS: partial(photos, paths),
        PHOTOS_QUICK: partial(photos, paths, antialias=False),
        PILLOW: partial(_pillow, paths, normalize=True),
        PILLOW_BATCHES: partial(_pillow, paths, normalize=False),
    }
    return [
        Contender(name, partial(lambda way: _drain(way(), "image"), way), "records", count, size)
        for name, way in ways.items()
    ]


def _loader(paths: Sequence[Path], *, shuffled: bool = False) -> Any:
    way = pipelines.epoch if shuffled else pipelines.parse_batch
    return tfr.torch.loader(way(pipelines.ours(), paths))


def _map_loader(paths: Sequence[Path], *, shuffled: bool = False) -> Any:
    records = tfr.TFRecordDataset([str(path) for path in paths])
    ordered = records.global_shuffle(seed=1) if shuffled else records
    return DataLoader(
        tfr.torch.MapDataset(ordered.parse(specs.a_spec(tfr))),
        batch_size=pipelines.BATCH,
        num_workers=WORKERS,
        collate_fn=tfr.torch.collate,
    )


def _iterable_loader(paths: Sequence[Path]) -> Any:
    batches = pipelines.parse_batch(pipelines.ours(), paths)
    return DataLoader(tfr.torch.IterableDataset(batches), batch_size=None, num_workers=WORKERS)


def _tfrecord_loader(paths: Sequence[Path], indexes: Sequence[Path]) -> Any:
    """One file after another, each divided among the workers."""
    make = importlib.import_module("tfrecord.torch.dataset").TFRecordDataset
    parts = [
        make(str(path), str(index), specs.a_description()) for path, index in zip(paths, indexes, strict=True)
    ]
    return DataLoader(ChainDataset(parts), batch_size=pipelines.BATCH, num_workers=WORKERS)


def _tfrecord_index(path: Path, settings: Settings) -> Path:
    """The tfrecord package's index of a file."""
    index = scratch(settings.scale) / f"{path.stem}.tfindex"
    importlib.import_module("tfrecord.tools.tfrecord2idx").create_index(str(path), str(index))
    return index


def contenders(settings: Settings) -> list[Contender]:
    """A into an empty loop."""
    data = dataset("A", settings.scale)
    len(tfr.RecordFiles(list(data.plain)))  # makes the indexes
    ways = {
        LOADER: partial(_loader, data.plain),
        LOADER_SHUFFLED: partial(_loader, data.plain, shuffled=True),
        MAP: partial(_map_loader, data.plain),
        MAP_SHUFFLED: partial(_map_loader, data.plain, shuffled=True),
        ITERABLE: partial(_iterable_loader, data.plain),
    }

    def make(name: str, way: Any, files: int = 1, **options: Any) -> Contender:
        """Drain what `way` builds, of all files or of one of several."""
        amount = {"records": data.records // files, "bytes": data.stream_bytes // files}
        return Contender(name, lambda: _drain(way(), "label"), "records", **amount, **options)

    out = [make(name, way) for name, way in ways.items()]
    if rivals.installed("tfrecord"):
        first = data.plain[:1]
        theirs = partial(_tfrecord_loader, first, [_tfrecord_index(path, settings) for path in first])
        out.append(make(TFRECORD, theirs, len(data.plain), at_most=3))
    return out


def peak(settings: Settings, *, kind: str) -> dict[str, float]:
    """Run an epoch in the order of `global_shuffle` once; the peak of this process, and what is mapped then, in MB."""
    paths = dataset(kind, settings.scale).plain
    _drain(photos(paths, shuffled=True) if kind == "B" else _loader(paths, shuffled=True), "label")
    return {"peak_mb": peak_mb(), "mapped_mb": _mapped_mb()}


def _mapped_mb() -> float:
    """Pages of mapped files that count as this process's memory, in MB; 0 where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("RssFile:"))


def _report_memory(report: Report, settings: Settings) -> None:
    alone = in_child("memory", "import_torch", settings, cores=2)
    peaks = {kind: in_child("training_torch", "peak", settings, cores=2, kind=kind) for kind in ("A", "B")}
    rows = [["import torch", f"{alone:.0f}", ""]]
    rows += [
        [f"an epoch of {kind}, global_shuffle", f"{found['peak_mb']:.0f}", f"{found['mapped_mb']:.0f}"]
        for kind, found in peaks.items()
    ]
    report.add_table("Peak memory", ["process", "MB", "MB of files mapped at the end"], rows)
    for kind, found in peaks.items():
        text = f"Peak memory of an epoch of {kind} beyond torch"
        report.add_claim(Claim(text, found["peak_mb"] - alone, LIMIT_MB, unit="MB", sense="at most"))


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("training_torch")
    named = by_name(results := in_child("training_torch", "photo_contenders", settings, cores=2))
    report.add_results(f"Photos B to {SIDE} x {SIDE} into a loop of torch, 2 cores", results)
    for name, required in ((PHOTOS, 1.7), (PHOTOS_QUICK, None)):
        report.ratio("Photos B into torch", named[name], [named[PILLOW], named[PILLOW_BATCHES]], required)
    named = by_name(results := in_child("training_torch", "contenders", settings, cores=2))
    report.add_results("A into a loop of torch, batches of 1,024, 2 cores", results)
    if TFRECORD in named:
        for name, required in ((MAP, 3.0), (LOADER, 10.0), (LOADER_SHUFFLED, None), (ITERABLE, None)):
            report.ratio("A into torch", named[name], [named[TFRECORD]], required)
    report.ratio("A into torch", named[LOADER_SHUFFLED], [named[LOADER]], None)
    report.ratio("A into torch", named[MAP_SHUFFLED], [named[MAP]], None)
    _report_memory(report, settings)
    return report
