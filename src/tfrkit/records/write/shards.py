"""ShardWriter: records into a set of shard files that appear together, whole, with index and manifest."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterable
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

from tfrkit.codecs.table import canonical, codec
from tfrkit.errors import (
    AbortedError,
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    OpError,
)
from tfrkit.model.arguments import as_integer, check_bools
from tfrkit.model.block import Block
from tfrkit.parsing.encode import ExampleEncoder, encode_examples
from tfrkit.records.manifest import ShardEntry, update_manifest
from tfrkit.records.record_names import check_title, shard_name
from tfrkit.records.write.overlap import UninterruptedStep
from tfrkit.records.write.replace_shards import old_shards, shards_of_prefix
from tfrkit.records.write.writer import RUN_BYTES, TFRecordWriter
from tfrkit.stores.at_exit import finish_at_exit, unless_exiting
from tfrkit.stores.files import create, is_local, make_folder, move, remove, traits_of
from tfrkit.stores.output import WholeOutput, sidecar_folder
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.url import split_path
from tfrkit.threads import default_threads, in_threads

__all__ = ["ShardWriter", "shard_of"]

_BUFFER_BYTES: Final = 1 << 26  # for the unwritten records of all shards together


def shard_of(key: bytes | str, shards: int) -> int:
    """Return the shard that a key belongs to: the same on every machine. Pure: no I/O.

    >>> shard_of("user-7", 16)
    14
    """
    data = key.encode() if isinstance(key, str) else key
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") % shards


class ShardWriter:
    """Writes records to `<prefix>-00000-of-00016.tfrecord` and so on. Not for several threads at once.

    The files appear at close(), each whole or not at all; after an exception inside `with`, none does.

    Args:
        prefix: folder and beginning of the names, such as "out/train" or "s3://bucket/train". Folders are made.
            One that ends with the suffix of the files, such as "out/train.tfrecord", is followed by the number alone:
            `train.tfrecord-00000-of-00016`.
        shards: a fixed number of files: records go round robin, or by the hash of their key.
        shard_bytes: instead: begin a new file when this much was written to one; its number is known at the end.
        compression: "none" (default), "GZIP", "ZLIB", "XZ", "ZSTD"; the names get a suffix.
        level: of the compression.
        index: keep an index of each shard beside it (plain and GZIP).
        zones: keep the least and greatest value of each feature in each run of records beside each shard, so that scans
            read only what can match.
        overwrite: replace the shards that an earlier writer left under this prefix; else they are an error. They stay
            until close() has the new ones ready, and come back if these cannot be published. An object store cannot
            rename: there the manifest forgets them, and the new ones replace them one by one. More than 25 shards
            at once wait in temporary files (in `TMPDIR`), as each upload needs memory.

    Raises:
        AlreadyExistsError: there are shards of this prefix already.

    >>> import tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> with ShardWriter(os.path.join(folder, "train"), shards=2) as writer:
    ...     writer.write_many([b"a", b"b", b"c"])
    >>> sorted(name for name in os.listdir(folder) if name.startswith("train"))
    ['train-00000-of-00002.tfrecord', 'train-00001-of-00002.tfrecord']
    """

    def __init__(
        self,
        prefix: PathLike,
        *,
        shards: int | None = None,
        shard_bytes: int | None = None,
        compression: str | None = None,
        level: int | None = None,
        index: bool = True,
        zones: bool = False,
        overwrite: bool = False,
    ) -> None:
        self._closed = True
        check_bools(index=index, zones=zones, overwrite=overwrite)
        if (shards is None) == (shard_bytes is None):
            given = "neither" if shards is None else "both"
            raise InvalidArgumentError(f"Expected either shards or shard_bytes but got {given}.")
        for name, value in (("shards", shards), ("shard_bytes", shard_bytes)):
            if value is not None and as_integer(name, value) < 1:
                raise InvalidArgumentError(f"Expected {name} to be at least 1 but got {value}.")
        self._prefix = path_text(prefix)
        self._kind = canonical(compression)
        self._level = level
        self._index = index and codec(self._kind).seeks
        self._zones = zones
        self._shard_bytes = shard_bytes
        self._run_bytes = max(
            1 << 14, min(RUN_BYTES, _BUFFER_BYTES // (shards or 1), shard_bytes or RUN_BYTES)
        )
        self._next = 0
        self._encoder: ExampleEncoder | None = None
        self.records = 0
        self.paths: list[str] = []  # of the finished shards, after close()
        self._folder, self._title = split_path(self._prefix)
        check_title(self._title)
        traits = traits_of(self._prefix)
        if not traits.writes:
            create(self._prefix)  # which says why
        self._stages = shards is None and not traits.renames
        make_folder(self._folder)
        old = shards_of_prefix(self._prefix)
        if old and not overwrite:
            raise AlreadyExistsError(
                f"{old[0]}; there are {len(old)} shards of {self._prefix!r} already. "
                "Remove them, choose another prefix, or pass overwrite=True.",
                path=old[0],
            )
        self._shards: list[_Shard] = []
        self._step = UninterruptedStep()  # round what must reach every shard or none
        self._closed = False
        self._count = shards
        finish_at_exit(self)
        for _ in range(shards or 1):
            self._begin_shard()

    def write(self, record: bytes | bytearray | memoryview | str, key: bytes | str | None = None) -> None:
        """Write one record, to the shard whose turn it is or, with `key`, to the one that the key belongs to.

        Raises:
            FailedPreconditionError: the writer is closed.
            InvalidArgumentError: `key` with shards by size: there is no fixed number to hash into.
        """
        self._check_open()
        self._choose(key).writer.write(record)
        self.records += 1

    def write_many(self, records: Iterable[bytes | bytearray | memoryview | str] | Block) -> None:
        """Write many records round robin: a list, a tuple, any iterable, or a Block."""
        self._check_open()
        if self._shard_bytes is not None or not isinstance(records, (list, tuple, Block)):
            for record in records:
                self.write(record)
            return
        count = len(self._shards)
        with self._step:
            for number, shard in enumerate(self._shards):
                shard.writer.write_many(records[(number - self._next) % count :: count])
            self._next = (self._next + len(records)) % count
            self.records += len(records)

    def write_example(self, features: Any, key: bytes | str | None = None) -> None:
        """Write one Example from a dict or a message, as TFRecordWriter.write_example does.

        Args:
            features: values by name, or a message.
            key: as in write().

        Raises:
            TypeError, ValueError: no feature can hold a value; nothing is written then.
        """
        if self._encoder is None:
            self._encoder = ExampleEncoder()
        self.write(self._encoder.encode(features), key)

    def write_batch(self, columns: Any) -> None:
        """Write one Example for each row of some columns, round robin, as TFRecordWriter.write_batch does.

        Args:
            columns: a dict of columns, or a table, as `encode_examples` takes them.

        Raises:
            TypeError, ValueError: as `encode_examples`; nothing is written then.
        """
        self._check_open()
        self.write_many(encode_examples(columns))

    def close(self) -> None:
        """Finish all shards and give them their names; closing twice is fine."""
        if self._closed:
            return
        try:
            self.finish()
            self._publish()
        except BaseException:
            self.discard()
            raise
        self._closed = True

    def finish(self) -> None:
        """Write everything and make it durable, under temporary names still, so that close() has little left to do."""
        self._check_open()
        for shard in self._shards:
            shard.finish()

    def discard(self) -> None:
        """End without publishing anything more."""
        for shard in self._shards:
            shard.discard()
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif not self._closed:
            self.discard()

    @unless_exiting
    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self.discard()

    # -- inside -----------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._closed:
            raise FailedPreconditionError("Writer is closed.", path=self._prefix)
        if self._step.inside:
            raise AbortedError(
                f"{self._prefix}; writing was interrupted: some shards lack records. Write all of them again.",
                path=self._prefix,
            )

    def _begin_shard(self) -> None:
        number = len(self._shards)
        if self._count is not None and not is_local(self._prefix):
            name = shard_name(self._prefix, number, self._count, self._kind)
        elif self._stages:
            temporary = f"{self._title}-{number:05d}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
            name = os.path.join(sidecar_folder(self._prefix), temporary)
        else:
            name = f"{self._prefix}-{number:05d}"
        output = create(name, at_once=self._count or 1)
        threads = default_threads() if self._count is None else 1 if number > 64 else None
        try:
            writer = TFRecordWriter(
                output,
                compression=self._kind,
                level=self._level,
                index=self._index,
                zones=self._zones,
                threads=threads,
            )
        except BaseException:
            output.discard()
            raise
        writer.set_run_bytes(self._run_bytes)
        self._shards.append(_Shard(output, writer, name if self._stages else None))

    def _choose(self, key: bytes | str | None) -> _Shard:
        if self._shard_bytes is None:
            if key is not None:
                return self._shards[shard_of(key, len(self._shards))]
            shard = self._shards[self._next]
            self._next = (self._next + 1) % len(self._shards)
            return shard
        if key is not None:
            raise InvalidArgumentError(
                "A key needs a fixed number of shards. Pass shards= instead of shard_bytes=."
            )
        if self._shards[-1].output.position >= self._shard_bytes:
            self._shards[-1].finish()
            self._begin_shard()
        return self._shards[-1]

    def _publish(self) -> None:
        total = len(self._shards)
        paths = [shard_name(self._prefix, number, total, self._kind) for number in range(total)]
        old = old_shards(self._prefix, [os.path.basename(path) for path in paths])
        try:
            old.set_aside()
            entries = self._publish_shards(paths)
            made: dict[str, Any] = {"writer": "ShardWriter", "shards": total, "compression": self._kind}
            if self._shard_bytes is not None:
                made["shard_bytes"] = self._shard_bytes
            update_manifest(self._folder, entries, [], {self._title: made})
        except BaseException as error:
            left = old.put_back()
            if left and isinstance(error, OpError):
                raise type(error)(f"{error.message} {left}", path=error.path) from error
            raise
        self.paths = paths
        old.remove()

    def _publish_shards(self, paths: list[str]) -> list[ShardEntry]:
        pairs = zip(self._shards, paths, strict=True)
        if is_local(self._prefix):
            return [self._publish_shard(*pair) for pair in pairs]
        with in_threads([partial(self._publish_shard, *pair) for pair in pairs]) as results:
            return [result() for result in results]

    def _publish_shard(self, shard: _Shard, path: str) -> ShardEntry:
        shard.publish(path)
        if self._index or self._zones:
            shard.writer.save_sidecars(path)
        return ShardEntry(os.path.basename(path), shard.writer.records, shard.output.position, self._kind)


class _Shard:
    """One shard on its way.

    Args:
        output: it appears whole.
        writer: writes to it.
        stage: a temporary name under which it is finished, where nothing can be renamed; None: it keeps its output.
    """

    def __init__(self, output: WholeOutput, writer: TFRecordWriter, stage: str | None) -> None:
        self.output = output
        self.writer = writer
        self._stage = stage
        self._finished = False

    def finish(self) -> None:
        """Write everything and make it durable, still under the temporary name."""
        if not self._finished:
            self.writer.write_many(())  # raises again what has made the file incomplete
            self.writer.close()
            if self._stage is None:
                self.output.finish()
            else:
                self.output.close()  # which gives back its memory
            self._finished = True

    def publish(self, path: str) -> None:
        """Give the finished shard its name."""
        if self._stage is None:
            self.output.publish(path)
        else:
            move(self._stage, path)
            self._stage = None

    def discard(self) -> None:
        self.writer.discard()
        self.output.discard()
        if self._stage is not None and self._finished:
            stage, self._stage = self._stage, None
            with contextlib.suppress(OpError):  # the store does not answer: it is seen as a temporary file
                remove(stage)
