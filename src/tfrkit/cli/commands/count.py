"""`tfr count`: how many records files have."""

from __future__ import annotations

from dataclasses import asdict

import typer

from tfrkit.build.job.job_options import DamageOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import STDIN, found_shards, opened, tell_problems
from tfrkit.cli.console import BAD_DATA, out, out_json, plain, say, say_skipped, table
from tfrkit.cli.options import command
from tfrkit.options import option, option_class
from tfrkit.stores.files import file_sizes


@option_class
class CountOptions(DamageOptions, arg.JsonOptions, arg.SplitChoice):
    """The options of `tfr count`."""

    exact: bool = option(False, "Believe neither index nor manifest: read the length of each record.")


@command("count")
def count(paths: arg.ShardPathsOrStdin, options: CountOptions) -> None:
    """Count the records of files.

    At once where there is an index or a manifest, else by reading the length of each record. Exits with 1, after the
    numbers of what is there, if a file is damaged or a set is not complete: `tfr verify` says all about it. With
    --on-corrupt skip or stop, all data is read and checked, and the records that a reader would return are counted;
    standard error says how many damages were skipped.

    Example: tfr count 'out/train-*.tfrecord'
    """
    from tfrkit.records.access.count import count_files

    found = found_shards(paths, stdin=True, split=options.split)
    files = [path if isinstance(path, str) else STDIN for path in found.files]
    damages: list[int] = []
    counts = count_files(
        opened(files), exact=options.exact, on_corrupt=options.on_corrupt, skipped=damages.append
    )
    total = sum(number for number in counts if isinstance(number, int))
    good = [(number, path) for number, path in zip(counts, files, strict=True) if isinstance(number, int)]
    known = [(number, path) for number, path in good if path in found.expected]
    for (number, path), size in zip(known, file_sizes(path for _, path in known), strict=True):
        if differs := found.difference(path, number, size):
            found.problems.append(differs)
    if options.as_json:
        listed = [{"path": path, "records": number} for number, path in good]
        more = {"skipped": sum(damages), "problems": [asdict(problem) for problem in found.problems]}
        out_json({"files": listed, "records": total, **{name: some for name, some in more.items() if some}})
    elif len(counts) == 1:
        for number, _ in good:
            out(str(number))
    else:
        whole = "total" if len(good) == len(counts) else f"total without {len(counts) - len(good)} damaged"
        whole += " of a set that is not complete" if found.problems else ""
        table(
            ["records", "file"],
            [*((number, plain(path)) for number, path in good), (total, whole)],
            numbers=[0],
        )
    if options.on_corrupt == "skip":
        say_skipped(sum(damages))
    tell_problems(found.problems)
    if found.unlisted:
        say(f"not counted, because the manifest does not name them: {', '.join(map(plain, found.unlisted))}")
    for failed in counts:
        if not isinstance(failed, int):
            raise failed
    if found.problems:
        raise typer.Exit(BAD_DATA)
