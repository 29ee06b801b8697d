"""ignore_errors: leave out what fails."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from tfrkit.data.engine.node import (
    Context,
    NodeIterator,
    Run,
    UnaryIterator,
    UnaryNode,
    to_json,
)
from tfrkit.errors import CancelledError

__all__ = ["IgnoreErrorsNode"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class IgnoreErrorsNode(UnaryNode):
    """The input without its errors."""

    log_warning: bool

    verb = "ignore_errors"
    unindexable = "Put ignore_errors() after what needs the numbers: those keep their places if one fails."
    keeps_count = False
    selects = True

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _IgnoreErrorsIterator(self, context, self.input.begin(context, state))

    def _shown(self) -> str:
        return "log_warning=True" if self.log_warning else ""


class _IgnoreErrorsIterator(UnaryIterator):
    def __init__(self, node: IgnoreErrorsNode, context: Context, input: NodeIterator) -> None:
        super().__init__(input)
        self._warn = node.log_warning
        self._context = context
        self._last: Exception | None = None  # what came last, if it was an error
        self._where: Any = None  # where the input stood then

    def pull(self, n: int) -> Run | None:
        """Pull until there is an element; errors on the way are counted, and logged on request."""
        while True:
            run = self.input.pull(n)
            if run is None or run.error is None:
                self._last = None
                return run
            if isinstance(run.error, CancelledError):
                return run
            again = run.error is self._last and not len(run.chunk)
            if again and to_json(self._where) == to_json(self.input.save()):
                return None  # an input that fails for ever in the same way has no more elements
            self._last, self._where = run.error, self.input.save()
            self._context.ignored += 1
            if self._warn:
                _log.warning("Error raised with error message %s", run.error)
            if len(run.chunk):
                return Run(run.chunk)
