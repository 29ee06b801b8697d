"""The plan of a job: which records go into which shards. Plain data, made before anything is written.

Pure: nothing here does I/O. A plan is run in `job.py`; recipes are made by the formats.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol, Self

from tfrkit.build.job.column_report import ColumnReport
from tfrkit.build.job.input_stamp import InputStamp
from tfrkit.build.job.progress import BadInput, TaskReporter
from tfrkit.build.job.wanted_features import WantedFeatures
from tfrkit.codecs.table import codec, names
from tfrkit.errors import InvalidArgumentError
from tfrkit.records.manifest import ShardEntry
from tfrkit.records.record_names import (
    check_title,
    numbered_title,
    other_name,
    parse_other_name,
    parse_record_name,
    record_suffix,
    shard_name,
)
from tfrkit.stores.json_file import is_file_name, json_line

__all__ = [
    "ClosingFile",
    "FileForm",
    "FormWriter",
    "Job",
    "Recipe",
    "ShardGroup",
    "belongs_to",
    "check_plan",
    "job_digest",
    "made_blocks",
    "plan_shards",
    "shard_names",
]

DEFAULT_SHARD_BYTES: Final = 256_000_000
_OWN_FILES: Final = ("manifest.json", "report.json")


class ClosingFile(Protocol):
    """The file that describes all shards of a job to another library, and is written last. Plain data that pickles."""

    @property
    def name(self) -> str:
        """Of the file, in the folder of the job."""

    def content(self, shards: Sequence[ShardEntry]) -> bytes:
        """Return what it says of shards, in their order. Pure: no I/O."""


class Recipe(Protocol):
    """What one shard holds, or one part of a job that is shuffled: plain data that pickles."""

    @property
    def input_bytes(self) -> int:
        """How much it reads, for the progress bar."""

    def blocks(self, reporter: TaskReporter) -> Iterator[Any]:
        """Make the records, in order and the same every time, some MB at once; report to `reporter` on the way.

        They are blocks, unless the job's form writes something else.
        """


class FormWriter(Protocol):
    """Writes a file of another format in a `with` block: whole and on the disk when it ends, or an error."""

    records: int

    def __enter__(self) -> Self: ...

    def write_frames(self, part: Any) -> None:
        """Write what a recipe has made at once."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None: ...


class FileForm(Protocol):
    """Another format of files that a job writes: plain data that pickles."""

    @property
    def suffix(self) -> str:
        """What ends the names of its files, of `OTHER_FORMS`."""

    def open(self, path: str) -> FormWriter:
        """Begin a file: a local one in the folder of an attempt; or one in a store, which appears when it is whole."""


def made_blocks(recipes: Iterable[Recipe], reporter: TaskReporter) -> Generator[Any, None, None]:
    """Yield the records of recipes, one after another; closing it ends the one that is being made."""
    for recipe in recipes:
        yield from recipe.blocks(reporter)


@dataclass(frozen=True, slots=True)
class ShardGroup:
    """Shards of one name: `<prefix>-00000-of-00008.tfrecord` and so on, or one file `<prefix>.tfrecord`.

    Attributes:
        prefix: beginning of the file names, such as "train"; of other formats with their suffix, such as "train.tar".
        recipes: one for each shard; with `shuffle_seed`, any number of parts that are shuffled together; for the one
            file without a number, any number of parts that follow each other.
        shards: how many files; None: the one file has no number (`--shards per-input`).
        shuffle_seed: shuffle the records of all recipes with this seed before they go to shards.
    """

    prefix: str
    recipes: tuple[Recipe, ...]
    shards: int | None
    shuffle_seed: int | None = None

    @property
    def input_bytes(self) -> int:
        return sum(recipe.input_bytes for recipe in self.recipes)


@dataclass(frozen=True, slots=True)
class Job:
    """The whole plan.

    Attributes:
        folder: where the shards go.
        groups: what goes there.
        compression: "", "GZIP", "ZLIB", "XZ" or "ZSTD".
        level: of the compression, or None.
        made_by: everything that decides the bytes (arguments, seed, fingerprint of the source as "source") as JSON has
            it; an interrupted job resumes only if this is the same. It is written into the manifest: no time,
            no host, no absolute path, no number of workers.
        spec: what `parse_example` needs for the records, as `spec_to_data` gives it, or None.
        files: further small files for the folder, such as the label map, by name.
        closing: a further file, which is there only while all shards are; None: there is none.
        bad: what the plan itself had to leave out; counted like what tasks find. It may list only the first of them.
        counts: all of them by reason, if `bad` does not list all.
        noted: what the plan noticed and kept, or ignored on purpose; reported, and never fatal.
        noted_counts: all of that by reason, if `noted` does not list all.
        transient: what also must be the same when an interrupted job resumes, such as the times of the sources; JSON.
            It is forgotten when the job is complete.
        stamps: the input files as they were before the plan looked at them; an error if one is another at the end.
        wanted: features that a user has named, each with the option; an error if no record has one.
        good: how many good inputs there are, where tasks read them several times; None: tasks count them.
        columns: how columns of a table were settled; reported.
        files_left_out: how many inputs are in partitions that are not wanted; reported, and no part of the digest: a
            partition that is new and not wanted makes no other job.
        form: of the files, if they are not files of records.
    """

    folder: str
    groups: tuple[ShardGroup, ...]
    compression: str
    level: int | None
    made_by: Mapping[str, Any]
    spec: Any = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    closing: ClosingFile | None = None
    bad: tuple[BadInput, ...] = ()
    counts: Mapping[str, int] | None = None
    noted: tuple[BadInput, ...] = ()
    noted_counts: Mapping[str, int] | None = None
    transient: Mapping[str, Any] = field(default_factory=dict)
    stamps: tuple[InputStamp, ...] = ()
    wanted: WantedFeatures | None = None
    good: int | None = None
    columns: tuple[ColumnReport, ...] = ()
    files_left_out: int = 0
    form: FileForm | None = None

    @property
    def prefixes(self) -> list[str]:
        return [group.prefix for group in self.groups]

    @property
    def input_bytes(self) -> int:
        return sum(group.input_bytes for group in self.groups)

    @property
    def indexed(self) -> bool:
        """Whether its shards have an index each."""
        return not self.form and codec(self.compression).seeks

    @property
    def further_files(self) -> tuple[str, ...]:
        """The names of all files beside the shards."""
        return (*self.files, *((self.closing.name,) if self.closing is not None else ()))


def plan_shards(
    estimated_bytes: int,
    shards: int | None = None,
    shard_bytes: int | None = None,
    most: int | None = None,
    multiple: int = 4,
) -> int:
    """Return the number of shards. Pure: no I/O.

    Args:
        estimated_bytes: about how large all of them will be together.
        shards: a number that the user has given, which is then the result.
        shard_bytes: or a size; 256 MB by default. Unless all is less than a quarter of that, the number is rounded up
            to a multiple of 4, so that every core has something to do until the end.
        most: an upper limit, such as the number of records; the result is at least 1.
        multiple: of what the number is, where there is enough for that: then cores have equal shares.

    Raises:
        InvalidArgumentError: both were given, or one is not positive.

    >>> plan_shards(600_000_000), plan_shards(50_000_000), plan_shards(1_000, shards=3)
    (4, 1, 3)
    """
    if shards is not None and shard_bytes is not None:
        raise InvalidArgumentError("Expected either a number of shards or a size, and not both.")
    for name, value in (("shards", shards), ("shard size", shard_bytes)):
        if value is not None and value < 1:
            raise InvalidArgumentError(f"Expected the {name} to be at least 1 but got {value}.")
    if shards is not None:
        return shards
    size = shard_bytes or DEFAULT_SHARD_BYTES
    number = -(-estimated_bytes // size)
    if estimated_bytes > size // 4:
        number = -(-number // multiple) * multiple
    return max(1, number if most is None else min(number, most))


def shard_names(job: Job, group: ShardGroup) -> list[str]:
    """Return the file names of a group's shards, in order. Pure: no I/O.

    >>> shard_names(Job("out", (), "GZIP", None, {}), ShardGroup("a", (), 2))
    ['a-00000-of-00002.tfrecord.gz', 'a-00001-of-00002.tfrecord.gz']
    """
    if job.form:
        count = group.shards or 1
        return [other_name(group.prefix, number, count, job.form.suffix) for number in range(count)]
    if group.shards is None:
        return [group.prefix + record_suffix(job.compression)]
    count = group.shards
    return [shard_name(group.prefix, number, count, job.compression) for number in range(count)]


def belongs_to(name: str, prefixes: Mapping[str, bool]) -> bool:
    """Return whether a file name is that of a shard under one of some prefixes. Pure: no I/O.

    Args:
        name: of the file, without folder.
        prefixes: each with whether its one file has no number; such a file is another's if there are numbers.

    >>> [belongs_to(name, {"a": False}) for name in ("a-00001-of-00002.tfrecord.gz", "a.tfrecord", "a-b.tfrecord")]
    [True, False, False]
    """
    found = parse_record_name(name) or parse_other_name(name)
    if found is None:
        return numbered_title(name) in prefixes
    return (bool(found[1]) and found[0] in prefixes) or prefixes.get("".join(found), False)


def check_plan(job: Job) -> None:
    """Refuse a plan that cannot be run. Pure: no I/O.

    Raises:
        InvalidArgumentError: says which group and why.
    """
    if job.compression not in names():
        raise InvalidArgumentError(
            f"Expected one of {list(names())} as compression but got {job.compression!r}."
        )
    for name in (*job.prefixes, *(set(job.further_files) - set(_OWN_FILES))):
        if not is_file_name(name):
            raise InvalidArgumentError(f"{name!r} cannot begin the name of a file. Choose another name.")
    for name in () if job.form else job.prefixes:
        check_title(name)
    seen: set[str] = set(_OWN_FILES)
    for name in (*job.further_files, *(name for group in job.groups for name in shard_names(job, group))):
        if name in seen:
            raise InvalidArgumentError(
                f"Two files of the output would be called {name!r}. Give the inputs or splits different names."
            )
        seen.add(name)
    for group in job.groups:
        if group.shards is not None and group.shards < 1:
            raise InvalidArgumentError(
                f"Expected at least 1 shard of {group.prefix!r} but got {group.shards}."
            )
        if group.shuffle_seed is None and group.shards is not None and len(group.recipes) != group.shards:
            raise InvalidArgumentError(
                f"Expected a recipe for each of the {group.shards} shards of {group.prefix!r} but got "
                f"{len(group.recipes)}."
            )


def job_digest(job: Job) -> str:
    """Return 16 hex digits that are the same for the same job wherever it runs. Pure: no I/O."""
    content = {
        "made_by": job.made_by,
        "spec": job.spec,
        "compression": job.compression,
        "level": job.level,
        "groups": [
            [group.prefix, group.shards, group.shuffle_seed, [recipe.input_bytes for recipe in group.recipes]]
            for group in job.groups
        ],
        "files": {name: hashlib.blake2b(data).hexdigest() for name, data in job.files.items()},
        "bad": [asdict(bad) for bad in job.bad],
        "counts": job.counts,
        "noted": [asdict(bad) for bad in job.noted],
        "noted_counts": job.noted_counts,
    }
    if job.form:
        content["form"] = job.form.suffix
    return hashlib.blake2b(json_line(content), digest_size=8).hexdigest()
