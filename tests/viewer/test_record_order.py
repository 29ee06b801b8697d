"""Records in an order: values of all kinds, ties, records without one, pictures, several files, limits."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.records.support.made import flip, frame
from tests.viewer.server import client_of, write_examples
from tests.viewer.test_search import job_files, write
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.viewer.job import BackgroundJob
from tfrkit.viewer.record_order import RecordOrder, SortedMatches
from tfrkit.viewer.search import search


def order_of(text, **kinds):
    found = RecordOrder.of(text, kinds)
    assert found is not None
    return found


def sorted_by(paths, order, where="", **kinds):
    work = search(job_files(paths, **kinds), where, order_of(order, **kinds))
    job = BackgroundJob("s-1", "search", "a", where, work)
    assert job.wait(60)
    assert job.state == "done", job.event()
    return job


def places(job):
    return [(match.file, match.record) for match in job.result.slice(0, 10**6)]


def records(job):
    return [record for _, record in places(job)]


def test_numbers_are_sorted_over_all_files_and_equal_ones_stay_in_order(tmp_path):
    paths = [write(str(tmp_path / "a"), [3, 1, 2, 1]), write(str(tmp_path / "b"), [1, 3, 0])]
    up = sorted_by(paths, "value:n", n="int64")
    assert places(up) == [(1, 2), (0, 1), (0, 3), (1, 0), (0, 2), (0, 0), (1, 1)]
    assert [match.key for match in up.result.slice(0, 3)] == [0, 1, 1]
    down = sorted_by(paths, "-value:n", n="int64")
    assert places(down) == [(0, 0), (1, 1), (0, 2), (0, 1), (0, 3), (1, 0), (1, 2)]


def test_integers_that_floats_do_not_tell_apart_are_sorted(tmp_path):
    path = write(str(tmp_path / "a"), [2**62 + 1, 2**62, -(2**63)])
    job = sorted_by([path], "value:n", n="int64")
    assert records(job) == [2, 1, 0]
    assert job.result.slice(1, 1)[0].key == str(2**62)


@pytest.mark.parametrize(
    ("order", "expected"), [("value:x", [3, 0, 4, 1, 2, 5]), ("-value:x", [4, 0, 3, 1, 2, 5])]
)
def test_nan_and_missing_values_come_last_in_both_directions(tmp_path, order, expected):
    rows = [{"x": 1.0}, {"x": float("nan")}, {"y": 1}, {"x": float("-inf")}, {"x": [2.0, 0.0]}, {"x": []}]
    job = sorted_by([write_examples(tmp_path / "a", rows)], order, x="float32")
    assert records(job) == expected
    event = job.event()
    assert (event["matches"], event["kept"], event["missing"], event["undecodable"]) == (6, 6, 3, 0)
    assert [match.key for match in job.result.slice(3, 9)] == [None] * 3


def test_texts_are_sorted_by_bytes(tmp_path):
    begin = "n01440764/n01440764_"
    rows = [{"t": begin + "2"}, {"t": "zebra"}, {"t": begin + "10"}, {"t": ""}, {"t": "ä"}, {}]
    job = sorted_by([write_examples(tmp_path / "a", rows)], "value:t", t="bytes")
    assert records(job) == [3, 2, 0, 1, 4, 5]
    assert {match.key for match in job.result.slice(0, 9)} == {None}


def test_bytes_of_a_value_and_of_the_record(tmp_path):
    rows = [{"t": "abc"}, {"t": "a", "u": b"\0" * 100}, {"u": 1}]
    path = write_examples(tmp_path / "a", rows)
    job = sorted_by([path], "-bytes:t", t="bytes")
    assert (records(job), [match.key for match in job.result.slice(0, 9)]) == ([0, 1, 2], [3, 1, None])
    sizes = [len(tfr.make_example(row).SerializeToString()) for row in rows]
    whole = sorted_by([path], "-bytes:")
    assert records(whole) == sorted(range(3), key=lambda n: -sizes[n])
    assert whole.result.slice(0, 1)[0].key == max(sizes)


def test_pictures_by_brightness_and_size(tmp_path):
    random = np.random.default_rng(1)
    shades = [200, 30, 120]
    pictures = [np.full((20 + 8 * n, 60 - 9 * n, 3), shade, np.uint8) for n, shade in enumerate(shades)]
    encoded = [
        tfr.image.encode_jpeg(pictures[0]),
        tfr.image.encode_png(pictures[1]),
        tfr.image.encode_jpeg(pictures[2]),
    ]
    cut = tfr.image.encode_jpeg(random.integers(0, 255, (90, 90, 3), np.uint8))[:1500]
    rows = [{"i": encoded[0]}, {"i": cut}, {"n": 1}, {"i": encoded[1]}, {"i": b"none"}, {"i": encoded[2]}]
    path = write_examples(tmp_path / "a", rows)
    dark = sorted_by([path], "brightness:i", i="bytes")
    assert records(dark) == [3, 5, 0, 2, 1, 4]
    event = dark.event()
    assert (event["missing"], event["undecodable"]) == (1, 2)
    keys = [match.key for match in dark.result.slice(0, 3)]
    assert keys == pytest.approx([shade / 255 for shade in sorted(shades)], abs=0.01)
    assert records(sorted_by([path], "-brightness:i", i="bytes"))[:3] == [0, 5, 3]
    assert [match.key for match in sorted_by([path], "width:i", i="bytes").result.slice(0, 3)] == [42, 51, 60]
    assert [match.key for match in sorted_by([path], "-height:i", i="bytes").result.slice(0, 3)] == [
        36,
        28,
        20,
    ]


def test_an_order_of_matches_has_matches_only(tmp_path):
    path = write(str(tmp_path / "a"), np.arange(1000))
    job = sorted_by([path], "-value:n", "n < 100 and n > 90", n="int64")
    assert records(job) == list(range(99, 90, -1))


def test_records_of_another_kind_and_no_examples_come_last(tmp_path):
    path = str(tmp_path / "a")
    with tfr.TFRecordWriter(path) as writer:
        for n in range(40):
            others = {7: b"\xff", 20: tfr.make_example({"n": "text"}).SerializeToString()}
            writer.write(others.get(n, tfr.make_example({"n": -n}).SerializeToString()))
    job = sorted_by([path], "value:n", n="int64")
    assert records(job) == [n for n in range(39, -1, -1) if n not in (7, 20)] + [7, 20]
    assert job.event()["undecodable"] == 2


def test_context_of_sequence_examples_is_sorted(tmp_path):
    path = str(tmp_path / "a")
    with tfr.TFRecordWriter(path) as writer:
        for n in (2, 0, 1):
            writer.write(tfr.make_sequence_example({"n": n}, {"s": [[1], [2]]}).SerializeToString())
    assert records(sorted_by([path], "value:n", n="int64")) == [1, 2, 0]


def test_records_after_damage_have_the_numbers_of_an_index(tmp_path):
    frames = [frame(tfr.make_example({"n": -n}).SerializeToString()) for n in range(6)]
    frames[2] = flip(frames[2], 14)
    (tmp_path / "a").write_bytes(b"".join(frames))
    assert records(sorted_by([str(tmp_path / "a")], "value:n", n="int64")) == [5, 4, 3, 1, 0]


@pytest.mark.parametrize("sign", ["", "-"])
def test_more_records_than_are_kept_leave_the_first_of_the_order(sign):
    random = np.random.default_rng(5)
    values = random.integers(0, 60, 3000)
    matches = SortedMatches(order_of(f"{sign}value:n", n="int64"), limit=50)
    for first in range(0, 3000, 70):
        some = values[first : first + 70]
        block = Block.from_records([tfr.make_example({"n": int(n)}).SerializeToString() for n in some])
        matches.add(0, np.arange(first, first + len(some)), block)
        assert sum(len(keys) for _, keys in matches._keyed) < 100 + 70
    matches.finish()
    expected = sorted(range(3000), key=lambda n: (-values[n] if sign else values[n], n))
    assert [match.record for match in matches.slice(0, 3000)] == expected[:50]
    assert (matches.count, matches.kept) == (3000, 50)


def test_records_without_a_value_are_kept_up_to_the_limit():
    matches = SortedMatches(order_of("value:n", n="int64"), limit=4)
    block = Block.from_records([tfr.make_example({"m": 1}).SerializeToString()] * 10)
    for file in range(3):
        matches.add(file, np.arange(10), block)
    matches.finish()
    assert [(match.file, match.record) for match in matches.slice(0, 99)] == [(0, n) for n in range(4)]
    assert matches.event() == {"matches": 30, "kept": 4, "missing": 30, "undecodable": 0}


def test_a_stopped_order_keeps_what_it_found(tmp_path):
    path = write(str(tmp_path / "a"), np.arange(300_000))

    class Stopping(BackgroundJob):
        def check(self):
            if self.result is not None and self.result.count > 1000:
                self.cancel()
            super().check()

    job = Stopping("s-1", "search", "a", "", search(job_files([path]), "", order_of("-value:n", n="int64")))
    assert job.wait(30)
    assert job.state == "cancelled"
    count = job.result.count
    assert 1000 < count < 300_000
    assert [match.key for match in job.result.slice(0, 2)] == [count - 1, count - 2]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("n", "order: expected one of value, bytes, width, height, brightness and a feature but got 'n'"),
        ("size:n", "order: expected one of value"),
        ("value:m", "order: value needs a feature of one kind but got 'm': There are 'n', 't', 'x'"),
        ("value:x", "order: value needs a feature of one kind but got 'x': has several kinds of values"),
        ("-brightness:n", "order: brightness needs a feature of bytes but got 'n': it is int64"),
        ("bytes:n", "order: bytes needs a feature of bytes but got 'n': it is int64"),
        (["n"], "order: expected one of value"),
    ],
)  # fmt: skip
def test_what_is_no_order_is_refused(order, message):
    with pytest.raises(InvalidArgumentError, match="order: ") as caught:
        RecordOrder.of(order, {"n": "int64", "t": "bytes", "x": ""})
    assert message in str(caught.value)
    assert RecordOrder.of("", {}) is None


def test_rows_of_an_order_come_with_their_keys(tmp_path):
    paths = [write(str(tmp_path / f"{k}.tfrecord.gz"), np.arange(300) * (1 if k else -1)) for k in range(2)]
    with client_of(paths) as client:
        client.json("/api/rows", start=599, count=1)
        headers = {"Cookie": client.cookie, "Origin": f"http://{client.host}"}
        body = '{"kind": "search", "options": {"order": "-value:n"}}'
        name = client.send("POST", "/api/jobs", headers, body).json["id"]
        while client.json(f"/api/jobs/{name}")["state"] == "running":
            pass
        answer = client.json("/api/rows", job=name, start=298, count=4)
        assert answer["total"] == 600
        assert [row["n"] for row in answer["rows"]] == [301, 0, 300, 1]
        assert [row["key"] for row in answer["rows"]] == [1, 0, 0, -1]
        assert [(row["file"], row["record"]) for row in answer["rows"]] == [(1, 1), (0, 0), (1, 0), (0, 1)]
        assert (
            client.send("POST", "/api/jobs", headers, '{"kind": "search", "options": {"order": 5}}').status
            == 400
        )


def test_an_order_does_not_need_the_memory_of_its_records(tmp_path):
    order = order_of("value:t", t="bytes")
    matches = SortedMatches(order)
    assert matches._limit * (8 + order.dtype.itemsize) <= 16 << 20
