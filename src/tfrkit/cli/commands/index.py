"""`tfr index`: make or check the indexes of shards."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import shard_files
from tfrkit.cli.console import BAD_DATA, out_json, plain, say, table
from tfrkit.cli.options import command
from tfrkit.cli.progress import progress_bar
from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.options import option, option_class
from tfrkit.stores.files import ask_all

State = Literal["made", "good", "missing", "stale", "failed"]


class _Found(NamedTuple):
    """What became of the index, or of the zones, of one shard."""

    path: str
    index_file: str
    state: State
    records: int | None
    error: str = ""


@option_class
class IndexOptions(arg.OverwriteOptions, arg.PrintOptions):
    """The options of `tfr index`."""

    text: bool = option(False, "`offset size` lines in SHARD.idx, as DALI and PyTorch's tfrecord read them.")
    zones: bool = option(
        False,
        "Also the bounds of each feature in each run of records, so that scans read only what can match.",
    )
    check: bool = option(False, "Make nothing; end with 1 if an index is missing or stale.")
    manifest: bool = option(False, "Write one manifest.json for all shards of a folder, and no index.")
    sources: Sequence[str] = option(
        (), "With --manifest: where shards were copied from.", "--from", metavar="PATH", several=True
    )

    def __post_init__(self) -> None:
        """Check what goes together."""
        super().__post_init__()
        if (self.text or self.zones or self.check or self.overwrite) if self.manifest else self.sources:
            raise InvalidArgumentError(
                "--from is for --manifest, which goes without --text, --zones, --check and --overwrite."
            )


@command("index")
def index(paths: arg.ShardPaths, options: IndexOptions) -> None:
    """Make the indexes that random access and counting use.

    The index of out/a.tfrecord is out/.tfrkit/a.tfrecord.idx. One that belongs to the file as it is now is left alone,
    unless --overwrite. Plain files and GZIP in members can have one. The zones are out/.tfrkit/a.tfrecord.zones; files
    of any compression can have them.

    Example: tfr index 'out/*.tfrecord'
    """
    if options.manifest:
        _manifests(paths, options)
        return
    files = shard_files(paths)
    with progress_bar("index", files=len(files), quiet=options.quiet) as advance:

        def one(path: str) -> list[_Found]:
            made = _one(path, options)
            advance(1)
            return made

        found = [each for made in ask_all(one, files) for each in made]
    if options.as_json:
        out_json({"files": [each._asdict() for each in found]})
    elif not options.quiet or options.check:
        rows = [
            ("-" if each.records is None else f"{each.records:,}", each.state, plain(each.index_file))
            for each in found
        ]
        table(["records", "state", "index"], rows, numbers=[0])
    for each in found:
        if each.error:
            say(f"{plain(each.path)}: {plain(each.error)}")
    if any(each.state not in ("made", "good") for each in found):
        raise typer.Exit(BAD_DATA)


def _manifests(paths: Sequence[str], options: IndexOptions) -> None:
    from tfrkit.records.check.make_manifest import make_manifest

    found = [make_manifest(path, options.sources) for path in paths]
    if options.as_json:
        out_json({"folders": [each.to_dict() for each in found]})
        return
    rows = [(plain(each.folder), f"{len(each.shards):,}", f"{each.records:,}") for each in found]
    table(["folder", "shards", "records"], rows, numbers=[1, 2])
    for remark in () if options.quiet else (remark for each in found for remark in each.remarks):
        say(plain(remark))


def _one(path: str, options: IndexOptions) -> list[_Found]:
    """Make what a shard lacks. With zones, a file that can have no index is no failure."""
    if not options.zones:
        return [_index(path, options)]
    zones = _zones(path, options)
    return [zones] if not options.text and _is_one_stream(path) else [_index(path, options), zones]


def _is_one_stream(path: str) -> bool:
    from tfrkit.codecs.table import codec
    from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
    from tfrkit.stores.files import open_source

    try:
        source = open_source(path)
        compression = sniff_compression(source.peek(HEAD_BYTES))
        members = codec(compression).members
        if members is None:
            return bool(compression)
        return members.parse_header(source.look_at(0, members.header_bytes)) is None
    except OpError:
        return False  # the index then says what is wrong


def _index(path: str, options: IndexOptions) -> _Found:
    from tfrkit.records.access.index import (
        build_index,
        index_path,
        load_index,
        read_text_index,
        save_index,
        write_text_index,
    )
    from tfrkit.stores.files import is_there, open_source

    text = options.text
    target = path + ".idx" if text else index_path(path)
    try:
        source = open_source(path)
        records = None
        with contextlib.suppress(OpError):  # it is not there, or not one
            found = read_text_index(target, source) if text else load_index(path, source)
            records = None if found is None else len(found)
        if records is not None and not options.overwrite:
            return _Found(path, target, "good", records)
        if options.check:
            return _Found(path, target, "stale" if is_there(target) else "missing", None)
        made = build_index(source)
        if text:
            write_text_index(target, made)
        else:
            save_index(path, made)
    except OpError as error:
        return _Found(path, target, "failed", None, error.message)
    return _Found(path, target, "made", len(made))


def _zones(path: str, options: IndexOptions) -> _Found:
    from tfrkit.records.access.index import zones_path
    from tfrkit.records.access.zones import build_zones, load_zones
    from tfrkit.stores.files import is_there, open_source

    target = zones_path(path)
    try:
        found = load_zones(path, open_source(path))
        if found is not None and not options.overwrite:
            return _Found(path, target, "good", found.records)
        if options.check:
            return _Found(path, target, "stale" if is_there(target) else "missing", None)
        made = build_zones(path, save=True)
    except OpError as error:
        return _Found(path, target, "failed", None, error.message)
    return _Found(path, target, "made", made.records)
