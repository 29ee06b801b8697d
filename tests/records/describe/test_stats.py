"""stats: exact counts against plain Python, estimates against their bounds, the same in any number of threads."""

from __future__ import annotations

import io
import math
import struct
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.support.examples import example, example_dicts, sequence, write
from tests.records.support.made import flip
from tfrkit.errors import DataLossError
from tfrkit.records.describe.feature_statistics import Distinct
from tfrkit.records.describe.native_statistics import PERCENTS
from tfrkit.testing.reference import frames

EXACT = 100_000  # different values of a feature that are counted one by one


def count(records, **options):
    """Statistics of records, through a file in memory."""
    return tfr.stats(io.BytesIO(frames(records)), **options)


def rounded_root(square: Fraction) -> float:
    return math.sqrt(square)  # Fraction -> float rounds once


def check_numbers(found, values, top=10):
    """Compare with numbers that are finite."""
    values = sorted(value + 0 for value in values)  # no -0.0
    counts = Counter(values)
    n = len(values)
    assert (found.count, found.rank_error, found.top_error) == (n, 0, 0)
    assert found.distinct == Distinct(len(counts), 0.0)
    if not n:
        assert (found.min, found.max, found.mean, found.std, found.top) == (None, None, None, None, ())
        return
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / n
    assert (found.min, found.max, found.mean) == (values[0], values[-1], float(mean))
    assert found.std == rounded_root(sum((value - mean) ** 2 for value in exact) / n)
    assert found.quantiles == {p: values[max(1, -(-p * n // 100)) - 1] for p in PERCENTS}
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:top]
    assert [(one.value, one.count) for one in found.top] == most
    if found.histogram is not None:
        edges = found.histogram.edges
        assert sum(found.histogram.counts) == n
        assert (edges[0], edges[-1] >= values[-1]) == (values[0], True)


def check_feature(found, cells):
    """Compare with what to_dict gives for each record: absent ones are left out, None is unset."""
    kinds = {"int64": [], "float32": [], "bytes": []}
    for cell in cells:
        if cell is not None:
            kind = "bytes" if isinstance(cell, list) else str(cell.dtype)
            kinds[kind].append(cell)
    assert found.present == len(cells)
    assert found.unset == sum(cell is None for cell in cells)
    assert found.empty == sum(cell is not None and len(cell) == 0 for cell in cells)
    assert found.records == {kind: len(rows) for kind, rows in kinds.items() if rows}
    check_numbers(found.lengths, [len(cell) for cell in cells if cell is not None])
    if kinds["int64"]:
        check_numbers(found.int64, [int(value) for row in kinds["int64"] for value in row])
    if kinds["float32"]:
        values = [float(value) for row in kinds["float32"] for value in row]
        check_numbers(found.float32, [value for value in values if math.isfinite(value)])
        special = found.float32.nan, found.float32.inf, found.float32.negative_inf
        assert special == (sum(map(math.isnan, values)), values.count(math.inf), values.count(-math.inf))
    if kinds["bytes"]:
        check_bytes(found.bytes, [value for row in kinds["bytes"] for value in row])


def check_bytes(found, values):
    counts = Counter(values)
    assert (found.count, found.distinct.count, found.top_error) == (len(values), len(counts), 0)
    assert found.utf8 == sum(is_text(value) for value in values)
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:10]
    assert [(top.value, top.size, top.count) for top in found.top] == [(v, len(v), c) for v, c in most]
    check_numbers(found.lengths, [len(value) for value in values])


def is_text(value):
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def check_all(found, dicts):
    assert found.examples == found.records == len(dicts)
    assert list(found.features) == sorted({key for one in dicts for key in one})
    for name, feature in found.features.items():
        cells = [one[name] for one in dicts if name in one]
        check_feature(feature, cells)
        assert feature.absent == len(dicts) - len(cells)


# -- exact counts ------------------------------------------------------------------------------------------------------

FLOATS = st.one_of(st.floats(width=32), st.sampled_from([0.0, -0.0, 1e-45, 3.4028234663852886e38, math.nan]))
INTS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.sampled_from([-(2**63), 2**63 - 1]))
BYTES = st.one_of(
    st.binary(max_size=20), st.sampled_from(["猫".encode(), b"\xff", b"", b"a" * 17, b"a" * 250])
)


@st.composite
def tables(draw):
    """Records that have the same features with one value each, as most files have, and some that have not."""
    rows = draw(st.lists(st.tuples(FLOATS, INTS, BYTES), max_size=30))
    dicts = [{"f": np.array([f], np.float32), "i": np.array([i], np.int64), "长度": [b]} for f, i, b in rows]
    for other in draw(st.lists(example_dicts(conflicts=True), max_size=3)):
        dicts.insert(draw(st.integers(0, len(dicts))), other)
    return dicts


@given(tables())
@settings(max_examples=40)
def test_rows_are_counted_as_python_does(dicts):
    check_all(count([tfr.make_example(one).SerializeToString() for one in dicts]), dicts)


@given(st.lists(example_dicts(conflicts=True), max_size=12))
@settings(max_examples=40)
def test_conflicts_absent_and_empty_features_are_counted(dicts):
    check_all(count([tfr.make_example(one).SerializeToString() for one in dicts]), dicts)


@given(
    st.lists(st.lists(st.tuples(st.lists(INTS, max_size=3), st.lists(BYTES, max_size=2)), max_size=4)),
)
@settings(max_examples=40)
def test_feature_lists_are_counted_step_by_step(lists):
    records = [
        sequence({"n": len(steps)}, {"i": [i for i, _ in steps], "b": [b for _, b in steps]})
        for steps in lists
    ]
    found = count(records)
    assert found.records == len(lists)
    assert found.examples + found.sequence_examples == len(lists)
    for name, place in (("i", 0), ("b", 1)):
        cells = [step[place] for steps in lists for step in steps if step[place]]
        feature = found.feature_lists.get(name)
        if feature is None:
            assert not cells
            continue
        assert feature.present == found.sequence_examples
        check_numbers(feature.steps, [len(steps) for steps in lists][: feature.present] if all(lists) else
                      [len(steps) for steps in lists])  # fmt: skip
        values = [value for cell in cells for value in cell]
        if name == "i" and cells:
            check_numbers(feature.int64, values)
        elif cells:
            check_bytes(feature.bytes, values)


def test_sums_of_the_greatest_numbers_do_not_overflow():
    ints = count([example(n=value) for value in [2**63 - 1] * 5 + [-(2**63)] * 4]).features["n"].int64
    values = [2**63 - 1] * 5 + [-(2**63)] * 4
    assert ints.mean == float(Fraction(sum(values), 9))
    largest = np.float32(3.4028235e38)
    floats = count([example(x=np.array([largest, -largest, largest], np.float32))]).features["x"].float32
    assert floats.mean == float(Fraction(float(largest)) / 3)
    assert floats.std == float(largest) * math.sqrt(8 / 9)


def test_a_mean_of_floats_is_exact_where_adding_them_is_not():
    values = np.array([1e20, 1.0, -1e20, 3.0], np.float32)
    assert count([example(x=values)]).features["x"].float32.mean == 1.0


def test_lists_in_parts_and_repeated_keys_mean_what_protobuf_says():
    int64s, floats = tfr.Feature(), tfr.Feature()
    int64s.int64_list.value.extend([1, 2])
    floats.float_list.value.extend([0.5])
    parts = int64s.SerializeToString() + floats.SerializeToString() + int64s.SerializeToString() * 2
    entry = b"\x0a\x01n\x12" + bytes([len(parts)]) + parts
    record = b"\x0a" + bytes([2 * (len(entry) + 2)]) + 2 * (b"\x0a" + bytes([len(entry)]) + entry)
    found = count([record]).features["n"]
    assert (found.present, found.records, found.lengths.max) == (1, {"int64": 1}, 4)
    assert [(top.value, top.count) for top in found.int64.top] == [(1, 2), (2, 2)]


def test_unpacked_lists_are_counted():
    list_ = b"\x08\x05\x08\x07"
    feature = b"\x1a" + bytes([len(list_)]) + list_
    entry = b"\x0a\x01n\x12" + bytes([len(feature)]) + feature
    record = b"\x0a" + bytes([len(entry) + 2]) + b"\x0a" + bytes([len(entry)]) + entry
    assert [top.value for top in count([record]).features["n"].int64.top] == [5, 7]


def test_records_that_are_no_examples_are_told_apart():
    found = count([example(n=1), b"just text", example(n=2)])
    assert (found.records, found.examples, found.features["n"].present) == (3, 2, 2)
    assert "1 neither Example nor SequenceExample" in str(found)


def test_only_chosen_features_are_counted():
    found = count([example(a=1, b=2, c=b"x")], columns=["c", "a"])
    assert list(found.features) == ["a", "c"]
    with pytest.raises(TypeError, match="expected a list of names for columns but got 'a'"):
        count([], columns="a")


def test_a_column_that_no_record_has_is_refused_with_the_nearest():
    records = [example(label=1), example(label=2, image=b"x")]
    with pytest.raises(tfr.errors.InvalidArgumentError) as caught:
        count(records, columns=["label", "lable"])
    assert caught.value.message == ("columns (--key): no record has a feature 'lable'. Did you mean 'label'?")
    assert list(count(records, columns=["image"]).features) == ["image"]  # one has it
    assert not count([], columns=["lable"]).features  # there is nothing to compare with
    assert not count(records, sample=1, columns=["image"]).features  # others may have it


def test_no_records_give_no_features():
    found = count([])
    assert (found.records, found.features) == (0, {})
    assert str(found) == "no records in <BytesIO>"


def test_a_sample_says_that_it_is_one(tmp_path):
    path = str(write(tmp_path / "a.tfrecord", *(example(n=i) for i in range(100))))
    found = tfr.stats(path, 7)
    assert (found.sampled, found.records, found.features["n"].int64.count) == (True, 7, 7)
    assert str(found).startswith("a sample of 7 Examples in ")
    assert str(found).endswith("only a sample of the records was counted")
    with pytest.raises(ValueError, match="expected sample to be at least 1 but got 0"):
        tfr.stats(path, 0)


def test_damage_is_an_error_or_passed_over(tmp_path):
    records = [example(n=i) for i in range(9)]
    data = frames(records)
    path = tmp_path / "a.tfrecord"
    path.write_bytes(flip(data, len(frames(records[:4])) + 14))
    with pytest.raises(DataLossError, match="corrupted record"):
        tfr.stats(path)
    found = tfr.stats(path, on_corrupt="skip")
    assert (found.records, found.skipped) == (8, 1)
    assert [top.value for top in found.features["n"].int64.top] == [0, 1, 2, 3, 5, 6, 7, 8]
    assert "1 damage was passed over" in str(found)
    with pytest.warns(UserWarning, match="corrupted record"):
        assert tfr.stats(path, on_corrupt="stop").records == 4


def test_top_has_a_range():
    assert [top.value for top in count([example(n=[5, 5, 7, 9])], top=2).features["n"].int64.top] == [5, 7]
    with pytest.raises(ValueError, match="expected top to be between 0 and 1000 but got 1001"):
        count([], top=1001)


# -- bytes -------------------------------------------------------------------------------------------------------------


def image(name):
    pixels = np.zeros((3, 5, 3), np.uint8)
    if name == "PNG":
        return tfr.image.encode_png(pixels)
    if name == "JPEG":
        return tfr.image.encode_jpeg(pixels)
    if name == "GIF":
        return b"GIF89a" + struct.pack("<HH", 5, 3) + bytes(3)
    if name == "BMP":
        return b"BM" + struct.pack("<IIIIii", 30, 0, 26, 40, 5, -3) + bytes(4)
    return b"RIFF" + bytes(4) + b"WEBPVP8X" + bytes(8) + bytes([4, 0, 0, 2, 0, 0])


@pytest.mark.parametrize("name", ["JPEG", "PNG", "GIF", "BMP", "WebP"])
def test_images_are_told_by_their_header(name):
    data = image(name)
    data = data.encode() if isinstance(data, str) else bytes(data)
    found = count([example(x=data), example(x=b"no image")]).features["x"].bytes
    assert (dict(found.images.formats), found.images.sized) == ({name: 1}, 1)
    assert (found.images.width, found.images.height) == ((5, 5), (3, 3))
    cut = count([example(x=data[:8])]).features["x"].bytes.images
    assert cut is None or cut.width is None


def test_long_values_are_shown_by_their_beginning():
    long = b"x" * 1_000_000
    found = (
        count([example(x=long), example(x=long), example(x=long + b"y"), example(x=b"z" * 250)])
        .features["x"]
        .bytes
    )
    assert [(top.value, top.size, top.count) for top in found.top] == [
        (b"x" * 64, 1_000_000, 2),
        (b"x" * 64, 1_000_001, 1),
        (b"z" * 250, 250, 1),
    ]


def test_texts_of_frequent_values_are_kept_when_there_are_many():
    # 9,000 texts of 200 bytes are more than is kept of them all.
    texts = [b"%0200d" % number for number in range(9_000)]
    frequent = [b"often %d" % number * 20 for number in range(5)]
    lists = [texts[start : start + 300] + frequent for start in range(0, 9_000, 300)]
    found = count([example(x=values) for values in lists]).features["x"].bytes
    assert (found.distinct.count, found.distinct.standard_error) == (9_005, 0)
    assert [(top.value, top.count) for top in found.top[:5]] == [(value, 30) for value in frequent]


# -- estimates ---------------------------------------------------------------------------------------------------------


def true_rank_error(values, quantiles):
    """By which part of all values the ranks of quantiles are wrong."""
    ordered = np.sort(values)
    worst = 0.0
    for percent, value in quantiles.items():
        low, high = np.searchsorted(ordered, value, "left"), np.searchsorted(ordered, value, "right")
        wanted = percent / 100 * len(ordered)
        worst = max(worst, low + 1 - wanted, wanted - high)
    return worst / len(ordered)


def orders():
    number = 200_000
    generator = np.random.default_rng(5)
    up = np.arange(number)
    zigzag = np.empty(number, np.int64)
    zigzag[::2], zigzag[1::2] = up[: number // 2], up[: number // 2 - 1 : -1]
    skewed = np.concatenate([up[:150_000], np.repeat(np.arange(-50, 0), 1000)])
    generator.shuffle(skewed)
    return {
        "up": up,
        "down": up[::-1],
        "zigzag": zigzag,
        "shuffled": generator.permutation(up) * 10**12,
        "skewed": skewed,
        "blocks": up.reshape(200, 1000).T.reshape(-1),
    }


@pytest.mark.parametrize("order", orders())
def test_estimates_keep_their_bounds(order):
    values = np.ascontiguousarray(orders()[order])
    counts = Counter(values.tolist())
    blocks = tfr.encode_examples({"n": tfr.Ragged(values, np.arange(0, len(values) + 1, 1000))})
    found = count(blocks.to_list()).features["n"].int64
    assert (found.count, found.min, found.max) == (len(values), values.min(), values.max())
    assert found.mean == float(Fraction(sum(values.tolist()), len(values)))
    assert found.distinct.standard_error == pytest.approx(1.04 / 256)
    assert found.distinct.count == pytest.approx(len(counts), rel=4 * found.distinct.standard_error)
    assert 0 < found.rank_error <= 0.0015
    assert true_rank_error(values, found.quantiles) <= found.rank_error + 1 / len(values)
    assert 0 < found.top_error <= len(values) / 4097
    for top in found.top:
        assert top.count <= counts[top.value] <= top.count + found.top_error
    if order == "skewed":
        assert {top.value for top in found.top} <= set(range(-50, 0))


def test_exact_counts_end_behind_the_limit():
    values = np.arange(EXACT, dtype=np.int64)
    records = tfr.encode_examples(
        {"n": values.reshape(100, -1), "x": values.reshape(100, -1).astype(np.float32)}
    )
    exact = count(records.to_list()).features["n"].int64
    assert (exact.distinct, exact.rank_error, exact.top_error) == (Distinct(EXACT), 0, 0)
    assert exact.quantiles == {p: p * EXACT // 100 - 1 for p in PERCENTS}
    beyond = count([*records.to_list(), example(n=EXACT, x=float(EXACT))])
    for numbers in (beyond.features["n"].int64, beyond.features["x"].float32):
        assert numbers.distinct.standard_error > 0
        assert numbers.mean == EXACT / 2
        assert numbers.std == pytest.approx(math.sqrt(((EXACT + 1) ** 2 - 1) / 12))


def test_byte_strings_beyond_the_limit_are_estimated():
    values = [b"%d" % (number % 105_000) for number in range(120_000)] + [b"often"] * 3000
    records = [example(x=values[start : start + 500]) for start in range(0, len(values), 500)]
    found = count(records).features["x"].bytes
    assert found.distinct.count == pytest.approx(105_001, rel=4 * found.distinct.standard_error)
    assert found.top[0].value == b"often"
    assert 3000 - found.top_error <= found.top[0].count <= 3000
    assert found.lengths.max == 6


def test_features_behind_the_first_have_less_room():
    columns = {f"f{number:03}": number * np.arange(1002) for number in range(200)}
    found = count(tfr.encode_examples(columns).to_list()).features
    errors = [found[f"f{number:03}"].int64.distinct.standard_error for number in (1, 47, 48, 175, 176, 199)]
    assert errors == pytest.approx([0, 0, 1.04 / 64, 1.04 / 64, 1.04 / 16, 1.04 / 16])
    for number in (1, 48, 176):
        numbers = found[f"f{number:03}"].int64
        assert (numbers.mean, numbers.max) == (number * 1001 / 2, number * 1001)
        assert true_rank_error(np.arange(1002) * number, numbers.quantiles) <= numbers.rank_error + 1 / 1002


# -- threads, blocks and merging ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    """Two files with everything: more different values than are counted, conflicts, features that come late."""
    generator = np.random.default_rng(7)
    paths = []
    for file in range(2):
        many = generator.integers(0, 2**40, 64_000)
        steps = np.arange(0, 64_001, 100)
        columns = {
            "many": tfr.Ragged(many, steps),
            "x": generator.normal(size=(640, 100)).astype(np.float32),
            "label": np.arange(640) % 3,
            "text": tfr.Ragged(tfr.BytesColumn.from_list([b"%d" % value for value in many]), steps),
        }
        records = tfr.encode_examples(columns).to_list()
        for place in range(0, 600, 50):
            records.insert(place, sequence({"label": 4}, {"steps": [[1.0], [2.0, 3.0]]}))
            if file:
                records.insert(place, example(late=1.5 if place % 100 else 3))
        paths.append(str(write(tmp_path_factory.mktemp("stats") / f"{file}.tfrecord", *records)))
    return paths


def test_the_result_does_not_depend_on_threads_or_blocks(varied, monkeypatch):
    whole = tfr.stats(varied, threads=1)
    assert whole.features["many"].int64.rank_error > 0
    assert whole.features["text"].bytes.distinct.standard_error > 0
    for threads, batch in ((2, 1 << 23), (5, 1), (3, 1 << 18)):
        monkeypatch.setattr("tfrkit.records.describe.choose_records._BATCH_BYTES", batch)
        again = tfr.stats(varied, threads=threads)
        assert again == whole
        assert again.to_dict() == whole.to_dict()


def test_parts_that_are_merged_are_the_whole_where_it_is_exact(varied):
    whole = tfr.stats(varied)
    merged = tfr.stats(varied[0]).merge(tfr.stats(varied[1]))
    assert (merged.records, merged.files, merged.feature_lists) == (
        whole.records,
        whole.files,
        whole.feature_lists,
    )
    for name in ("label", "late"):
        assert merged.features[name] == whole.features[name]
    for one, other in ((merged.features["many"].int64, whole.features["many"].int64),
                       (merged.features["x"].float32, whole.features["x"].float32)):  # fmt: skip
        assert (one.count, one.min, one.max, one.mean, one.std) == (
            other.count, other.min, other.max, other.mean, other.std,
        )  # fmt: skip
        assert one.distinct == other.distinct  # depends on the set of values alone
        assert 0 < one.rank_error < 0.002


@given(st.lists(example_dicts(conflicts=True), max_size=10), st.integers(0, 10))
@settings(max_examples=30)
def test_merging_exact_parts_gives_the_whole(dicts, cut):
    records = [tfr.make_example(one).SerializeToString() for one in dicts]
    assert count(records[:cut]).merge(count(records[cut:])) == count(records)


def test_what_stats_did_not_make_cannot_be_merged():
    made = tfr.Statistics(0, 0, 0, (), False, {}, {})
    with pytest.raises(ValueError, match="expected statistics returned by stats\\(\\)"):
        made.merge(count([]))


def test_hostile_records_are_passed_over():
    good = example(a=[1, 2], b=b"x", c=0.5)
    hostile = [good[:cut] for cut in range(1, len(good))] + [flip(good, at, 0x40) for at in range(len(good))]
    found = count([*hostile, good])
    assert found.records == len(hostile) + 1
    assert found.features["a"].int64.count >= 2


def test_progress_is_told(varied):
    told = []
    found = tfr.stats(varied, progress=lambda *done: told.append(done))
    assert told[-1][0] == found.records
    assert told == sorted(told)


def test_bad_columns_are_refused():
    with pytest.raises(TypeError, match="expected names of features as str but got 3"):
        count([], columns=[3])
