"""Rows and records of all kinds, hostile ones among them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfrkit
from tests.viewer.server import client_of, write_examples

SCRIPT = "<script>alert(1)</script>"


def test_cells_say_what_is_there(tmp_path: Path) -> None:
    example = {
        "label": 3,
        "score": 0.1,
        "name": "cat",
        "ids": list(range(20)),
        "raw": b"\x00\xff" * 10,
        "none": [],
    }
    with client_of([write_examples(tmp_path / "a.tfrecord", [example])]) as client:
        cells = client.json("/api/rows")["rows"][0]["cells"]
    assert cells["label"] == {"k": "int64", "n": 1, "role": "label", "v": 3, "t": "3"}
    assert (cells["score"]["v"], cells["score"]["t"]) == (0.1, "0.1")
    assert cells["name"] == {"k": "bytes", "n": 1, "role": "text", "t": "cat"}
    assert cells["ids"]["t"] == "0, 1, 2, 3, 4, 5, 6, 7 … 20 values"
    assert cells["raw"]["t"].endswith("20 bytes")


def test_numbers_that_json_does_not_have_are_texts(tmp_path: Path) -> None:
    example = {"big": 2**63 - 1, "floats": [float("nan"), float("inf"), 1e-40]}
    with client_of([write_examples(tmp_path / "a.tfrecord", [example])]) as client:
        body = client.get("/api/record", n=0).body
        features = {each["name"]: each for each in json.loads(body, parse_constant=pytest.fail)["features"]}
    assert features["big"]["values"] == [str(2**63 - 1)]
    assert features["floats"]["values"][:2] == ["NaN", "Infinity"]


def test_hostile_names_and_texts_stay_texts(tmp_path: Path) -> None:
    path = write_examples(
        tmp_path / f"{SCRIPT.replace('/', '_')}.tfrecord", [{SCRIPT: SCRIPT, "label": SCRIPT + "\0\x1b[2J"}]
    )
    with client_of([path]) as client:
        reply = client.get("/api/rows")
        assert reply.headers["Content-Type"].startswith("application/json")
        cells = reply.json["rows"][0]["cells"]
        assert cells[SCRIPT]["t"] == SCRIPT
        assert client.json("/api/record", n=0)["features"][0]["name"] == SCRIPT
        for feature in (SCRIPT, "label"):
            value = client.get("/api/value", n=0, feature=feature)
            assert value.headers["Content-Type"] == "application/octet-stream"
            assert value.headers["Content-Disposition"].startswith("attachment;")
            assert "<" not in value.headers["Content-Disposition"]


@pytest.mark.parametrize(
    "data",
    [b"<!doctype html><script>1</script>", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%PDF-1.4",
     b"<?xml version='1.0'?><svg/>", b"\xef\xbb\xbf<html>", b"", b"GIF89"],
)  # fmt: skip
def test_documents_are_only_ever_files(tmp_path: Path, data: bytes) -> None:
    with client_of([write_examples(tmp_path / "a.tfrecord", [{"x": data}])]) as client:
        value = client.get("/api/value", n=0, feature="x")
        assert value.body == data
        assert value.headers["Content-Type"] == "application/octet-stream"
        assert value.headers["Content-Disposition"].startswith("attachment;")
        assert "sandbox" in value.headers["Content-Security-Policy"]
        assert value.headers["X-Content-Type-Options"] == "nosniff"


def test_records_that_are_no_examples(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with tfrkit.TFRecordWriter(path) as writer:
        writer.write_many([b"just text", b"", b"\xff\x00\x01" * 100])
    with client_of([path]) as client:
        assert client.json("/api/session")["sets"]["a"]["kind"] in ("bytes", "mixed")
        rows = client.json("/api/rows")["rows"]
        assert rows[0]["cells"]["record"]["t"] == "just text"
        record = client.json("/api/record", n=0)
        assert (record["kind"], record["content"], record["features"]) == ("bytes", "just text", [])
        assert client.json("/api/bytes", n=1) == {"start": 0, "size": 0, "hex": ""}
        assert client.get("/api/download", n=2).body == b"\xff\x00\x01" * 100


def test_steps_of_sequence_examples(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    message = tfrkit.make_sequence_example(
        {"user": 7}, {"action": [[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]], "note": ["a", "b", "c"]}
    )
    with tfrkit.TFRecordWriter(path) as writer:
        writer.write(message.SerializeToString())
    with client_of([path]) as client:
        assert client.json("/api/session")["sets"]["a"]["kind"] == "sequence"
        row = client.json("/api/rows")["rows"][0]
        assert row["cells"]["action"]["t"].startswith("3 steps: 0.5, 1")
        record = client.json("/api/record", n=0, step=2)
        lists = {each["name"]: each for each in record["features"] if each["list"] == "steps"}
        assert record["steps"] == 3
        assert lists["action"]["values"] == [[0.5, 1], [2, 3], [4, 5]]
        assert (lists["action"]["at"], lists["note"]["values"]) == ([4, 5], [["a"], ["b"], ["c"]])
        assert client.get("/api/value", n=0, feature="note", step=1).body == b"b"
        assert client.get("/api/value", n=0, feature="note", step=3).status == 404


def test_mixed_kinds_of_one_feature(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord", [{"x": 1}, {"x": "one"}, {"x": 1.5}, {}])
    with client_of([path]) as client:
        assert client.json("/api/session")["sets"]["a"]["features"][0]["kind"] == "mixed"
        rows = client.json("/api/rows")["rows"]
        assert [row["cells"].get("x", {}).get("k") for row in rows] == ["int64", "bytes", "float", None]


def test_records_without_the_columns_show_what_they_have_if_that_is_wanted(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord", [{"x": 1}, {"b": 2, "a": "one"}, {}])
    with client_of([path]) as client:
        assert [list(row["cells"]) for row in client.json("/api/rows", columns="x")["rows"]] == [
            ["x"],
            [],
            [],
        ]
        rows = client.json("/api/rows", columns="x", others=1)["rows"]
        assert [list(row["cells"]) for row in rows] == [["x"], ["a", "b"], []]


def test_ten_thousand_features_are_cut_and_said_so(tmp_path: Path) -> None:
    path = write_examples(
        tmp_path / "a.tfrecord", [{f"feature {each:05d}": each for each in range(10_000)}] * 3
    )
    with client_of([path]) as client:
        found = client.json("/api/session")["sets"]["a"]
        assert len(found["features"]) + found["features_left"] == 10_000
        assert len(client.json("/api/rows")["rows"][0]["cells"]) == 60
        record = client.json("/api/record", n=0)
        assert len(record["features"]) + record["features_left"] == 10_000
        cells = client.json("/api/rows", columns="feature 09999")["rows"][0]["cells"]
        assert cells["feature 09999"]["v"] == 9999


def test_long_lists_and_texts_are_cut(tmp_path: Path) -> None:
    example = {"text": "x" * 3_000_000, "ids": np.arange(1_000_000)}
    with client_of([write_examples(tmp_path / "a.tfrecord", [example] * 3)]) as client:
        assert len(client.get("/api/rows").body) < 3000
        reply = client.get("/api/record", n=0)
        assert len(reply.body) < 200_000
        features = {each["name"]: each for each in reply.json["features"]}
        assert (features["ids"]["count"], len(features["ids"]["values"])) == (1_000_000, 1000)
        assert features["text"]["values"][0]["bytes"] == 3_000_000


def test_boxes_are_found_by_their_names(tmp_path: Path) -> None:
    sides = {"ymin": [0.1], "xmin": [0.2], "ymax": [0.5], "xmax": [0.75]}
    example = {f"image/object/bbox/{side}": values for side, values in sides.items()} | {
        "boxes": [0.0, 0.25, 0.5, 1.0] * 2
    }
    with client_of([write_examples(tmp_path / "a.tfrecord", [example] * 2)]) as client:
        features = {each["name"]: each for each in client.json("/api/session")["sets"]["a"]["features"]}
        assert features["boxes"]["boxes"] == {"packed": "boxes", "order": "yxyx"}
        assert features["image/object/bbox/ymin"]["role"] == "boxes"
        cells = client.json("/api/rows", columns="boxes,image/object/bbox/ymin")["rows"][0]["cells"]
        assert cells["boxes"]["boxes"] == [[0.0, 0.25, 0.5, 1.0]] * 2
        assert cells["image/object/bbox/ymin"]["boxes"] == [[0.1, 0.2, 0.5, 0.75]]


@pytest.mark.parametrize(
    ("path", "asked", "status"),
    [
        ("/api/rows", {"start": "-1"}, 400),
        ("/api/rows", {"count": "501"}, 400),
        ("/api/rows", {"start": "1e3"}, 400),
        ("/api/rows", {"set": "c"}, 404),
        ("/api/rows", {"job": "search-99"}, 404),
        ("/api/record", {}, 400),
        ("/api/record", {"n": "9" * 30}, 400),
        ("/api/value", {"n": 0}, 400),
        ("/api/value", {"n": 0, "feature": "nothing"}, 404),
        ("/api/value", {"n": 0, "feature": "n"}, 404),
        ("/api/thumb", {"n": 0, "feature": "n", "size": 100_000}, 400),
        ("/api/bytes", {"n": 0, "count": 10**9}, 400),
        ("/api/value", {"n": 0, "feature": "x" * 20_000}, 400),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, path: str, asked: dict[str, object], status: int
) -> None:
    with client_of([write_examples(tmp_path / "a.tfrecord", [{"n": 1}])]) as client:
        reply = client.get(path, **asked)
        assert reply.status == status
        assert reply.json["error"]


def test_matches_of_a_search_are_rows(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord", [{"n": each} for each in range(1000)])
    with client_of([path]) as client:
        headers = {"Cookie": client.cookie, "Origin": f"http://{client.host}"}
        body = json.dumps({"kind": "search", "set": "a", "where": "n >= 500"})
        job = client.send("POST", "/api/jobs", headers, body).json["id"]
        while client.json(f"/api/jobs/{job}")["state"] == "running":
            pass
        answer = client.json("/api/rows", job=job, start=0, count=3)
        assert answer["total"] == 500
        assert [row["n"] for row in answer["rows"]] == [500, 501, 502]
        rows = client.json("/api/rows", job=job, start=450, count=100)["rows"]
        assert [row["cells"]["n"]["v"] for row in rows] == list(range(950, 1000))


def test_text_beside_a_label_is_what_the_label_is_called(tmp_path: Path) -> None:
    example = {"image/label": 3, "image/text": "cat", "text": "a cat", "image/text/lang": "en"}
    with client_of([write_examples(tmp_path / "a.tfrecord", [example])]) as client:
        features = client.json("/api/session")["sets"]["a"]["features"]
    roles = {feature["name"]: feature["role"] for feature in features}
    assert roles == {"image/label": "label", "image/text": "label", "text": "text", "image/text/lang": "text"}


def test_a_large_value_leaves_room_for_others(tmp_path: Path) -> None:
    example = {"blob": b"\0" * 60_000_000, "numbers": list(range(2000))}
    with client_of([write_examples(tmp_path / "a.tfrecord", [example])]) as client:
        features = client.json("/api/record", n=0)["features"]
    assert [len(each["values"]) for each in features] == [1, 1000]
