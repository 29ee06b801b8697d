"""repair_files: mend a set of shards, into another folder or where they are, with index and manifest.

The manifest never names a shard with other content: a shard that is replaced is moved to the manifest's list
`repairing` first, as it will be; then its file is replaced; then it is entered again. Whatever a kill leaves, the same
call mends.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from tfrkit.codecs.table import codec
from tfrkit.errors import (
    AlreadyExistsError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnknownError,
    from_os_error,
)
from tfrkit.model.arguments import check_bools
from tfrkit.records.access.index import build_index, index_path, save_index, sidecar_paths, zones_path
from tfrkit.records.access.zones import build_zones
from tfrkit.records.check.completeness import ShardFiles, find_shards
from tfrkit.records.check.folder_state import Problem
from tfrkit.records.check.repair import RepairReport, mend
from tfrkit.records.check.unfinished import unfinished_jobs
from tfrkit.records.check.verify import FileReport, verify_files
from tfrkit.records.manifest import ANOTHERS, change_manifest, folder_lock, manifest_path, read_manifest
from tfrkit.records.record_names import shard_prefix
from tfrkit.records.write.writer import TFRecordWriter
from tfrkit.stores.files import (
    create,
    file_size,
    is_folder,
    is_local,
    is_there,
    list_names,
    make_folder,
    open_source,
    read_bytes,
    real_path,
    remove,
    write_bytes,
)
from tfrkit.stores.output import SIDECAR_FOLDER, AtomicOutput, WholeOutput
from tfrkit.stores.paths import PathLike, Paths, path_text
from tfrkit.stores.url import display_name, split_path, split_query

__all__ = ["RepairFilesReport", "repair_files"]

_COPY_BYTES: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class RepairFilesReport:
    """What was saved and what was lost of several files.

    Attributes:
        files: a report for each file, in order.
        problems: what is wrong with the set and cannot be mended: shards that are missing, and the like.
    """

    files: tuple[RepairReport, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every file could be mended; records may have been lost."""
        return not any(file.error for file in self.files)

    @property
    def records(self) -> int:
        """How many intact records there are in all files."""
        return sum(file.records for file in self.files)

    @property
    def lost_bytes(self) -> int:
        """Bytes of the files that belong to no intact record."""
        return sum(file.lost_bytes for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a JSON-able dict."""
        return {
            "ok": self.ok,
            "records": self.records,
            "lost_bytes": self.lost_bytes,
            "files": [file.to_dict() for file in self.files],
            "problems": [
                {"kind": problem.kind, "path": problem.path, "text": problem.text}
                for problem in self.problems
            ],
        }

    def __str__(self) -> str:
        return "\n".join([*map(str, self.files), *map(str, self.problems)])


def repair_files(
    paths: Paths,
    folder: PathLike | None = None,
    *,
    overwrite: bool = False,
    progress: Callable[[int], object] | None = None,
) -> RepairFilesReport:
    """Mend several files: write a mended copy of each to a folder, or replace those that are damaged.

    An index is kept, and the manifest too: it gets the true counts, and says how many records a shard has lost. A file
    that fails is reported, and the others are mended.

    Args:
        paths: files, patterns, or folders, which mean the shards in them.
        folder: where the copies go, under the same names; it is made. Intact files are copied byte by byte. None
            replaces damaged files where they are: each appears whole; intact ones are not touched.
        overwrite: replace files of these names in `folder`.
        progress: called now and then with how many more bytes of the files are done.

    Raises:
        AlreadyExistsError: a file of such a name is in `folder` already, and `overwrite` is not given. Nothing is
            written then.
        InvalidArgumentError: two files have one name, or `folder` is where they are.
        NotFoundError: a pattern matches nothing, a folder has no shards.

    >>> import tfrkit
    >>> with tfrkit.ShardWriter("out/train", shards=2) as writer:
    ...     writer.write_many([b"a", b"b", b"c", b"d"])
    >>> with open("out/train-00001-of-00002.tfrecord", "r+b") as file:
    ...     _ = file.write(b"damage")
    >>> print(repair_files("out").files[1])
    out/train-00001-of-00002.tfrecord -> out/train-00001-of-00002.tfrecord: 1 records saved, 1 damage with 17 bytes lost
      lost bytes 0-17 after record 0: bad length CRC
    >>> tfrkit.verify("out").ok
    True
    """
    check_bools(overwrite=overwrite)
    found = find_shards(paths)
    files = [*found.files, *found.unlisted]
    names = [file for file in files if isinstance(file, str)]
    if len(names) < len(files):
        raise InvalidArgumentError("Expected files to repair but got an open one. Write it to a file first.")
    mended = {"differs", "interrupted"} if folder is None else {"differs"}
    problems = tuple(problem for problem in found.problems if problem.kind not in mended)
    if folder is None:
        reports = [_guarded(path, path, partial(_replace, path, progress)) for path in names]
    else:
        reports = _copy_all(names, path_text(folder), overwrite, progress)
    return RepairFilesReport(tuple(reports), problems)


def _guarded(source: str, target: str, work: Callable[[], RepairReport]) -> RepairReport:
    try:
        return work()
    except OpError as error:
        return _report(source, target, error=error.message)
    except OSError as error:
        return _report(source, target, error=from_os_error(error, source).message)


def _report(source: str, target: str, records: int = 0, data_bytes: int = 0, error: str = "") -> RepairReport:
    """Return the report about a file that has lost nothing, or could not be read."""
    return RepairReport(display_name(source), display_name(target), records, data_bytes, (), error=error)


# -- where they are ----------------------------------------------------------------------------------------------------


def _replace(path: str, progress: Callable[[int], object] | None) -> RepairReport:
    folder, name = split_path(path)
    with _lock(folder) as check:
        _check_no_job(folder, path)
        content = _manifest(folder)
        listed = _entry(content["shards"], name)
        known = listed or _entry(content.get("repairing", ()), name)
        found = _inspect(path, progress)
        if found.ok:
            report = _report(path, path, found.records, found.data_bytes)
            entry = _new_entry(name, found.records, found.file_bytes or 0, found.compression, known)
            if (
                known is not None and listed != entry
            ):  # it was mended already, by hand or by a run that was killed
                _make_index(path, found.compression)
                _enter(folder, entry)
        else:
            report = _replace_damaged(path, found.compression, known, check)
    return report if known is None else replace(report, lost_records=known["records"] - report.records)


def _inspect(path: str, progress: Callable[[int], object] | None) -> FileReport:
    """Read a file; what cannot be mended is an error."""
    [found] = verify_files(ShardFiles([path]), progress=progress).files
    if found.error:
        raise UnknownError(found.error, path=path)
    if found.damages and not found.records:
        likely = f" It looks like {found.looks_like}." if found.looks_like else ""
        raise DataLossError(
            f"{path}; there is no intact record in it. Copy it again, or delete it.{likely}", path=path
        )
    return found


def _replace_damaged(
    path: str, kind: str, known: dict[str, Any] | None, check: Callable[[], None]
) -> RepairReport:
    folder, name = split_path(path)
    output, writer, report = _mend_beside(path, path, kind)
    try:
        check()  # the lock may be a lease, which a process that sleeps loses
        entry = _new_entry(name, report.records, output.position, kind, known)
        if known is not None:
            _move_to_repairing(folder, entry)
        if isinstance(output, AtomicOutput):
            os.chmod(output.temporary, stat.S_IMODE(os.stat(path).st_mode))
        zoned = is_there(zones_path(path))
        if zoned:
            remove(zones_path(path))  # before they may be taken for those of the new content
        output.publish()
        if codec(kind).seeks and (known is not None or is_there(index_path(path))):
            writer.save_sidecars(path)
        if known is not None:
            _enter(folder, entry)
        if zoned:
            build_zones(path, save=True)
    finally:
        output.discard()  # nothing, if it has its name
    return report


def _make_index(path: str, kind: str) -> None:
    if codec(kind).seeks:
        with contextlib.suppress(FailedPreconditionError):  # one stream has none
            save_index(path, build_index(path))


def _lock(folder: str) -> AbstractContextManager[Callable[[], None]]:
    """Keep jobs from beginning in a folder of tfrkit's; in any other nothing is left there."""
    if is_there(manifest_path(folder)) or is_folder(os.path.join(folder, SIDECAR_FOLDER)):
        return folder_lock(folder, "jobs.lock")
    return contextlib.nullcontext(lambda: None)


def _check_no_job(folder: str, path: str) -> None:
    prefix = shard_prefix(os.path.basename(path))
    for job in unfinished_jobs(folder):
        if not job.prefixes or prefix in job.prefixes:
            raise FailedPreconditionError(
                f"{path}; the job that writes it is not complete ({job.path}). Run the same command again, which makes "
                "the shard anew.",
                path=path,
            )


def _manifest(folder: str) -> dict[str, Any]:
    try:
        return read_manifest(folder)
    except DataLossError as error:
        if ANOTHERS in error.message:
            return {"shards": []}
        raise


def _entry(shards: Sequence[dict[str, Any]], name: str) -> dict[str, Any] | None:
    return next((entry for entry in shards if entry["name"] == name), None)


def _new_entry(name: str, records: int, size: int, kind: str, known: dict[str, Any] | None) -> dict[str, Any]:
    """Return the entry of a mended shard; further fields of the old one are kept. Pure: no I/O."""
    before = known or {}
    lost = before.get("records", records) + before.get("lost", 0) - records
    entry = {**before, "name": name, "records": records, "bytes": size, "compression": kind, "lost": lost}
    if lost <= 0:
        del entry["lost"]
    return entry


def _move_to_repairing(folder: str, entry: dict[str, Any]) -> None:
    def change(content: dict[str, Any]) -> None:
        others = [other for other in content.get("repairing", ()) if other["name"] != entry["name"]]
        content["shards"] = [other for other in content["shards"] if other["name"] != entry["name"]]
        content["repairing"] = [*others, entry]

    change_manifest(folder, change)


def _enter(folder: str, entry: dict[str, Any]) -> None:
    def change(content: dict[str, Any]) -> None:
        content["shards"] = [other for other in content["shards"] if other["name"] != entry["name"]] + [entry]

    change_manifest(folder, change)


def _mend_beside(source: str, target: str, kind: str) -> tuple[WholeOutput, TFRecordWriter, RepairReport]:
    """Write the intact records to a temporary file beside the target: whole and durable, but without its name."""
    output = create(target)
    try:
        writer = TFRecordWriter(output, compression=kind, index=codec(kind).seeks)
        try:
            report = mend(source, writer, target=target)
            writer.close()
        except BaseException:
            writer.discard()
            raise
        output.finish()
    except BaseException:
        output.discard()
        raise
    return output, writer, report


# -- into another folder -----------------------------------------------------------------------------------------------


def _copy_all(
    files: Sequence[str], folder: str, overwrite: bool, progress: Callable[[int], object] | None
) -> list[RepairReport]:
    names = [split_path(split_query(path)[0])[1] for path in files]
    targets = [os.path.join(folder, name) for name in names]
    _check_targets(files, targets, folder, overwrite)
    manifests = {source: _manifest(source) for source in dict.fromkeys(map(_folder_of, files))}
    make_folder(folder)
    if overwrite and is_there(manifest_path(folder)):
        _forget(folder, set(names))
    reports, entries = [], []
    for source, target, name in zip(files, targets, names, strict=True):
        known = _entry(manifests[_folder_of(source)]["shards"], name)
        report = _guarded(source, target, partial(_copy, source, target, progress))
        if known is not None and not report.error:
            entries.append(_new_entry(name, report.records, file_size(target), known["compression"], known))
            report = replace(report, lost_records=known["records"] - report.records)
        reports.append(report)
    if entries:
        _enter_all(folder, entries, manifests)
    return reports


def _folder_of(path: str) -> str:
    return split_path(split_query(path)[0])[0]


def _check_targets(files: Sequence[str], targets: Sequence[str], folder: str, overwrite: bool) -> None:
    seen: dict[str, str] = {}
    there = frozenset[str]() if is_local(folder) else frozenset(list_names(folder))  # one request for all
    for source, target in zip(files, targets, strict=True):
        if real_path(_folder_of(source)) == real_path(folder):
            raise InvalidArgumentError(
                f"cannot repair {source!r} into its own folder. Name another, or none to replace it.",
                path=source,
            )
        if target in seen:
            raise InvalidArgumentError(
                f"{seen[target]} and {source} would both become {target}. Repair them into different folders.",
                path=source,
            )
        seen[target] = source
        if not overwrite and (is_there(target) if is_local(folder) else os.path.basename(target) in there):
            raise AlreadyExistsError(
                f"{target}; exists already. Choose another folder, or pass overwrite=True (--overwrite).",
                path=target,
            )


def _copy(source: str, target: str, progress: Callable[[int], object] | None) -> RepairReport:
    found = _inspect(source, progress)
    if found.ok:
        _copy_bytes(source, target)
        for old, new in zip(sidecar_paths(source), sidecar_paths(target), strict=True):
            sidecar: bytes | None = None
            with contextlib.suppress(NotFoundError, PermissionDeniedError):  # a web server may say either
                sidecar = read_bytes(old)
            if sidecar is not None:
                write_bytes(new, sidecar)
        return _report(source, target, found.records, found.data_bytes)
    output, writer, report = _mend_beside(source, target, found.compression)
    try:
        output.publish()
        if codec(found.compression).seeks:
            writer.save_sidecars(target)
    finally:
        output.discard()
    return report


def _copy_bytes(source: str, target: str) -> None:
    file, output = open_source(source), create(target)
    try:
        while data := file.read(_COPY_BYTES):
            output.write(data)
        output.close()
    except BaseException:
        output.discard()
        raise


def _forget(folder: str, names: set[str]) -> None:
    def change(content: dict[str, Any]) -> None:
        content["shards"] = [entry for entry in content["shards"] if entry["name"] not in names]

    change_manifest(folder, change)


def _enter_all(folder: str, entries: Sequence[dict[str, Any]], manifests: dict[str, dict[str, Any]]) -> None:
    """Enter shards with how they were made, and copy the further files of their jobs."""
    made_by: dict[str, Any] = {}
    jobs: dict[str, Any] = {}
    for source, content in manifests.items():
        for prefix, made in content.get("made_by", {}).items():
            job = content.get("jobs", {}).get(made.get("job"))
            if any(shard_prefix(entry["name"]) == prefix for entry in entries):
                made_by[prefix] = made
                if job is not None:
                    jobs[made["job"]] = job
                    for name in job.get("files", ()):
                        if not is_there(os.path.join(folder, name)):
                            with contextlib.suppress(FileNotFoundError):
                                _copy_bytes(os.path.join(source, name), os.path.join(folder, name))

    def change(content: dict[str, Any]) -> None:
        names = {entry["name"] for entry in entries}
        content["shards"] = [entry for entry in content["shards"] if entry["name"] not in names] + [*entries]
        content["made_by"].update(made_by)
        if jobs:
            content["jobs"] = {**content.get("jobs", {}), **jobs}

    change_manifest(folder, change)
