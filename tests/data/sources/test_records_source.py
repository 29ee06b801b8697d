from __future__ import annotations

import json
import os
import pickle
import threading
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.support.made import CONTAINERS, contain, flip, frames, put
from tests.records.support.strategies import damaged_files
from tfrkit import TENSORFLOW, TFRKIT
from tfrkit.data.elements.chunk import RecordChunk
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Context, NodeIterator
from tfrkit.data.sources.records_source import RecordsNode
from tfrkit.errors import DataLossError, DataLossWarning, FailedPreconditionError, NotFoundError, OpError
from tfrkit.records.read.position import Places

IN_TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def three_files(folder) -> tuple[str, ...]:
    """Files of 5, 0 and 4 records."""
    groups = [[b"a%d" % i for i in range(5)], [], [b"c%d" % i for i in range(4)]]
    return tuple(
        str(put(folder / f"{number}.tfrecord", frames(group))) for number, group in enumerate(groups)
    )


def pull_all(iterator: NodeIterator, n: int = 3) -> list[object]:
    """All elements and the texts of errors, in order."""
    found: list[object] = []
    while (run := iterator.pull(n)) is not None:
        assert len(run.chunk) or run.error
        assert len(run.chunk) <= n
        found += run.chunk.objects()
        if run.error is not None:
            found.append(str(run.error))
    assert iterator.pull(1) is None
    return found


def test_runs_span_blocks_and_files(tmp_path):
    node = RecordsNode(three_files(tmp_path), TFRKIT, block_bytes=20)
    iterator = node.begin(Context())
    first = iterator.pull(7)
    assert first is not None
    assert isinstance(first.chunk, RecordChunk)
    assert first.chunk.objects() == [b"a0", b"a1", b"a2", b"a3", b"a4", b"c0", b"c1"]
    assert pull_all(iterator) == [b"c2", b"c3"]
    assert node.cardinality() == UNKNOWN_CARDINALITY
    assert repr(node.element_spec()) == "TensorSpec(shape=(), dtype=tf.string, name=None)"


def test_file_is_not_opened_before_it_is_needed(tmp_path):
    files = three_files(tmp_path)
    node = RecordsNode((files[0], str(tmp_path / "none"), files[2]), TFRKIT)
    iterator = node.begin(Context())
    run = iterator.pull(5)
    assert run is not None
    assert (len(run.chunk), run.error) == (5, None)
    run = iterator.pull(5)
    assert run is not None
    assert len(run.chunk) == 0
    assert isinstance(run.error, NotFoundError)
    assert pull_all(iterator) == [b"c0", b"c1", b"c2", b"c3"]


def test_missing_file_repeats_under_the_tensorflow_policy(tmp_path):
    iterator = RecordsNode((str(tmp_path / "none"),), TENSORFLOW).begin(Context())
    for _ in range(3):
        run = iterator.pull(5)
        assert run is not None
        assert isinstance(run.error, NotFoundError)
        assert iterator.save() == [0, 0, 0]


def test_error_comes_in_its_place_and_the_next_file_follows(tmp_path):
    files = three_files(tmp_path)
    put(tmp_path / "0.tfrecord", flip(frames([b"a%d" % i for i in range(5)]), 2 * 18 + 12))
    iterator = RecordsNode(files, TFRKIT).begin(Context())
    run = iterator.pull(100)
    assert run is not None
    assert run.chunk.objects() == [b"a0", b"a1"]
    assert isinstance(run.error, DataLossError)
    assert (run.error.path, run.error.record, run.error.offset) == (files[0], 2, 36)
    assert iterator.save() == [1, 0, 0]
    assert pull_all(iterator) == [b"c0", b"c1", b"c2", b"c3"]


def test_skipped_damage_is_counted(tmp_path):
    files = three_files(tmp_path)
    data = flip(frames([b"a%d" % i for i in range(5)]), 2 * 18 + 12)
    put(tmp_path / "0.tfrecord", data)
    put(tmp_path / "1.tfrecord", data)
    context = Context()
    found = pull_all(RecordsNode(files, TFRKIT.with_options(on_corrupt="skip")).begin(context))
    assert len(found) == 12
    assert context.skipped == 2
    assert [(path, damage.kind) for path, damage in context.damages] == [
        (files[0], "bad data CRC"),
        (files[1], "bad data CRC"),
    ]


def test_stop_leaves_the_file_with_a_warning(tmp_path):
    files = three_files(tmp_path)
    put(tmp_path / "0.tfrecord", flip(frames([b"a%d" % i for i in range(5)]), 12))
    context = Context()
    with pytest.warns(DataLossWarning, match="the rest of the file is left out"):
        found = pull_all(RecordsNode(files, TFRKIT.with_options(on_corrupt="stop")).begin(context))
    assert found == [b"c0", b"c1", b"c2", b"c3"]
    assert context.skipped == 1


def test_closed_iterator_is_at_its_end(tmp_path):
    iterator = RecordsNode(three_files(tmp_path), TFRKIT).begin(Context())
    iterator.pull(2)
    iterator.close()
    iterator.close()
    assert iterator.pull(1) is None


@IN_TMP
@given(
    files=st.lists(
        st.tuples(damaged_files(), st.sampled_from(["", "GZIP", "MEMBERS"])), min_size=1, max_size=3
    ),
    how=st.sampled_from(["raise", "skip", "stop"]),
    pulls=st.lists(st.integers(1, 5), max_size=8),
    block_bytes=st.sampled_from([1, 50, 1 << 20]),
)
def test_state_goes_on_exactly(files, how, pulls, block_bytes, tmp_path):
    paths = tuple(str(put(tmp_path / str(i), contain(data, kind))) for i, (data, kind) in enumerate(files))
    node = RecordsNode(paths, TFRKIT.with_options(on_corrupt=how), block_bytes=block_bytes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataLossWarning)
        iterator = node.begin(Context())
        for n in pulls:
            iterator.pull(n)
        state = json.loads(json.dumps(iterator.save()))
        again = pickle.loads(pickle.dumps(node)).begin(Context(threads=1), state)
        assert pull_all(again, 2) == pull_all(iterator, 3)


@pytest.mark.parametrize("kind", CONTAINERS)
def test_places_of_records_can_be_fetched(kind, tmp_path):
    groups = [[b"%d %d" % (number, i) for i in range(30)] for number in range(3)]
    files = tuple(str(put(tmp_path / str(n), contain(frames(group), kind))) for n, group in enumerate(groups))
    node = RecordsNode((*files, files[0]), TFRKIT, block_bytes=100)
    run = node.begin(Context()).pull(200)
    assert run is not None
    chosen = run.chunk.take(np.random.default_rng(1).permutation(len(run.chunk))[:50])
    assert isinstance(chosen, RecordChunk)
    places = places_of(node, chosen)
    fetched = node.fetch(places)
    assert fetched.objects() == chosen.objects()
    assert fetched.origin.records.tolist() == chosen.origin.records.tolist()
    assert places_of(node, fetched).offsets.tolist() == places.offsets.tolist()


def places_of(node: RecordsNode, records: RecordChunk) -> Places:
    which, rows = records.located()
    found = [(records.blocks[block], row) for block, row in zip(which.tolist(), rows.tolist(), strict=True)]
    numbers, frames = zip(*(block.place(row) for block, row in found), strict=True)
    files = [node.number_of(block.path) for block, _ in found]
    return Places(*(np.array(column, np.int64) for column in (files, frames, numbers)))


def test_files_of_others_have_no_number(tmp_path):
    files = three_files(tmp_path)
    node = RecordsNode(files, TFRKIT)
    assert [node.number_of(path) for path in (*files, None, "other")] == [0, 1, 2, -1, -1]


def test_pipe_is_read_and_has_no_middle_to_go_on_from(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    node = RecordsNode((path,), TFRKIT)
    assert not node.pure
    writer = threading.Thread(target=lambda: put(tmp_path / "pipe", frames([b"one", b"two"])))
    writer.start()
    iterator = node.begin(Context())
    run = iterator.pull(1)
    assert run is not None
    assert run.chunk.objects() == [b"one"]
    state = iterator.save()
    assert pull_all(iterator) == [b"two"]
    writer.join()
    with pytest.raises(FailedPreconditionError, match="cannot resume in the middle of a pipe"):
        node.begin(Context(), state)


def test_files_are_pure_and_named_in_the_label(tmp_path):
    files = three_files(tmp_path)
    node = RecordsNode(files, TFRKIT)
    assert node.pure
    assert node.paths == files
    assert node.label == f"TFRecordDataset({files[0]!r}, 2 more)"


def test_error_without_the_package_for_a_compression_is_an_error_of_the_run(tmp_path, monkeypatch):
    import tfrkit.codecs.zstd as zstd
    from tfrkit.errors import MissingExtraError

    def missing(*_: object) -> None:
        raise MissingExtraError("needs a package")

    monkeypatch.setattr(zstd, "require", missing)
    files = three_files(tmp_path)
    put(tmp_path / "0.tfrecord", contain(frames([b"x"]), "ZSTD"))
    assert pull_all(RecordsNode(files, TFRKIT).begin(Context())) == [
        "needs a package",
        b"c0",
        b"c1",
        b"c2",
        b"c3",
    ]


def test_errors_are_those_of_read_records(tmp_path):
    files = three_files(tmp_path)
    put(tmp_path / "2.tfrecord", b"no records at all, but text")
    reader = tfr.read_records(files)
    expected: list[object] = []
    while True:
        try:
            expected.append(next(reader))
        except StopIteration:
            break
        except OpError as error:
            expected.append(str(error))
    assert pull_all(RecordsNode(files, TFRKIT).begin(Context())) == expected
