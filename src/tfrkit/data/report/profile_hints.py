"""What would make a pipeline faster, said from its measurements. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from tfrkit.data.batch.background_batch import BackgroundBatchNode
from tfrkit.data.engine.node import AUTOTUNE
from tfrkit.data.sources.generator import GeneratorNode
from tfrkit.data.stages.filter import FilterNode
from tfrkit.data.stages.map import MapNode
from tfrkit.data.stages.prefetch import PrefetchNode

if TYPE_CHECKING:
    from tfrkit.data.report.profile import StageTime

__all__ = ["hints_for"]

_MUCH: Final = 0.4  # of the time: worth a hint
_CHEAP_SECONDS: Final = 0.00005  # a call that takes less gains nothing from threads


def hints_for(stages: Sequence[StageTime], seconds: float, errors: int, skipped: int) -> list[str]:
    """Say what would help.

    Args:
        stages: what was measured, the last stage first.
        seconds: how long the pipeline ran.
        errors: how many errors came out.
        skipped: how many damages were skipped.
    """
    found = list(_about_stages(stages))
    if stages and seconds:
        found += _about_prefetch(stages)
    if errors:
        found.append(f"{errors:,} errors came out; .ignore_errors() leaves such elements out")
    if skipped:
        found.append(f"{skipped:,} damages in files were skipped; `iterator.damages` says where")
    return found


def _about_prefetch(stages: Sequence[StageTime]) -> Iterator[str]:
    """Nothing if there is a prefetch without a costly function after it; the last stage comes first here."""
    after: list[StageTime] = []
    for stage in stages:
        if (
            isinstance(stage.node, (PrefetchNode, BackgroundBatchNode)) and stage.node.depth
        ):  # the second has one in it
            break
        after.append(stage)
    else:
        yield "nothing is made ready while the consumer works with an element: end with .prefetch(AUTOTUNE)"
        return
    total = sum(stage.seconds for stage in stages) or 1.0
    for stage in after:
        if isinstance(stage.node, (MapNode, FilterNode)) and stage.seconds >= _MUCH * total:
            yield f"{stage.node.label} comes after the last prefetch: move .prefetch to the end"


def _about_stages(stages: Sequence[StageTime]) -> Iterator[str]:
    total = sum(stage.seconds for stage in stages) or 1.0
    for stage in stages:
        share = stage.seconds / total
        if share >= _MUCH:
            advice = _advice(stage)
            if advice:
                yield f"{stage.node.label} takes {share:.0%} of the time: {advice}"


def _advice(stage: StageTime) -> str:
    node: Any = stage.node
    if isinstance(node, MapNode):
        # The time of the CPU: on a busy machine the clock also counts what other processes take.
        return _about_map(node, stage.busy / max(1, stage.elements), waits=stage.waits)
    if isinstance(node, GeneratorNode):
        return "a generator runs in one thread; make the elements in a map(..., num_parallel_calls=AUTOTUNE) after it"
    if isinstance(node, FilterNode):
        return "filter before what makes the elements large, or in the file's index"
    return ""


def _about_map(node: MapNode, each: float, *, waits: bool) -> str:
    if node.parallel is not None:
        if node.parallel == AUTOTUNE or waits:
            return ""
        return f"num_parallel_calls=AUTOTUNE instead of {node.parallel} would find out how many calls help"
    if waits:
        return "it mostly waits; num_parallel_calls=16 or so lets many calls wait at once"
    if each < _CHEAP_SECONDS:
        return "it is called once for every element; after .batch(n) it can work on whole arrays"
    return "num_parallel_calls=AUTOTUNE lets several calls run at once where they leave Python's lock"
