"""The process's threads for reading, inflating and checking.

One pool, made when first needed; a forked child makes its own. Tasks run in the order in which they were handed in,
so a task may wait for an earlier one but never for a later one.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

__all__ = ["default_threads", "thread_pool"]

_pools: dict[int, ThreadPoolExecutor] = {}  # by process id: threads do not survive a fork


def default_threads() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_pool() -> ThreadPoolExecutor:
    """Give the pool of this process."""
    pid = os.getpid()
    pool = _pools.get(pid)
    if pool is None:
        _pools.clear()
        workers = max(2, min(32, default_threads()))
        pool = _pools.setdefault(pid, ThreadPoolExecutor(workers, thread_name_prefix="tfrkit"))
    return pool
