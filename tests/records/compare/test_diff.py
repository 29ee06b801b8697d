"""diff against plain Python: which records are the same, changed, added and removed, and in which features."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.support.examples import example, example_dicts, plain, sequence, write
from tests.records.support.made import flip
from tfrkit.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, NotFoundError
from tfrkit.options import option_fields
from tfrkit.records.compare import read_pairs
from tfrkit.records.compare.data_set import DataSet
from tfrkit.records.compare.diff import diff_files
from tfrkit.records.compare.diff_options import CompareOptions, DiffKeywords
from tfrkit.testing.reference import frames

COUNTS = ("same", "reencoded", "changed", "added", "removed", "moved")


def counts(found):
    return {name: getattr(found, name) for name in COUNTS if getattr(found, name)}


def reencoded(record: bytes) -> bytes:
    """The same Example, its entries in the opposite order."""
    message = tfr.Example.FromString(record)
    parts = []
    for name in sorted(message.features.feature, reverse=True):
        one = tfr.Example()
        one.features.feature[name].CopyFrom(message.features.feature[name])
        parts.append(one.SerializeToString(deterministic=True))
    return b"".join(parts) or record


def shown(value) -> str:
    """Something that is the same for records that mean the same."""
    return repr(sorted(plain(value).items()))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("diff")

    def make(name, records, shards=1):
        bounds = [len(records) * i // shards for i in range(shards + 1)]
        return [
            str(write(folder / f"{name}-{i}.tfrecord", *records[bounds[i] : bounds[i + 1]]))
            for i in range(shards)
        ]

    return make


# -- against plain Python ----------------------------------------------------------------------------------------------

_record = example_dicts(conflicts=True)
_edits = st.lists(
    st.tuples(st.sampled_from(["drop", "add", "change", "move", "again", "encode"]), st.integers(0, 99))
)


def edited(records, edits, extra):
    changed = list(records)
    for kind, number in edits:
        at = number % (len(changed) or 1)
        if kind == "add" or not changed:
            changed.insert(at, extra[number % len(extra)])
        elif kind == "drop":
            del changed[at]
        elif kind == "change":
            changed[at] = extra[number % len(extra)]
        elif kind == "move":
            changed.append(changed.pop(at))
        elif kind == "again":
            changed.append(changed[at])
        else:
            changed[at] = reencoded(changed[at])
    return changed


@settings(deadline=None)
@given(
    st.lists(_record, max_size=12), st.lists(_record, min_size=1, max_size=4), _edits, st.sampled_from([1, 3])
)
def test_by_position_like_multisets_of_meanings(files, dicts, more, edits, shards):
    old = [example(**each) for each in dicts]
    new = edited(old, edits, [example(**each) for each in more])
    means_a, means_b = ([shown(tfr.to_dict(record)) for record in records] for records in (old, new))
    common = Counter(means_a) & Counter(means_b)
    report = tfr.diff(files("a", old, shards), files("b", new))
    found = report.records
    assert (found.old, found.new, found.same) == (len(old), len(new), common.total())
    assert found.removed + found.changed == len(old) - common.total()
    assert found.added + found.changed == len(new) - common.total()
    assert found.reencoded == found.same - (Counter(old) & Counter(new)).total()
    assert report.differs == (means_a != means_b)
    assert (found.moved == 0) or means_a != means_b
    assert bool(report.drifts) <= (not found.identical)


@settings(deadline=None)
@given(
    st.lists(_record, max_size=10, unique_by=shown), _edits, st.randoms(use_true_random=False), st.booleans()
)
def test_by_key_like_dicts(files, dicts, edits, shuffle, texts):
    def keyed(number):
        return f"鍵{number}" if texts else number

    old = {keyed(number): each for number, each in enumerate(dicts)}
    new = dict(old)
    for number, (kind, place) in enumerate(edits):
        if kind == "drop" and new:
            del new[list(new)[place % len(new)]]
        elif kind == "add":
            new[keyed(1000 + number)] = {"i": [place]}
        elif kind == "change" and new:
            new[list(new)[place % len(new)]] = {"f": [0.5]}
    records = [[example(k=key, **each) for key, each in side.items()] for side in (old, new)]
    records[1] = [reencoded(record) for record in records[1]]
    shuffle.shuffle(records[1])
    found = tfr.diff(files("a", records[0], 2), files("b", records[1], 2), key="k", limit=100).records
    other = {key for key in old.keys() & new.keys() if shown(old[key]) != shown(new[key])}
    assert (found.same, found.changed) == (len(old.keys() & new.keys()) - len(other), len(other))
    assert (found.added, found.removed) == (len(new.keys() - old.keys()), len(old.keys() - new.keys()))
    text = {key.encode() if texts else key for key in other}
    assert {change.key[0] for change in found.changed_examples} == text
    expected: Counter[str] = Counter()
    for key in other:
        names = {*old[key], *new[key]}
        expected.update(
            name for name in names if shown({0: old[key].get(name, 0)}) != shown({0: new[key].get(name, 0)})
        )
    assert {each.name: each.changed + each.added + each.removed for each in found.features} == expected


# -- single differences ------------------------------------------------------------------------------------------------


def test_an_insertion_changes_nothing_else(files):
    old = [example(n=i) for i in range(100)]
    new = [*old[:10], example(n=1000), *old[10:]]
    found = tfr.diff(files("a", old, 3), files("b", new, 2)).records
    assert counts(found) == {"same": 100, "added": 1}
    assert [(each.new.path[-12:], each.new.record) for each in found.added_examples] == [("b-0.tfrecord", 10)]


def test_a_change_after_an_insertion_is_a_change(files):
    old = [example(n=i, name=f"名字{i}") for i in range(50)]
    new = [example(n=99), *old]
    new[31] = example(n=30, name="别的")
    report = tfr.diff(files("a", old), files("b", new))
    assert counts(report.records) == {"same": 49, "changed": 1, "added": 1}
    [change] = report.records.changed_examples
    assert (change.old.record, change.new.record) == (30, 31)
    [value] = change.values
    assert (value.name, value.old, value.new) == ("name", ["名字30".encode()], ["别的".encode()])
    assert "      - bytes  '名字30'\n      + bytes  '别的'\n" in str(report)
    assert report.to_dict()["records"]["changed_examples"][0]["values"] == [
        {"name": "name", "is_list": False, "old": ["名字30"], "new": ["别的"]}
    ]


def test_only_the_order(files):
    old = [example(n=i) for i in range(20)]
    new = [*old[1:], old[0]]
    report = tfr.diff(files("a", old), files("b", new))
    assert counts(report.records) == {"same": 20, "moved": 1}
    assert report.differs
    assert not report.drifts
    assert not tfr.diff(files("a", old), files("b", new), key="n")


def test_other_encodings_mean_the_same(files):
    old = [example(n=i, m=[1, 2], t=["a", "b"], f=[0.5]) for i in range(20)]
    new = [reencoded(record) for record in old]
    assert new != old
    for key in (None, "n"):
        report = tfr.diff(files("a", old), files("b", new), key=key)
        assert counts(report.records) == {"same": 20, "reencoded": 20}
        assert not report
    random.Random(2).shuffle(new)
    assert tfr.diff(files("a", old), files("b", new)).records.changed == 0


def test_sequence_examples_and_records_that_are_none(files):
    old = [sequence({"n": 1}, {"s": [[1], [2]], "t": [[b"a"]]}), b"some text", example(n=1)]
    new = [
        sequence({"n": 1}, {"s": [[1], [3]], "t": [[b"a"]]}),
        b"other text",
        sequence({"n": 1}, {"t": [[b"a"]]}),
    ]
    report = tfr.diff(files("a", old), files("b", new))
    assert counts(report.records) == {"changed": 3}
    names = {(each.name, each.is_list): (each.changed, each.added) for each in report.records.features}
    assert names == {("s", True): (1, 0), ("", False): (1, 0), ("t", True): (0, 1)}
    text = str(report)
    assert "    s (list)\n      - int64  2 steps: [1] [2]\n      + int64  2 steps: [1] [3]\n" in text
    assert "    (record)\n      - bytes  'some text'\n      + bytes  'other text'\n" in text
    json.dumps(report.to_dict())


def test_records_that_are_no_examples_have_no_statistics(files):
    report = tfr.diff(files("a", [b"\xffa", b"\xffb"]), files("b", [b"\xffb", b"\xffc"]))
    assert counts(report.records) == {"same": 1, "added": 1, "removed": 1}
    assert report.drifts == report.schema == ()


def test_a_tolerance_for_floats(files):
    old = [example(n=i, x=[1.0 * i, -2.0, np.nan, np.inf]) for i in range(10)]
    new = [example(n=i, x=[1.0001 * i, -2.0, np.nan, np.inf]) for i in range(10)]
    new[3] = example(n=4, x=[3.0003, -2.0, np.nan, np.inf])
    new[5] = example(n=5, x=[5.0, -2.0, np.nan, -np.inf])
    assert tfr.diff(files("a", old), files("b", new)).records.changed == 9
    found = tfr.diff(files("a", old), files("b", new), tolerance=1e-3).records
    assert (found.same, found.within_tolerance, found.changed) == (8, 7, 2)
    assert {each.name: each.changed for each in found.features} == {"n": 1, "x": 1}
    assert [change.old.record for change in found.changed_examples] == [3, 5]


def test_zeros_and_nans_by_their_bits(files):
    old, new = [example(x=[0.0, np.nan])], [example(x=[-0.0, np.nan])]
    assert tfr.diff(files("a", old), files("b", new)).records.changed == 1
    assert not tfr.diff(files("a", old), files("b", new), tolerance=1e-9, compare="records")


def test_a_key_of_several_features_and_repeated_keys(files):
    old = [example(x=i % 3, y=f"线{i % 2}", v=i) for i in range(6)] + [example(x=0, y="线0", v=10)]
    new = list(reversed(old[:6]))
    report = tfr.diff(files("a", old), files("b", new), key=["x", "y"])
    assert counts(report.records) == {"same": 6, "removed": 1}
    assert report.records.repeated_keys == (1, 0)
    assert report.records.repeated_examples[0].key == (0, "线0".encode())
    assert ", key 0, '线0'" in str(report)
    assert report.to_dict()["records"]["removed_examples"][0]["key"] == [0, "线0"]


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (example(other=1), "does not have it. Did you mean 'other'?"),
        (example(othre=[1, 2]), "has none or several"),
        (example(othre=0.5), "has floats there"),
        (b"no example", "does not have it"),
    ],
)
def test_a_record_without_the_key_is_named(files, bad, text):
    [path] = files("a", [example(othre=1), bad])
    with pytest.raises(InvalidArgumentError, match="Expected one int64 or bytes value of 'othre'") as raised:
        tfr.diff(path, path, key="othre")
    assert text in str(raised.value)
    assert (raised.value.path, raised.value.record) == (path, 1)


# -- files -------------------------------------------------------------------------------------------------------------


def test_folders_patterns_compressions(tmp_path):
    records = [example(n=i, t="x" * 50) for i in range(300)]
    with tfr.ShardWriter(str(tmp_path / "a" / "train"), shards=3) as writer:
        writer.write_many(records)
    for name, compression in (("b.gz", "GZIP"), ("b.xz", "XZ"), ("b.zlib", "ZLIB")):
        with tfr.TFRecordWriter(str(tmp_path / name), compression) as writer:
            writer.write_many(records)
        assert not tfr.diff(tmp_path / "a", tmp_path / name, key="n")
    assert not tfr.diff(tmp_path / "a" / "train-*", tmp_path / "a")
    with pytest.raises(NotFoundError):
        tfr.diff(tmp_path / "none-*", tmp_path / "a")
    with (
        pytest.raises(TypeError, match="expected paths but got a stream"),
        (tmp_path / "b.gz").open("rb") as file,
    ):
        tfr.diff(file, tmp_path / "a")


def test_damage_is_raised_or_counted(files):
    records = [example(n=i) for i in range(100)]
    [a], [b] = files("a", records), files("b", records)
    data = bytearray(frames(records))
    with open(b, "wb") as file:
        file.write(flip(bytes(data), len(data) // 2))
    with pytest.raises(DataLossError):
        tfr.diff(a, b)
    report = tfr.diff(a, b, on_corrupt="skip")
    assert report.skipped == (0, 1)
    assert counts(report.records) == {"same": 99, "removed": 1}
    assert "B: 1 damage was passed over" in str(report)


def test_empty_files(files):
    [a], [b] = files("a", []), files("b", [example(n=1)])
    assert not tfr.diff(a, a)
    assert counts(tfr.diff(a, b).records) == {"added": 1}
    assert counts(tfr.diff(b, a, key="n").records) == {"removed": 1}
    assert not tfr.diff(a, a, compare="statistics")


def test_a_file_that_changes_meanwhile_is_an_error(files):
    [path] = files("a", [example(n=i) for i in range(10)])
    data = DataSet([path], threads=1)
    data.digest((), None)
    files("a", [example(n=i) for i in range(9)])
    with pytest.raises(
        FailedPreconditionError, match="has changed while it was read: 9 records, and 10 at first"
    ):
        list(data.chosen(np.arange(5)))


def test_the_number_of_threads_changes_nothing(files):
    rng = random.Random(3)
    old = [example(id=i, x=rng.random(), t=f"猫{i % 7}") for i in range(5000)]
    new = [example(id=i, x=rng.random() if i % 9 == 0 else i, t=f"猫{i % 5}") for i in range(500, 5500)]
    rng.shuffle(new)
    for key in (None, "id"):
        one, two = (tfr.diff(files("a", old, 3), files("b", new, 2), key=key, threads=n) for n in (1, 2))
        assert one.to_dict() == two.to_dict()
        assert str(one) == str(two)


def test_progress_counts_every_record_once_for_each_step(files):
    old, new = [example(n=i) for i in range(10)], [example(n=i) for i in range(8)]
    seen = []
    tfr.diff(files("a", old), files("b", new), progress=lambda *done: seen.append(done))
    assert seen[-1][0] == 36
    assert seen == sorted(seen)


def test_check_is_called_in_every_step_and_ends_it(files):
    old, new = (
        files("a", [example(n=i) for i in range(10)]),
        files("b", [example(n=i + 100) for i in range(10)]),
    )
    calls = []
    diff_files(old, new, CompareOptions(), None, lambda: calls.append(1), threads=1)
    assert len(calls) > 4  # digests, meanings and pairs of both
    for limit in range(1, len(calls)):

        def check(left=[limit]):  # noqa: B006  # counted down
            left[0] -= 1
            if not left[0]:
                raise KeyError("enough")

        with pytest.raises(KeyError, match="enough"):
            diff_files(old, new, CompareOptions(), None, check, threads=1)


# -- memory ------------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(st.permutations(range(12)), st.sampled_from([0, 30, 100, 1 << 20]))
def test_pairs_come_once_whatever_may_wait(files, order, limit):
    old = [example(n=i, t="x" * i) for i in range(12)]
    sets = [
        DataSet(files(name, records, 2), threads=1)
        for name, records in (("a", old), ("b", [old[i] for i in order]))
    ]
    for each in sets:
        each.digest((), None)
    in_b = np.argsort(np.array(order))
    found = {}
    for pairs in read_pairs.read_pairs(*sets, np.arange(12), in_b, limit):
        assert pairs.old == pairs.new
        found.update(zip(pairs.numbers, pairs.old, strict=True))
    assert found == dict(enumerate(old))


_MEMORY = """
import resource, sys
import tfrkit as tfr
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tfr.diff("small.tfrecord", "small.tfrecord", key="id")
before = peak()
found = tfr.diff("a.tfrecord", "b.tfrecord", key="id").records
print(found.same, found.changed, (peak() - before) << 10)
"""


def test_memory_is_a_few_bytes_a_record(tmp_path):
    """Half a million records of 200 bytes, shuffled, a hundredth of them changed."""
    count = 500_000
    order = np.random.default_rng(1).permutation(count)
    text = np.full(1, b"x" * 150, object)
    for name, ids in (("small", np.arange(10)), ("a", np.arange(count)), ("b", order)):
        with tfr.TFRecordWriter(str(tmp_path / f"{name}.tfrecord")) as writer:
            for start in range(0, len(ids), 50_000):
                part = ids[start : start + 50_000]
                value = part + (part % 100 == 0) * (name == "b")
                writer.write_batch({"id": part, "v": value, "t": np.repeat(text, len(part))})
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    same, changed, used = map(int, done.stdout.split())
    assert (same, changed) == (count - count // 100, count // 100)
    assert used < 200e6  # the files have 100 MB each; statistics and reading take most of it


# -- options -----------------------------------------------------------------------------------------------------------


def test_keywords_are_the_options():
    fields = {each.name: each.type for each, _ in option_fields(CompareOptions)}
    assert {
        name: getattr(kind, "__forward_arg__", kind) for name, kind in DiffKeywords.__annotations__.items()
    } == fields


def test_what_is_compared(files):
    a, b = files("a", [example(n=1)]), files("b", [example(n=2)])
    only = tfr.diff(a, b, compare="records")
    assert (only.drifts, only.schema, only.records.changed) == ((), (), 1)
    only = tfr.diff(a, b, compare="statistics")
    assert (only.records, only.drifts[0].drift, only.differs) == (None, 1.0, True)
    assert not tfr.diff(a, b, compare="statistics", max_drift=1.0).differs
    assert tfr.diff(a, b, compare="statistics", max_drift=0.9).differs
    with pytest.raises(InvalidArgumentError, match="Expected a number from 0 to 1 for max_drift"):
        tfr.diff(a, b, max_drift=2)
    with pytest.raises(TypeError, match="there is no option 'keys'"):
        tfr.diff(a, b, keys="n")


@pytest.mark.parametrize("limit", [0, 2])
def test_the_first_examples_are_kept(files, limit):
    old, new = ([example(n=i, m=m) for i in range(30)] for m in (1, 2))
    found = tfr.diff(files("a", old), files("b", [*new, *new[:9]]), limit=limit).records
    assert (found.changed, found.added) == (30, 9)
    assert [each.old.record for each in found.changed_examples] == [0, 1][:limit]
    assert [each.new.record for each in found.added_examples] == [30, 31][:limit]
