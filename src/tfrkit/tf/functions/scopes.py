"""Scopes and switches of TensorFlow that have no meaning where everything runs at once: they do nothing."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = [
    "control_dependencies",
    "device",
    "disable_eager_execution",
    "enable_eager_execution",
    "executing_eagerly",
    "functions_run_eagerly",
    "get_threads",
    "group",
    "init_scope",
    "inside_function",
    "list_physical_devices",
    "name_scope",
    "no_op",
    "run_functions_eagerly",
    "set_memory_growth",
    "set_threads",
    "set_verbosity",
]


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Run the block; functions among the inputs are called first, all else has been computed."""
    for each in control_inputs or ():
        if callable(each):
            each()
    yield


@contextlib.contextmanager
def name_scope(name: Any, default_name: Any = None, values: Any = None) -> Iterator[str]:
    """Run the block; nothing has a name here.

    Raises:
        ValueError: the name is not a string.
    """
    if name is not None and not isinstance(name, str):
        raise ValueError("name for name_scope must be a string.")
    yield f"{name or default_name}/"


@contextlib.contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Run the block, on the processor."""
    yield


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Run the block."""
    yield


def executing_eagerly() -> bool:
    """Return whether operations run at once: always True."""
    return True


def inside_function() -> bool:
    """Return whether a function is being traced: always False."""
    return False


def enable_eager_execution(*_: Any, **__: Any) -> None:
    """Do nothing: everything runs at once."""


def disable_eager_execution(*_: Any, **__: Any) -> None:
    """Warn that there are no graphs: everything still runs at once."""
    warnings.warn(
        "tfrkit has no graphs and sessions: everything runs at once. Leave this call out, iterate over datasets with "
        "`for`, and use values as they are instead of Session.run.",
        stacklevel=2,
    )


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Do nothing: functions run as Python."""


def functions_run_eagerly() -> bool:
    """Return whether functions run as Python: always True."""
    return True


def no_op(name: str | None = None) -> None:
    """Do nothing."""


def group(*inputs: Any, **_: Any) -> None:
    """Do nothing: the inputs have been computed."""


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the only device: the processor."""
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    return [each for each in found if device_type in (None, each.device_type)]


def set_memory_growth(device: Any, enable: bool) -> None:
    """Do nothing: memory is allocated when it is needed."""


def set_threads(num_threads: int) -> None:
    """Do nothing: `Options.threads` of a dataset sets the number of cores."""


def get_threads() -> int:
    """Return 0, which means that the number is chosen automatically."""
    return 0


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Do nothing: there is no conversion that reports anything."""
