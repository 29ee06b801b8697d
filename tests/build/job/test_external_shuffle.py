from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.build.support.made import Numbers, job, left_over, mixed, record, tree
from tfrkit.build.job import external_shuffle as mix
from tfrkit.build.job.job import run_job
from tfrkit.build.job.shuffle_tasks import BucketRecipe
from tfrkit.errors import DataLossError


@pytest.fixture
def small(monkeypatch):
    """Buckets, chunks and parts so small that everything happens: many parts, many chunks, splits of splits."""
    monkeypatch.setattr(mix, "_BUCKET_BYTES", 2000)
    monkeypatch.setattr(mix, "_SPLIT_BYTES", 3000)
    monkeypatch.setattr(mix, "_MAX_BITS", 2)
    monkeypatch.setattr(mix, "_PART_BYTES", 4000)
    monkeypatch.setattr(mix, "_CHUNK_BYTES", (1500, 3000))
    monkeypatch.setattr(mix, "_TABLE_BYTES", 2000)


def order(folder: Path) -> list[bytes]:
    return list(tfr.read_records(str(folder / "train*")))


def test_no_record_is_lost_or_twice_and_shards_are_balanced(tmp_path):
    report = run_job(job(tmp_path, mixed(shards=7)))
    wanted = [record(recipe, number) for recipe in range(5) for number in range(100 + 50 * recipe)]
    assert sorted(order(tmp_path)) == sorted(wanted)
    assert order(tmp_path) != wanted
    assert sorted({shard.records for shard in report.shards}) == [142, 143]
    assert left_over(tmp_path) == []


def test_order_is_that_of_the_seed_for_ever(tmp_path):
    run_job(job(tmp_path, mixed([Numbers(0, 10)], shards=2)))
    assert [int(item.split(b":")[1]) for item in order(tmp_path)] == [9, 0, 6, 4, 3, 1, 7, 8, 2, 5]


def test_other_seeds_give_other_orders(tmp_path):
    for seed in (1, 2, -1, 2**70):
        run_job(job(tmp_path / str(seed), mixed(seed=seed)))
    assert len({tuple(order(path)) for path in tmp_path.iterdir()}) == 4


def test_bytes_do_not_depend_on_how_the_work_is_cut(tmp_path, request):
    group = mixed(
        [*(Numbers(number, 200) for number in range(4)), Numbers(4, 3, size=5000), Numbers(5, 0)], shards=3
    )
    run_job(job(tmp_path / "large", group), workers=1)
    request.getfixturevalue("small")
    for workers in (1, 3, 40):
        run_job(job(tmp_path / str(workers), group), workers=workers)
        assert tree(tmp_path / str(workers)) == tree(tmp_path / "large")


@pytest.mark.parametrize("claimed", [0.0, 0.01, 1.0, 100.0])
def test_wrong_estimates_of_sizes_only_cost_time(claimed, small, tmp_path):
    run_job(job(tmp_path, mixed([Numbers(0, 500, claimed=claimed), Numbers(1, 500)], shards=4)))
    assert sorted(order(tmp_path)) == sorted(
        record(recipe, number) for recipe in (0, 1) for number in range(500)
    )


def test_one_recipe_goes_to_many_shards(small, tmp_path):
    report = run_job(job(tmp_path, mixed([Numbers(0, 1001)], shards=10)))
    assert sorted({shard.records for shard in report.shards}) == [100, 101]


def test_fewer_records_than_shards_leave_empty_ones(tmp_path):
    report = run_job(job(tmp_path, mixed([Numbers(0, 2)], shards=3)))
    assert [shard.records for shard in report.shards] == [0, 1, 1]


def test_no_records_at_all_are_empty_shards(tmp_path):
    assert [shard.records for shard in run_job(job(tmp_path, mixed([], shards=2))).shards] == [0, 0]


def test_one_file_without_a_number_is_mixed_too(tmp_path):
    run_job(job(tmp_path, mixed(shards=None)))
    run_job(job(tmp_path / "other", mixed(shards=1)))
    assert order(tmp_path) == order(tmp_path / "other")


def test_bad_inputs_are_reported_in_order_of_the_recipes(small, tmp_path):
    group = mixed([Numbers(number, 100, bad_every=50) for number in range(6)])
    report = run_job(job(tmp_path, group), workers=3)
    assert report.bad == {"bad number": 12}
    assert [bad.source for bad in report.listed] == [f"{number // 2}.txt" for number in range(12)]
    assert report.input_bytes == 6 * 98 * 40


def test_positions_are_uniform(small, tmp_path):
    """Where each of 20 runs of neighbours ends up, over 20 ranges of places: chi-square with 361 degrees of freedom."""
    count = 10_000
    run_job(job(tmp_path, mixed([Numbers(number, count // 8) for number in range(8)], seed=3)))
    numbers = [tuple(map(int, item.split(b":")[:2])) for item in order(tmp_path)]
    before = np.array([recipe * (count // 8) + number for recipe, number in numbers])
    table = np.zeros((20, 20))
    np.add.at(table, (before * 20 // count, np.arange(count) * 20 // count), 1)
    expected = count / 400
    chi_square = float(((table - expected) ** 2 / expected).sum())
    assert 264 < chi_square < 473  # 0.01 % to either side
    neighbours = np.mean(np.diff(before) == 1)
    assert neighbours < 5 / count


@pytest.mark.parametrize("how", ["flip", "cut"])
def test_damaged_temporary_file_is_an_error_that_says_what_to_do(how, monkeypatch, tmp_path):
    gather = BucketRecipe.blocks

    def damage(self, *arguments):
        for path in (tmp_path / ".tfrkit").glob("mix-*/*"):
            data = path.read_bytes()
            path.write_bytes(data[:-1] if how == "cut" else data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
        return gather(self, *arguments)

    monkeypatch.setattr(BucketRecipe, "blocks", damage)
    with pytest.raises(
        DataLossError, match=r"this temporary file is not what was written\. Check the disk, then run"
    ):
        run_job(job(tmp_path, mixed([Numbers(0, 10)], shards=1)))
