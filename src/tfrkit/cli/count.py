"""`tfr count`: how many records files have."""

from __future__ import annotations

from typing import Annotated

import typer

from tfrkit.cli.arguments import Json, ShardPathsOrStdin, opened, shard_files
from tfrkit.cli.console import out, out_json, plain, table
from tfrkit.errors import OpError

app = typer.Typer(rich_markup_mode=None)


@app.command()
def count(
    paths: ShardPathsOrStdin,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Believe neither index nor manifest: read the length of each record."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Count the records of files.

    At once where there is an index or a manifest, else by reading the length of each record.

    Example: tfr count 'out/train-*.tfrecord'
    """
    files = shard_files(paths, stdin=True)
    counts = _count_all(files, exact)
    total = sum(number for number in counts if isinstance(number, int))
    good = [(number, path) for number, path in zip(counts, files, strict=True) if isinstance(number, int)]
    if as_json:
        listed = [{"path": path, "records": number} for number, path in good]
        out_json({"files": listed, "records": total})
    elif len(counts) == 1:
        for number, _ in good:
            out(str(number))
    else:
        whole = "total" if len(good) == len(counts) else f"total without {len(counts) - len(good)} damaged"
        table(
            ["records", "file"],
            [*((number, plain(path)) for number, path in good), (total, whole)],
            numbers=[0],
        )
    for failed in counts:
        if not isinstance(failed, int):
            raise failed


def _count_all(files: list[str], exact: bool) -> list[int | OpError]:
    """Count files, several at once; an error stands in the place of its file."""
    from tfrkit.records.count import count_records

    def one(path: str, threads: int | None = 1) -> int | OpError:
        try:
            return count_records(opened([path])[0], exact=exact, threads=threads)
        except OpError as error:
            return error

    if len(files) == 1:
        return [one(files[0], None)]
    from tfrkit.records.pool import thread_pool

    return list(thread_pool().map(one, files))
