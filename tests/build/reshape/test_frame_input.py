from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, contents, put_records
from tests.records.support.made import CONTAINERS, SUFFIX, flip, frames
from tfrkit.build.job.progress import TaskReporter
from tfrkit.build.reshape.frame_input import InputFrames, Scratch, frame_input
from tfrkit.build.reshape.frame_recipe import FrameRecipe
from tfrkit.engines.local import Stop
from tfrkit.errors import DataLossError, NotFoundError
from tfrkit.records.access.index import build_index, save_index


def read(recipe: FrameRecipe) -> list[bytes]:
    reporter = TaskReporter(Stop(), "skip", lambda *_totals: None)
    return [record for block in recipe.blocks(reporter) for record in block]


def marks(run: InputFrames) -> list[list[int]]:
    return [file.offsets.tolist() for file in run._files]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_any_range_of_records_is_read_exactly(kind, tmp_path):
    paths = [
        put_records(tmp_path / f"{at}{SUFFIX[kind]}", RECORDS[at : at + 100], kind) for at in (0, 100, 200)
    ]
    paths.insert(1, put_records(tmp_path / "empty", [], kind))
    with frame_input(paths) as given:
        run = given.survey(10)
        assert run.records == 300
        assert run.stream_bytes == len(frames(RECORDS))
        for begin, end in ((0, 300), (0, 0), (300, 300), (7, 8), (99, 101), (100, 200), (150, 299), (42, 42)):
            assert read(run.range(begin, end)) == RECORDS[begin:end]


def test_marks_are_the_same_with_an_index_and_without(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS)
    with frame_input(path) as given:
        walked = marks(given.survey(30))
        save_index(str(path), build_index(str(path)))
        assert marks(given.survey(30)) == walked
        assert len(walked[0]) > 50


def test_pieces_cover_all_records_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr("tfrkit.build.reshape.frame_input._PIECE_BYTES", 50_000)
    monkeypatch.setattr("tfrkit.build.reshape.frame_input._MARK_BYTES", 10_000)
    with frame_input(
        [put_records(tmp_path / "a", RECORDS), put_records(tmp_path / "b", RECORDS, "XZ")]
    ) as given:
        pieces = given.survey().pieces()
        assert [record for piece in pieces for record in read(piece)] == RECORDS + RECORDS
        assert len(pieces) > 8
        assert pieces[-1].paths == (str(tmp_path / "b"),)  # not seekable: one piece


def test_bytes_are_balanced_and_no_part_is_empty(tmp_path):
    records = [b"x" * 100_000, *(b"y" * 100 for _ in range(900))]
    with frame_input(put_records(tmp_path / "a", records)) as given:
        run = given.survey(4)
        ranges = run.by_bytes(4)
        assert [begin for begin, _ in ranges[1:]] == [end for _, end in ranges[:-1]]
        assert ranges[0] == (0, 1)
        assert all(begin < end for begin, end in ranges)
        assert run.by_bytes(901) == [(number, number + 1) for number in range(901)]


def test_records_are_balanced_to_one():
    assert InputFrames(()).by_records(4, 0, 10) == [(0, 3), (3, 6), (6, 8), (8, 10)]
    assert InputFrames(()).by_records(3, 5, 7) == [(5, 6), (6, 7), (7, 7)]


@pytest.mark.parametrize("on_corrupt", ["skip", "stop"])
@pytest.mark.parametrize("kind", ["", "XZ"])
def test_damage_that_is_passed_over_does_not_count(on_corrupt, kind, tmp_path):
    stream = flip(frames(RECORDS[:100]), len(frames(RECORDS[:40])) + 14)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(stream)
    left = RECORDS[:40] + (RECORDS[41:100] if on_corrupt == "skip" else [])
    expected = left + RECORDS[100:120]
    with frame_input([damaged, put_records(tmp_path / "b", RECORDS[100:120], kind)], on_corrupt) as given:
        run = given.survey(5)
        assert run.records == len(expected)
        assert [bad.source for bad in run.bad] == ["damaged"]
        assert run.bad[0].reason.startswith("damaged: ")
        assert [record for span in run.by_records(7) for record in read(run.range(*span))] == expected
        assert [record for piece in run.pieces() for record in read(piece)] == expected


def test_damage_is_an_error_when_frames_are_planned_or_read(tmp_path):
    stream = frames(RECORDS)
    lengths = tmp_path / "lengths"
    lengths.write_bytes(flip(stream, len(frames(RECORDS[:40])) + 3))
    with frame_input(lengths) as given, pytest.raises(DataLossError, match="record 40"):
        given.survey()
    data = tmp_path / "data"
    data.write_bytes(flip(stream, len(frames(RECORDS[:40])) + 13))
    with frame_input(data) as given:
        run = given.survey()
        assert read(run.range(0, 40)) == RECORDS[:40]
        with pytest.raises(DataLossError, match="record 40"):
            read(run.range(30, 50))


def test_file_that_shrinks_after_planning_is_an_error(tmp_path):
    path = put_records(tmp_path / "a", RECORDS)
    with frame_input(path) as given:
        recipe = given.survey().range(250, 300)
        put_records(path, RECORDS[:280])
        with pytest.raises(
            DataLossError, match=r"has changed since the job began: expected 50 records .* but got 30"
        ):
            read(recipe)


def test_one_compressed_stream_that_is_cut_often_is_unpacked_once(tmp_path):
    path = put_records(tmp_path / "a.xz", RECORDS, "XZ")
    with frame_input(path) as given:
        recipe = given.survey(20).range(290, 300)
        assert recipe.paths != (str(path),)
        assert recipe.offset > 0
        assert read(recipe) == RECORDS[290:]
        assert Path(recipe.paths[0]).exists()
    assert not Path(recipe.paths[0]).parent.exists()


def test_threads_share_one_temporary_folder():
    scratch = Scratch()
    with closing(scratch), ThreadPoolExecutor(8) as pool:
        folders = {os.path.dirname(path) for path in pool.map(scratch.path, map(str, range(64)))}
        assert len(folders) == 1
    assert not Path(folders.pop()).exists()


def test_pipes_are_copied_first(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(frames(RECORDS),))
    writer.start()
    with frame_input([pipe]) as given:
        assert given.names == ("-",)
        assert read(given.survey().range(5, 9)) == RECORDS[5:9]
    writer.join()


def test_fingerprint_knows_names_and_contents_but_not_folders(tmp_path):
    prints = []
    for folder, name, count in (("x", "a", 9), ("y", "a", 9), ("x", "b", 9), ("y", "a", 8)):
        with frame_input(put_records(tmp_path / folder / name, RECORDS[:count])) as given:
            prints.append(given.fingerprint()["digest"])
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_fingerprint_sees_other_records_of_the_same_sizes(tmp_path):
    prints = []
    for letter in (b"x", b"y"):
        records = [letter * 100_000, b"z" * 100_000]
        with frame_input(put_records(tmp_path / "a", records)) as given:
            prints.append(given.fingerprint()["digest"])
    assert prints[0] != prints[1]


def test_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match="nowhere"), frame_input(tmp_path / "nowhere"):
        pass


def test_names_that_are_no_unicode_are_read(tmp_path):
    path = put_records(
        Path(os.fsdecode(os.fsencode(tmp_path) + "/数据 \udcff".encode("utf-8", "surrogateescape"))),
        RECORDS[:3],
    )
    with frame_input(path) as given:
        assert read(given.whole()) == RECORDS[:3] == contents(path)[0]
        assert given.fingerprint()["files"] == 1
    assert tfr.merge(path, tmp_path / "all.tfrecord").records == 3
