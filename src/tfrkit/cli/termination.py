"""SIGTERM ends a command as Ctrl-C does: what is half done is removed, and the user is informed."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Make SIGTERM raise KeyboardInterrupt; only the main thread may say so, and a signal that is ignored stays so."""
    ignored = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
