"""TFRecordWriter and TFRecordOptions: the same calls give the same files, values and errors."""

from __future__ import annotations

import gc
import inspect
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.frames import compress, frame, frames
from tests.oracle.support.oracle import (
    COMPRESSIONS,
    Failure,
    assert_same,
    attempt,
    our_writer,
    signal_of,
    tensorflow,
    tf_results,
    tf_writer,
)
from tests.support.rules import tf_rule

Make = Callable[..., Any]
CLOSED = Failure("FailedPreconditionError", "Writer is closed.")
OPTION_NAMES = (
    "compression_type",
    "flush_mode",
    "input_buffer_size",
    "output_buffer_size",
    "window_bits",
    "compression_level",
    "compression_method",
    "mem_level",
    "compression_strategy",
)


def _both(scenario: Callable[[Make, Any, Path], Any], folder: Path) -> Any:
    """Run a scenario in a folder of the same name with each library; give what TensorFlow gave."""
    given = []
    for make, options in ((our_writer, tfr.TFRecordOptions), (tf_writer, tensorflow().io.TFRecordOptions)):
        path = folder / "file"
        path.unlink(missing_ok=True)
        given.append(scenario(make, options, path))
        gc.collect()
    assert_same(given[0], given[1])
    return given[1]


@tf_rule("1.4 path")
def test_path_types(tmp_path: Path) -> None:
    def scenario(make: Make, options: Any, path: Path) -> list[Any]:
        seen = []
        for name in (str(path), bytes(path)):
            with make(name) as writer:
                writer.write(b"x")
            seen.append(path.read_bytes())
        return seen + [attempt(lambda bad=bad: make(bad)) for bad in (path, 1, None, [str(path)])]

    given = _both(scenario, tmp_path)
    assert given[:2] == [frame(b"x")] * 2
    assert given[2] == Failure("TypeError", f"Expected binary or unicode string, got {tmp_path / 'file'!r}")


@tf_rule("1.4 options")
@pytest.mark.parametrize(
    ("options", "compression"),
    [
        (None, ""),
        ("", ""),
        (0, ""),
        ("ZLIB", "ZLIB"),
        (1, "ZLIB"),
        (True, "ZLIB"),
        ("GZIP", "GZIP"),
        (2, "GZIP"),
        (np.int64(2), "GZIP"),
        (tfr.TFRecordCompressionType.GZIP, "GZIP"),
        ([], ""),
    ],
    ids=["None", "none", "0", "ZLIB", "1", "True", "GZIP", "2", "int64", "GZIP name", "list"],
)
def test_forms_of_options(tmp_path: Path, options: Any, compression: str) -> None:
    def scenario(make: Make, _: Any, path: Path) -> list[bytes]:
        with make(str(path), options) as writer:
            writer.write(b"x" * 100)
        return [path.read_bytes()]

    assert _both(scenario, tmp_path) == [compress(frame(b"x" * 100), compression)]


@tf_rule("1.4 bad type")
@pytest.mark.parametrize(
    "options", ["gzip", "NONE", "SNAPPY", 3, -1, b"GZIP", ["GZIP"], 'a"b', 1.5], ids=repr
)
def test_bad_options_of_a_writer(tmp_path: Path, options: Any) -> None:
    def scenario(make: Make, make_options: Any, path: Path) -> list[Any]:
        return [
            attempt(lambda: make(str(path), options)),
            attempt(lambda: make_options(options)),
            path.exists(),
        ]

    assert _both(scenario, tmp_path)[2] is False


@tf_rule("1.4 overwrites")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_existing_file_is_emptied(tmp_path: Path, compression: str) -> None:
    def scenario(make: Make, _: Any, path: Path) -> list[bytes]:
        path.write_bytes(b"old content" * 100)
        writer = make(str(path), compression)
        at_once = path.read_bytes()
        writer.write(b"x")
        writer.close()
        return [at_once, path.read_bytes()]

    assert _both(scenario, tmp_path) == [b"", compress(frame(b"x"), compression)]


@tf_rule("1.4 missing folder")
def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    names = [str(tmp_path / "no" / "file"), str(tmp_path), ""]
    given = _both(lambda make, *_: [attempt(lambda name=name: make(name)) for name in names], tmp_path)
    assert given == [
        Failure("NotFoundError", f"{names[0]}; No such file or directory"),
        Failure("FailedPreconditionError", f"{names[1]}; Is a directory"),
        Failure("NotFoundError", "; No such file or directory"),
    ]


@tf_rule("1.4 disk full")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_full_disk(tmp_path: Path, compression: str, flush: bool) -> None:
    def scenario(make: Make, *_: Any) -> list[Any]:
        writer = make("/dev/full", compression)
        calls = [lambda: writer.write(b"x"), *[writer.flush] * flush, writer.close, writer.close]
        return [attempt(call) for call in [*calls, lambda: writer.write(b"x")]]

    given = _both(scenario, tmp_path)
    assert Failure("ResourceExhaustedError", "/dev/full; No space left on device") in given
    assert given[-2:] == [None, CLOSED]


RECORDS = [b"bytes", bytearray(b"bytearray"), np.bytes_(b"numpy"), "text ü €", np.str_("numpy text"), b"", ""]


@tf_rule("1.4 record types")
def test_record_types(tmp_path: Path) -> None:
    def scenario(make: Make, _: Any, path: Path) -> list[Any]:
        with make(str(path)) as writer:
            given = [attempt(lambda record=record: writer.write(record)) for record in RECORDS]
        return [*given, path.read_bytes()]

    given = _both(scenario, tmp_path)
    as_bytes = [record.encode() if isinstance(record, str) else bytes(record) for record in RECORDS]
    assert given == [None] * len(RECORDS) + [frames(as_bytes)]


@tf_rule("1.4 other record types")
@pytest.mark.parametrize(
    "record",
    [memoryview(b"x"), np.zeros(3, np.uint8), 1, True, None, [b"x"], (b"x",), 1.5, "\ud800", object()],
    ids=lambda record: type(record).__name__,
)
def test_other_record_types(tmp_path: Path, record: Any) -> None:
    def scenario(make: Make, _: Any, path: Path) -> list[Any]:
        writer = make(str(path))
        refused = attempt(lambda: writer.write(record))
        writer.close()
        after = attempt(lambda: writer.write(record))
        return [refused.name, after.name, path.read_bytes()]

    assert _both(scenario, tmp_path) == ["TypeError", "TypeError", b""]


@tf_rule("1.4 other record types")
def test_tensors_are_refused(tmp_path: Path) -> None:
    tensor = tensorflow().constant(b"x")
    given = _both(lambda make, _, path: [attempt(lambda: make(str(path)).write(tensor)).name], tmp_path)
    assert given == ["TypeError"]


@tf_rule("1.4 context manager")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_context_manager(tmp_path: Path, compression: str) -> None:
    def scenario(make: Make, _: Any, path: Path) -> list[Any]:
        writer = make(str(path), compression)
        with writer as entered:
            same = entered is writer
            writer.write(b"x")
        return [
            same,
            attempt(lambda: writer.write(b"y")),
            path.read_bytes(),
            writer.__exit__(None, None, None),
        ]

    assert _both(scenario, tmp_path) == [True, CLOSED, compress(frame(b"x"), compression), None]


@tf_rule("1.4 context manager")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_exception_passes_and_data_is_kept(tmp_path: Path, compression: str) -> None:
    def scenario(make: Make, _: Any, path: Path) -> list[Any]:
        def write() -> None:
            with make(str(path), compression) as writer:
                writer.write(b"x")
                raise KeyError("mine")

        return [attempt(write), path.read_bytes()]

    assert _both(scenario, tmp_path) == [Failure("KeyError", "'mine'"), compress(frame(b"x"), compression)]


@tf_rule("1.4 destructor")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_dropped_writer_closes_its_file(tmp_path: Path, compression: str) -> None:
    def scenario(make: Make, _: Any, path: Path) -> list[bytes]:
        writer = make(str(path), compression)
        writer.write(b"x")
        del writer
        gc.collect()
        return [path.read_bytes()]

    assert _both(scenario, tmp_path) == [compress(frame(b"x"), compression)]


@tf_rule("1.4 closed writer")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_closed_writer(tmp_path: Path, compression: str) -> None:
    def scenario(make: Make, _: Any, path: Path) -> list[Any]:
        writer = make(str(path), compression)
        writer.close()
        calls = [lambda: writer.write(b"x"), writer.flush, writer.close, writer.__enter__, writer.close]
        given = [attempt(call) for call in calls]
        given[3] = given[3] is writer
        return given

    assert _both(scenario, tmp_path) == [CLOSED, CLOSED, None, True, None]


@tf_rule("1.4 impossible options")
@pytest.mark.parametrize(
    "options",
    [
        {"window_bits": 7},
        {"window_bits": -8},
        {"window_bits": 16},
        {"window_bits": 48},
        {"compression_level": 10},
        {"compression_level": -2},
        {"mem_level": 0},
        {"mem_level": 10},
        {"compression_strategy": 5},
        {"compression_strategy": -1},
        {"compression_method": 7},
        {"output_buffer_size": 1},
    ],
    ids=str,
)
def test_impossible_options(tmp_path: Path, options: dict[str, int]) -> None:
    theirs = tensorflow().io.TFRecordOptions("ZLIB", **options)
    path = tmp_path / "file"
    assert signal_of(lambda: tf_writer(str(path), theirs)) == signal.SIGABRT
    path.unlink(missing_ok=True)
    with pytest.raises(ValueError, match=r"options|Expected"):
        our_writer(str(path), tfr.TFRecordOptions("ZLIB", **options))
    assert not path.exists()


@tf_rule("1.4 option types")
@pytest.mark.parametrize("value", [1.5, "x", 300, 1 << 40, b"1"], ids=repr)
@pytest.mark.parametrize("name", ["window_bits", "compression_level", "mem_level", "compression_strategy"])
def test_option_types(tmp_path: Path, name: str, value: Any) -> None:
    def scenario(make: Make, options: Any, path: Path) -> list[Any]:
        chosen = options("ZLIB", **{name: value})
        return [getattr(chosen, name), attempt(lambda: make(str(path), chosen)).name, path.exists()]

    assert _both(scenario, tmp_path) == [value, "TypeError", False]


@tf_rule("1.4 bad flush mode")
@pytest.mark.parametrize("mode", [-1, 6, 7])
def test_bad_flush_mode(tmp_path: Path, mode: int) -> None:
    def scenario(make: Make, options: Any, path: Path) -> list[Any]:
        writer = make(str(path), options("ZLIB", flush_mode=mode, input_buffer_size=64))
        return [*(attempt(lambda: writer.write(b"x" * 20)) for _ in range(3)), attempt(writer.close)]

    given = _both(scenario, tmp_path)
    assert given[:2] == [None, Failure("DataLossError", "deflate() failed with error -2")]


@tf_rule("1.4 options attributes")
def test_options_keep_what_they_were_given() -> None:
    theirs = tensorflow().io.TFRecordOptions
    for values in ((), ("GZIP", 1, 2, 3, 4, 5, 6, 7, 8), (2, "any", None, 1.5)):
        ours, original = tfr.TFRecordOptions(*values), theirs(*values)
        assert list(vars(original)) == list(OPTION_NAMES)
        assert [getattr(ours, name) for name in OPTION_NAMES] == list(vars(original).values())
    parameters = inspect.signature(theirs).parameters.items()
    assert [(name, it.default) for name, it in parameters] == [(name, None) for name in OPTION_NAMES]
    ours_parameters = inspect.signature(tfr.TFRecordOptions).parameters.items()
    assert [(name, it.default) for name, it in ours_parameters] == [(name, None) for name in OPTION_NAMES]


@tf_rule("1.4 nested options")
def test_nested_options_give_their_type_only(tmp_path: Path) -> None:
    def scenario(make: Make, options: Any, path: Path) -> list[Any]:
        nested = options(options("ZLIB", compression_level=9))
        with make(str(path), nested) as writer:
            writer.write(b"x" * 100)
        string = options.get_compression_type_string
        return [path.read_bytes(), string(nested), string(options(options(2)))]

    assert _both(scenario, tmp_path) == [compress(frame(b"x" * 100), "ZLIB"), "ZLIB", "GZIP"]


TYPES = [None, "", 0, False, b"", [], {}, (), 1, 2, True, 1.0, 2.0, np.int64(1), "ZLIB", "GZIP"]
BAD_TYPES = [
    3,
    -1,
    "NONE",
    "gzip",
    "SNAPPY",
    b"GZIP",
    b"ZLIB",
    1.5,
    'a"b',
    ["GZIP"],
    {"GZIP": 1},
    ("GZIP",),
    " ",
]


@tf_rule("1.4 type of options")
@pytest.mark.parametrize("value", TYPES, ids=repr)
def test_compression_type_string(value: Any) -> None:
    ours = tfr.TFRecordOptions.get_compression_type_string(value)
    assert ours == tensorflow().io.TFRecordOptions.get_compression_type_string(value)


@tf_rule("1.4 bad type")
@pytest.mark.parametrize("value", BAD_TYPES, ids=repr)
def test_bad_compression_type(value: Any) -> None:
    ours = attempt(lambda: tfr.TFRecordOptions.get_compression_type_string(value))
    theirs = attempt(lambda: tensorflow().io.TFRecordOptions.get_compression_type_string(value))
    assert isinstance(theirs, Failure)
    assert_same([ours], [theirs])


@tf_rule("1.4 compression types")
def test_compression_types() -> None:
    theirs = tensorflow().compat.v1.io.TFRecordCompressionType
    for name, number in (("NONE", 0), ("ZLIB", 1), ("GZIP", 2)):
        assert getattr(tfr.TFRecordCompressionType, name) == getattr(theirs, name) == number


@tf_rule("1.4 options")
def test_files_of_each_form_are_read_back(tmp_path: Path) -> None:
    for number, compression in enumerate(COMPRESSIONS):
        path = tmp_path / str(number)
        with our_writer(str(path), number) as writer:
            writer.write("text ü")
        assert tf_results(path, compression) == ["text ü".encode()]
