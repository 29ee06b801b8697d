"""TFRecordDataset, TextLineDataset and list_files against tf.data's: names, arguments, order and errors."""

from __future__ import annotations

import functools
import gzip
import os
import random
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.data.support.spaces import Space
from tests.oracle.support.data_scenarios import (
    Failure,
    agree,
    attempt,
    difference,
    facts,
    fails,
    failure,
    ours,
    theirs,
)
from tests.oracle.support.frames import flip, frames, put
from tests.oracle.support.oracle import tensorflow
from tests.support.rules import tf_rule

IN_TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
STRING = "The `filenames` argument must contain `tf.string` elements"
A = [b"a0", b"a1", b"a2"]
B = [b"b0", b"b1"]
C = [b"c0", b"c1", b"c2", b"c3"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Files of 3, 2, 0 and 4 records."""
    return [
        str(put(tmp_path / name, frames(records)))
        for name, records in zip("abec", (A, B, [], C), strict=True)
    ]


def strict() -> Space:
    """tfrkit's classes under TensorFlow's policy."""
    records = functools.partial(tfr.TFRecordDataset, policy=tfr.TENSORFLOW)
    lines = functools.partial(tfr.TextLineDataset, policy=tfr.TENSORFLOW)
    return replace(ours(), TFRecordDataset=records, TextLineDataset=lines)


def agree_strictly(case: Callable[[Space], Any], *, limit: int = 30) -> None:
    """The same elements and errors under TensorFlow's policy."""
    found = difference(facts(strict(), case, limit=limit), facts(theirs(), case, limit=limit))
    assert not found, found


# ---- TFRecordDataset


@tf_rule("5 TFRecordDataset names")
@tf_rule("5 TFRecordDataset sequential")
@tf_rule("5 TFRecordDataset cardinality")
@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda names: names[0], id="str"),
        pytest.param(lambda names: os.fsencode(names[0]), id="bytes"),
        pytest.param(lambda names: Path(names[0]), id="path"),
        pytest.param(list, id="list"),
        pytest.param(tuple, id="tuple"),
        pytest.param(lambda names: [Path(name) for name in names], id="paths"),
        pytest.param(lambda names: [[names[0], names[1]], [names[2], names[3]]], id="nested"),
        pytest.param(np.array, id="array"),
        pytest.param(lambda names: np.array([names], object), id="array of objects"),
        pytest.param(lambda names: [], id="none"),
    ],
)
def test_names(wrap, files):
    agree(lambda lib: lib.TFRecordDataset(wrap(files)))


@tf_rule("5 TFRecordDataset names")
def test_names_of_a_dataset(files):
    agree(lambda lib: lib.TFRecordDataset(lib.Dataset.from_tensor_slices(files)), A + B + C)
    agree(lambda lib: lib.TFRecordDataset(lib.Dataset.from_tensor_slices(files[:2]).repeat(2)), (A + B) * 2)


@tf_rule("5 TFRecordDataset types")
@pytest.mark.parametrize(
    ("names", "dtype"),
    [(3, "int32"), ([1, 2], "int32"), (2.5, "float32"), (True, "bool"), (np.int64(1), "int64")],
)
def test_numbers_are_no_names(names, dtype):
    expected = fails("TypeError", f"{STRING}. Got `tf.{dtype}` elements.")
    agree(lambda lib: lib.TFRecordDataset(names), expected)
    agree(lambda lib: lib.TextLineDataset(names), expected)


@tf_rule("5 TFRecordDataset types")
def test_datasets_of_something_else_are_no_names():
    agree(
        lambda lib: lib.TFRecordDataset(lib.Dataset.range(3)),
        fails("TypeError", f"{STRING}. Got a dataset of `tf.int64` elements."),
    )
    agree(
        lambda lib: lib.TFRecordDataset(lib.Dataset.from_tensor_slices((["a"], ["b"]))),
        fails("TypeError", f"{STRING}. Got a dataset of `(tf.string, tf.string)` elements."),
    )
    agree(
        lambda lib: lib.TFRecordDataset(lib.Dataset.from_tensor_slices({"a": ["a"], "b": [1]})),
        fails("TypeError", f"{STRING}. Got a dataset of `{{'a': tf.string, 'b': tf.int32}}` elements."),
    )
    agree(
        lambda lib: lib.TFRecordDataset(lib.Dataset.from_tensor_slices(["a"]).batch(2)),
        fails(
            "TypeError",
            f"{STRING} of shape [] (i.e. scalars). Got a dataset of element shape TensorShape([None]).",
        ),
    )


@tf_rule("5 TFRecordDataset types")
@pytest.mark.parametrize("names", [None, [None], {"a": "b"}, ["a", 1]], ids=repr)
def test_other_values_are_no_names(names):
    reference = facts(theirs(), lambda lib: lib.TFRecordDataset(names))
    assert isinstance(reference, Failure)
    assert reference.name == "ValueError"
    agree(lambda lib: lib.TFRecordDataset(names))


@tf_rule("5 TFRecordDataset buffer_size")
@pytest.mark.parametrize("size", [None, -1, 0, 1, 3, 1000])
def test_buffer_size_changes_nothing(size, files):
    agree(lambda lib: lib.TFRecordDataset(files, buffer_size=size), A + B + C)


@tf_rule("5 TFRecordDataset buffer_size")
@pytest.mark.parametrize(
    ("kind", "size", "text"),
    [
        ("TFRecordDataset", -2, "`buffer_size` must be >= 0 (0 == no buffering)"),
        ("TextLineDataset", -1, "`buffer_size` must be >= 0 (0 == default)"),
    ],
)
def test_negative_buffer_size(kind, size, text, files):
    """TensorFlow notices it when the first file is due, tfrkit at once."""
    run = facts(theirs(), lambda lib: getattr(lib, kind)(files[0], buffer_size=size))
    assert not isinstance(run, Failure)
    assert run.passes[0][0].name == "InvalidArgumentError"
    assert text in run.passes[0][0].message
    mine = facts(ours(), lambda lib: getattr(lib, kind)(files[0], buffer_size=size))
    assert mine == fails("InvalidArgumentError", text)


@pytest.mark.parametrize(
    "arguments", [{"buffer_size": "x"}, {"buffer_size": 1.5}, {"compression_type": 3}], ids=str
)
def test_arguments_of_other_types(arguments, files):
    agree(lambda lib: lib.TFRecordDataset(files, **arguments))


@pytest.mark.parametrize("count", ["x", 1.5, 2.0], ids=repr)
def test_parallel_reads_of_other_types(count, files):
    agree(lambda lib: lib.TFRecordDataset(files, num_parallel_reads=count))


@pytest.mark.parametrize("name", [None, "", "GZIP", "ZLIB", "gzip", "FOO", b"GZIP"], ids=repr)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zlib.compress], ids=["plain", "gzip", "zlib"])
def test_compression_type(name, pack, tmp_path):
    path = str(put(tmp_path / "a", pack(frames(A))))
    agree_strictly(lambda lib: lib.TFRecordDataset(path, compression_type=name))


@tf_rule("5 TFRecordDataset parallel")
@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, -1])
def test_parallel_reads(count, files):
    agree(lambda lib: lib.TFRecordDataset(files, num_parallel_reads=count))
    agree(lambda lib: lib.TFRecordDataset(lib.Dataset.from_tensor_slices(files), num_parallel_reads=count))


@tf_rule("5 TFRecordDataset parallel")
@IN_TMP
@given(sizes=st.lists(st.integers(0, 5), max_size=7), count=st.integers(1, 5))
def test_order_of_parallel_reads(sizes, count, tmp_path):
    paths = [
        str(put(tmp_path / str(number), frames([b"%d %d" % (number, row) for row in range(size)])))
        for number, size in enumerate(sizes)
    ]
    agree(lambda lib: lib.TFRecordDataset(paths, num_parallel_reads=count))


@tf_rule("5 TFRecordDataset parallel zero")
@pytest.mark.parametrize("count", [0, -2, -5])
def test_no_parallel_reads(count, files):
    expected = fails("InvalidArgumentError", "`cycle_length` must be > 0")
    agree(lambda lib: lib.TFRecordDataset(files, num_parallel_reads=count), expected)
    agree(lambda lib: lib.TextLineDataset(files, num_parallel_reads=count), expected)


@tf_rule("5 TFRecordDataset lazy")
def test_files_are_opened_when_they_are_due(files, tmp_path):
    missing = str(tmp_path / "none")
    agree(lambda lib: lib.TFRecordDataset([files[0], missing]).take(3), A)
    iterator = iter(tfr.TFRecordDataset([files[0], missing, files[1]]))
    assert [next(iterator) for _ in A] == A
    put(tmp_path / "none", frames([b"late"]))
    assert next(iterator) == b"late"


def plain_bytes(value: Any) -> bytes:
    """An element of either library."""
    return value if isinstance(value, bytes) else value.numpy()


@tf_rule("5 TFRecordDataset damage")
@pytest.mark.parametrize("count", [None, 1, 2, 3])
@pytest.mark.parametrize(
    "at", [16 + 2, 18 + 12, 18 + 15, 3], ids=["length", "data", "data crc", "first length"]
)
def test_damage_is_followed_by_the_next_file(count, at, files, tmp_path):
    damaged = str(put(tmp_path / "damaged", flip(frames(C), at)))
    for names in ([damaged, files[0], files[1]], [files[0], damaged, files[1]], [damaged, damaged, files[3]]):
        agree(lambda lib, names=names: lib.TFRecordDataset(names, num_parallel_reads=count))
        agree_strictly(lambda lib, names=names: lib.TFRecordDataset(names, num_parallel_reads=count))


@tf_rule("5 TFRecordDataset missing")
@pytest.mark.parametrize("count", [None, 1, 2, 3])
def test_missing_file(count, files, tmp_path):
    names = [files[0], str(tmp_path / "none"), files[1]]
    agree_strictly(lambda lib: lib.TFRecordDataset(names, num_parallel_reads=count))
    if count is not None:
        return
    mine = facts(ours(), lambda lib: lib.TFRecordDataset(names))
    assert not isinstance(mine, Failure)
    assert [found.values if hasattr(found, "values") else found for found in mine.passes[0]][3:] == [
        fails("NotFoundError", f"{names[1]}; No such file or directory"), *B, "end of sequence",
    ]  # fmt: skip


def test_folder_and_empty_name(files, tmp_path):
    agree_strictly(lambda lib: lib.TFRecordDataset([files[0], str(tmp_path), files[1]]))
    agree_strictly(lambda lib: lib.TFRecordDataset(""))
    agree_strictly(lambda lib: lib.TFRecordDataset(str(tmp_path / "[ab]")))


def test_cut_file(files, tmp_path):
    data = frames(C)
    for size in range(len(data) - 20, len(data)):
        cut = str(put(tmp_path / "cut", data[:size]))
        agree_strictly(lambda lib, cut=cut: lib.TFRecordDataset([cut, files[0]]))


# ---- TextLineDataset

LINES = [
    b"a\nb\n", b"a\r\nb\r\n", b"a\nb", b"a\rb\nc\r", b"", b"\n\n", b"\r\n\r\n", b"a\r\r\nb", b"\r", b"a\n\r",
    b"a\0b\nc", b"x\r\r\r\ny\r\r", b"\xff\xfe\n\xc3",
]  # fmt: skip


@tf_rule("5 TextLineDataset")
@pytest.mark.parametrize("data", LINES, ids=repr)
def test_lines(data, tmp_path):
    path = str(put(tmp_path / "a", data))
    agree(lambda lib: lib.TextLineDataset(path))
    agree(lambda lib: lib.TextLineDataset([path, path]))


@tf_rule("5 TextLineDataset")
def test_random_lines_in_small_buffers(tmp_path):
    draw = random.Random(5)
    for _ in range(40):
        data = b"".join(
            draw.choice([b"a", b"bc", b"\r", b"\n", b"\r\n", b"\0"]) for _ in range(draw.randrange(30))
        )
        path = str(put(tmp_path / "a", data))
        size = draw.choice([None, 0, 1, 2, 7])
        agree(lambda lib, size=size, path=path: lib.TextLineDataset(path, buffer_size=size))


@tf_rule("5 TextLineDataset")
@pytest.mark.parametrize("name", [None, "", "GZIP", "ZLIB"], ids=repr)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zlib.compress], ids=["plain", "gzip", "zlib"])
def test_compressed_lines(name, pack, tmp_path):
    path = str(put(tmp_path / "a", pack(b"one\r\ntwo\nthree")))
    agree_strictly(lambda lib: lib.TextLineDataset(path, compression_type=name))


@tf_rule("5 TextLineDataset")
def test_unknown_compression_of_lines(tmp_path):
    """TensorFlow notices it when the first file is due, tfrkit at once."""
    path = str(put(tmp_path / "a", b"x"))
    run = facts(theirs(), lambda lib: lib.TextLineDataset(path, "FOO"))
    assert not isinstance(run, Failure)
    assert run.passes[0][0].name == "InvalidArgumentError"
    assert "Unsupported compression_type." in run.passes[0][0].message
    assert facts(strict(), lambda lib: lib.TextLineDataset(path, "FOO")) == fails(
        "InvalidArgumentError", "Unsupported compression_type."
    )


@tf_rule("5 TextLineDataset")
@pytest.mark.parametrize("count", [None, 1, 2, 3, -1])
def test_lines_of_several_files(count, tmp_path):
    names = [
        str(put(tmp_path / name, name.encode() + b"1\n" + name.encode() * row))
        for row, name in enumerate("abc")
    ]
    agree(lambda lib: lib.TextLineDataset(names, num_parallel_reads=count))
    agree(lambda lib: lib.TextLineDataset(lib.Dataset.from_tensor_slices(names), num_parallel_reads=count))


@tf_rule("5 TextLineDataset")
def test_file_of_lines_that_cannot_be_read(tmp_path):
    one, two = (str(put(tmp_path / name, name.encode() + b"\n")) for name in "ab")
    agree_strictly(lambda lib: lib.TextLineDataset([one, str(tmp_path / "none"), two]))
    agree_strictly(lambda lib: lib.TextLineDataset([one, str(tmp_path), two]))
    cut = str(put(tmp_path / "cut", gzip.compress(b"hello\nworld\n" * 100)[:-20]))
    agree_strictly(lambda lib: lib.TextLineDataset(cut, "GZIP"))


# ---- list_files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Names of all kinds; the current folder."""
    names = "b.txt a.txt .hid C.txt a2.txt sub/one sub/two .dot/in x[1] q?r ä.txt back\\slash {z} a] é"
    for name in names.split():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


PATTERNS = [
    "*", "*.txt", "a*", "?.txt", "?", "[ab].txt", "[!a].txt", "[^a].txt", "[a-c]*", "[]a]*", "a[]]", "[[:upper:]]*",
    "a[[:digit:]]*", r"[\a]*", "**", "*/*", "**/one", "sub", "sub/", "sub/*", "*/", "{a,b}.txt", "none", "x[1]",
    r"x\[1]", r"q\?r", r"back\\slash", ".*", ".dot/*", "./a*", "sub/../a.txt", "*/../a.txt", "sub//one", "*//one",
    "/*//a", "*.TXT", "[", "[a", "a\\", "a.txt/*", "none/*", "a[.]txt", "*[!t]", "[z-a]*", "[a-]*", "[-a]*", "*a*t*",
]  # fmt: skip


def matched(library: Space, pattern: Any, **options: Any) -> Any:
    """Names in order, or the failure; TensorFlow's message is inside of that of an assertion."""
    found = attempt(lambda: library.Dataset.list_files(pattern, **options))
    if isinstance(found, Failure):
        text = found.message
        at = text.find("No files matched pattern")
        return found if at < 0 else Failure(found.name, text[at:].removesuffix("'").rstrip())
    return [plain_bytes(name) for name in found]


@tf_rule("5 list_files glob")
@tf_rule("5 list_files finds")
@tf_rule("5 list_files nothing")
@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern, relative, folder):
    wanted = pattern if relative else f"{folder}/{pattern}"
    expected = matched(theirs(), wanted, shuffle=False)
    found = matched(ours(), wanted, shuffle=False)
    if isinstance(expected, Failure):
        assert isinstance(found, Failure)
        assert (found.name, "No files matched pattern: ") == (expected.name, expected.message[:26])
        assert found.message == f"No files matched pattern: {wanted}"
    else:
        assert found == expected


@tf_rule("5 list_files sorted")
@tf_rule("5 list_files nothing")
@pytest.mark.parametrize(
    "patterns",
    [["b*", "a*", "b*"], ["b*", "none"], ["nix*", "none"], [], "", [["a*"], ["b*"]], b"a*", 3],
    ids=repr,
)
def test_several_patterns(patterns, folder):
    assert matched(ours(), patterns, shuffle=False) == matched(theirs(), patterns, shuffle=False)


@tf_rule("5 list_files shuffle")
@pytest.mark.parametrize("seed", [0, 1, 42, 2**40])
def test_shuffled_names(seed, folder):
    agree(lambda lib: lib.Dataset.list_files("*", seed=seed), passes=3)
    agree(lambda lib: lib.Dataset.list_files("*.txt", seed=seed).repeat(2))


@tf_rule("5 list_files shuffle")
def test_global_seed_shuffles_names(folder):
    def case(library: Space, **options: Any) -> Any:
        library.set_seed(7)
        return library.Dataset.list_files("*", **options)

    agree(case, passes=2)
    agree(lambda lib: case(lib, shuffle=False))
    agree(lambda lib: case(lib, shuffle=True, seed=3))


@tf_rule("5 list_files when")
def test_names_are_matched_when_the_dataset_is_made(folder):
    for library in (ours(), theirs()):
        dataset = library.Dataset.list_files("a*", shuffle=False)
        (folder / "a9").touch()
        assert [plain_bytes(name) for name in dataset] == [b"./a.txt", b"./a2.txt", b"./a]"]
        (folder / "a9").unlink()


def test_records_of_listed_files(files, tmp_path):
    agree(
        lambda lib: lib.TFRecordDataset(lib.Dataset.list_files(f"{tmp_path}/*", seed=3), num_parallel_reads=2)
    )
    assert files


def test_failure_is_what_tensorflow_raises():
    """`failure` frees TensorFlow's text of what eager execution puts round it."""
    tf = tensorflow()
    error = tf.errors.InvalidArgumentError(None, None, "text")
    assert failure(error) == Failure("InvalidArgumentError", "text")
