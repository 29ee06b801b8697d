"""What commands take: paths of shards, sizes, and the options that several commands share.

An option that two commands have is declared here once, so that it has one name, one meaning and one help text.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, TypeAlias, cast

import typer

from tfrkit.cli.console import CommandError, UsageError, plain, say
from tfrkit.cli.folder_shards import FolderShards, folder_shards
from tfrkit.errors import InvalidArgumentError, NotFoundError, OpError
from tfrkit.options import OptionSet, option, option_class
from tfrkit.stores.files import is_folder, is_there, traits_of
from tfrkit.stores.url import is_url, local_path

if TYPE_CHECKING:
    from tfrkit.records.check.completeness import ShardFiles
    from tfrkit.records.check.folder_state import Problem
    from tfrkit.records.read.decoded_message import MessageType

STDIN: Final = "-"
_GLOB: Final = frozenset("*?[")
_NAMES: Final = 1000  # in a folder of an object store, among which one is looked for that may have been meant


def shard_files(paths: Iterable[str], *, stdin: bool = False, split: str | None = None) -> list[str]:
    """Return the files that a user has named: files, globs, and folders, which mean the shards in them.

    What is incomplete is reported on standard error.

    Args:
        paths: as they stand on the command line.
        stdin: whether `-` is allowed; it stays "-", which `read_blocks` and its kin understand.
        split: of folders of data sets, only the shards of this split.

    Returns:
        Paths of files that exist, in the order given; those of one glob or folder are sorted, or as the data set has
        them.

    Raises:
        CommandError: one is not there, a glob matches nothing, a folder has no shards, or not all of its manifest.
    """
    return data_files(paths, stdin=stdin, split=split).paths


def data_files(paths: Iterable[str], *, stdin: bool = False, split: str | None = None) -> FolderShards:
    """Return the files that a user has named, as `shard_files`, and the names of classes that their folders know."""
    given = _checked(paths, stdin=stdin, split=split)
    found = _found(given.paths)
    for folder in filter(is_folder, given.paths):
        _check_folder(folder, found)
    tell_problems(found.problems)
    return replace(given, paths=[file if isinstance(file, str) else STDIN for file in found.files])


def found_shards(paths: Iterable[str], *, stdin: bool = False, split: str | None = None) -> ShardFiles:
    """Find the files that a user has named, as `shard_files`, with everything that is wrong with their sets.

    Raises:
        CommandError: a file is not there, a glob matches nothing, a folder has no shards.
    """
    return _found(_checked(paths, stdin=stdin, split=split).paths)


def _checked(paths: Iterable[str], *, stdin: bool, split: str | None = None) -> FolderShards:
    """See that everything is there, and put the shards of data sets in place of their folders."""
    given = [local_path(path) for path in paths]
    for path in given:
        _check(path, stdin)
    return folder_shards(given, split)


def _found(given: list[str]) -> ShardFiles:
    from tfrkit.records.check.completeness import find_shards

    try:
        return find_shards([path if path != STDIN else opened([path])[0] for path in given])
    except NotFoundError as error:
        if is_folder(path := error.path or ""):
            raise UsageError(
                f"{path}: no shards in this folder",
                f"name files, or a glob such as {os.path.join(path, '**', '*.tfrecord')!r}.",
            ) from None
        raise UsageError(
            f"no files match {path!r}",
            "check the folder and the spelling; dot files, folders and sidecars such as manifest.json never match.",
        ) from None


def tell_problems(problems: Sequence[Problem]) -> None:
    """Warn of what is wrong with the sets that are read: of each kind the first, and how many there are."""
    counts = Counter(problem.kind for problem in problems)
    for problem in problems:
        count = counts.pop(problem.kind, 0)
        if count:
            more = f" ({count - 1:,} more; `tfr verify` lists all)" if count > 1 else ""
            say(f"warning: {plain(str(problem))}{more}")


def opened(files: Iterable[str]) -> list[str | IO[bytes]]:
    """Return files as the library's readers take them: "-" as standard input, without a buffer before it.

    A buffered reader does not look for Ctrl-C between two reads of a pipe.
    """
    buffer = sys.stdin.buffer
    stream = cast("IO[bytes]", getattr(buffer, "raw", buffer))
    return [stream if path == STDIN else path for path in files]


def _check(path: str, stdin: bool) -> None:
    """Refuse what is not there, or cannot be read by this command."""
    if path == STDIN and not stdin:
        raise UsageError(
            "this command cannot read standard input: it needs files",
            "write what comes through the pipe to a file, and name that.",
        )
    pattern = traits_of(path).lists and _GLOB.intersection(path)
    if path != STDIN and not pattern and not is_there(path):
        raise UsageError(f"{path}: no such file or folder", _near(path))


def _near(path: str) -> str:
    """Suggest which file may have been meant, as far as one listing tells."""
    import difflib

    folder, name = os.path.split(path)
    try:
        names = _first_names(folder)
    except (OSError, OpError):
        return f"there is no folder {folder!r} either."
    near = difflib.get_close_matches(name, [other for other in names if not other.startswith(".")], 1)
    return (
        f"did you mean {os.path.join(folder, near[0])!r}?" if near else "check the folder and the spelling."
    )


def _first_names(folder: str) -> list[str]:
    """Return the names in a folder; of a URL only some, where there are many, so that it is one request."""
    from tfrkit.stores.files import list_files

    if not is_url(folder):
        return os.listdir(local_path(folder) or ".")
    traits = traits_of(folder)
    if not traits.lists:
        return []
    # Where folders are only beginnings of names, all that is below comes as it is asked for, page by page.
    found = itertools.islice(list_files(folder, recursive=not traits.renames), _NAMES)
    return [os.path.basename(info.path) for info in found if os.path.dirname(info.path) == folder]


def _check_folder(folder: str, found: ShardFiles) -> None:
    """Refuse a folder of which a reader would silently miss a part, or that has nothing to read."""
    named = [
        path for path, known in found.expected.items() if known[2] == "manifest" and _is_in(path, folder)
    ]
    lost = {problem.path for problem in found.problems if problem.kind == "missing"}
    missing = [path for path in named if path in lost]
    if missing and len(missing) < len(named):
        raise CommandError(
            f"{folder}: {len(missing)} of the {len(named)} shards in its manifest are not there, "
            f"such as {os.path.basename(missing[0])!r}",
            f"copy them again (`tfr verify {folder}` lists all), or name the files: "
            f"{os.path.join(folder, '*.tfrecord*')!r}.",
        )
    if not any(isinstance(file, str) and _is_in(file, folder) for file in found.files):
        wrong = next(problem for problem in found.problems if _is_in(problem.path, folder))
        raise CommandError(f"{folder}: no shards in this folder", f"{wrong}.")


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def positional(metavar: str, text: str) -> Any:
    """Declare a positional argument: its name in the help, and what it is."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


ShardPaths: TypeAlias = Annotated[
    list[str], positional("PATH", "Files, globs, or folders of shards or data sets; paths or URLs.")
]
ShardPathsOrStdin: TypeAlias = Annotated[
    list[str],
    positional(
        "PATH", "Files, globs, folders of shards or data sets, paths or URLs, or - for standard input."
    ),
]


@option_class
class SplitChoice(OptionSet):
    """Which part of a data set is read."""

    split: str | None = option(
        None, "Of the folder of a data set: only this split, such as train.", metavar="NAME"
    )


@option_class
class QuietOptions(OptionSet):
    """How much is printed beside the data."""

    quiet: bool = option(False, "No progress, no remarks.", "--quiet", "-q")


@option_class
class JsonOptions(OptionSet):
    """In which form data are printed."""

    as_json: bool = option(False, "Print JSON.", "--json")


@option_class
class PrintOptions(JsonOptions, QuietOptions):
    """What is printed, and how."""


@option_class
class JobPrintOptions(PrintOptions):
    """What commands print that write shards."""

    dry_run: bool = option(False, "Say what would be done, and write nothing.")


@option_class
class FramePrintOptions(JobPrintOptions, SplitChoice):
    """What the commands share that copy records."""


@option_class
class KeyOptions(OptionSet):
    """Which features are shown."""

    keys: Sequence[str] | None = option(
        None, "Only this feature; may be given several times.", "--key", metavar="NAME", several=True
    )


@option_class
class ProtoOptions(OptionSet):
    """As which messages records are shown that are not Examples."""

    proto: str | None = option(
        None,
        "Show records as messages of this type: FILE is a descriptor set or a .proto file.",
        metavar="FILE:MESSAGE",
    )

    def message_type(self) -> MessageType | None:
        """Return the type; None if none was asked for.

        Raises:
            UsageError: the file is not there, is no such file, or has no such message.
        """
        if self.proto is None:
            return None
        from tfrkit.records.read.decoded_message import MessageType

        try:
            return MessageType.of(self.proto)
        except InvalidArgumentError as error:
            raise UsageError(f"--proto: {error.message}") from error
        except OSError as error:
            path = self.proto.rpartition(":")[0]
            text = error.message if isinstance(error, OpError) else f"{path}: {error.strerror}"
            raise UsageError(f"--proto: {text}") from error


@option_class
class ThreadOptions(OptionSet):
    """How many cores are used."""

    threads: int | None = option(None, "How many cores to use; all by default.", least=1)


@option_class
class OverwriteOptions(OptionSet):
    """What happens to files that are there."""

    overwrite: bool = option(False, "Replace existing files; else they are an error.")
