"""manifest.json: which shards a folder has, with counts and bytes. Updates are merged, and none is lost.

Where files can be locked, one process changes it at a time. Elsewhere it is replaced only if it is still what was read,
and changed again otherwise.

A shard is named in it only after it was written, synced and renamed. No time, no host: the same data gives the same
manifest. FORMAT.md defines it.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, Final

from tfrkit.codecs.table import names
from tfrkit.errors import (
    AbortedError,
    DataLossError,
    PermissionDeniedError,
    UnauthenticatedError,
    from_os_error,
)
from tfrkit.records.record_names import shard_prefix
from tfrkit.stores.files import is_there, make_folder, read_bytes, read_version, traits_of, write_bytes
from tfrkit.stores.json_file import is_count, is_digest, is_file_name, json_bytes, parse_json, shorten
from tfrkit.stores.lease import held
from tfrkit.stores.output import SIDECAR_FOLDER, check_sidecar, remove_temporary
from tfrkit.stores.store import ABSENT
from tfrkit.stores.system.file_lock import LockFile
from tfrkit.stores.url import is_url

__all__ = [
    "ANOTHERS",
    "ShardEntry",
    "change_manifest",
    "folder_lock",
    "manifest_entries",
    "manifest_path",
    "read_manifest",
    "read_manifest_file",
    "update_manifest",
]

ANOTHERS: Final = "something else"  # in the message about a manifest that is another program's
_FORMAT: Final = "tfrkit-manifest"
_VERSION: Final = 1
_RESTORE: Final = "The shards can be read without it: restore it, or delete it."
_MAX_CHANGES: Final = 50  # attempts where others change it meanwhile


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """One shard in a manifest."""

    name: str
    records: int
    bytes: int
    compression: str


def manifest_path(folder: str) -> str:
    """Return the path of a folder's manifest."""
    return os.path.join(folder, "manifest.json")


def read_manifest(folder: str) -> dict[str, Any]:
    """Return a folder's manifest; an empty one if there is none.

    Everything that FORMAT.md says of its fields holds for the result, whatever wrote the file: names are plain names of
    files in the folder, counts are counts. Other fields are as they are.

    Raises:
        DataLossError: the file is no manifest, or one that cannot be believed.
    """
    return _read(manifest_path(folder))[0]


def read_manifest_file(path: str) -> dict[str, Any]:
    """Return a manifest that may be a copy under another name; see `read_manifest`."""
    return _read(path)[0]


def _read(path: str) -> tuple[dict[str, Any], str]:
    """Return the content of a manifest, and its version."""
    try:
        found = read_version(path)
    except (PermissionDeniedError, UnauthenticatedError):
        if traits_of(path).lists:
            raise
        found = None  # a web server may say so of what is not there
    if found is None:
        if is_url(path) or not is_there(path):
            return {"format": _FORMAT, "version": _VERSION, "shards": [], "made_by": {}}, ABSENT
        found = read_bytes(path), ABSENT  # of a link that leads nowhere this is the error
    data, version = found
    try:
        content = parse_json(data)
    except ValueError as error:
        raise DataLossError(f"{path}; expected JSON but got: {error}. {_RESTORE}", path=path) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise DataLossError(
            f"{path}; expected a tfrkit manifest but got {ANOTHERS}. Move it away.", path=path
        )
    if not is_count(content.get("version")) or content["version"] != _VERSION:
        raise DataLossError(
            f"{path}; expected version {_VERSION} but got {shorten(content.get('version'))}. Use a newer tfrkit.",
            path=path,
        )
    if fault := _fault(content):
        raise DataLossError(f"{path}; {fault}. {_RESTORE}", path=path)
    return content, version


def manifest_entries(content: Mapping[str, Any]) -> dict[str, ShardEntry]:
    """Return the shards of a manifest by name, in order. Pure: no I/O."""
    return {
        entry["name"]: ShardEntry(entry["name"], entry["records"], entry["bytes"], entry["compression"])
        for entry in content["shards"]
    }


def _fault(content: Mapping[str, Any]) -> str:
    """Say what cannot be believed of a manifest; nothing if all can. Pure: no I/O."""
    made_by, jobs = content.get("made_by", {}), content.get("jobs", {})
    fault = _shards_fault("shards", content.get("shards"))
    fault = fault or _shards_fault("repairing", content.get("repairing", []))
    if fault:
        return fault
    for where, value in (("made_by", made_by), ("jobs", jobs)):
        if not isinstance(value, dict) or not all(isinstance(part, dict) for part in value.values()):
            return f"{where}: expected an object of objects but got {shorten(value)}"
    for prefix, made in made_by.items():
        if not is_digest(made.get("job", "0")):
            return f"made_by: job of {shorten(prefix)}: expected hex digits but got {shorten(made['job'])}"
        if not isinstance(found := made.get("jobs", []), list) or not all(map(is_digest, found)):
            return (
                f"made_by: jobs of {shorten(prefix)}: expected a list of hex digits but got {shorten(found)}"
            )
    spec = content.get("spec")
    if spec is not None and not isinstance(spec, dict):
        return f"spec: expected an object but got {shorten(spec)}"
    return next((fault for digest, job in jobs.items() if (fault := _job_fault(digest, job))), "")


def _job_fault(digest: str, job: Mapping[str, Any]) -> str:
    files = job.get("files", [])
    if not is_digest(digest):
        return f"jobs: expected hex digits but got {shorten(digest)}"
    if not isinstance(files, list) or not all(map(is_file_name, files)):
        return f"jobs: files of {digest}: expected plain names of files but got {shorten(files)}"
    if not isinstance(job.get("made_by", {}), dict):
        return f"jobs: made_by of {digest}: expected an object but got {shorten(job['made_by'])}"
    return ""


def _shards_fault(where: str, shards: object) -> str:
    if not isinstance(shards, list):
        return f"expected a list of {where} but got {shorten(shards)}"
    seen: set[str] = set()
    for number, entry in enumerate(shards):
        if fault := _shard_fault(entry):
            return f"{where}[{number}]: {fault}"
        if entry["name"] in seen:
            return f"{where}[{number}]: {entry['name']!r} is there twice"
        seen.add(entry["name"])
    return ""


def _shard_fault(entry: object) -> str:
    if not isinstance(entry, dict):
        return f"expected an object but got {shorten(entry)}"
    if not is_file_name(entry.get("name")):
        return f"name: expected the plain name of a file but got {shorten(entry.get('name'))}"
    for field, value in (
        *((field, entry.get(field)) for field in ("records", "bytes")),
        ("lost", entry.get("lost", 0)),
    ):
        if not is_count(value):
            return f"{field}: expected a count but got {shorten(value)}"
    compression = entry.get("compression")
    if not isinstance(compression, str) or compression not in names():
        return f"compression: expected one of {list(names())} but got {shorten(compression)}"
    return ""


def update_manifest(
    folder: str, added: Iterable[ShardEntry], removed: Iterable[str], made_by: Mapping[str, Any]
) -> None:
    """Add, replace and remove shards in a folder's manifest, safely against other processes.

    Args:
        folder: where the shards are.
        added: new entries; they replace those of the same name.
        removed: names to take out.
        made_by: by prefix, how its shards were made; merged into what is there.
    """
    gone, new = list(removed), {entry.name: asdict(entry) for entry in added}

    def change(content: dict[str, Any]) -> None:
        shards = {entry["name"]: entry for entry in content["shards"]}
        for name in gone:
            shards.pop(name, None)
        shards.update(new)
        content["shards"] = list(shards.values())
        content["made_by"].update(made_by)

    change_manifest(folder, change)


def change_manifest(folder: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Let a function change a folder's manifest, safely against other processes; nothing is written if it does not.

    The shards are sorted afterwards. The spec of the folder is left out if shards were made anew. Jobs that no prefix
    refers to are left out, and so are repairs of shards that were
    entered meanwhile, or whose set was made anew.

    Args:
        folder: where the manifest is.
        change: gets the content; in a store without locks again, with what another process has written meanwhile.

    Raises:
        AbortedError: other processes change it all the time.
    """
    path = manifest_path(folder)
    traits = traits_of(path)
    if traits.locks or not traits.atomic_create:
        with folder_lock(folder, "manifest.lock"):
            if traits.local:
                remove_temporary(path)
            _change_once(path, change, expect=False)
        return
    for attempt in range(_MAX_CHANGES):
        if _change_once(path, change, expect=True):
            return
        time.sleep(random.uniform(0, min(1.0, 0.01 * 2**attempt)))  # noqa: S311  # so that not all come back together
    raise AbortedError(
        f"{path}; other processes have changed it {_MAX_CHANGES} times while this one tried to. Try again later.",
        path=path,
    )


def _change_once(path: str, change: Callable[[dict[str, Any]], None], *, expect: bool) -> bool:
    """Read, change and write a manifest; return False if `expect` is set and it was another's meanwhile."""
    content, version = _read(path)
    before = json_bytes(content)
    content.setdefault("made_by", {})
    made_by = dict(content["made_by"])
    spec = {"spec": content.pop("spec")} if "spec" in content else {}
    change(content)
    if content["made_by"] == made_by:
        content.update(spec | content)
    content["shards"].sort(key=lambda entry: entry["name"])
    if "jobs" in content:
        used = {
            digest
            for made in content["made_by"].values()
            for digest in (made.get("job"), *made.get("jobs", ()))
        }
        content["jobs"] = {digest: made for digest, made in content["jobs"].items() if digest in used}
    _forget_repairs(content, made_by)
    after = json_bytes(content)
    if after == before and (version != ABSENT if is_url(path) else os.path.exists(path)):
        return True
    return write_bytes(path, after, expected=version if expect else None) is not None


def _forget_repairs(content: dict[str, Any], made_by: Mapping[str, Any]) -> None:
    named = {entry["name"] for entry in content["shards"]}
    left = []
    for entry in content.pop("repairing", ()):
        prefix = shard_prefix(entry["name"])
        if entry["name"] not in named and content["made_by"].get(prefix) == made_by.get(prefix or ""):
            left.append(entry)
    if left:
        content["repairing"] = left


def folder_lock(folder: str, name: str) -> AbstractContextManager[Callable[[], None]]:
    """Hold a lock of a folder, waiting for it: an empty file in its sidecar folder, or a lease where locks are missing.

    Returns:
        For `with`; its value, when called, raises AbortedError if another process has taken the lock meanwhile, which
        only happens to a lease.
    """
    sidecar = os.path.join(folder, SIDECAR_FOLDER)
    path = os.path.join(sidecar, name)
    if not traits_of(path).locks:
        make_folder(sidecar)
        return held(path)
    check_sidecar(folder)
    try:
        os.makedirs(sidecar, exist_ok=True)
    except OSError as error:
        raise from_os_error(error, sidecar) from error
    return LockFile(path)
