"""`tfr head` and `tfr cat`: the first records of files, some at random, or all, as text or as JSON."""

from __future__ import annotations

from tfrkit.build.job.job_options import DamageOptions
from tfrkit.cli.arguments import (
    JsonOptions,
    KeyOptions,
    ProtoOptions,
    ShardPathsOrStdin,
    SplitChoice,
    data_files,
)
from tfrkit.cli.console import CommandError, UsageError, out, plain, say, to_json
from tfrkit.cli.options import command
from tfrkit.options import option, option_class


@option_class
class ShowOptions(KeyOptions, ProtoOptions, JsonOptions, DamageOptions, SplitChoice):
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


@option_class
class HeadOptions(ShowOptions):
    """The options of `tfr head`."""

    count: int = option(5, "How many records.", "-n", "--count", least=0)


@option_class
class CatOptions(ShowOptions):
    """The options of `tfr cat`."""

    count: int | None = option(None, "How many records; all by default.", "-n", "--count", least=0)


@command("head")
def head(paths: ShardPathsOrStdin, options: HeadOptions) -> None:
    """Show the first records of files, or some at random.

    Example: tfr head train.tfrecord -n 2 --key label
    """
    _show(paths, options.count, options)


@command("cat")
def cat(paths: ShardPathsOrStdin, options: CatOptions) -> None:
    """Show all records of files.

    Example: tfr cat 'train-*.tfrecord' --json --key label
    """
    _show(paths, options.count, options)


def _show(paths: list[str], count: int | None, options: ShowOptions) -> None:
    """Print records.

    Args:
        paths: files, globs, folders or "-".
        count: how many; None for all.
        options: which, and how.
    """
    message = options.message_type()
    given = data_files(paths, stdin=True, split=options.split)
    files = given.paths
    from tfrkit.cli.chosen_blocks import first_blocks, random_blocks
    from tfrkit.cli.shown import as_json as json_of
    from tfrkit.cli.shown import as_lines
    from tfrkit.records.read.decoded_record import decode_records

    blocks = (
        random_blocks(files, options.skip, count, options.seed)
        if options.random
        else first_blocks(files, options.skip, count, options.on_corrupt)
    )
    decode = decode_records if message is None else message.decode
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
                    record, full=options.full, chosen=bool(options.keys), class_names=given.class_names
                )
                out("\n".join(lines if not shown else ["", *lines]))
            shown += 1
    if not shown and count != 0:
        say("no records")
    if missing and there:
        raise _no_such_feature(min(missing), there)


def _no_such_feature(name: str, there: set[str]) -> CommandError:
    import difflib

    near = difflib.get_close_matches(name, there, 1)
    first = f"did you mean {near[0]!r}? The" if near else "the"
    names = [repr(plain(other)) for other in sorted(there)]
    shown = ", ".join(names if len(names) <= 10 else [*names[:10], "..."])
    return UsageError(f"no record shown has a feature {name!r}", f"{first} first record has {shown}.")
