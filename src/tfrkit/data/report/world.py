"""world: which of how many processes this one is, as the program or its launcher says. Nothing is divided by it.

What is imported already is asked, and nothing is begun: no package is imported, no backend is initialised.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, Self

from tfrkit.errors import InvalidArgumentError

__all__ = ["World", "describe_world", "world"]

# Rank and size as launchers set them, and whether one of them alone is broken: batch jobs of Slurm that are no step of
# `srun` may have either.
_VARIABLES: Final = (
    ("RANK", "WORLD_SIZE", True),  # torchrun
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", True),  # Open MPI
    ("SLURM_PROCID", "SLURM_NTASKS", False),  # srun
    ("PMI_RANK", "PMI_SIZE", True),  # MPICH, Intel MPI
)


class _RankAndSize(NamedTuple):
    rank: int
    size: int


class World(_RankAndSize):
    """The number of this process, counted from 0, and how many there are.

    Attributes:
        rank: which one this is.
        size: how many there are.
        source: where that was found; "" if nothing was, and there is this one.

    >>> rank, size = World(1, 4, "RANK and WORLD_SIZE")
    >>> rank, size
    (1, 4)
    """

    source: str

    def __new__(cls, rank: int, size: int, source: str = "") -> Self:
        """Make it of numbers that fit together."""
        self = super().__new__(cls, rank, size)
        self.source = source
        return self

    def __repr__(self) -> str:
        return f"World(rank={self.rank}, size={self.size}, source={self.source!r})"


def world() -> World:
    """Find the rank of this process and the number of processes.

    The first of these that says so counts: torch.distributed, if it is initialised; JAX, if jax.distributed is, and
    there is more than one process; the environment variables of torchrun, Open MPI, Slurm and MPICH. Otherwise there
    is one. A Dataset is never divided by itself: write `ds.shard(size, rank)`.

    Returns:
        `(rank, size)`; its attribute `source` says where they were found.

    Raises:
        InvalidArgumentError: the variables are no numbers, do not fit together, or one of them is missing.

    >>> import tfrkit as tfr
    >>> rank, size = tfr.world()
    >>> ds = tfr.Dataset.range(8).shard(size, rank)
    """
    return next(_found(), World(0, 1))


def describe_world() -> str:
    """What `world` finds, in words, errors too."""
    try:
        found = world()
    except InvalidArgumentError as error:
        return f"tfr.world(): {error.message}"
    return f"tfr.world(): rank {found.rank} of {found.size}, by {found.source or 'default: one process'}"


def _found() -> Iterator[World]:
    torch: Any = sys.modules.get("torch.distributed")
    if torch is not None and torch.is_available() and torch.is_initialized():
        yield World(torch.get_rank(), torch.get_world_size(), "torch.distributed")
    # jax.process_index() would begin a backend.
    jax: Any = getattr(sys.modules.get("jax._src.distributed"), "global_state", None)
    if getattr(jax, "client", None) is not None and (jax.num_processes or 1) > 1:
        yield World(jax.process_id, jax.num_processes, "jax.distributed")
    for rank_name, size_name, strict in _VARIABLES:
        given = {name: os.environ[name] for name in (rank_name, size_name) if os.environ.get(name)}
        if len(given) == 2:
            yield _of_variables(given, f"{rank_name} and {size_name}")
        elif given and strict:
            (name,) = given
            missing = size_name if name == rank_name else rank_name
            raise InvalidArgumentError(
                f"the environment has {name}={given[name]} without {missing}. Set both, or neither."
            )


def _of_variables(given: dict[str, str], source: str) -> World:
    shown = " and ".join(f"{name}={value}" for name, value in given.items())
    try:
        rank, size = map(int, given.values())
    except ValueError:
        raise InvalidArgumentError(f"expected numbers but the environment has {shown}") from None
    if not 0 <= rank < size:
        raise InvalidArgumentError(
            f"expected a rank from 0 to {size - 1} but the environment has {shown}. Set them for each process, or "
            "neither."
        )
    return World(rank, size, source)
