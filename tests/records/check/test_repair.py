from __future__ import annotations

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings

import tfrkit as tfr
from tests.records.support.made import CONTAINERS, GOLDEN, contain, flip, frame, frames, member, put
from tests.records.support.strategies import damaged_files
from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.testing import reference


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=damaged_files())
def test_every_intact_record_is_saved_and_every_lost_byte_reported(data, tmp_path):
    records, lost = reference.read(data)
    report = tfr.repair(put(tmp_path / "bad", data), tmp_path / "good")
    assert (tmp_path / "good").read_bytes() == frames(records)
    assert [(d.kind, d.start, d.end, d.record) for d in report.lost] == [
        (d.kind, d.start, d.end, d.record) for d in lost
    ]
    assert report.records == len(records)
    assert report.lost_bytes + len(frames(records)) == len(data)


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_any_container_into_any_other(kind, suffix, tmp_path):
    bad = put(tmp_path / "bad", contain(frame(b"one") + flip(frame(b"two"), 13) + frame(b"three"), kind))
    report = tfr.repair(bad, tmp_path / f"good{suffix}")
    assert list(tfr.read_records(tmp_path / f"good{suffix}")) == [b"one", b"three"]
    assert [(d.start, d.end, d.record) for d in report.lost] == [(19, 38, 1)]


def test_report_tells_everything(tmp_path):
    bad, good = put(tmp_path / "bad", flip(GOLDEN, 12) + b"xyz"), tmp_path / "good"
    report = tfr.repair(bad, good)
    assert str(report) == (
        f"{bad} -> {good}: 2 records saved, 2 damages with 22 bytes lost\n"
        "  lost bytes 0-19 after record 0: bad data CRC\n"
        "  lost bytes 53-56 after record 2: truncated"
    )
    content = json.loads(json.dumps(report.to_dict()))
    assert {name: content[name] for name in ("source", "target", "records", "data_bytes", "lost_bytes")} == {
        "source": str(bad),
        "target": str(good),
        "records": 2,
        "data_bytes": 2,
        "lost_bytes": 22,
    }
    assert [damage["kind"] for damage in content["lost"]] == ["bad data CRC", "truncated"]


def test_intact_file_is_copied(tmp_path):
    report = tfr.repair(put(tmp_path / "a", GOLDEN), tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == GOLDEN
    assert (report.records, report.lost, report.lost_bytes) == (3, (), 0)


def test_source_is_left_as_it_is(tmp_path):
    bad = put(tmp_path / "bad", flip(GOLDEN, 12))
    before = bad.stat()
    tfr.repair(bad, tmp_path / "good")
    assert (bad.read_bytes(), bad.stat().st_mtime_ns) == (flip(GOLDEN, 12), before.st_mtime_ns)


@pytest.mark.parametrize("link", [False, True])
def test_repairing_onto_itself_is_refused(link, tmp_path):
    bad = put(tmp_path / "bad", flip(GOLDEN, 12))
    target = tmp_path / "link" if link else bad
    if link:
        os.symlink(bad, target)
    with pytest.raises(
        InvalidArgumentError, match=r"^cannot repair '.*bad' onto itself\. Name another target, and"
    ):
        tfr.repair(bad, target)
    assert bad.read_bytes() == flip(GOLDEN, 12)


def test_missing_source_makes_no_target(tmp_path):
    with pytest.raises(NotFoundError, match=r"missing; No such file or directory$"):
        tfr.repair(tmp_path / "missing", tmp_path / "good")
    assert list(tmp_path.iterdir()) == []


def test_damaged_members_are_passed_over(tmp_path):
    groups = [[b"%d-%d" % (g, i) * 9 for i in range(20)] for g in range(10)]
    parts = [member(frames(group), 20) for group in groups]
    parts[3] = flip(parts[3], len(parts[3]) // 2, 0xFF)
    parts[7] = parts[7][:-30]
    tfr.repair(put(tmp_path / "bad", b"".join(parts)), tmp_path / "good")
    saved = list(tfr.read_records(tmp_path / "good"))
    untouched = [record for number, group in enumerate(groups) if number not in (3, 7) for record in group]
    assert set(untouched) <= set(saved) <= {record for group in groups for record in group}
    assert len(saved) == len(set(saved))
    order = {record: place for place, record in enumerate(r for group in groups for r in group)}
    assert [order[record] for record in saved] == sorted(order[record] for record in saved)


def test_what_is_no_tfrecord_file_gives_an_empty_one(tmp_path):
    report = tfr.repair(put(tmp_path / "bad", b"no record at all " * 50), tmp_path / "good")
    assert (report.records, report.lost_bytes) == (0, 850)
    assert (tmp_path / "good").read_bytes() == b""
    assert list(tfr.read_records(tmp_path / "good")) == []
