"""What `tfr head` and `tfr cat` do: choose records and print them, as text or as JSON."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from tfrkit.cli.arguments import shard_files
from tfrkit.cli.console import CommandError, UsageError, out, plain, say, style, to_json
from tfrkit.model.policy import OnCorrupt

Random: TypeAlias = Annotated[
    bool, typer.Option("--random", help="Choose at random, from all files; uses their indexes.")
]
RandomSeed: TypeAlias = Annotated[
    int | None, typer.Option("--seed", help="The same seed chooses the same records.", show_default=False)
]
Full: TypeAlias = Annotated[
    bool, typer.Option("--full", help="Leave nothing out: long lists, long texts, bytes that are no text.")
]


def show_records(
    paths: list[str],
    count: int | None,
    skip: int,
    keys: list[str] | None,
    random: bool,
    seed: int | None,
    full: bool,
    as_json: bool,
    on_corrupt: OnCorrupt,
) -> None:
    """Print records.

    Args:
        paths: files, globs, folders or "-".
        count: how many; None for all.
        skip: how many are left out first.
        keys: only these features.
        random: choose from everywhere.
        seed: by which they are chosen.
        full: leave nothing out.
        as_json: one JSON object a line.
        on_corrupt: what to do about damage.
    """
    files = shard_files(paths, stdin=True)
    from tfrkit.cli.decoded import decode, first_blocks, random_blocks
    from tfrkit.cli.shown import as_json as json_of
    from tfrkit.cli.shown import as_lines

    if seed is not None and not random:
        raise UsageError("--seed needs --random", "pass both, or neither.")
    blocks = (
        random_blocks(files, skip, count, seed) if random else first_blocks(files, skip, count, on_corrupt)
    )
    wanted = frozenset(keys) if keys else None
    missing = set(wanted or ())
    there: set[str] = set()
    shown = 0
    for block in blocks:
        if missing and not there:
            there = set().union(*(record.names for record in decode(block[:1], None)))
        for record in decode(block, wanted):
            missing -= record.names
            if as_json:
                out(to_json(json_of(record, full=full)))
            else:
                lines = as_lines(record, full=full, chosen=bool(keys), key_style=_key, head_style=_head)
                out("\n".join(lines if not shown else ["", *lines]))
            shown += 1
    if not shown and count != 0:
        say("no records")
    if missing and there:
        raise _no_such_feature(min(missing), there)


def _key(text: str) -> str:
    return style(text, fg="cyan")


def _head(text: str) -> str:
    return style(text, bold=True)


def _no_such_feature(name: str, there: set[str]) -> CommandError:
    import difflib

    near = difflib.get_close_matches(name, there, 1)
    names = ", ".join(repr(plain(other)) for other in sorted(there)[:10]) + (
        ", ..." if len(there) > 10 else ""
    )
    hint = (
        f"did you mean {near[0]!r}? The first record has {names}."
        if near
        else f"the first record has {names}."
    )
    return UsageError(f"no record shown has a feature {name!r}", hint)
