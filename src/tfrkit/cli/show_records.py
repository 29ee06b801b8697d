"""What `tfr head` and `tfr cat` do: choose records and print them, as text or as JSON."""

from __future__ import annotations

from tfrkit.build.job.job_options import DamageOptions
from tfrkit.cli.arguments import JsonOptions, KeyOptions, shard_files
from tfrkit.cli.console import CommandError, UsageError, out, plain, say, style, to_json
from tfrkit.options import option, option_class


@option_class
class ShowOptions(KeyOptions, JsonOptions, DamageOptions):
    """What `tfr head` and `tfr cat` share."""

    skip: int = option(0, "Skip this many records first.", least=0)
    random: bool = option(False, "Choose at random, from all files; uses their indexes.")
    seed: int | None = option(None, "The same seed chooses the same records.")
    full: bool = option(False, "Leave nothing out: long lists, long texts, bytes that are no text.")

    def __post_init__(self) -> None:
        """Check that a seed has an effect."""
        super().__post_init__()
        if self.seed is not None and not self.random:
            raise UsageError("--seed needs --random", "pass both, or neither.")


def show_records(paths: list[str], count: int | None, options: ShowOptions) -> None:
    """Print records.

    Args:
        paths: files, globs, folders or "-".
        count: how many; None for all.
        options: which, and how.
    """
    files = shard_files(paths, stdin=True)
    from tfrkit.cli.decoded import decode, first_blocks, random_blocks
    from tfrkit.cli.shown import as_json as json_of
    from tfrkit.cli.shown import as_lines

    blocks = (
        random_blocks(files, options.skip, count, options.seed)
        if options.random
        else first_blocks(files, options.skip, count, options.on_corrupt)
    )
    wanted = frozenset(options.keys) if options.keys else None
    missing = set(wanted or ())
    there: set[str] = set()
    shown = 0
    for block in blocks:
        if missing and not there:
            there = set().union(*(record.names for record in decode(block[:1], None)))
        for record in decode(block, wanted):
            missing -= record.names
            if options.as_json:
                out(to_json(json_of(record, full=options.full)))
            else:
                lines = as_lines(
                    record, full=options.full, chosen=bool(options.keys), key_style=_key, head_style=_head
                )
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
