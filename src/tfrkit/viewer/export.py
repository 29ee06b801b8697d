"""export: the first page of a data set, its features and some records as one HTML file; see `export_html.py`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tfrkit.errors import DataLossError, InvalidArgumentError, OpError
from tfrkit.records.compare.compare_features import values_of
from tfrkit.records.describe.shown_values import kind_of, names_of, steps_text, values_text
from tfrkit.records.describe.statistics import Statistics
from tfrkit.records.describe.stats import stats
from tfrkit.records.sniff.value_sniffer import Sample, sniff_values
from tfrkit.records.where import parse_where
from tfrkit.stores.files import write_bytes
from tfrkit.stores.url import split_path
from tfrkit.viewer.export_html import ExportCell, ExportPage, ExportRecord, page_html
from tfrkit.viewer.feature_json import TOP, features_json
from tfrkit.viewer.job_routes import job_files
from tfrkit.viewer.record_pass import RecordPass
from tfrkit.viewer.record_set import NumberedFrame
from tfrkit.viewer.session import ViewedSet
from tfrkit.viewer.shown.thumbs import thumbnail

__all__ = ["export", "make_page"]

COUNT: Final = 50  # records
_COUNTED: Final = 20_000  # records that the features rest on, from all over the files
_MOST_FILES: Final = 200
_MOST_FEATURES_BYTES: Final = 1 << 20
_MOST_CELLS: Final = 200  # of a record
_THUMB: Final = 320
_STYLE: Final = Path(__file__).parent / "static" / "export.css"


def export(
    viewed: ViewedSet,
    target: str,
    *,
    where: str | None = None,
    records: Sequence[int] | None = None,
    count: int = COUNT,
) -> int:
    """Write a page about a data set.

    Args:
        viewed: the data set, of which nothing else is asked afterwards.
        target: where to write, a path or URL; what is there is replaced.
        where: show the first records that this takes.
        records: show these, by their numbers.
        count: how many records to show, if they are not named.

    Returns:
        How many bytes it has.

    Raises:
        InvalidArgumentError: both `where` and `records` are given, or the condition is none.
        OutOfRangeError: there is no such record.
    """
    viewed.data.start()
    try:
        data = page_html(make_page(viewed, where, records, count), _STYLE.read_text())
    finally:
        viewed.data.close()
    write_bytes(target, data)
    return len(data)


def make_page(
    viewed: ViewedSet, where: str | None = None, records: Sequence[int] | None = None, count: int = COUNT
) -> ExportPage:
    """Gather what a page shows; see `export`."""
    if where and records is not None:
        raise InvalidArgumentError("expected either a condition or numbers of records, not both")
    if where:
        shown = list(_matches(viewed, where, count))
    elif records is not None:
        shown = [_record(viewed, each) for run in viewed.data.runs(sorted(set(records))) for each in run]
    else:
        shown = [_record(viewed, each) for each in viewed.data.first(count)]
    files = viewed.data.files
    found, total = _statistics(viewed), viewed.data.total
    features = itertools.chain(
        ((feature, False) for feature in found.features.values()),
        ((feature, True) for feature in found.feature_lists.values()),
    )
    listed, left = features_json(features, found.examples + found.sequence_examples, _MOST_FEATURES_BYTES)
    return ExportPage(
        title=_title(viewed),
        version=version("tfrkit"),
        records=total if total is not None or found.records >= _COUNTED else found.records,
        files=[(_base(state.name), state.size or 0, state.records) for state in files[:_MOST_FILES]],
        more_files=max(0, len(files) - _MOST_FILES),
        counted=found.records,
        features=listed,
        more_features=left,
        shown=shown,
        where=where,
    )


def _base(path: str) -> str:
    """Return the name of a file: in which folders of which machine it lies is not for the reader of a mail."""
    return split_path(path)[1]


def _title(viewed: ViewedSet) -> str:
    files = viewed.data.files
    first = _base(files[0].name)
    return first if len(files) == 1 else f"{first} and {len(files) - 1:,} more files"


def _statistics(viewed: ViewedSet) -> Statistics:
    """Count the values of some records from all over the files; damage is passed over."""
    paths = list(viewed.data.paths)
    try:
        return stats(paths, _COUNTED, top=TOP)
    except DataLossError:
        return stats(paths, _COUNTED, top=TOP, on_corrupt="skip")


def _matches(viewed: ViewedSet, where: str, count: int) -> Iterator[ExportRecord]:
    found = RecordPass(job_files(viewed), parse_where(where))
    with closing(found.blocks(lambda: None)) as blocks:
        for block in blocks:
            file, numbers = found.places(block)
            name = _base(viewed.data.files[file].name)
            for row, record in enumerate(numbers.tolist()):
                if not count:
                    return
                count -= 1
                number = viewed.data.number_of(file, record)
                yield _shown(number, name, record, block[row], "", viewed.class_names)


def _record(viewed: ViewedSet, found: NumberedFrame) -> ExportRecord:
    frame, name = found.frame, _base(viewed.data.files[found.file].name)
    return _shown(found.number, name, frame.record, frame.payload, frame.error, viewed.class_names)


def _shown(
    number: int | None, name: str, record: int, data: bytes, error: str, names: Mapping[str, Sequence[str]]
) -> ExportRecord:
    try:
        values = values_of(data) if data or not error else {}
    except (OpError, ValueError) as problem:
        return ExportRecord(number, name, record, (), error or str(problem))
    cells = [
        _cell(feature.name, feature.is_list, value, names_of(feature.name, names))
        for feature, value in itertools.islice(sorted(values.items()), _MOST_CELLS)
    ]
    if len(values) > _MOST_CELLS:
        cells.append(ExportCell("...", "", f"and {len(values) - _MOST_CELLS:,} more features"))
    return ExportRecord(number, name, record, tuple(cells), error)


def _cell(name: str, is_list: bool, value: Any, names: Sequence[str]) -> ExportCell:
    if is_list:
        return ExportCell(name, *steps_text(value, full=False))
    kind, text = kind_of(value), values_text(value, full=False, names=names)
    first = value[0] if isinstance(value, list) and value else b""
    if not (first and " image" in sniff_values([Sample(first[: 1 << 16], len(first))])):
        return ExportCell(name or "the record", kind, text)
    try:
        return ExportCell(name, kind, text, thumbnail(first, _THUMB))
    except (OpError, ValueError) as error:
        return ExportCell(name, kind, text, None, f"this image does not decode: {error}")
