"""Claim: streaming from S3 runs at 0.75 x obstore fetching the same ranges; 50 ms a request leave 0.7 of that.

GZIP members from S3 run at 0.7 x the same file from the local disk. The server shares the two cores.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.data import dataset
from benchmarks.gzip_read import write_members
from benchmarks.harness import Contender, Report, Settings, by_name, in_child
from benchmarks.remote import Place, bucket_with, fetch_raw, relayed

DELAY = 0.05
AT_ONCE = 10  # ranges: what tfrkit has under way, too
OURS, RAW, RELAYED, DELAYED, RAW_DELAYED = (
    "read_blocks",
    "obstore ranges",
    "read_blocks, relayed",
    "read_blocks, 50 ms",
    "obstore ranges, 50 ms",
)
LOCAL, MEMBERS, LOCAL_MEMBERS = "read_blocks, local", "GZIP members from S3", "GZIP members, local"


def contenders(settings: Settings, *, near: str, relay: str, far: str) -> list[Contender]:
    """Stream A from the server, with and without tfrkit, with and without a delay, and a relay as the delay has one."""
    import tfrkit as tfr

    data = dataset("A", settings.scale)
    keys = [path.name for path in data.plain]

    def blocks(place: Place) -> int:
        place.configure()
        return sum(len(block) for block in tfr.read_blocks([place.url(key) for key in keys]))

    def local() -> int:
        return sum(len(block) for block in tfr.read_blocks(list(data.plain)))

    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    raw: dict[str, Any] = {"records": 0, "bytes": data.stream_bytes}
    return [
        Contender(OURS, partial(blocks, Place.load(near)), "records", **amount),
        Contender(RAW, partial(fetch_raw, Place.load(near), keys, AT_ONCE), "bytes", **raw),
        Contender(RELAYED, partial(blocks, Place.load(relay)), "records", **amount),
        Contender(DELAYED, partial(blocks, Place.load(far)), "records", **amount),
        Contender(RAW_DELAYED, partial(fetch_raw, Place.load(far), keys, AT_ONCE), "bytes", **raw),
        Contender(LOCAL, local, "records", **amount),
    ]


def member_contenders(settings: Settings, *, near: str, members: str) -> list[Contender]:
    """Read one file of GZIP members from the server and from the disk."""
    import tfrkit as tfr

    data = dataset("A_one", settings.scale)
    place = Place.load(near)
    place.configure()

    def blocks(path: str) -> int:
        return sum(len(block) for block in tfr.read_blocks(path))

    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    return [
        Contender(MEMBERS, partial(blocks, place.url(Path(members).name)), "records", **amount),
        Contender(LOCAL_MEMBERS, partial(blocks, members), "records", **amount),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("remote_read")
    members = in_child("gzip_read", write_members.__name__, settings, cores=None, kind="A_one")
    try:
        files = [*dataset("A", settings.scale).plain, Path(members)]
        with bucket_with(files, delay=DELAY) as (near, far), relayed(near) as relay:
            results = in_child(
                "remote_read", "contenders", settings, cores=2, near=near, relay=relay, far=far
            )
            inflated = in_child(
                "remote_read", "member_contenders", settings, cores=2, near=near, members=members
            )
    finally:
        Path(members).unlink()
    report.add_results("Streaming A from an S3 server, 2 cores shared with it", results)
    report.add_results("GZIP members of A, 2 cores", inflated)
    named = by_name([*results, *inflated])
    report.ratio("S3", named[OURS], [named[RAW]], 0.75)
    report.ratio("S3", named[DELAYED], [named[OURS]], 0.7)
    report.ratio("S3, both through a relay", named[DELAYED], [named[RELAYED]], None)
    report.ratio("S3, 50 ms", named[DELAYED], [named[RAW_DELAYED]], None)
    report.ratio("S3", named[OURS], [named[LOCAL]], None)
    report.ratio("S3", named[MEMBERS], [named[LOCAL_MEMBERS]], 0.7)
    return report
