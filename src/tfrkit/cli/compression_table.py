"""`tfr compress --table`: what each compression would give, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from tfrkit.cli.console import BAD_DATA, CommandError, out, out_json, say, table

__all__ = ["show_compressions"]


def show_compressions(paths: Sequence[str], sample_bytes: int, *, as_json: bool, quiet: bool) -> None:
    """Measure on a sample and print."""
    from tfrkit.build.reshape.compression_table import measure_compressions
    from tfrkit.build.reshape.frame_input import frame_input
    from tfrkit.cli.arguments import shard_files
    from tfrkit.cli.progress import number_text, size_text
    from tfrkit.errors import InvalidArgumentError

    def started(name: str) -> None:
        if not quiet:
            say(f"measuring {name}")

    with frame_input(shard_files(paths, stdin=True)) as given:
        try:
            records, size, rows = measure_compressions(given, sample_bytes, started)
        except InvalidArgumentError as error:
            raise CommandError(error.message, exit_code=BAD_DATA) from error
    if as_json:
        out_json({"records": records, "bytes": size, "compressions": [row.to_dict() for row in rows]})
        return
    table(
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
    out(f"measured on the first {number_text(records)} records, {size_text(size)}")
