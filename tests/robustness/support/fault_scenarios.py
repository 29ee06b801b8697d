"""What is done while the disk fails: small builds, appends, overwrites and exports, each in a folder of its own.

Everything that `prepare` makes is there before; `work` is the command, and the same command again must end in what it
gives undisturbed. Both write below `folder/out`; inputs are in `folder/in`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

import tfrkit as tfr
from tfrkit.cli.main import run

OLD = [b"old %d:" % number + b"abcdefgh" * (number * 7 % 40) for number in range(300)]
NEW = [b"new %d:" % number + b"hgfedcba" * (number * 11 % 50) for number in range(400)]


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is there before, the command, and what its output is: a set of shards, one file, or an export.

    What is there before is a whole state too, unless `whole` is false.
    """

    kind: Literal["set", "file", "export"]
    prepare: Callable[[Path], object]
    work: Callable[[Path], object]
    whole: bool = True


def command(*arguments: object) -> int:
    return run([str(argument) for argument in arguments])


def done(*arguments: object) -> None:
    assert command(*arguments) == 0


def rows(folder: Path, files: int = 2, count: int = 40) -> None:
    (folder / "in").mkdir(parents=True, exist_ok=True)
    (folder / "out").mkdir(exist_ok=True)
    for number in range(files):
        lines = [b'{"id": %d, "text": "%s"}\n' % (row, b"ab" * (row % 9)) for row in range(count + number)]
        (folder / "in" / f"{number}.jsonl").write_bytes(b"".join(lines) + b"{bad\n")


def table(folder: Path, *options: object) -> int:
    pattern = folder / "in" / "*.jsonl"
    return command(
        "build", "table", pattern, folder / "out", "--shards", 2, "--workers", 2, "--quiet", *options
    )


def older_set(folder: Path) -> None:
    """A set of three shards under the same prefix, of other rows."""
    rows(folder, files=3, count=25)
    done("build", "table", folder / "in" / "*.jsonl", folder / "out", "--shards", 3, "--quiet")
    for path in (folder / "in").iterdir():
        path.unlink()
    rows(folder)


def lost_shard(folder: Path) -> None:
    rows(folder)
    assert table(folder) == 0
    (folder / "out" / "data-00001-of-00002.tfrecord").unlink()


def photos(folder: Path, count: int = 9) -> None:
    (folder / "out").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / "in" / f"class {number % 3}" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tfr.image.encode_png(np.full((5, 6, 3), number, np.uint8)))


def images(folder: Path, *options: object) -> int:
    split = ("--split", "train=0.7,validation=0.3", "--shards", 1)
    return command(
        "build", "images", folder / "in", folder / "out", *split, "--workers", 2, "--quiet", *options
    )


def older_photos(folder: Path) -> None:
    photos(folder, 6)
    assert images(folder) == 0
    photos(folder)


def empty(folder: Path) -> None:
    (folder / "in").mkdir(parents=True)
    (folder / "out").mkdir()


def old_file(name: str, **options: object) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        empty(folder)
        with tfr.TFRecordWriter(folder / "out" / name, **options) as writer:  # type: ignore[arg-type]
            writer.write_many(OLD)

    return prepare


def append(name: str, **options: object) -> Callable[[Path], None]:
    """Write what is missing of OLD and NEW: the writer says how many records are there."""

    def work(folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
            writer = tfr.TFRecordWriter(folder / "out" / name, append=True, **options)  # type: ignore[arg-type]
        with writer:
            rest = (OLD + NEW)[writer.records :]
            writer.write_many(rest[:100])
            writer.flush()
            writer.write_many(rest[100:])

    return work


def shards(folder: Path, records: list[bytes], count: int, **options: object) -> None:
    with tfr.ShardWriter(folder / "out" / "train", shards=count, **options) as writer:  # type: ignore[arg-type]
        writer.write_many(records)


def old_shards(folder: Path) -> None:
    empty(folder)
    shards(folder, OLD, 3)


def examples(folder: Path, count: int, first: int = 0) -> None:
    for shard in range(2):
        with tfr.TFRecordWriter(folder / "in" / f"{shard}.tfrecord") as writer:
            for number in range(first, first + count):
                image = tfr.image.encode_png(np.full((4, 4, 3), number % 250, np.uint8))
                features = {"image": image, "label": number % 2, "name": f"{shard}-{number}"}
                writer.write_example(features)


def export(kind: str, target: str, *options: object) -> Callable[[Path], int]:
    def work(folder: Path) -> int:
        inputs = folder / "in" / "*.tfrecord"
        return command("export", kind, inputs, folder / "out" / target, "--overwrite", "--quiet", *options)

    return work


def older_export(work: Callable[[Path], int]) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        empty(folder)
        examples(folder, 5)
        assert work(folder) == 0
        examples(folder, 8, first=3)

    return prepare


def exporting(kind: str, target: str, *options: object) -> Scenario:
    work = export(kind, target, *options)
    return Scenario("export", older_export(work), work)


def reshard(folder: Path) -> int:
    inputs = folder / "in" / "*.tfrecord"
    return command("reshard", inputs, folder / "out" / "data", "--shards", 3, "--quiet")


def frames(folder: Path) -> None:
    empty(folder)
    for number in range(2):
        with tfr.TFRecordWriter(folder / "in" / f"{number}.tfrecord") as writer:
            writer.write_many(OLD if number else NEW)


def damaged(folder: Path) -> None:
    frames(folder)
    path = folder / "in" / "0.tfrecord"
    data = bytearray(path.read_bytes())
    data[5000] ^= 0xFF
    path.write_bytes(data)


def damaged_set(folder: Path) -> None:
    old_shards(folder)
    path = folder / "out" / "train-00001-of-00003.tfrecord"
    data = bytearray(path.read_bytes())
    data[5000] ^= 0xFF
    path.write_bytes(data)


def repair_in_place(folder: Path) -> int:
    return command("repair", folder / "out", "--replace", "--quiet")


def repair(folder: Path) -> None:
    tfr.repair(folder / "in" / "0.tfrecord", folder / "out" / "mended.tfrecord")


SCENARIOS = {
    "table": Scenario("set", rows, table),
    "table shuffled": Scenario("set", rows, lambda folder: table(folder, "--shuffle")),
    "table over another": Scenario("set", older_set, lambda folder: table(folder, "--overwrite")),
    "table shuffled over another": Scenario(
        "set", older_set, lambda folder: table(folder, "--overwrite", "--shuffle")
    ),
    "table with a lost shard": Scenario("set", lost_shard, table, whole=False),
    "photos": Scenario("set", photos, images),
    "photos over others": Scenario("set", older_photos, lambda folder: images(folder, "--overwrite")),
    "reshard": Scenario("set", frames, reshard),
    "shards": Scenario("set", empty, lambda folder: shards(folder, NEW, 2, overwrite=True)),
    "shards over others": Scenario("set", old_shards, lambda folder: shards(folder, NEW, 2, overwrite=True)),
    "append": Scenario("file", old_file("a.tfrecord"), append("a.tfrecord")),
    "append gzip": Scenario("file", old_file("a.tfrecord.gz"), append("a.tfrecord.gz")),
    "append with index": Scenario(
        "file", old_file("a.tfrecord", index=True), append("a.tfrecord", index=True)
    ),
    "append atomically": Scenario("file", old_file("a.tfrecord"), append("a.tfrecord", atomic=True)),
    "append zlib": Scenario(
        "file", old_file("a", compression="ZLIB"), append("a", compression="ZLIB", atomic=True)
    ),
    "repair": Scenario("export", damaged, repair),
    "repair in place": Scenario("set", damaged_set, repair_in_place, whole=False),
    "export parquet": exporting("parquet", "a.parquet"),
    "export csv": exporting("csv", "a.csv"),
    "export jsonl": exporting("jsonl", "a.jsonl"),
    "export images": exporting("images", "photos"),
}
