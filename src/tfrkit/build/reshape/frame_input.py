"""The frames of many TFRecord files as one long run, from which recipes take ranges.

Files are surveyed and read in `frame_read.py`. Ranges are counted in records over all files, in the order in which
they were given.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import IO, Any, Final

import numpy as np

from tfrkit.build.job.input_stamp import InputStamp, stamp_digest, stamps_of
from tfrkit.build.job.job import BadInput, Progress, SurveyMeter
from tfrkit.build.reshape.frame_read import FrameFile, FrameReader, compression_of, is_seekable, survey_frames
from tfrkit.build.reshape.frame_recipe import FrameRecipe
from tfrkit.engines.local import Stop, run_tasks
from tfrkit.errors import os_errors
from tfrkit.model.policy import OnCorrupt
from tfrkit.records.access.index import tail_checksum
from tfrkit.records.write.writer import TFRecordWriter
from tfrkit.stores.files import ask_all, open_file, open_source
from tfrkit.stores.paths import Paths, expand_paths
from tfrkit.stores.url import base_name
from tfrkit.threads import default_threads

__all__ = ["FrameInput", "InputFrames", "Scratch", "frame_input"]

_MARK_BYTES: Final = 1 << 20
_MARKS_A_PART: Final = 16  # so that parts of equal bytes are equal but for a sixteenth
_READINGS: Final = (
    2  # one compressed stream of which more parts are wanted is unpacked, not read again for each
)
_PIECES, _SAMPLE_BYTES = 16, 4096  # of a file in its fingerprint
_PIECE_BYTES: Final = 8 << 20  # what is read at once where the order does not matter


class Scratch:
    """A temporary folder that is made when it is first needed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def path(self, name: str) -> str:
        """Return the path of a temporary file."""
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="tfrkit-")
            return os.path.join(self._folder.name, name)

    def close(self) -> None:
        """Remove everything."""
        if self._folder is not None:
            self._folder.cleanup()


@dataclass(frozen=True, slots=True)
class FrameInput:
    """The files that a command reads.

    Attributes:
        paths: regular files.
        names: what they are called where it matters that machines agree: without folders.
        on_corrupt: what to do about damage.
        file_bytes: of all of them, as they are stored.
        scratch: for temporary files.
        stamps: of those files that are not copies.
        sizes: bytes of each file as it is stored, by its path.
        progress: called several times a second while files are surveyed.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    on_corrupt: OnCorrupt
    file_bytes: int
    scratch: Scratch
    stamps: tuple[InputStamp, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    progress: Callable[[Progress], None] | None = None

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies the files, for the manifest: the same in every folder.

        Of each file name, size, tail and some pieces all over it: not every byte, which would be one more reading.
        """
        digest = hashlib.blake2b(digest_size=16)
        for name, (size, crc, pieces) in zip(self.names, ask_all(_samples, self.paths), strict=True):
            digest.update(f"{name}\0{size}\0{crc}\n".encode("utf-8", "surrogateescape"))
            for piece in pieces:
                digest.update(piece)
        return {"files": len(self.paths), "bytes": self.file_bytes, "digest": digest.hexdigest()}

    def stamp(self) -> str:
        """Return a digest of when the files were changed."""
        known = {stamp.path: stamp for stamp in self.stamps}
        return stamp_digest(map(known.get, self.paths))

    def compressions(self) -> list[str]:
        """Return how the files are compressed; each kind once, sorted."""
        return sorted(set(ask_all(compression_of, self.paths)))

    def whole(self) -> FrameRecipe:
        """Return the recipe of all frames of all files. Nothing is looked at before."""
        return FrameRecipe(self.paths, self.file_bytes, self.on_corrupt)

    def each(self) -> list[FrameRecipe]:
        """Return a recipe for each file."""
        return [FrameRecipe((path,), self.sizes[path], self.on_corrupt) for path in self.paths]

    def survey(self, parts: int = 1) -> InputFrames:
        """Survey all files, one per core at a time; the number of parts says how fine the marks must be."""
        share = self.file_bytes // parts
        step = max(1, min(_MARK_BYTES, share // _MARKS_A_PART))
        workers = min(default_threads(), len(self.paths))
        threads = 1 if workers > 1 else None
        stop = Stop()
        paths = sorted(set(self.paths))
        meter = SurveyMeter(self.progress, len(paths), sum(self.sizes[path] for path in paths))

        def look(path: str) -> FrameFile:
            with meter.file(self.sizes[path]) as seen:
                if self.sizes[path] > _READINGS * share and not is_seekable(path):
                    return _unpacked(path, self, step, threads, stop)
                return survey_frames(path, self.on_corrupt, step, threads, stop, seen)

        found = dict(run_tasks(paths, look, workers=workers, stop=stop, tick=meter.tick))
        meter.tick(last=True)
        return InputFrames(tuple(found[path] for path in self.paths))


class InputFrames:
    """The frames of all files, counted.

    Attributes:
        records: how many there are.
        stream_bytes: of all frames, uncompressed.
        bad: damage that was passed over.
    """

    def __init__(self, files: tuple[FrameFile, ...]) -> None:
        """Use `FrameInput.survey`."""
        self._files = files
        self._records = np.array([0, *accumulate(file.records for file in files)])
        self._bytes = np.array([0, *accumulate(file.stream_bytes for file in files)])
        self.records = int(self._records[-1])
        self.stream_bytes = int(self._bytes[-1])
        self.bad: tuple[BadInput, ...] = tuple(bad for file in files for bad in file.bad)

    def by_records(self, parts: int, begin: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """Cut a range of records into parts of equal numbers; the first have one more if they are not equal."""
        count = (self.records if end is None else end) - begin
        cuts = [begin + count // parts * part + min(part, count % parts) for part in range(parts + 1)]
        return list(pairwise(cuts))

    def by_bytes(self, parts: int) -> list[tuple[int, int]]:
        """Cut all records into parts of about equal bytes of frames, each with a record if there are enough."""
        starts = np.concatenate([file.offsets + at for file, at in self._placed(self._bytes)])
        numbers = np.concatenate([file.numbers + at for file, at in self._placed(self._records)])
        wanted = [self.stream_bytes * part // parts for part in range(1, parts)]
        places = np.searchsorted(starts, wanted)
        inner = [int(numbers[place]) if place < len(numbers) else self.records for place in places]
        if self.records >= parts:  # one record may be larger than several parts
            for part in range(len(inner)):
                inner[part] = max(inner[part], inner[part - 1] + 1 if part else 1)
            for part in reversed(range(len(inner))):
                inner[part] = min(inner[part], self.records - (parts - 1 - part))
        return list(pairwise([0, *inner, self.records]))

    def _placed(self, starts: Any) -> Iterator[tuple[FrameFile, int]]:
        return zip(self._files, starts.tolist()[:-1], strict=True)

    def range(self, begin: int, end: int) -> FrameRecipe:
        """Return the recipe of the records from `begin` to before `end`."""
        first = int(np.searchsorted(self._records, begin, side="right")) - 1
        last = max(first, int(np.searchsorted(self._records, end)) - 1)
        files = self._files[first : last + 1] if begin < end else ()
        on_corrupt: OnCorrupt = next(
            (file.on_corrupt for file in files if file.on_corrupt != "raise"), "raise"
        )
        offset = record = skip = 0
        if files:
            skip = begin - int(self._records[first])
            offset, record = _mark_before(files[0], skip)
            skip -= record
        return FrameRecipe(
            tuple(file.path for file in files),
            self._byte_at(end) - self._byte_at(begin),
            on_corrupt,
            offset=offset,
            record=record,
            skip=skip,
            count=end - begin,
            first=begin,
        )

    def _byte_at(self, number: int) -> int:
        """Return about where a record begins in the stream of all files."""
        place = int(np.searchsorted(self._records, number, side="right")) - 1
        if place >= len(self._files):
            return self.stream_bytes
        offset, _ = _mark_before(self._files[place], number - int(self._records[place]))
        return int(self._bytes[place]) + offset

    def pieces(self) -> list[FrameRecipe]:
        """Cut all frames into recipes of some megabytes, for jobs that put them into another order.

        A file in which reading cannot begin just anywhere is one piece.
        """
        found = []
        for file, start in self._placed(self._records):
            cuts = [0]
            if file.seekable and file.on_corrupt == "raise":
                wanted = range(_PIECE_BYTES, file.stream_bytes, _PIECE_BYTES)
                places = np.searchsorted(file.offsets, wanted)
                cuts += file.numbers[places[places < len(file.numbers)]].tolist()
            cuts = sorted({start + cut for cut in [*cuts, file.records]})
            found += [self.range(begin, end) for begin, end in pairwise(cuts)]
        return found


def _mark_before(file: FrameFile, number: int) -> tuple[int, int]:
    """Return offset and number of the marked frame at or before a record."""
    place = int(np.searchsorted(file.numbers, number, side="right")) - 1
    if file.on_corrupt != "raise" or place < 0:
        return 0, 0
    return int(file.offsets[place]), int(file.numbers[place])


def _unpacked(path: str, given: FrameInput, step: int, threads: int | None, stop: Stop) -> FrameFile:
    """Copy the frames of a file that cannot be read from any position to a plain temporary file."""
    copy = given.scratch.path(f"unpacked-{given.paths.index(path)}")
    reader = FrameReader([path], given.on_corrupt, threads)
    with TFRecordWriter(copy, compression="none") as writer:
        for block in reader:
            stop.check()
            writer.write_frames(block)
    return replace(survey_frames(copy, "raise", step, threads, stop), bad=tuple(reader.bad))


@contextmanager
def frame_input(paths: Paths, on_corrupt: OnCorrupt = "raise") -> Iterator[FrameInput]:
    """Resolve the inputs of a user to files, which exist as long as the context lasts.

    Pipes, standard input and open files are copied to temporary files first, which need room on the disk.

    Raises:
        NotFoundError: a pattern matches nothing, or a file is not there.
    """
    scratch = Scratch()
    with closing(scratch):
        targets = expand_paths(paths, globs=True)
        stamps = stamps_of(target for target in targets if isinstance(target, str))
        files: list[str] = []
        names: list[str] = []
        for target in targets:
            if isinstance(target, str) and target in stamps:
                files.append(target)
                names.append(base_name(target))
            else:
                kind = "standard-input" if target is sys.stdin.buffer else "pipe"
                files.append(_copied(target, scratch.path(f"{kind}-{len(files)}")))
                names.append("-")
        sizes = {path: stamps[path].size if path in stamps else os.path.getsize(path) for path in files}
        yield FrameInput(
            tuple(files),
            tuple(names),
            on_corrupt,
            sum(sizes[path] for path in files),
            scratch,
            tuple(stamps[path] for path in files if path in stamps),
            sizes,
        )


def _samples(path: str) -> tuple[int, int, list[bytes | memoryview]]:
    """Return the size of a file, the checksum of its tail, and some pieces all over it."""
    source = open_source(path)
    size, crc = tail_checksum(source)
    starts = [size * piece // _PIECES for piece in range(_PIECES)]
    return size, crc, source.read_ranges(starts, [_SAMPLE_BYTES] * _PIECES)


def _copied(target: str | IO[bytes], path: str) -> str:
    """Copy what can be read only once."""
    name = target if isinstance(target, str) else str(getattr(sys.stdin, "name", "<stdin>"))
    with os_errors(name), open(path, "wb") as copy:
        if isinstance(target, str):
            with open_file(target) as stream:
                shutil.copyfileobj(stream, copy, 1 << 20)
        else:
            shutil.copyfileobj(target, copy, 1 << 20)
    return path
