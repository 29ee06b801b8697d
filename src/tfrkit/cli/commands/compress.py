"""`tfr compress`: another compression, and what each would give."""

from __future__ import annotations

from typing import Annotated

from tfrkit.build.reshape.frame_options import CompressOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import shard_files
from tfrkit.cli.console import CommandError, UsageError, out_json, say
from tfrkit.cli.console import out as print_line
from tfrkit.cli.console import table as print_table
from tfrkit.cli.frame_command import run_command
from tfrkit.cli.options import command
from tfrkit.options import OptionSet, option, option_class, size_bytes


@option_class
class MeasureOptions(OptionSet):
    """What only the command has."""

    table: bool = option(False, "Write nothing; measure what each compression would give on a sample.")
    sample_size: int = option(
        32_000_000,
        "How much --table takes from the beginning of the inputs.",
        metavar="SIZE",
        read=size_bytes,
        least=1,
    )


@command("compress")
def compress(
    paths: Annotated[
        list[str],
        arg.positional(
            "INPUT... OUT",
            "Files, globs, folders of shards, or - for standard input; then the folder to write to, or for one "
            "input the file. With --table only inputs.",
        ),
    ],
    measured: MeasureOptions,
    options: CompressOptions,
    printed: arg.FramePrintOptions,
) -> None:
    """Write files with another compression.

    GZIP by default; --table shows what each compression would give. Frames are copied as they are; their checksums
    are checked. TensorFlow reads none, gzip and zlib; gzip is written in members, which are read on all cores and
    from any record on.

    Example: tfr compress 'in/*.tfrecord' small --compression zstd --level 9
    """
    if measured.table:
        _show_table(paths, measured.sample_size, printed)
        return
    from tfrkit.build.reshape.compress import plan_compress

    *inputs, out = paths
    if not inputs:
        raise UsageError(
            "expected inputs and an output but got one path",
            f"say `tfr compress {out} FOLDER`, or `tfr compress --table {out}` to measure.",
        )
    run_command(plan_compress, inputs, out, options, printed)


def _show_table(paths: list[str], sample_bytes: int, printed: arg.FramePrintOptions) -> None:
    """Measure what each compression gives on a sample, and print it."""
    from tfrkit.build.reshape.compression_table import measure_compressions
    from tfrkit.build.reshape.frame_input import frame_input
    from tfrkit.cli.progress import size_text
    from tfrkit.errors import InvalidArgumentError

    def started(name: str) -> None:
        if not printed.quiet:
            say(f"measuring {name}")

    with frame_input(shard_files(paths, stdin=True, split=printed.split)) as given:
        try:
            records, size, rows = measure_compressions(given, sample_bytes, started)
        except InvalidArgumentError as error:
            raise CommandError(error.message) from error
    if printed.as_json:
        out_json({"records": records, "bytes": size, "compressions": [row.to_dict() for row in rows]})
        return
    print_table(
        ("compression", "level", "size", "ratio", "write MB/s", "read MB/s", "TensorFlow reads it"),
        [
            (
                row.compression,
                "default" if row.level is None else row.level,
                size_text(row.bytes),
                f"{row.ratio:.2f}",
                f"{row.write_rate / 1e6:.0f}",
                f"{row.read_rate / 1e6:.0f}",
                "yes" if row.tensorflow else "no",
            )
            for row in rows
        ],
        numbers=(2, 3, 4, 5),
    )
    print_line(f"measured on the first {records:,} records, {size_text(size)}")
