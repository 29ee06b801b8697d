"""`tfr schema`: what is in the records, and how to read them."""

from __future__ import annotations

from tfrkit.build.job.job_options import DamageOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import STDIN, opened, shard_files
from tfrkit.cli.console import UsageError, out, say
from tfrkit.cli.options import command
from tfrkit.cli.progress import reading_bar
from tfrkit.options import option, option_class


@option_class
class SchemaOptions(arg.ThreadOptions, DamageOptions, arg.PrintOptions, arg.SplitChoice):
    """The options of `tfr schema`."""

    count: int | None = option(
        None, "Look at this many records only, spread over the files.", "-n", "--count", least=1
    )
    python: bool = option(False, "Print a program that reads the files.")
    tensorflow: bool = option(False, "Print such a program for TensorFlow.")

    def __post_init__(self) -> None:
        """Check that there is one form."""
        super().__post_init__()
        if self.as_json + self.python + self.tensorflow > 1:
            raise UsageError("expected one of --json, --python, --tensorflow", "choose one.")


@command("schema")
def schema(paths: arg.ShardPathsOrStdin, options: SchemaOptions) -> None:
    """Show what is in the records: features, kinds, values.

    With --python or --tensorflow, a program with the spec that reads them.

    Example: tfr schema train.tfrecord --python > read_train.py
    """
    from tfrkit.records.describe.inspect import inspect

    files = shard_files(paths, stdin=True, split=options.split)
    total = files if options.count is None else ()
    with reading_bar("schema", total, quiet=options.quiet) as progress:
        found = inspect(
            opened(files),
            options.count,
            threads=options.threads,
            on_corrupt=options.on_corrupt,
            progress=progress,
        )
    if options.as_json:
        out(found.to_json())
    elif options.python or options.tensorflow:
        from tfrkit.cli.reading_code import reading_code

        for feature in found.conflicts:
            say(f"note: left out: feature {feature.conflict()}")
        compression = _compression(files) if options.tensorflow else ""
        out(reading_code(found, tensorflow=options.tensorflow, compression=compression).rstrip())
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
