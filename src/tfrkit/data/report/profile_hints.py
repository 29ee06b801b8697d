"""What would make a pipeline faster, said from its measurements. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tfrkit.data.report.profile import StageTime

__all__ = ["hints_for"]

_MUCH: Final = 0.4  # of the time: worth a hint


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
        if stage.node.prefetches:
            break
        after.append(stage)
    else:
        yield "nothing is made ready while the consumer works with an element: end with .prefetch(AUTOTUNE)"
        return
    total = sum(stage.seconds for stage in stages) or 1.0
    for stage in after:
        if stage.node.calls_function and stage.seconds >= _MUCH * total:
            yield f"{stage.node.label} comes after the last prefetch: move .prefetch to the end"


def _about_stages(stages: Sequence[StageTime]) -> Iterator[str]:
    total = sum(stage.seconds for stage in stages) or 1.0
    for stage in stages:
        share = stage.seconds / total
        if share >= _MUCH:
            # The time of the CPU: on a busy machine the clock also counts what other processes take.
            advice = stage.node.advice(stage.busy / max(1, stage.elements), waits=stage.waits)
            if advice:
                yield f"{stage.node.label} takes {share:.0%} of the time: {advice}"
