"""Random pipelines in TensorFlow and in tfrkit: the same elements, the same order, the same errors.

TFRKIT_RANDOM_PIPELINES=5000 runs so many instead of a few hundred; TFRKIT_FIRST_PIPELINE is the first seed. To look at
one: `pytest "tests/oracle/data/test_data_random.py::test_random_pipelines[3]"`, or `explain(seed, folder)`.
"""

from __future__ import annotations

import os
from contextlib import nullcontext

import pytest

from tests.data.support.random_pipelines import build, make_chain, write_files
from tests.oracle.support.data_scenarios import (
    difference,
    facts,
    ours,
    ours_by_its_names,
    shards_make_all,
    theirs,
    unfused,
)
from tests.oracle.support.oracle import Failure
from tests.support.rules import tf_rule

COUNT = int(os.environ.get("TFRKIT_RANDOM_PIPELINES", "400"))
FIRST = int(os.environ.get("TFRKIT_FIRST_PIPELINE", "0"))
GROUP = 20
LIMIT = 120  # outcomes of a pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return folder


def explain(seed, folder):
    """What tfrkit does otherwise with the chain of a seed, with the chain as code; '' if nothing."""
    chain = make_chain(seed)
    pairs = (("map", "batch"), ("parse", "batch"), ("shuffle", "repeat"))
    fused = any(chain.has_pair(*pair) for pair in pairs) or "ragged_batch" in repr(chain)

    def case(lib):
        dataset = build(chain, lib, folder)
        return unfused(lib, dataset) if fused else dataset

    # Without TensorFlow's fusing (see the rules "5 ... fused") repeat draws more seeds, which shows in the next pass.
    passes = 1 if fused and "shuffle" in repr(chain) and "repeat" in repr(chain) else 2
    reference = facts(theirs(), case, passes=passes, limit=LIMIT)
    # A rank makes its own elements only, by tfrkit's own names: what other elements fail with does not come.
    moved = "shard" in repr(chain) and bool(errors_of(reference))
    with shards_make_all() if moved else nullcontext():
        mine = facts(ours(), case, passes=passes, limit=LIMIT)
    if not isinstance(mine, Failure) and not isinstance(reference, Failure) and mine.cardinality == -2:
        reference = reference._replace(cardinality=-2)  # TensorFlow knows more sizes, as it traces functions
    found = difference(mine, reference, spec=False) or explain_names(
        chain, folder, None if fused else reference, errors_of(reference)
    )
    return f"seed {seed}: {chain}\n{found}" if found else ""


def errors_of(found):
    """The different errors among the elements."""
    if isinstance(found, Failure):
        return {found}
    return {each for run in found.passes for each in run if isinstance(each, Failure)}


def explain_names(chain, folder, reference, errors):
    """What `tfrkit.tf` does otherwise than TensorFlow by default, with all its fusing."""

    def case(lib):
        return build(chain, lib, folder)

    reference = reference or facts(theirs(), case, passes=2, limit=LIMIT)
    mine = facts(ours_by_its_names(), case, passes=2, limit=LIMIT)
    if not isinstance(mine, Failure) and not isinstance(reference, Failure) and mine.cardinality == -2:
        reference = reference._replace(cardinality=-2)
    # An error of the input is noted when it is met, one of a function when its thread has come to it: of one batch that
    # has both, either is reported. Errors of one sort are reported in their order.
    lost = len(errors) > 1 and any(chain.has_pair(stage, "batch") for stage in ("map", "parse"))
    found = difference(settled(mine, lost), settled(reference, lost), spec=False)
    return f"tfrkit.tf: {found}" if found else ""


def settled(found, lost):
    """Without what is a matter of threads in TensorFlow: which of the errors came first that lose a batch."""
    if isinstance(found, Failure):
        return found
    error = Failure("one of the errors", "")
    passes = [
        [error if lost and isinstance(each, Failure) else _without_shapes(each) for each in run]
        for run in found.passes
    ]
    return found._replace(passes=passes)


def _without_shapes(found):
    """The same for the two shapes that an error names."""
    if not isinstance(found, Failure):
        return found
    return Failure(found.name, found.message.split(" Shapes are: ")[0])


@tf_rule("5 structures")
@tf_rule("5 map order")
@tf_rule("5 shuffle order")
@tf_rule("5 interleave order")
@tf_rule("5 interleave parallel")
@tf_rule("5 prefetch")
@tf_rule("5 iterator after error")
@pytest.mark.parametrize("group", range(-(-COUNT // GROUP)))
def test_random_pipelines(group, folder):
    seeds = range(FIRST + group * GROUP, FIRST + min(COUNT, (group + 1) * GROUP))
    found = [text for seed in seeds if (text := explain(seed, folder))]
    assert not found, "\n\n".join(found)
