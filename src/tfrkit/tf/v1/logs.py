"""TensorFlow's logger, under the names of TensorFlow 1."""

from __future__ import annotations

import logging
from typing import Final

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "debug", "error", "fatal", "get_logger", "get_verbosity", "info", "log",
    "set_verbosity", "warn", "warning",
]  # fmt: skip

_LOGGER: Final = logging.getLogger("tensorflow")

DEBUG: Final = logging.DEBUG
INFO: Final = logging.INFO
WARN: Final = logging.WARNING
ERROR: Final = logging.ERROR
FATAL: Final = logging.FATAL

log = _LOGGER.log
debug = _LOGGER.debug
info = _LOGGER.info
warn = warning = _LOGGER.warning
error = _LOGGER.error
fatal = _LOGGER.fatal


def get_logger() -> logging.Logger:
    """Return Python's logger "tensorflow"."""
    return _LOGGER


def set_verbosity(v: int) -> None:
    """Log nothing below a level."""
    _LOGGER.setLevel(v)


def get_verbosity() -> int:
    """Return the level below which nothing is logged."""
    return _LOGGER.getEffectiveLevel()
