"""tf_record_iterator: files that grow, are cut, closed and opened again."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.oracle.support.frames import compress, flip, frame, grow, header, member, put
from tests.oracle.support.oracle import (
    COMPRESSIONS,
    Failure,
    assert_same,
    attempt,
    tf_iterator,
)
from tests.support.rules import tf_rule
from tfrkit.tf.v1.polling import tf_record_iterator

ONE, TWO = frame(b"one"), frame(b"two2")  # 19 and 20 bytes
STOP = Failure("StopIteration", "")
Open = Callable[..., Any]


@pytest.fixture(autouse=True)
def _waiting_is_no_loss() -> Iterator[None]:
    """A header that is not yet whole may be worth a warning; here it is only waited for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
        yield


def _both(scenario: Callable[[Open, Path], list[Any]], folder: Path) -> list[Any]:
    """Run a scenario on a new file with each library; give what TensorFlow gave."""
    given = []
    for opens in (tf_record_iterator, tf_iterator):
        path = folder / "file"
        path.unlink(missing_ok=True)
        given.append(scenario(opens, path))
    assert_same(given[0], given[1])
    return given[1]


def _next(records: Any, times: int = 2) -> list[Any]:
    return [attempt(lambda: next(records)) for _ in range(times)]


@tf_rule("1.4 iterator")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_iterator_gives_bytes(tmp_path: Path, compression: str) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, compress(ONE + TWO, compression))
        number = COMPRESSIONS.index(compression)
        forms = [list(opens(str(path), form)) for form in (compression, number)]
        by_bytes = list(opens(bytes(path), compression))
        records = opens(str(path), compression)
        return [*forms, by_bytes, iter(records) is records, *_next(records, 4)]

    given = _both(scenario, tmp_path)
    assert given[:4] == [[b"one", b"two2"]] * 3 + [True]
    assert given[4:] == [b"one", b"two2", STOP, STOP]


@tf_rule("1.4 iterator")
def test_iterator_takes_options(tmp_path: Path) -> None:
    path = put(tmp_path / "a", compress(ONE, "GZIP"))
    assert list(tf_record_iterator(str(path), tfr.TFRecordOptions("GZIP"))) == [b"one"]
    assert list(tf_record_iterator(str(path), options=tfr.TFRecordOptions(tfr.TFRecordOptions(2)))) == [
        b"one"
    ]


@tf_rule("1.4 iterator")
def test_iterator_that_cannot_be_opened(tmp_path: Path) -> None:
    missing = str(tmp_path / "none" / "x")

    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, ONE)
        bad = [attempt(lambda kind=kind: opens(str(path), kind)) for kind in ("gzip", 3, b"GZIP")]
        folder = opens(str(tmp_path))
        return [*bad, attempt(lambda: opens(missing)), *_next(folder), attempt(lambda: opens(path)).name]

    given = _both(scenario, tmp_path)
    assert given[0] == Failure("ValueError", 'Not a valid compression_type: "gzip"')
    assert given[3:] == [
        Failure("NotFoundError", f"{missing}; No such file or directory"),
        *2 * [Failure("FailedPreconditionError", f"{tmp_path}; Is a directory")],
        "TypeError",
    ]


@tf_rule("1.4 iterator polls")
def test_end_is_not_final(tmp_path: Path) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, b"")
        records = opens(str(path))
        given = _next(records)
        for part in (ONE, TWO + ONE, TWO):
            grow(path, part)
            given += _next(records, 3)
        return given

    assert _both(scenario, tmp_path) == [
        STOP,
        STOP,
        b"one",
        STOP,
        STOP,
        b"two2",
        b"one",
        STOP,
        b"two2",
        STOP,
        STOP,
    ]


@tf_rule("1.4 iterator waits for a cut record")
def test_file_that_grows_byte_by_byte(tmp_path: Path) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, ONE)
        records = opens(str(path))
        given = _next(records)
        for byte in TWO:
            grow(path, bytes([byte]))
            given += _next(records)
        return given

    given = _both(scenario, tmp_path)
    cut = Failure("DataLossError", "truncated record at 19' failed with Read less bytes than requested")
    assert given == [b"one", STOP, *22 * [STOP], *16 * [cut], b"two2", STOP]


@tf_rule("1.4 iterator stays at damage")
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("position", [0, 11, 12, 19])
def test_damage_is_the_same_error_every_time(tmp_path: Path, position: int, compression: str) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, compress(ONE + flip(TWO, position) + ONE, compression))
        records = opens(str(path), compression)
        given = _next(records, 4)
        records.close()
        records.reopen()
        return [*given, *_next(records)]

    given = _both(scenario, tmp_path)
    damaged = Failure("DataLossError", f"corrupted record at {19 if position < 12 else 31}")
    assert given == [b"one", *5 * [damaged]]


@tf_rule("1.4 iterator stays at damage")
@pytest.mark.parametrize("length", [9999, (1 << 63) + 9, (1 << 64) - 1])
def test_impossible_length_is_the_same_error_every_time(tmp_path: Path, length: int) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, ONE + header(length) + b"zzz")
        return _next(opens(str(path)), 4)

    given = _both(scenario, tmp_path)
    assert given[1] == given[2] == given[3]


@tf_rule("1.4 iterator polls compressed")
@pytest.mark.parametrize("compression", ["ZLIB", "GZIP"])
def test_compressed_file_grows_by_flushes(tmp_path: Path, compression: str) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        engine = zlib.compressobj(-1, zlib.DEFLATED, {"ZLIB": 15, "GZIP": 31}[compression], 9)
        put(path, b"")
        records = opens(str(path), compression)
        given = _next(records)
        for part in (ONE, TWO + TWO[:5], TWO[5:14], TWO[14:]):
            grow(path, engine.compress(part) + engine.flush(zlib.Z_PARTIAL_FLUSH))
            given += _next(records, 3)
        grow(path, engine.flush())
        given += _next(records)
        grow(path, compress(ONE, compression))
        return given + _next(records)

    given = _both(scenario, tmp_path)
    assert given[:8] == [STOP, STOP, b"one", STOP, STOP, b"two2", STOP, STOP]
    assert given[-2:] == ([b"one", STOP] if compression == "GZIP" else [STOP, STOP])


@tf_rule("1.4 iterator polls compressed")
@pytest.mark.parametrize("compression", ["ZLIB", "GZIP"])
def test_compressed_file_grows_byte_by_byte(tmp_path: Path, compression: str) -> None:
    whole = compress(ONE + TWO + ONE, compression)

    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, whole[:1])
        records = opens(str(path), compression)
        given = _next(records)
        for byte in whole[1:]:
            grow(path, bytes([byte]))
            given += _next(records)
        return given

    given = _both(scenario, tmp_path)
    assert [item for item in given if isinstance(item, bytes)] == [b"one", b"two2", b"one"]


@tf_rule("1.4 iterator polls compressed")
def test_members_are_added(tmp_path: Path) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, member(ONE))
        records = opens(str(path), "GZIP")
        given = _next(records)
        for part in (member(TWO), member(ONE[:7]), member(ONE[7:]), member(b""), member(TWO)):
            grow(path, part)
            given += _next(records, 3)
        return given

    _both(scenario, tmp_path)


@tf_rule("1.4 iterator close")
def test_closed_iterator(tmp_path: Path) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, ONE + TWO)
        records = opens(str(path))
        given = [next(records), records.close(), *_next(records), records.close()]
        grow(path, TWO)
        return [*given, *_next(records)]

    assert _both(scenario, tmp_path) == [b"one", None, STOP, STOP, None, STOP, STOP]


@tf_rule("1.4 iterator reopen")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_reopen_goes_on_at_the_offset(tmp_path: Path, compression: str) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, compress(ONE + TWO + ONE, compression))
        records = opens(str(path), compression)
        given = [attempt(records.reopen)]
        for _ in range(5):
            given += _next(records, 1)
            records.close()
            given.append(records.reopen())
        return given

    refused = Failure("FailedPreconditionError", "Reader is not closed.")
    assert _both(scenario, tmp_path) == [
        refused,
        b"one",
        None,
        b"two2",
        None,
        b"one",
        None,
        *2 * [STOP, None],
    ]


@tf_rule("1.4 iterator reopen")
def test_reopen_of_a_file_that_changed(tmp_path: Path) -> None:
    def scenario(opens: Open, path: Path) -> list[Any]:
        put(path, ONE + TWO)
        records = opens(str(path))
        given = [next(records), records.close()]
        path.unlink()
        given += [attempt(records.reopen), *_next(records), attempt(records.reopen)]
        put(path, frame(b"abc") + frame(b"another"))
        given += [records.reopen(), *_next(records), records.close()]
        put(path, b"")
        return [*given, records.reopen(), *_next(records)]

    gone = Failure("NotFoundError", f"{tmp_path / 'file'}; No such file or directory")
    given = _both(scenario, tmp_path)
    assert given == [b"one", None, gone, STOP, STOP, gone, None, b"another", STOP, None, None, STOP, STOP]
