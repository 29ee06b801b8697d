"""cached_property: a value that is computed when it is first asked for, and kept with its object; without a lock.

Before Python 3.12 that of functools has one lock for a property of all objects: a thread that opens files makes others
wait for theirs, and a process that is forked meanwhile waits for ever. Threads that ask at once may both compute it.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

__all__ = ["cached_property"]

if sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  # as that of functools
        """A property without a lock, as Python 3.12 has it."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            return vars(instance).setdefault(self.attrname, self.func(instance))
