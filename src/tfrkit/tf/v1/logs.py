"""TensorFlow's logger, under the names of TF1."""

from __future__ import annotations

import logging
from typing import Any, Final

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "debug",
    "error",
    "fatal",
    "get_logger",
    "get_verbosity",
    "info",
    "log",
    "set_verbosity",
    "warn",
    "warning",
]

DEBUG: Final = logging.DEBUG
INFO: Final = logging.INFO
WARN: Final = logging.WARNING
ERROR: Final = logging.ERROR
FATAL: Final = logging.FATAL


def get_logger() -> logging.Logger:
    """Python's logger of the name "tensorflow"."""
    return logging.getLogger("tensorflow")


def log(level: int, msg: str, *args: Any, **options: Any) -> None:
    """Log a message."""
    get_logger().log(level, msg, *args, **options)


def debug(msg: str, *args: Any, **options: Any) -> None:
    """Log a detail."""
    get_logger().debug(msg, *args, **options)


def info(msg: str, *args: Any, **options: Any) -> None:
    """Log a fact."""
    get_logger().info(msg, *args, **options)


def warning(msg: str, *args: Any, **options: Any) -> None:
    """Log a warning."""
    get_logger().warning(msg, *args, **options)


def error(msg: str, *args: Any, **options: Any) -> None:
    """Log an error."""
    get_logger().error(msg, *args, **options)


def fatal(msg: str, *args: Any, **options: Any) -> None:
    """Log an error that nothing goes on after."""
    get_logger().fatal(msg, *args, **options)


warn = warning


def set_verbosity(v: int) -> None:
    """Log nothing below a level."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """The level below which nothing is logged."""
    return get_logger().getEffectiveLevel()
