from __future__ import annotations

import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.records.support.made import (
    CONTAINERS,
    GOLDEN,
    GOLDEN_RECORDS,
    contain,
    flip,
    frames,
    member,
    members,
    put,
)
from tests.records.support.strategies import damaged_files
from tfrkit import TENSORFLOW, TFRKIT, Block, Damage, ReadPolicy
from tfrkit.records.read.file_reader import FileReader, open_file_reader
from tfrkit.records.read.frame_splitter import Event
from tfrkit.stores.files import open_source
from tfrkit.testing import reference

SKIP = TFRKIT.with_options(on_corrupt="skip")


def run(reader: FileReader) -> list[Event]:
    events = []
    while (step := reader.plan()) is not None:
        events += reader.run(step)
    assert reader.done
    return events


def split(events: list[Event]) -> tuple[list[bytes], list[Damage]]:
    records = [record for event in events if isinstance(event, Block) for record in event]
    return records, [event for event in events if isinstance(event, Damage)]


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("policy", [TFRKIT, SKIP], ids=["raise", "skip"])
@pytest.mark.parametrize("regular", [True, False], ids=["file", "stream"])
def test_every_container_gives_its_records(kind, policy, regular, tmp_path):
    data = contain(GOLDEN * 5, kind)
    target = str(put(tmp_path / "a", data)) if regular else io.BytesIO(data)
    reader = open_file_reader(open_source(target), policy, 32)
    assert split(run(reader)) == (GOLDEN_RECORDS * 5, [])
    assert reader.compression == ("GZIP" if kind == "MEMBERS" else kind)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=damaged_files(), kind=st.sampled_from(CONTAINERS), block_bytes=st.integers(1, 200))
def test_damage_inside_any_container_is_what_the_reference_says(data, kind, block_bytes, tmp_path):
    expected, lost = reference.read(data, sized=not kind)
    path = str(put(tmp_path / "a", contain(data, kind)))
    found, damages = split(run(open_file_reader(open_source(path), with_kind(SKIP, kind), block_bytes)))
    assert found == expected
    assert [(d.kind, d.start, d.end, d.record) for d in damages] == [
        (d.kind, d.start, d.end, d.record) for d in lost
    ]


def with_kind(policy: ReadPolicy, kind: str) -> ReadPolicy:
    return policy.with_options(compression="GZIP" if kind == "MEMBERS" else kind)


def test_steps_may_run_in_any_order_of_threads(tmp_path):
    import threading

    path = str(put(tmp_path / "a", frames([bytes([i]) * 50 for i in range(100)])))
    reader = open_file_reader(open_source(path), TFRKIT, 500)
    steps = []
    while (step := reader.plan(ahead=True)) is not None:
        steps.append(step)
    results: dict[int, list[Event]] = {}

    def work(number: int) -> None:
        results[number] = reader.run(steps[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in reversed(range(len(steps)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = [event for number in sorted(results) for event in results[number]]
    assert split(events)[0] == [bytes([i]) * 50 for i in range(100)]


def test_cut_container_is_an_error_at_the_end(tmp_path):
    data = contain(frames([b"x" * 100]), "GZIP")
    path = str(put(tmp_path / "a", data[:-4]))
    records, [damage] = split(run(open_file_reader(open_source(path), TFRKIT)))
    assert records == [b"x" * 100]
    assert (damage.kind, damage.start, damage.record, damage.tail) == ("truncated", 116, 1, True)
    assert damage.text == "truncated record at 116' failed with EOF reached"
    assert damage.detail == "the compressed container has no end"


def test_cut_container_is_fine_to_tensorflow(tmp_path):
    path = str(put(tmp_path / "a", contain(GOLDEN, "GZIP")[:-4]))
    policy = TENSORFLOW.with_options(compression="GZIP")
    assert split(run(open_file_reader(open_source(path), policy))) == (GOLDEN_RECORDS, [])


def test_unknown_compression_means_none_to_tensorflow(tmp_path):
    path = str(put(tmp_path / "a", GOLDEN))
    reader = open_file_reader(open_source(path), TENSORFLOW.with_options(compression="LZ4"))
    assert (reader.compression, split(run(reader))[0]) == ("", GOLDEN_RECORDS)


def test_damaged_member_loses_only_itself(tmp_path):
    groups = [[b"a" * 40, b"b" * 40], [b"c" * 40, b"d" * 40], [b"e" * 40]]
    good = [members([group]) for group in groups]
    bad = flip(good[1], 40, 0xFF)
    path = str(put(tmp_path / "a", good[0] + bad + good[2]))
    records, damages = split(run(open_file_reader(open_source(path), SKIP)))
    assert records[:2] + records[-1:] == [b"a" * 40, b"b" * 40, b"e" * 40]
    assert set(records) <= {record for group in groups for record in group}
    assert "bad container" in [damage.kind for damage in damages]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_ordinary_members_among_ours_are_read(first, tmp_path):
    parts = [members([[b"one"]]), members([[b"two"]]), members([[b"three"]])]
    parts[first] = contain(frames([b"other"]), "GZIP")
    expected = [b"one", b"two", b"three"]
    expected[first] = b"other"
    path = str(put(tmp_path / "a", b"".join(parts)))
    assert split(run(open_file_reader(open_source(path), TFRKIT))) == (expected, [])


def test_member_that_lies_about_its_size_is_read_as_a_stream(tmp_path):
    stream = frames([b"x" * 50])
    for claim in (len(stream) - 1, len(stream) + 1, 10 * len(stream)):
        path = str(put(tmp_path / "a", member(stream, claim=claim)))
        assert split(run(open_file_reader(open_source(path), TFRKIT))) == ([b"x" * 50], [])


def test_error_of_the_operating_system_ends_the_chain(tmp_path, monkeypatch):
    reader = open_file_reader(open_source(str(put(tmp_path / "a", GOLDEN))), TFRKIT)

    def fail(*args: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.preadv", fail)
    step = reader.plan()
    assert step is not None
    with pytest.raises(Exception, match=r"a; Input/output error$"):
        reader.run(step)
    assert reader.done
    assert reader.plan() is None
