"""filter and take_while: the elements for which a function is true, all of them or those before the first other one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk
from tfrkit.data.elements.element_values import to_element
from tfrkit.data.elements.owned import copies_for
from tfrkit.data.elements.structure import map_structure
from tfrkit.data.engine.cursor import Cursor, CursorIterator, Segment
from tfrkit.data.engine.node import Context, NodeIterator, Run, UnaryNode
from tfrkit.data.engine.steps import Open, Save, Step, StepsNode
from tfrkit.data.engine.tally import Tally
from tfrkit.model.element_spec import spec_of_value

__all__ = ["FilterNode", "TakeWhileNode"]


@dataclass(frozen=True, eq=False)
class FilterNode(UnaryNode):
    """Keep what the predicate accepts."""

    predicate: Callable[..., Any]

    verb = "filter"
    unindexable = (
        "Put filter() after what needs the numbers, or leave such elements out when the files are made."
    )
    keeps_count = False
    pure = False
    selects = True
    calls_function = True
    tallies = True

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        tally = context.tally(1 + sum(each.tallies for each in self.input.stages()))
        return _FilterIterator(self, Cursor(self.input, context, state), tally, state)

    def advice(self, each: float, *, waits: bool) -> str:
        return "filter before what makes the elements large, or in the file's index"


class _FilterIterator(CursorIterator):
    def __init__(self, node: FilterNode, cursor: Cursor, tally: Tally | None, state: Any) -> None:
        super().__init__(cursor)
        self._predicate = node.predicate
        self._tally = tally
        begun = state or {}
        self._given = begun.get("given", 0)  # elements
        self._used = begun.get("used", 0)  # those of the input
        if tally is not None:
            tally.begin(self._given, self._used)

    def pull(self, n: int) -> Run | None:
        """Ask the predicate for one element after another, until n are accepted or what was taken is at its end."""
        while (run := self._cursor.take(self._cursor.ahead(n))) is not None:
            begun = self._given, self._used
            try:
                kept, asked, error = self._ask(run, n)
                if error is not None or asked < len(run.chunk):
                    self._cursor.put_back(run, asked)
                else:
                    error = run.error
                self._note(kept, asked)
                if kept or error is not None:
                    return Run(_rows(run, kept), error)
            except Exception:
                raise
            except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
                self._given, self._used = begun
                self._cursor.undo((run,))
                raise
        return None

    def _note(self, kept: list[int], asked: int) -> None:
        """Count what was asked about, and what is given of it."""
        if self._tally is not None:
            if kept:
                self._tally.note(self._given, np.array(kept, np.int64) + (self._used + 1))
            self._given, self._used = self._given + len(kept), self._used + asked

    def save(self) -> Any:
        at = super().save()
        return at if self._tally is None else {**at, "given": self._given, "used": self._used}

    def _ask(self, run: Segment, n: int) -> tuple[list[int], int, Exception | None]:
        """Return which elements are accepted, how many were asked for, and the error of the last of them."""
        kept: list[int] = []
        row = -1
        try:
            for row, element in enumerate(run.elements()):
                if _accepts(self._predicate, element):
                    kept.append(row)
                    if len(kept) == n:
                        break
        except Exception as error:
            return kept, row + 1, error
        return kept, row + 1, None


def _rows(run: Segment, rows: list[int]) -> Chunk:
    """Some elements, of which one is asked for most of the time."""
    if len(rows) != 1:
        return run.chunk.take(np.array(rows, np.int64))
    (row,) = rows
    part = run.chunk.slice(row, row + 1)
    return part.with_objects(run.elements()[row : row + 1]) if isinstance(part, ColumnChunk) else part


@dataclass(frozen=True, eq=False)
class TakeWhileNode(StepsNode, UnaryNode):
    """Keep elements as long as the predicate accepts them."""

    predicate: Callable[..., Any]

    verb = "take_while"
    unindexable = "Use take(), or put take_while() after what needs the numbers."
    keeps_count = False

    def steps(self, begin: Open, state: Any) -> tuple[Step, Save]:
        elements = begin(self.input, state)

        def step() -> Any:
            element = next(elements)
            if not _accepts(self.predicate, element):
                raise StopIteration
            return element

        return step, elements.save


def _accepts(predicate: Callable[..., Any], element: Any) -> bool:
    """Ask a predicate about a copy of an element; the parts of a tuple are its arguments.

    Raises:
        ValueError: its answer is neither true nor false.
    """
    (element,) = copies_for(predicate, [element])
    answer = predicate(*element) if isinstance(element, tuple) else predicate(element)
    if isinstance(answer, (bool, np.bool_)):
        return bool(answer)
    if isinstance(answer, np.ndarray) and answer.dtype == bool and answer.ndim == 0:
        return bool(answer)
    raise ValueError(
        "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
        f"{map_structure(spec_of_value, to_element(answer))}."
    )
