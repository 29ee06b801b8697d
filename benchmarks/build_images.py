"""Claims: `tfr build images` of a folder at 0.4 x `cp -r` and 2 x the seed's program; of a zip at 0.8 x the folder.

20,000 JPEG files of 37 kB in 20 class folders, all different, into 8 shards; whole commands with their start-up on two
cores, into a new folder each time. `tfr` syncs its files to the disk, `cp` and the seed's program do not. The zip is
stored, as photos are by programs that know that JPEG does not shrink; a deflated one is measured too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.data import folder, scratch
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child
from benchmarks.samples import JPEG_QUALITY, SMALL, pictures

PHOTOS = 20_000
CLASSES = 20
DISTINCT = 200
LIMIT_MB = 500.0
COPY = "cp -r"
FOLDER = "tfr build images, folder"
ZIP = "tfr build images, stored zip"
DEFLATED = "tfr build images, deflated zip"
TAR = "tfr build images, tar"
STREAM = "tfr build images, tar.gz"
SEED = "the seed's program, TensorFlow"


def _photos(count: int) -> list[bytes]:
    """Different files: pictures that come again, each time with another comment."""
    from tfrkit.images.codecs.jpeg.jpeg_encode import encode_jpeg

    random = np.random.default_rng(6)
    pool = [encode_jpeg(picture, quality=JPEG_QUALITY) for picture in pictures(min(count, DISTINCT), SMALL)]
    made = []
    for number in range(count):
        comment = random.bytes(int(random.integers(8, 2000)))
        marker = b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment
        file = pool[number % len(pool)]
        made.append(file[:2] + marker + file[2:])
    return made


def _make(settings: Settings) -> tuple[Path, int, int]:
    """Make the files if they are not there; gives the folder above them, their number, and their bytes."""
    count = max(CLASSES, round(PHOTOS * settings.scale))
    place = folder(settings.scale) / "photos"
    photos = place / "photos"
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        for number, content in enumerate(_photos(count)):
            path = photos / f"class{number % CLASSES:03d}" / f"photo{number:06d}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        names = sorted(path.relative_to(place) for path in photos.rglob("*.jpg"))
        for kind, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
            with zipfile.ZipFile(place / f"{kind}.zip", "w", method) as archive:
                for name in names:
                    archive.write(place / name, str(name))
        subprocess.run(["tar", "-cf", "photos.tar", "photos"], cwd=place, check=True)
        subprocess.run(["tar", "-czf", "photos.tar.gz", "photos"], cwd=place, check=True)
        (place / "done").touch()
    return place, count, sum(path.stat().st_size for path in photos.rglob("*.jpg"))


def _run(command: list[str], count: int, place: Path) -> Callable[[], int]:
    """Run a command into a new folder each time: removing one takes time, too."""
    turn = 0

    def run() -> int:
        nonlocal turn
        turn += 1
        out = place / str(turn)
        out.mkdir(parents=True)
        subprocess.run(
            [str(out) if word == "OUT" else word for word in command], check=True, stdout=subprocess.DEVNULL
        )
        return count

    return run


def _build(source: Path) -> list[str]:
    return [sys.executable, "-m", "tfrkit", "build", "images", str(source), "OUT", "--shards", "8", "--quiet"]


def contenders(settings: Settings) -> list[Contender]:
    """Ours, a copy, and the seed's."""
    place, count, size = _make(settings)
    out = scratch(settings.scale) / "build_images"
    commands = {
        COPY: ["cp", "-r", str(place / "photos"), "OUT"],
        FOLDER: _build(place / "photos"),
        ZIP: _build(place / "stored.zip"),
        DEFLATED: _build(place / "deflated.zip"),
        TAR: _build(place / "photos.tar"),
        STREAM: _build(place / "photos.tar.gz"),
        SEED: [sys.executable, "-m", "benchmarks.photos_seed", "OUT", str(place / "photos")],
    }
    few = {DEFLATED: 2, TAR: 2, STREAM: 1, SEED: 3}
    return [
        Contender(
            name, _run(command, count, out / str(number)), "records", count, size, at_most=few.get(name)
        )
        for number, (name, command) in enumerate(commands.items())
    ]


def peak(settings: Settings, *, source: str) -> float:
    """Peak memory of the command, in MB."""
    place, _, _ = _make(settings)
    out = scratch(settings.scale) / "build_images" / f"peak-{source}"
    code = (
        "import sys; from benchmarks.memory import peak_mb; from tfrkit.cli.main import run; "
        "run(sys.argv[1:]); print(peak_mb())"
    )
    arguments = ["build", "images", str(place / source), str(out), "--shards", "8", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, text=True, stdout=subprocess.PIPE
    )
    return float(done.stdout.split()[-1])


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("build_images")
    try:
        results = in_child("build_images", "contenders", settings, cores=2)
        report.add_results("20,000 photos of 37 kB into 8 shards, 2 cores", results)
        named = by_name(results)
        report.ratio("Photos, 2 cores", named[FOLDER], [named[COPY]], 0.4)
        report.ratio("Photos, 2 cores", named[FOLDER], [named[SEED]], 2.0)
        report.ratio("Photos, 2 cores", named[ZIP], [named[FOLDER]], 0.8)
        report.ratio("Photos, 2 cores", named[DEFLATED], [named[FOLDER]], None)
        for source in ("photos", "stored.zip", "photos.tar.gz"):
            measured = in_child("build_images", "peak", settings, cores=2, source=source)
            text = f"Peak memory of tfr build images, {source}"
            report.add_claim(Claim(text, measured, LIMIT_MB, "MB", "at most"))
    finally:
        shutil.rmtree(scratch(settings.scale) / "build_images", ignore_errors=True)
    return report
