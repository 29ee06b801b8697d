"""Pipelines, the same in tfrkit and in tf.data: what the scripts `pipelines_*` run and measure.

A way is a function of a `Library`; it builds a dataset. Draining takes every batch as the library gives it, without
turning TensorFlow's tensors into arrays, and counts rows. A way's peak memory is that of a process of its own that
does nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import specs
from benchmarks.data import dataset
from benchmarks.harness import Claim, Contender, Report, Result, Settings, by_name, in_child, keep_alive
from benchmarks.memory import peak_mb
from benchmarks.rivals import tensorflow

BATCH = 1024
BUFFER = 100_000
PADDED = 64
NUMBERS = 1_000_000
WINDOW = 64_000_000
MOST_MEMORY = 0.4  # of TensorFlow's


@dataclass(frozen=True, slots=True)
class Library:
    """What a way needs of tfrkit or TensorFlow."""

    name: str
    data: Any  # has Dataset and TFRecordDataset
    io: Any  # has parse_example and parse_single_example
    features: Any  # has FixedLenFeature and so on, with names of types
    autotune: int

    def records(self, paths: Sequence[Path]) -> Any:
        """The records of files, one file after another."""
        return self.data.TFRecordDataset([str(path) for path in paths])


def ours() -> Library:
    """Make tfrkit ready."""
    import tfrkit as tfr

    return Library("tfrkit", tfr, tfr, tfr, tfr.AUTOTUNE)


def theirs() -> Library:
    """Make TensorFlow ready."""
    tf = tensorflow()
    return Library("TensorFlow", tf.data, tf.io, specs.TensorFlowIo(tf), tf.data.AUTOTUNE)


def parse_batch(library: Library, paths: Sequence[Path]) -> Any:
    """Ours alone: declared parsing, then batches."""
    spec = specs.a_spec(library.features)
    return library.records(paths).parse(spec).batch(BATCH).prefetch(library.autotune)


def batch_map(library: Library, paths: Sequence[Path]) -> Any:
    """Batches, then parse_example in a function."""
    spec, io = specs.a_spec(library.features), library.io
    return library.records(paths).batch(BATCH).map(lambda records: io.parse_example(records, spec))


def batch_map_ahead(library: Library, paths: Sequence[Path], batch: int = BATCH) -> Any:
    """The same with parallel calls and a prefetch: TensorFlow's best."""
    spec, io = specs.a_spec(library.features), library.io
    batches = library.records(paths).batch(batch)
    parsed = batches.map(lambda records: io.parse_example(records, spec), num_parallel_calls=library.autotune)
    return parsed.prefetch(library.autotune)


def epoch(library: Library, paths: Sequence[Path], window: int | None = None) -> Any:
    """Ours alone: all records in an order that is computed, declared parsing, batches."""
    spec = specs.a_spec(library.features)
    shuffled = library.records(paths).global_shuffle(seed=1, window=window)
    return shuffled.parse(spec).batch(BATCH).prefetch(library.autotune)


def shuffle_parse_batch(library: Library, paths: Sequence[Path]) -> Any:
    """Ours alone: shuffled, declared parsing, batches."""
    spec = specs.a_spec(library.features)
    return library.records(paths).shuffle(BUFFER, seed=1).parse(spec).batch(BATCH)


def shuffle_batch_map(library: Library, paths: Sequence[Path]) -> Any:
    """Shuffled, batches, parse_example in a function: TensorFlow's best."""
    spec, io = specs.a_spec(library.features), library.io
    batches = library.records(paths).shuffle(BUFFER, seed=1).batch(BATCH)
    parsed = batches.map(lambda records: io.parse_example(records, spec), num_parallel_calls=library.autotune)
    return parsed.prefetch(library.autotune)


def single_map(library: Library, paths: Sequence[Path], limit: int = -1) -> Any:
    """parse_single_example in a function, then batches; of the first `limit` records."""
    spec, io = specs.a_spec(library.features), library.io
    records = library.records(paths).take(limit)
    return records.map(lambda record: io.parse_single_example(record, spec)).batch(BATCH)


def single_map_parallel(library: Library, paths: Sequence[Path], limit: int = -1) -> Any:
    """The same with parallel calls and a prefetch."""
    spec, io = specs.a_spec(library.features), library.io
    records = library.records(paths).take(limit)
    parsed = records.map(
        lambda record: io.parse_single_example(record, spec), num_parallel_calls=library.autotune
    )
    return parsed.batch(BATCH).prefetch(library.autotune)


def parse_padded(library: Library, paths: Sequence[Path]) -> Any:
    """Ours alone: lists of any length, padded to the longest of a batch."""
    return library.records(paths).parse(specs.c_spec(library.features)).padded_batch(PADDED)


def single_padded(library: Library, paths: Sequence[Path]) -> Any:
    """The same in TensorFlow, whose lists must be made dense before they are padded."""
    spec, io = specs.c_spec(library.features), library.io
    to_dense = tensorflow().sparse.to_dense

    def parse(record: Any) -> dict[str, Any]:
        return {key: to_dense(value) for key, value in io.parse_single_example(record, spec).items()}

    parsed = library.records(paths).map(parse, num_parallel_calls=library.autotune)
    return parsed.padded_batch(PADDED).prefetch(library.autotune)


def batch_padded(library: Library, paths: Sequence[Path]) -> Any:
    """Batches, then parse_example to dense lists: another of TensorFlow's ways."""
    spec, io = specs.c_spec(library.features), library.io
    to_dense = tensorflow().sparse.to_dense

    def parse(records: Any) -> dict[str, Any]:
        return {key: to_dense(value) for key, value in io.parse_example(records, spec).items()}

    batches = library.records(paths).batch(PADDED)
    return batches.map(parse, num_parallel_calls=library.autotune).prefetch(library.autotune)


def parse_lists(library: Library, paths: Sequence[Path]) -> Any:
    """Ours alone: lists of any length as ragged batches."""
    return (
        library.records(paths).parse(specs.c_spec(library.features)).batch(BATCH).prefetch(library.autotune)
    )


def batch_lists(library: Library, paths: Sequence[Path], *, ragged: bool = True) -> Any:
    """The same in TensorFlow, as ragged or sparse batches."""
    make = specs.c_ragged_spec if ragged else specs.c_spec
    spec, io = make(library.features), library.io
    batches = library.records(paths).batch(BATCH)
    parsed = batches.map(lambda records: io.parse_example(records, spec), num_parallel_calls=library.autotune)
    return parsed.prefetch(library.autotune)


def parse_sequences(library: Library, paths: Sequence[Path]) -> Any:
    """Ours alone: SequenceExamples as batches, padded by features that are lists of lists."""
    context, lists = specs.d_specs(library.features)
    return library.records(paths).batch(BATCH).parse_sequence(context, lists).prefetch(library.autotune)


def batch_sequences(library: Library, paths: Sequence[Path], batch: int = BATCH) -> Any:
    """The same in TensorFlow."""
    (context, lists), io = specs.d_specs(library.features), library.io
    batches = library.records(paths).batch(batch)
    parsed = batches.map(
        lambda records: io.parse_sequence_example(records, context, lists),
        num_parallel_calls=library.autotune,
    )
    return parsed.prefetch(library.autotune)


def count_map(library: Library, paths: Sequence[Path], limit: int = NUMBERS) -> Any:  # noqa: ARG001
    """Numbers through one line of Python."""
    return library.data.Dataset.range(limit).map(lambda x: x * 2 + 1).batch(1000)


def drain(pipeline: Any) -> int:
    """Take every batch and count its rows."""
    iterator = iter(pipeline)
    keep_alive(iterator)
    rows = 0
    for batch in iterator:
        rows += _rows(batch)
    return rows


def _rows(batch: Any) -> int:
    """Rows of a batch: of the first of its parts or features."""
    if isinstance(batch, (dict, tuple)):
        return _rows(next(iter(batch.values() if isinstance(batch, dict) else batch)))
    if hasattr(batch, "nrows"):  # of TensorFlow's ragged tensors
        return int(batch.nrows())
    return int(batch.dense_shape[0]) if hasattr(batch, "dense_shape") else len(batch)


def contender(
    name: str, way: Callable[..., Any], library: Library, kind: str, settings: Settings, fraction: int = 1
) -> Contender:
    """Drain a way over the files of a kind; a slow one gets a part of the records."""
    data = dataset(kind, settings.scale)
    if fraction == 1:
        fn = lambda: drain(way(library, data.plain))  # noqa: E731
        return Contender(name, fn, "records", data.records, data.stream_bytes)
    limit = max(1000, data.records // fraction)
    part = partial(way, library, data.plain, limit)
    size = round(data.stream_bytes * limit / data.records)
    return Contender(name, lambda: drain(part()), "records", limit, size, at_most=3)


def peak(settings: Settings, *, library: str, way: str, kind: str, limit: int | None = None) -> float:
    """Drain a way once; the peak of this process in MB."""
    data = dataset(kind, settings.scale)
    chosen = ours() if library == "tfrkit" else theirs()
    more = () if limit is None else (limit,)
    drain(globals()[way](chosen, data.plain, *more))
    return peak_mb()


def report_memory(
    report: Report, settings: Settings, where: str, mine: str, other: str, kind: str, limit: int | None = None
) -> None:
    """Compare the peaks of two ways, each in a process of its own."""
    peaks = [
        in_child("pipelines", "peak", settings, cores=2, library=library, way=way, kind=kind, limit=limit)
        for library, way in (("tfrkit", mine), ("TensorFlow", other))
    ]
    rows = [["tfrkit", f"{peaks[0]:.0f}"], ["TensorFlow", f"{peaks[1]:.0f}"]]
    report.add_table(f"Peak memory: {where}", ["library", "MB"], rows)
    text = f"Peak memory of {where}, tfrkit / TensorFlow"
    report.add_claim(Claim(text, peaks[0] / peaks[1], MOST_MEMORY, sense="at most"))


def report_ratio(
    report: Report, where: str, results: list[Result], required: float | None, mine: str | None = None
) -> None:
    """Compare ours, the first or a named one, with the fastest of TensorFlow's."""
    named = by_name(results)
    own = named[mine or results[0].name]
    rivals = [result for name, result in named.items() if name.startswith("TensorFlow")]
    report.ratio(where, own, rivals, required)
