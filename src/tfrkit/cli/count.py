"""`tfr count`: how many records files have."""

from __future__ import annotations

from typing import Annotated

import typer

from tfrkit.cli.console import out, out_json, table

app = typer.Typer(rich_markup_mode=None)


@app.command()
def count(
    paths: Annotated[list[str], typer.Argument(help="Files or globs.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Count the records of files: at once where there is an index, else by reading the length of each.

    Example: tfr count 'out/train-*.tfrecord'
    """
    from tfrkit.cli.arguments import shard_files
    from tfrkit.records.record_file import RecordFile

    counts = []
    for path in shard_files(paths):
        with RecordFile(str(path)) as file:
            counts.append((str(path), len(file)))
    total = sum(number for _, number in counts)
    if as_json:
        out_json({"files": [{"path": path, "records": number} for path, number in counts], "records": total})
    elif len(counts) == 1:
        out(str(total))
    else:
        table(
            ["records", "file"], [*((number, path) for path, number in counts), (total, "total")], numbers=[0]
        )
