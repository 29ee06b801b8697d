"""Zones: what is known of the features of each run of records, so that a scan can leave out what cannot match.

They are made in one pass over a shard, or while it is written, and kept beside its index. Nothing needs them: where
there are none that fit the shard as it is now, all of it is read.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection

from tfrkit.codecs.table import codec
from tfrkit.errors import FailedPreconditionError, OpError
from tfrkit.model.policy import TFRKIT
from tfrkit.records.access.find_index import cache_path
from tfrkit.records.access.index import tail_checksum, zones_path
from tfrkit.records.access.zone_bytes import MAX_ZONE_BYTES, decode_zones, encode_zones
from tfrkit.records.access.zone_maker import ZoneMaker
from tfrkit.records.access.zone_values import FeatureOutline, FeatureZones, KindOutline, ShardOutline, Zones
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.reader import BlockReader
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.cache.folder import make_cache_folder
from tfrkit.stores.files import create, is_local, open_small, open_source, traits_of, write_bytes
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.source import ByteSource
from tfrkit.threads import spawn

__all__ = [
    "FeatureOutline",
    "FeatureZones",
    "KindOutline",
    "ShardOutline",
    "Zones",
    "build_zones",
    "load_zones",
    "save_zones",
]


def build_zones(path: PathLike, *, save: bool = False, threads: int | None = None) -> Zones:
    """Make the zones of a shard: least and greatest value of every feature in each run of some 4,096 records.

    All records are read and checked. Records that are not Examples are counted and have no zones.

    Args:
        path: of the shard, in any compression.
        save: keep the zones beside it, where scans find them.
        threads: how many cores to use; by default all.

    Raises:
        DataLossError: the file is damaged.
        FailedPreconditionError: it is changed while it is read, or it is a pipe.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_batch({"label": [3, 1, 2]})
    >>> label = build_zones("a.tfrecord").features["label"]
    >>> label.least, label.greatest
    (array([1]), array([3]))
    """
    name = path_text(path)
    source = open_source(name)
    if not source.regular:
        raise FailedPreconditionError(
            f"{name}; expected a file but got a pipe, which has no zones.", path=name
        )
    before = tail_checksum(source)
    compression = sniff_compression(source.peek(HEAD_BYTES))
    maker = ZoneMaker(whole_pieces=codec(compression).members is not None, threads=threads or 0)
    for block in BlockReader([name], TFRKIT, threads, BLOCK_BYTES):
        maker.add(block.data, block.offsets, block.lengths)
    zones = maker.finish(*before)
    if tail_checksum(open_source(name)) != before or (not compression and zones.stream_bytes != before[0]):
        raise FailedPreconditionError(
            f"{name}; the file has changed while its zones were made. Make them again.", path=name
        )
    if save:
        save_zones(name, zones)
    return zones


def save_zones(shard: str, zones: Zones) -> str:
    """Keep zones beside their shard, atomically; return the path."""
    path = zones_path(shard)
    output = create(path, durable=False)  # its checksum tells whether it is whole
    try:
        output.write(encode_zones(zones))
        output.close()
    except BaseException:
        output.discard()
        raise
    return path


def load_zones(path: str, source: ByteSource, looked_at: Collection[str] | None = None) -> Zones | None:
    """Return the zones kept beside a shard, or None if none fit the file as it is now: missing, stale or damaged.

    What is remote is kept in the cache folder as well, as an index is, so that it is fetched once.

    Args:
        path: the shard's.
        source: the shard, open.
        looked_at: of which features; others are not decoded. None: all. See `decode_zones`.
    """
    if not source.regular:
        return None
    if not source.remote:
        if is_local(path) and not _is_older(path):
            return None
        return _read_zones(zones_path(path), source, looked_at)
    place = cache_path(path, source, ".zones")
    zones = _read_zones(place, source, looked_at, checked=traits_of(path).tagged)
    if zones is None:
        zones = _read_zones(zones_path(path), source, None)
        if zones is not None and traits_of(path).lasting:
            with contextlib.suppress(OSError, OpError):
                make_cache_folder("indexes")
                write_bytes(place, encode_zones(zones))
    return zones


def _is_older(path: str) -> bool:
    """Tell whether a local shard was not changed since its zones were written: what they leave out nobody sees."""
    try:
        return os.stat(path).st_mtime_ns <= os.stat(zones_path(path)).st_mtime_ns
    except OSError:
        return False


def _read_zones(
    path: str, source: ByteSource, looked_at: Collection[str] | None, *, checked: bool = False
) -> Zones | None:
    """Return the zones in a file, or None; `checked`: the version of the shard is known, only its size is compared."""
    try:
        if is_local(path) or checked:
            zones = decode_zones(_read_limited(path), looked_at)
            known = (source.size(), zones.tail_crc) if checked else tail_checksum(source)
        else:
            reading = spawn(_read_limited, path)
            known = tail_checksum(source)  # at the same time
            zones = decode_zones(reading.result(), looked_at)
    except (OpError, ValueError):
        return None
    return zones if (zones.shard_bytes, zones.tail_crc) == known else None


def _read_limited(path: str) -> bytes:
    file = open_small(path)
    if not file.regular or (file.size() or 0) > MAX_ZONE_BYTES:
        raise ValueError("too large")
    return b"".join(iter(lambda: file.read(1 << 23), b""))
