"""The real engine gives what the plain one gives: elements, order, errors and their places, and no call too many."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.data.support.calls import LIMIT, Failure, chain_folder, difference, ended, outcomes, placeless
from tests.data.support.chains import Chain, build
from tests.data.support.random_features import make_feature_chain
from tests.data.support.random_large import make_large_chain, with_small_blocks
from tests.data.support.random_pipelines import make_chain
from tests.data.support.same import same
from tests.data.support.spaces import PythonSpace, tfrkit_space
from tfrkit.testing.plain_engine import plain

GROUP = 20  # chains of one test
# What may ask for more than it needs.
AHEAD = ("shuffle", "prefetch", "num_parallel_calls", "num_parallel_reads")
# An error behind a function: the function has seen the elements after it that were asked for together with it.
ERRORS = ("ignore_errors", "fails if")


@dataclass(frozen=True)
class CountingSpace(PythonSpace):
    """tfrkit, with the values counted that its functions have seen."""

    seen: list[int] = field(default_factory=lambda: [0])

    def leaf_amount(self, leaf: Any) -> Any:
        """Count one more."""
        self.seen[0] += 1
        return super().leaf_amount(leaf)


def counting() -> CountingSpace:
    """A new one."""
    space = tfrkit_space()
    return CountingSpace(
        space.name,
        space.Dataset,
        space.TFRecordDataset,
        space.TextLineDataset,
        space.TensorSpec,
        space.set_seed,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the chains read."""
    return chain_folder(tmp_path_factory.mktemp("chains"))


def built(chain: Chain, folder: Path) -> tuple[Any, Any] | None:
    """The same pipeline twice, since shuffles and caches remember; None if it cannot be built."""
    try:
        return build(chain, tfrkit_space(), folder), build(chain, tfrkit_space(), folder)
    except (ValueError, TypeError, tfr.errors.OpError):
        return None


def leaves_traces(chain: Chain) -> bool:
    """Whether what the background does, which nobody asked for, can be seen in the next pass: epochs, kept passes."""
    written = repr(chain)
    background = any(word in written for word in ("prefetch", "num_parallel"))
    return background and any(word in written for word in ("shuffle", "cache"))


def check(chain: Chain, folder: Path) -> None:
    """Two passes through both engines give the same; one if the second hangs on how far ahead the first one was."""
    pair = built(chain, folder)
    if pair is None:
        return
    real, reference = pair
    for number in range(1 if leaves_traces(chain) else 2):
        found, wanted = placeless(outcomes(iter(real))), placeless(outcomes(plain(reference)))
        assert not (where := difference(found, wanted)), f"{chain}\npass {number}: {where}"


@pytest.mark.parametrize("group", range(40))
def test_random_pipelines_equal_the_plain_engine(group: int, folder: Path) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        check(make_chain(seed), folder)


@pytest.mark.parametrize("group", range(30))
def test_random_pipelines_over_examples_equal_the_plain_engine(group: int, folder: Path) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        check(make_feature_chain(seed), folder)


@pytest.mark.parametrize("seed", range(60))
def test_random_pipelines_over_many_elements_equal_the_plain_engine(seed: int, folder: Path) -> None:
    chain = make_large_chain(seed)
    pair = built(chain, folder)
    assert pair is not None
    real = with_small_blocks(pair[0], 1000 << seed % 5)
    found, wanted = placeless(outcomes(iter(real), 20_000)), placeless(outcomes(plain(pair[1]), 20_000))
    assert not (where := difference(found, wanted)), f"{chain}\n{where[:2000]}"


@pytest.mark.parametrize("group", range(10))
def test_functions_are_called_for_no_more_elements_than_in_the_plain_engine(group: int, folder: Path) -> None:
    checked = 0
    for seed in range(10_000 + group * GROUP, 10_000 + (group + 1) * GROUP):
        chain = make_chain(seed) if seed % 2 else make_feature_chain(seed)
        if any(word in repr(chain) for word in (*AHEAD, *ERRORS)):
            continue
        mine, other = counting(), counting()
        try:
            real, reference = iter(build(chain, mine, folder)), plain(build(chain, other, folder))
        except (ValueError, TypeError, tfr.errors.OpError):
            continue
        mine.seen[0] = other.seen[0] = 0
        for _ in range(LIMIT):
            found, wanted = placeless(outcomes(real, 1)), placeless(outcomes(reference, 1))
            assert same(found, wanted), chain
            if isinstance(found[0], Failure):
                break
            assert mine.seen[0] <= other.seen[0], (
                f"{chain}\nat {found}: {mine.seen[0]} values, not {other.seen[0]}"
            )
            if ended(found):
                break
        checked += 1
    assert checked >= 2


def test_an_error_is_followed_by_the_next_element() -> None:
    dataset = tfr.Dataset.range(4).map(lambda x: 6 // int(x - 1))
    found = outcomes(plain(dataset))
    assert [type(one).__name__ for one in found] == ["int32", "Failure", "int32", "int32", "str"]
    assert same(outcomes(iter(dataset)), found)


def test_the_plain_engine_refuses_what_it_does_not_know() -> None:
    class Unknown:
        node = object()

    with pytest.raises(TypeError, match="expected a node that the plain engine knows but got object"):
        plain(Unknown())
