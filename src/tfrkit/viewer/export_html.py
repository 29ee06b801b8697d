"""The static page: what is known of a data set as one HTML file that loads nothing and runs nothing. Pure: no I/O.

Every text comes through `_tag`, which escapes it; pictures are data of the page, and the policy in its head allows
nothing else. `export.py` gathers what is shown.
"""

from __future__ import annotations

import base64
import hashlib
import html
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["ExportCell", "ExportPage", "ExportRecord", "page_html", "visible"]

_TOP: Final = 8
_HIDDEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn")  # control, direction, surrogates, private, unassigned


@dataclass(frozen=True, slots=True)
class ExportCell:
    """A feature of a record.

    Attributes:
        name: of the feature.
        kind: of its values.
        text: what they are, shortened.
        picture: a JPEG of the first of them, if it is an image.
        picture_error: why there is no picture of an image.
    """

    name: str
    kind: str
    text: str
    picture: bytes | None = None
    picture_error: str = ""


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """A record.

    Attributes:
        number: in the data set; None if that is not known.
        file: that it is in.
        record: its number there.
        cells: its features.
        error: what is wrong with it, if anything is.
    """

    number: int | None
    file: str
    record: int
    cells: tuple[ExportCell, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class ExportPage:
    """What a page shows.

    Attributes:
        title: name of the data set.
        version: of tfrkit.
        records: how many there are; None if that is not known.
        files: name, bytes and records of each.
        more_files: how many are not listed.
        counted: on how many records the features rest.
        features: as the viewer's page gets them; see `feature_json`.
        more_features: how many are not shown.
        shown: some records.
        where: the condition that chose them, if one did.
    """

    title: str
    version: str
    records: int | None
    files: Sequence[tuple[str, int, int | None]]
    more_files: int
    counted: int
    features: Sequence[Mapping[str, Any]]
    more_features: int
    shown: Sequence[ExportRecord]
    where: str | None = None


class _Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def visible(text: str) -> str:
    r"""Return text with what cannot be seen as escapes: control characters, changes of direction, lone surrogates.

    >>> visible("a\x00b\u202ec\nd")
    'a\\x00b\\u202ec\nd'
    """
    if text.isprintable():
        return text
    hidden = (character not in "\n\t" and unicodedata.category(character) in _HIDDEN for character in text)
    return "".join(
        ascii(each)[1:-1] if is_hidden else each for each, is_hidden in zip(text, hidden, strict=True)
    )


def page_html(page: ExportPage, css: str) -> bytes:
    """Return the page."""
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = _tag(
        "head",
        _Html('<meta charset="utf-8">'),
        _Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        _Html('<meta name="referrer" content="no-referrer">'),
        _Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        _tag("title", page.title),
        _Html(f"<style>{css}</style>"),
    )
    body = _tag("body", _tag("main", *_summary(page), *_files(page), *_features(page), *_records(page)))
    return ("<!doctype html>\n" + _tag("html", head, body, lang="en")).encode(errors="backslashreplace")


def _tag(name: str, *children: str, **attributes: str) -> _Html:
    """Return an element; text in it is escaped, and a trailing _ of an attribute's name is dropped."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(visible(value))}"'
        for key, value in attributes.items()
    )
    inner = "".join(
        each if isinstance(each, _Html) else html.escape(visible(each), quote=False) for each in children
    )
    return _Html(f"<{name}{named}>{inner}</{name}>")


def _summary(page: ExportPage) -> Iterable[_Html]:
    count = "records" if page.records is None else f"{page.records:,} records"
    files = len(page.files) + page.more_files
    yield _tag("h1", page.title)
    yield _tag(
        "p", f"{count} in {files:,} file{'s' * (files != 1)}, seen by tfrkit {page.version}", class_="dim"
    )


def _files(page: ExportPage) -> Iterable[_Html]:
    rows = [
        _tag(
            "tr",
            _tag("td", name),
            _tag("td", f"{size:,}", class_="number"),
            _tag("td", "" if records is None else f"{records:,}", class_="number"),
        )
        for name, size, records in page.files
    ]
    titles = (_tag("th", each, class_="number") for each in ("bytes", "records"))
    head = _tag("tr", _tag("th", "file"), *titles)
    yield _tag("h2", "Files")
    yield _tag("table", _tag("thead", head), _tag("tbody", *rows))
    if page.more_files:
        yield _tag("p", f"and {page.more_files:,} more", class_="dim")


def _features(page: ExportPage) -> Iterable[_Html]:
    yield _tag("h2", "Features")
    if page.counted and page.counted != page.records:
        yield _tag("p", f"Counted in {page.counted:,} records.", class_="dim")
    yield _tag("div", *map(_feature, page.features), class_="cards")
    if page.more_features:
        yield _tag("p", f"and {page.more_features:,} more", class_="dim")


def _feature(feature: Mapping[str, Any]) -> _Html:
    kind = f"{feature['kind'] or 'no kind'}{', a list of steps' if feature['list'] == 'steps' else ''}"
    parts = [_tag("h3", feature["name"]), _tag("p", f"{kind}; {_presence(feature)}", class_="dim")]
    if feature["min"] is not None:
        spread = f"{_range(feature['min'], feature['max'])}, mean {_short(feature['mean'])}"
        parts.append(_tag("p", spread))
    images = feature["images"]
    if images is not None:
        formats = ", ".join(f"{count:,} {name}" for name, count in images["formats"].items())
        sizes = [f"{side} {_range(*images[side])}" for side in ("width", "height") if images[side]]
        parts.append(_tag("p", "; ".join([formats, *sizes])))
    if feature["histogram"] is not None:
        parts += _histogram(feature["histogram"])
    elif feature["top"] and feature["distinct"] > 1 and images is None:
        rows = [
            _tag(
                "tr",
                _tag("td", _cut(f"{top['value']}", 60)),
                _tag("td", f"{top['count']:,}", class_="number"),
            )
            for top in feature["top"][:_TOP]
        ]
        parts.append(_tag("table", _tag("tbody", *rows)))
    return _tag("section", *parts, class_="card")


def _presence(feature: Mapping[str, Any]) -> str:
    length = feature["length"]
    share = f"in {100 * feature['presence']:.4g} % of the records"
    if length["max"] is None:
        return f"{share}, no values"
    return f"{share}, {_range(length['min'], length['max'])} value{'s' * (length['max'] != 1)}"


def _histogram(histogram: Mapping[str, Any]) -> Iterable[_Html]:
    counts = histogram["counts"]
    most, width = max(*counts, 1), 100 / len(counts)
    bars = [
        _tag(
            "rect",
            x=f"{place * width:.3f}",
            y=f"{40 - 40 * count / most:.3f}",
            width=f"{width * 0.9:.3f}",
            height=f"{40 * count / most:.3f}",
        )
        for place, count in enumerate(counts)
    ]
    label = f"histogram of {sum(counts):,} values"
    yield _tag("svg", *bars, viewBox="0 0 100 40", preserveAspectRatio="none", role="img", aria_label=label)
    ends = histogram["edges"][0], histogram["edges"][-1]
    yield _tag("div", *(_tag("span", _short(end)) for end in ends), class_="ends")


def _records(page: ExportPage) -> Iterable[_Html]:
    which = f"Records where {page.where}" if page.where else "Records"
    yield _tag("h2", f"{which}: {len(page.shown):,} shown")
    wall = [_tile(record) for record in page.shown if any(cell.picture for cell in record.cells)]
    if wall:
        yield _tag("div", *wall, class_="wall")
        yield _tag("h2", "Their features")
    for record in page.shown:
        yield _record(record)


def _tile(record: ExportRecord) -> _Html:
    picture = next(cell.picture for cell in record.cells if cell.picture)
    text = _title(record)
    return _tag("a", _image(picture, text), _tag("span", text, class_="dim"), href=f"#{_anchor(record)}")


def _title(record: ExportRecord) -> str:
    return (
        f"record {record.record:,} of {record.file}" if record.number is None else f"record {record.number:,}"
    )


def _anchor(record: ExportRecord) -> str:
    digest = hashlib.sha256(record.file.encode(errors="surrogatepass")).hexdigest()
    return f"record-{digest[:8]}-{record.record}" if record.number is None else f"record-{record.number}"


def _record(record: ExportRecord) -> _Html:
    place = f"{record.file}, record {record.record:,}"
    parts = [_tag("h3", _title(record)), _tag("p", place, class_="dim")]
    if record.error:
        parts.append(_tag("p", record.error, class_="bad"))
    rows = [
        _tag(
            "tr",
            _tag("td", cell.name, class_="name"),
            _tag("td", cell.kind, class_="dim"),
            _tag("td", *_values(cell)),
        )
        for cell in record.cells
    ]
    parts.append(_tag("table", _tag("tbody", *rows)))
    return _tag("section", *parts, class_="card record", id=_anchor(record))


def _values(cell: ExportCell) -> Iterable[_Html]:
    if cell.picture is not None:
        yield _image(cell.picture, cell.name)
    if cell.picture_error:
        yield _tag("p", cell.picture_error, class_="bad")
    yield _tag("pre", cell.text)


def _image(data: bytes, text: str) -> _Html:
    source = f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"
    return _Html(f'<img src="{source}" alt="{html.escape(visible(text))}">')


def _range(least: Any, greatest: Any) -> str:
    return _short(least) if least == greatest else f"{_short(least)} to {_short(greatest)}"


def _short(value: Any) -> str:
    """Return a number as people read it; what is text stays."""
    if isinstance(value, float) and not 1e5 <= abs(value) < 1e15:
        return f"{value:.5g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else f"{value}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
