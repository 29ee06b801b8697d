"""world: rank and size of this process, and what explain says of them."""

from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace

import pytest

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError

NAMES = [
    *("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    *("SLURM_PROCID", "SLURM_NTASKS", "PMI_RANK", "PMI_SIZE"),
]


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No launcher, and no framework that is initialised."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "torch.distributed", None)
    monkeypatch.setitem(sys.modules, "jax._src.distributed", None)


def distributed(rank: int, size: int, *, initialised: bool = True) -> SimpleNamespace:
    return SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: initialised,
        get_rank=lambda: rank,
        get_world_size=lambda: size,
    )


def test_alone_is_rank_0_of_1():
    assert tfr.world() == (0, 1)
    assert tfr.world().source == ""


@pytest.mark.parametrize(("rank", "size"), [tuple(NAMES[at : at + 2]) for at in range(0, 8, 2)])
def test_launchers_say_it_in_the_environment(monkeypatch, rank, size):
    monkeypatch.setenv(rank, "3")
    monkeypatch.setenv(size, "8")
    found = tfr.world()
    assert (found.rank, found.size, found.source) == (3, 8, f"{rank} and {size}")


def test_torchrun_comes_before_slurm(monkeypatch):
    for name, value in {"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "RANK": "5", "WORLD_SIZE": "8"}.items():
        monkeypatch.setenv(name, value)
    assert tfr.world() == (5, 8)


def test_torch_comes_before_the_environment_once_it_is_initialised(monkeypatch):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed(1, 4, initialised=False))
    assert tfr.world() == (0, 2)
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed(1, 4))
    assert tfr.world() == (1, 4)
    assert tfr.world().source == "torch.distributed"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (SimpleNamespace(client=object(), process_id=2, num_processes=3), (2, 3)),
        (SimpleNamespace(client=object(), process_id=0, num_processes=1), (0, 1)),
        (SimpleNamespace(client=None, process_id=0, num_processes=None), (0, 1)),
    ],
    ids=["several", "one", "not initialised"],
)
def test_jax_counts_if_it_is_initialised_with_several_processes(monkeypatch, state, expected):
    monkeypatch.setitem(sys.modules, "jax._src.distributed", SimpleNamespace(global_state=state))
    assert tfr.world() == expected


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"RANK": "1"}, "the environment has RANK=1 without WORLD_SIZE. Set both, or neither."),
        ({"PMI_SIZE": "2"}, "the environment has PMI_SIZE=2 without PMI_RANK. Set both, or neither."),
        (
            {"RANK": "a", "WORLD_SIZE": "2"},
            "expected numbers but the environment has RANK=a and WORLD_SIZE=2",
        ),
        (
            {"RANK": "2", "WORLD_SIZE": "2"},
            (
                "expected a rank from 0 to 1 but the environment has RANK=2 and WORLD_SIZE=2. Set them for each "
                "process, or neither."
            ),
        ),
    ],
    ids=["no size", "no rank", "no number", "rank beyond size"],
)
def test_broken_variables_are_an_error_and_explain_says_so(monkeypatch, variables, message):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.world()
    assert str(caught.value) == message
    assert f"tfr.world(): {message}\n" in tfr.Dataset.range(4).shard(2, 0).explain()


@pytest.mark.parametrize("name", ["SLURM_PROCID", "SLURM_NTASKS"])
def test_half_of_slurms_variables_means_nothing(monkeypatch, name):
    monkeypatch.setenv(name, "3")
    assert tfr.world() == (0, 1)


def test_world_pickles_and_shows_where_it_is_from(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    again = pickle.loads(pickle.dumps(tfr.world()))
    assert again.source == "RANK and WORLD_SIZE"
    assert repr(again) == "World(rank=1, size=2, source='RANK and WORLD_SIZE')"


def test_explain_says_what_was_found_where_ranks_count(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    line = "tfr.world(): rank 1 of 2, by RANK and WORLD_SIZE\n"
    assert line in tfr.Dataset.range(4).shard(2, 1).explain()
    assert line in tfr.Dataset.range(4).global_shuffle(seed=1).explain()
    assert "tfr.world()" not in tfr.Dataset.range(4).batch(2).explain()


def test_nothing_is_divided_by_it(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert sorted(map(int, tfr.Dataset.range(4).global_shuffle(seed=1))) == [0, 1, 2, 3]


def test_explain_says_what_an_epoch_with_a_window_reads(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([b"x" * 100] * 64)
    ds = tfr.TFRecordDataset(path).global_shuffle(seed=1, window=1 << 20)
    assert "reads an epoch" in ds.explain()
    assert "reads an epoch" not in tfr.TFRecordDataset(path).global_shuffle(seed=1).explain()
    path.unlink()
    gone = tfr.TFRecordDataset(path).global_shuffle(seed=1, window=1 << 20).explain()
    assert "what an epoch reads is not known: " in gone
    assert "tfr.world(): rank 0 of 1, by default: one process" in gone
