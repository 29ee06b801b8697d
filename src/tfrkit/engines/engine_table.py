"""The engines by name: adding one is a file and a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tfrkit.engines.engine import Engine
from tfrkit.engines.local import ThreadEngine
from tfrkit.engines.processes import ProcessEngine
from tfrkit.engines.ray import RayEngine
from tfrkit.engines.spark import SparkEngine
from tfrkit.errors import InvalidArgumentError

__all__ = ["engine_named", "engine_names"]

_ENGINES: Final[Mapping[str, Callable[[str | None], Engine]]] = {
    "threads": ThreadEngine,
    "processes": ProcessEngine,
    "ray": RayEngine,
    "spark": SparkEngine,
}


def engine_names() -> list[str]:
    """Return the names of all engines."""
    return list(_ENGINES)


def engine_named(name: str, address: str | None = None) -> Engine:
    """Return an engine, connected to its cluster if it has one.

    Args:
        name: of `engine_names`.
        address: of the cluster, for engines that have one.

    Raises:
        InvalidArgumentError: there is no such engine, or it has no address.
    """
    if name not in _ENGINES:
        raise InvalidArgumentError(
            f"Expected one of {', '.join(map(repr, _ENGINES))} as engine but got {name!r}."
        )
    return _ENGINES[name](address)
