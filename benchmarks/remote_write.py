"""Claim: writing A to S3 runs at 0.7 x obstore putting the same bytes.

Both write one object, in parts; the records are in memory. The server shares the two cores.
"""

from __future__ import annotations

from benchmarks.data import dataset, payloads
from benchmarks.harness import Contender, Report, Settings, by_name, in_child
from benchmarks.remote import PART_BYTES, Place, bucket_with

OURS, RAW = "TFRecordWriter", "obstore put"


def contenders(settings: Settings, *, near: str) -> list[Contender]:
    """Write the first file of A: its records through a writer, its bytes through obstore."""
    import tfrkit as tfr

    path = dataset("A", settings.scale).plain[0]
    records, data = list(payloads(path)), path.read_bytes()
    place = Place.load(near)
    place.configure()
    client = place.client()

    def ours() -> int:
        with tfr.TFRecordWriter(place.url("out/ours.tfrecord")) as writer:
            writer.write_many(records)
        return len(records)

    def raw() -> int:
        client.put("out/raw.tfrecord", data, chunk_size=PART_BYTES, max_concurrency=8)
        return len(data)

    return [
        Contender(OURS, ours, "records", len(records), len(data)),
        Contender(RAW, raw, "bytes", 0, len(data)),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("remote_write")
    with bucket_with([]) as (near, _):
        results = in_child("remote_write", "contenders", settings, cores=2, near=near)
    report.add_results("Writing a file of A to an S3 server, 2 cores shared with it", results)
    named = by_name(results)
    report.ratio("S3", named[OURS], [named[RAW]], 0.7)
    return report
