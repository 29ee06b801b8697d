"""What commands take: paths of shards, sizes, and the options that several commands share.

An option that two commands have is declared here once, so that it has one name, one meaning and one help text.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, cast

import typer

from tfrkit.cli.console import CommandError, UsageError, plain, say
from tfrkit.codecs.table import names
from tfrkit.errors import NotFoundError, OpError
from tfrkit.stores.files import is_folder, is_there, traits_of
from tfrkit.stores.url import is_url, local_path

if TYPE_CHECKING:
    from tfrkit.records.check.completeness import ShardFiles
    from tfrkit.records.check.folder_state import Problem

STDIN: Final = "-"
_SIZE: Final = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)\s*(?P<unit>([kmgt]i?)?b?)", re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_GLOB: Final = frozenset("*?[")
_NAMES: Final = 1000  # in a folder of an object store, among which one is looked for that may have been meant


def size_bytes(text: str) -> int:
    """Read a size: plain bytes, or with kB, MB, GB, TB (1000), KiB, MiB, GiB, TiB (1024). Pure: no I/O.

    Raises:
        typer.BadParameter: it is not a size, or less than one byte.

    >>> size_bytes("256MB"), size_bytes("64MiB"), size_bytes("1.5 GB"), size_bytes("4096")
    (256000000, 67108864, 1500000000, 4096)
    """
    found = _SIZE.fullmatch(str(text).strip())
    if found is None:
        raise typer.BadParameter(f"expected a size such as 256MB, 1GB, 64MiB or 4096 but got {text!r}")
    unit = found["unit"].lower().removesuffix("b")
    base = 1024 if unit.endswith("i") else 1000
    size = int(float(found["number"]) * base ** _POWERS[unit.removesuffix("i")])
    if size < 1:
        raise typer.BadParameter(f"expected a size of at least 1 byte but got {text!r}")
    return size


def bad_limit(text: str) -> str:
    """Check how much may be bad: a number, or a share such as 0.5%. Pure: no I/O.

    Raises:
        typer.BadParameter: it is neither.
    """
    from tfrkit.build.job.bad_limit import BadLimit
    from tfrkit.errors import InvalidArgumentError

    try:
        return BadLimit.parse(str(text)).text
    except InvalidArgumentError:
        raise typer.BadParameter(
            f"expected a number, or a share such as 0.5%, but got {str(text)!r}"
        ) from None


def compressions() -> list[str]:
    """Return the names of compressions as the command line has them."""
    return [name.lower() or "none" for name in names()]


def compression_name(text: str) -> str:
    """Check the name of a compression, in upper or lower case. Pure: no I/O.

    Raises:
        typer.BadParameter: it is none.
    """
    if str(text).lower() not in (known := compressions()):
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, known))}.")
    return str(text).lower()


def renames(pairs: Iterable[str]) -> dict[str, str]:
    """Read what several `--name OLD=NEW` say. Pure: no I/O.

    Raises:
        CommandError: one is not such a pair.

    >>> renames(["image=picture"])
    {'image': 'picture'}
    """
    names = {}
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not equals or not old:
            raise UsageError(f"--name {pair}: expected OLD=NEW", "such as --name image=picture.")
        names[old] = new
    return names


def shard_files(paths: Iterable[str], *, stdin: bool = False) -> list[str]:
    """Return the files that a user has named: files, globs, and folders, which mean the shards in them.

    What is incomplete is reported on standard error.

    Args:
        paths: as they stand on the command line.
        stdin: whether `-` is allowed; it stays "-", which `read_blocks` and its kin understand.

    Returns:
        Paths of files that exist, in the order given; those of one glob or folder are sorted.

    Raises:
        CommandError: one is not there, a glob matches nothing, a folder has no shards, or not all of its manifest.
    """
    given = [local_path(path) for path in paths]
    found = found_shards(given, stdin=stdin)
    for folder in filter(is_folder, given):
        _check_folder(folder, found)
    tell_problems(found.problems)
    return [file if isinstance(file, str) else STDIN for file in found.files]


def found_shards(paths: Iterable[str], *, stdin: bool = False) -> ShardFiles:
    """Find the files that a user has named, as `shard_files`, with everything that is wrong with their sets.

    Raises:
        CommandError: a file is not there, a glob matches nothing, a folder has no shards.
    """
    from tfrkit.records.check.completeness import find_shards

    given = [local_path(path) for path in paths]
    for path in given:
        _check(path, stdin)
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
    list[str], positional("PATH", "Files, globs, or folders of shards; paths or URLs.")
]
ShardPathsOrStdin: TypeAlias = Annotated[
    list[str], positional("PATH", "Files, globs, folders of shards, paths or URLs, or - for standard input.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Count: TypeAlias = Annotated[int, typer.Option("-n", "--count", min=0, help="How many records.")]
Skip: TypeAlias = Annotated[int, typer.Option("--skip", min=0, help="Skip this many records first.")]
Keys: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--key", metavar="NAME", help="Only this feature; may be given several times."),
]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", help="The same seed chooses the same.")]
Workers: TypeAlias = Annotated[
    int | None, typer.Option("--workers", min=1, help="How many tasks run at once; one per core by default.")
]
Threads: TypeAlias = Annotated[
    int | None, typer.Option("--threads", min=1, help="How many cores to use; all by default.")
]
Shards: TypeAlias = Annotated[int | None, typer.Option("--shards", min=1, help="How many files to write.")]
ShardSize: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--shard-size",
        metavar="SIZE",
        parser=size_bytes,
        help="Begin a new file at this size: 256MB, 1GB, 64MiB, or bytes.",
    ),
]
Compression: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--compression",
        metavar=f"<{'|'.join(compressions())}>",
        parser=compression_name,
        autocompletion=compressions,
        help="Compress the output.",
    ),
]
Level: TypeAlias = Annotated[
    int | None, typer.Option("--level", help="Of the compression: higher is smaller and slower.")
]
Overwrite: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing files; else they are an error.")
]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")
]
OnCorrupt: TypeAlias = Annotated[
    Literal["raise", "skip", "stop"],
    typer.Option("--on-corrupt", help="What to do about damage: end, leave it out, or leave its file."),
]
MaxBad: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--max-bad",
        metavar="N|P%",
        parser=bad_limit,
        help="Fail, and publish nothing, if more than this is bad: a number, or a share such as 0.5%.",
    ),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]
