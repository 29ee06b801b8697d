"""`tfr demo`: the main workflow from end to end on photos that it draws, and the speed of each step."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer

from tfrkit.cli.console import CommandError, UsageError, out, say, table
from tfrkit.cli.options import command
from tfrkit.options import OptionSet, option, option_class

_SIZE = (96, 96)
_BATCH = 64


@option_class
class DemoOptions(OptionSet):
    """The options of `tfr demo`."""

    photos: int = option(1200, "How many photos.", least=8)


@command("demo")
def demo(
    folder: Annotated[
        str | None,
        typer.Argument(
            help="A local folder to keep everything in; by default nothing stays.", show_default=False
        ),
    ] = None,
    *,
    options: DemoOptions,
) -> None:
    """Show the main workflow, from photos to batches.

    A zip of photos becomes shards, which are checked, looked into and read as batches.

    Example: tfr demo
    """
    import shlex
    import tempfile

    kept = None if folder is None else contextlib.nullcontext(_new(folder))
    with kept or tempfile.TemporaryDirectory(prefix="tfrkit-demo-") as place, contextlib.chdir(place):
        _Tour(options.photos).run()
    look = shlex.join([_program(), "view", os.path.join(folder or "FOLDER", "out")])
    sys.stdout.flush()
    say(
        f"\nlook at them in a browser: {look}"
        if folder
        else f"\n`tfr demo FOLDER` keeps them, to look at: {look}"
    )


def _program() -> str:
    """Return what a user has to type to call this command."""
    import shutil

    return "tfr" if shutil.which("tfr") else sys.argv[0]


def _new(folder: str) -> str:
    """Make a folder, which must be new or empty."""
    from tfrkit.stores.files import traits_of
    from tfrkit.stores.url import local_path

    if not traits_of(folder).local:
        raise UsageError(
            f"{folder}: the tour works in a local folder",
            "name a local one; `tfr build images photos.zip URL` writes to a store.",
        )
    os.makedirs(local_path(folder), exist_ok=True)
    if os.listdir(local_path(folder)):
        raise CommandError(f"{folder}: expected an empty folder but it is not empty", "name a new one.")
    return local_path(folder)


class _Tour:
    """The steps, each timed."""

    def __init__(self, photos: int) -> None:
        self._photos = photos
        self._rates: list[tuple[str, str, str]] = []

    def run(self) -> None:
        """Make photos, build shards, look at them, read batches."""
        from tfrkit.cli.demo_photos import CLASSES, write_photos

        say(f"{self._photos:,} photos of 500 x 375, drawn and put into photos.zip:")
        self._time("draw the photos", lambda: write_photos("photos.zip", self._photos))
        say(f"  folders {', '.join(CLASSES)}; {os.path.getsize('photos.zip') / 1e6:.0f} MB")
        split = "train=0.9,validation=0.1"
        self._command("build", "images", "photos.zip", "out", "--split", split, "--shards", "4", "--quiet")
        self._command("verify", "out")
        self._command("schema", "out")
        self._command("stats", "out", "--key", "image/text", "--key", "image/label")
        self._command("head", "out", "-n", "1")
        say(f"\nshuffled batches of {_BATCH} photos, {_SIZE[0]} x {_SIZE[1]}:")
        self._time("read batches", self._read, passes=0.9)
        out()
        table(["step", "seconds", "photos/s"], self._rates, numbers=[1, 2])

    def _time(self, what: str, step: Callable[[], object], passes: float = 1) -> None:
        start = time.perf_counter()
        step()
        seconds = time.perf_counter() - start
        self._rates.append((what, f"{seconds:.2f}", f"{passes * self._photos / seconds:,.0f}"))

    def _command(self, *arguments: str) -> None:
        """Run a command as the user would, in this process."""
        from tfrkit.cli.main import run

        shown = [f"'{argument}'" if "," in argument else argument for argument in arguments]
        say(f"\n$ tfr {' '.join(shown)}")
        sys.stderr.flush()

        def step() -> None:
            if code := run(list(arguments)):
                raise typer.Exit(code)

        self._time(f"tfr {' '.join(arguments[:2]) if arguments[0] == 'build' else arguments[0]}", step)
        sys.stdout.flush()

    def _read(self) -> None:
        from collections import Counter

        from tfrkit.data.sources.records_dataset import TFRecordDataset
        from tfrkit.model.specs import FixedLenFeature

        spec = {"image/encoded": FixedLenFeature([], "bytes"), "image/label": FixedLenFeature([], "int64")}
        photos = TFRecordDataset("out/train-*.tfrecord").shuffle(512, seed=1).parse(spec)
        batches = photos.decode_image("image/encoded", size=_SIZE).batch(_BATCH).prefetch(2)
        counts: Counter[int] = Counter()
        for number, batch in enumerate(batches):
            images, labels = batch["image/encoded"], batch["image/label"].tolist()
            counts.update(labels)
            if number < 3:
                say(f"  {images.dtype} {images.shape}, labels {' '.join(map(str, labels[:16]))} ...")
        say(f"  ... photos of each label: {dict(sorted(counts.items()))}")
