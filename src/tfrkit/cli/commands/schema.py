"""`tfr schema`: what is in the records, and how to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import STDIN, opened, shard_files
from tfrkit.cli.console import UsageError, out, say
from tfrkit.cli.progress import progress_bar
from tfrkit.stores.files import file_sizes

if TYPE_CHECKING:
    from tfrkit.records.describe.schema import Schema


def schema(
    paths: arg.ShardPathsOrStdin,
    count: Annotated[
        int | None,
        typer.Option("-n", "--count", min=1, help="Look at this many records only, spread over the files."),
    ] = None,
    as_json: arg.Json = False,
    python: Annotated[bool, typer.Option("--python", help="Print a program that reads the files.")] = False,
    tensorflow: Annotated[
        bool, typer.Option("--tensorflow", help="Print such a program for TensorFlow.")
    ] = False,
    threads: arg.Threads = None,
    on_corrupt: arg.OnCorrupt = "raise",
    quiet: arg.Quiet = False,
) -> None:
    """Show what is in the records: features, kinds, values.

    With --python or --tensorflow, a program with the spec that reads them.

    Example: tfr schema train.tfrecord --python > read_train.py
    """
    if as_json + python + tensorflow > 1:
        raise UsageError("expected one of --json, --python, --tensorflow", "choose one.")
    files = shard_files(paths, stdin=True)
    found = _inspect(files, count, threads, on_corrupt, quiet)
    if as_json:
        out(found.to_json())
    elif python or tensorflow:
        from tfrkit.cli.reading_code import reading_code

        for feature in found.conflicts:
            say(f"note: left out: feature {feature.conflict()}")
        compression = _compression(files) if tensorflow else ""
        out(reading_code(found, tensorflow=tensorflow, compression=compression).rstrip())
    else:
        out(str(found))


def _compression(files: list[str]) -> str:
    """Return the compression of files, which TensorFlow needs to know."""
    from tfrkit.codecs.table import codec
    from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
    from tfrkit.stores.files import open_source

    kinds = {sniff_compression(open_source(path).peek(HEAD_BYTES)) for path in files if path != STDIN} or {""}
    if len(kinds) > 1:
        say("note: the files are compressed in different ways, which TensorFlow cannot read in one go")
    elif not all(codec(kind).tensorflow for kind in kinds):
        say(f"note: TensorFlow cannot read {min(kinds)}; `tfr compress` makes files that it can")
    return max(kinds)


def _inspect(
    files: list[str], count: int | None, threads: int | None, on_corrupt: Any, quiet: bool
) -> Schema:
    from tfrkit.records.describe.inspect import inspect

    total = sum(file_sizes(path for path in files if path != STDIN)) if count is None else 0
    done = 0
    with progress_bar("schema", total, quiet=quiet) as advance:

        def progress(_records: int, data_bytes: int) -> None:
            nonlocal done
            advance(data_bytes - done)
            done = data_bytes

        return inspect(opened(files), count, threads=threads, on_corrupt=on_corrupt, progress=progress)
