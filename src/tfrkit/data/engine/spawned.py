"""Pipelines for worker processes that are spawned: what cannot be sent there is named."""

from __future__ import annotations

import sys

from tfrkit.data.engine.node import Node
from tfrkit.errors import InvalidArgumentError

__all__ = ["check_spawned"]


def check_spawned(node: Node) -> None:
    """While a process is being spawned, refuse a pipeline with a function that does not pickle.

    At other times nothing is checked: another pickler may know more kinds of functions.

    Raises:
        InvalidArgumentError: it names the stage.
    """
    context = sys.modules.get("multiprocessing.context")  # else nobody spawns anything
    if context is None or context.get_spawning_popen() is None:
        return
    from multiprocessing.reduction import ForkingPickler

    for stage in reversed(list(node.stages())):
        for value in stage.arguments():
            if not callable(value):
                continue
            try:
                ForkingPickler.dumps(value)
            except Exception as error:
                raise InvalidArgumentError(
                    f"{stage.label}: its function cannot be sent to a worker process: {error}. Define it with def at "
                    "the top of a module, use functools.partial of such a function, or use threads "
                    "(num_parallel_calls=AUTOTUNE) and no workers."
                ) from error
