"""Lists of images: headers, quoting, encodings, bad rows, and the kinds of further columns."""

from __future__ import annotations

import pytest

from tests.build.support.image_samples import examples, labels, photos, picture, write_files
from tfrkit.build.images.build_images import images
from tfrkit.errors import InvalidArgumentError

FILES = photos({"a": 3})


@pytest.fixture
def source(tmp_path):
    """Three images, and a list that a test writes."""
    write_files(tmp_path, FILES)

    def write(text: str | bytes, name: str = "list.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return write


def extras(out) -> list[object]:
    return [one.get("x") for one in examples(out)]


def test_bad_rows_are_listed_with_their_lines(tmp_path, source):
    write_files(tmp_path, {"a/empty.jpg": b"", "a/text.jpg": b"text"})
    text = "path,label\na/0.jpg,x\n\na/1.jpg\n,x\na/2.jpg,\nnone.jpg,x\na/empty.jpg,x\na,x\na/text.jpg,x\n"
    report = images(source(text), tmp_path / "out")
    path = str(tmp_path / "list.csv")
    assert [(bad.source, bad.line, bad.reason) for bad in report.listed] == [
        (path, 4, "not a row of the list"),
        (path, 5, "no path"),
        (path, 7, "unreadable file"),
        (path, 8, "empty file"),
        (path, 9, "unreadable file"),
        (path, 6, "no label"),
        ("list.csv/a/text.jpg", None, "not an image"),
    ]
    assert labels(tmp_path / "out") == {"a/0.jpg": 0}


def test_columns_in_any_order_and_quoted_cells(tmp_path, source):
    text = 'x,label,path\n"a ""b"",\nc",k1,a/0.jpg\r\nplain,k0,a/1.jpg\r\n'
    images(source(text), tmp_path / "out", shuffle=False)
    assert extras(tmp_path / "out") == [b'a "b",\nc', b"plain"]
    assert labels(tmp_path / "out") == {"a/0.jpg": 1, "a/1.jpg": 0}


def test_paths_alone_have_no_labels(tmp_path, source):
    images(source("a/0.jpg\na/1.jpg\n"), tmp_path / "out")
    assert "image/label" not in examples(tmp_path / "out")[0]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-7", "9223372036854775807"], [1, -7, 2**63 - 1]),
        (["1", "2.5", "1e3"], [1.0, 2.5, 1000.0]),
        (["1", "007", "3"], [1.0, 7.0, 3.0]),
        (["1", "", "3"], [1, None, 3]),
        (["a", "", "3"], [b"a", None, b"3"]),
        (["9223372036854775808", "1", "2"], [2.0**63, 1.0, 2.0]),
    ],
)
def test_kinds_of_columns_are_settled_over_all_rows(tmp_path, source, cells, expected):
    text = "path,x\n" + "".join(f"a/{number}.jpg,{cell}\n" for number, cell in enumerate(cells))
    images(source(text), tmp_path / "out", shuffle=False)
    assert extras(tmp_path / "out") == expected
    assert {type(value) for value in extras(tmp_path / "out")} == {type(value) for value in expected}


def test_json_values_keep_their_types(tmp_path, source):
    rows = ['{"path": "a/0.jpg", "x": [1, 2], "y": "3", "z": true}', '{"path": "a/1.jpg", "x": [], "z": null}',
            '{"path": "a/2.jpg", "x": 4.5, "label": 1}']  # fmt: skip
    report = images(source("\n".join(rows), "list.jsonl"), tmp_path / "out", shuffle=False, names="plain")
    assert report.bad == {"no label": 2}
    found = images(source("\n".join(rows[:2]), "list.jsonl"), tmp_path / "two", shuffle=False, names="plain")
    assert found.records == 2
    assert examples(tmp_path / "two") == [
        {"image": FILES["a/0.jpg"], "x": [1, 2], "y": b"3", "z": 1},
        {"image": FILES["a/1.jpg"], "x": []},
    ]


def test_bad_json_lines(tmp_path, source):
    text = (
        '{"path": "a/0.jpg"}\n{"path": \n[1]\n{"path": 3}\n{"path": "a/1.jpg", "label": 1.5}\n'
        + "[" * 100_000
    )
    report = images(source(text, "list.jsonl"), tmp_path / "out")
    assert report.bad == {"not a row of the list": 4, "no path": 1}


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (
            "a/0.jpg,k,3\n",
            "list.csv",
            "expected a first line that names the columns, one of them 'path', but got 3",
        ),
        (
            "path,x,x\na/0.jpg,1,2\n",
            "list.csv",
            "expected columns of different names but got 'path', 'x', 'x'",
        ),
        (
            '{"path": "a/0.jpg", "x": 1}\n{"path": "a/1.jpg", "x": "t"}',
            "l.jsonl",
            "column 'x': expected values of one",
        ),
        (
            '{"path": "a/0.jpg", "x": {"y": 1}}',
            "l.jsonl",
            "column 'x': expected numbers, text, or lists of them",
        ),
        (
            b"path,label\na/0.jpg,\xc3\xa8\xff\n",
            "list.gbk.csv",
            "expected text in gbk but got bytes that are not",
        ),
        (
            "path,image/label\na/0.jpg,3\n",
            "list.csv",
            "column 'image/label': images have a feature of this name already",
        ),
    ],
)
def test_wrong_lists_say_what_is_expected(tmp_path, source, text, name, message):
    with pytest.raises(InvalidArgumentError) as caught:
        images(source(text, name), tmp_path / "out", list_encoding="gbk" if "gbk" in name else "utf-8")
    assert message in str(caught.value)


def test_lists_and_names_in_gbk(tmp_path, source):
    write_files(tmp_path, {"猫/一.jpg": picture(1)})
    images(source("path,label\n猫/一.jpg,小猫\n".encode("gbk")), tmp_path / "out", list_encoding="gbk")
    (found,) = examples(tmp_path / "out")
    assert (found["image/filename"].decode(), found["image/text"].decode()) == ("猫/一.jpg", "小猫")


def test_split_by_folders_of_listed_paths(tmp_path, source):
    write_files(tmp_path, {"train/1.jpg": picture(1), "val/2.jpg": picture(2)})
    images(source("train/1.jpg,k\nval/2.jpg,j\n"), tmp_path / "out", split="folders")
    assert labels(tmp_path / "out", "train") == {"train/1.jpg": 1}
    assert labels(tmp_path / "out", "validation") == {"val/2.jpg": 0}
