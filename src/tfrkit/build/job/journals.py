"""Which kind of journal the folder of a job has: what the store can do decides it."""

from __future__ import annotations

from collections.abc import Sequence

from tfrkit.build.job.file_journal import FileJournal, found_files
from tfrkit.build.job.journal import Header, Journal
from tfrkit.build.job.object_journal import ObjectJournal, found_folders
from tfrkit.stores.files import traits_of

__all__ = ["begin_journal", "found_journals"]


def begin_journal(folder: str, header: Header) -> Journal:
    """Make and lock the journal of a job that begins; the caller holds the folder's lock for jobs."""
    return FileJournal.begin(folder, header) if _has_files(folder) else ObjectJournal.begin(folder, header)


def found_journals(folder: str) -> Sequence[Journal]:
    """Open all journals of a folder, with their headers; they are not locked yet, and the caller closes them."""
    return found_files(folder) if _has_files(folder) else found_folders(folder)


def _has_files(folder: str) -> bool:
    traits = traits_of(folder)
    return traits.appends and traits.locks
