"""`tfr view`: what is in record files, in a browser."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import data_files, shard_files
from tfrkit.cli.console import UsageError, out, say
from tfrkit.cli.options import command
from tfrkit.options import option, option_class


@option_class
class ViewOptions(arg.ProtoOptions, arg.SplitChoice):
    """The options of `tfr view`."""

    compare: Sequence[str] | None = option(
        None,
        "Say what these have changed, as `tfr diff` does; may be given several times.",
        metavar="PATH",
        several=True,
    )
    where: str | None = option(None, "Begin with the records for which this holds, as `tfr select` has it.")
    host: str = option(
        "127.0.0.1", "Listen on this address; any but 127.0.0.1 lets others reach it.", metavar="ADDRESS"
    )
    port: int = option(0, "Listen on this port; 0: on any that is free.", least=0, most=65535)
    open: bool = option(True, "Do not open the page in a browser.", "--open/--no-open")
    export: str | None = option(
        None, "Write one page to this file instead, to keep or to mail.", metavar="FILE"
    )
    records: str | None = option(
        None, "With --export: show these records, by their numbers.", metavar="N,N,..."
    )


@command("view")
def view(paths: arg.ShardPaths, options: ViewOptions) -> None:
    """Show records, features, files and damage in a browser.

    Prints the address of a page, and opens it. Only this machine reaches it, and only with that address; no file is
    changed. Ctrl-C ends it.

    Example: tfr view 'train-*.tfrecord' --where "label == 3"
    """
    from tfrkit.records.where import parse_where

    if options.where is not None:
        parse_where(options.where)
    numbers = _numbers(options.records, options.export)
    for name in ("where", "export"):
        if options.proto is not None and getattr(options, name) is not None:
            raise UsageError(f"--{name} is for Examples: it does not go with --proto")
    message = options.message_type()
    given = data_files(paths, split=options.split)
    files, names = given.paths, given.class_names
    if options.export is not None:
        from tfrkit.viewer.export import export
        from tfrkit.viewer.session import ViewedSet

        size = export(
            ViewedSet(files, class_names=names), options.export, where=options.where, records=numbers
        )
        say(f"wrote {options.export}: {size:,} bytes")
        return
    compare = shard_files(options.compare, split=options.split) if options.compare else None
    from tfrkit.viewer.serve import serve

    serve(
        files,
        compare,
        class_names=names,
        host=options.host,
        port=options.port,
        open_browser=options.open,
        where=options.where,
        message=message,
        show=_show,
        warn=say,
    )


def _numbers(text: str | None, export: str | None) -> list[int] | None:
    if text is None:
        return None
    if export is None:
        raise UsageError("--records is for --export", "The page itself goes to any record: press g in it.")
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise UsageError(f"--records: expected numbers with commas between them but got {text!r}")
    return [int(part) for part in parts]


def _show(address: str) -> None:
    """Print the address at once: programs that wait for it read it through a pipe."""
    out(address)
    sys.stdout.flush()
