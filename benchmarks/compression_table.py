"""The table of sizes and speeds: none, GZIP by level as members and as one stream, ZLIB, XZ, ZSTD.

No requirement. Three kinds of data: Examples of numbers, photos as JPEG, photos as pixels; every record once,
so that codecs with a long memory find no repetition that real data would not have. TensorFlow reads NONE,
GZIP and ZLIB only. Rates count payload bytes, on two cores.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import rivals
from benchmarks.data import dataset, payloads, scratch
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

SAMPLES = {
    "sample_examples": "Examples of 41 numbers",
    "sample_photos": "photos as JPEG",
    "sample_pixels": "photos as pixels",
}
GZIP_LEVELS = (1, 5, 6, 9)
TENSORFLOW = "GZIP by TensorFlow, default level"
TURNS = 3


def _ways() -> dict[str, tuple[str, dict[str, Any]]]:
    """Name of each way: suffix of its file and arguments of the writer."""
    import tfrkit as tfr

    out: dict[str, tuple[str, dict[str, Any]]] = {"none": ("", {})}
    for members in (True, False):
        for level in GZIP_LEVELS:
            options = tfr.TFRecordOptions(compression_type="GZIP", compression_level=level)
            name = f"GZIP level {level}, {'members' if members else 'one stream'}"
            out[name] = (".gz", {"options": options, "members": members})
    out["ZLIB, default level"] = (".zz", {"options": tfr.TFRecordOptions(compression_type="ZLIB")})
    out["XZ"] = (".xz", {"compression": "XZ"})
    if rivals.installed("zstandard") or rivals.installed("compression.zstd"):
        out["ZSTD"] = (".zst", {"compression": "ZSTD"})
    return out


def _compression(name: str) -> str:
    return name.split(maxsplit=1)[0].rstrip(",").upper()


def _path(settings: Settings, sample: str, name: str, suffix: str) -> Path:
    """A file of its own for each way, since reading comes after all of them are written."""
    plain = "".join(letter if letter.isalnum() else "-" for letter in name)
    return scratch(settings.scale) / f"{sample}-{plain}.tfrecord{suffix}"


def write_contenders(settings: Settings, *, sample: str) -> list[Contender]:
    """Write the sample in every way."""
    rivals.tensorflow()
    records = list(payloads(dataset(sample, settings.scale).plain[0]))
    amount: dict[str, Any] = {"records": len(records), "bytes": sum(map(len, records))}
    out = []
    for name, (suffix, options) in _ways().items():
        path = _path(settings, sample, name, suffix)
        fn = partial(_write, path, records, options)
        out.append(Contender(name, fn, "records", output=path, at_most=TURNS, **amount))
    path = _path(settings, sample, TENSORFLOW, ".gz")
    fn = partial(rivals.tf_write, path, records, "GZIP")
    out.append(Contender(TENSORFLOW, fn, "records", output=path, at_most=TURNS, **amount))
    return out


def read_contenders(settings: Settings, *, sample: str) -> list[Contender]:
    """Read what `write_contenders` measured, written once more."""
    import tfrkit as tfr

    records = list(payloads(dataset(sample, settings.scale).plain[0]))
    amount: dict[str, Any] = {"records": len(records), "bytes": sum(map(len, records))}

    def read(path: Path, compression: str) -> int:
        return sum(len(block) for block in tfr.read_blocks(path, compression=compression))

    out = []
    for name, (suffix, options) in _ways().items():
        path = _path(settings, sample, name, suffix)
        _write(path, records, options)
        fn = partial(read, path, _compression(name))
        out.append(Contender(name, fn, "records", at_most=TURNS, **amount))
    return out


def _write(path: Path, records: list[bytes], options: dict[str, Any]) -> int:
    import tfrkit as tfr

    with tfr.TFRecordWriter(path, **options) as writer:
        writer.write_many(records)
    return len(records)


def run(settings: Settings) -> Report:
    """One table for each kind of data."""
    report = Report("compression_table")
    for sample, title in SAMPLES.items():
        try:
            written = in_child("compression_table", "write_contenders", settings, cores=2, sample=sample)
            read = by_name(in_child("compression_table", "read_contenders", settings, cores=2, sample=sample))
        finally:
            for path in scratch(settings.scale).glob(f"{sample}-*"):
                path.unlink()
        whole = next(result.output_bytes for result in written if result.name == "none")
        rows = []
        for result in written:
            reading = f"{read[result.name].rate / 1e6:.0f}" if result.name in read else ""
            size = [f"{result.output_bytes / 1e6:.2f}", f"{100 * result.output_bytes / whole:.1f}"]
            rows.append([result.name, *size, f"{result.rate / 1e6:.0f}", reading])
        heads = ["compression", "size MB", "% of none", "write MB/s", "read MB/s"]
        report.add_table(f"Compression of {title}", heads, rows)
    return report
