"""What to say where all elements that were asked for by number are damaged, and whoever asked cannot do without them.

`on_corrupt="skip"` leaves such elements out. A loop can go on without them, a request for certain numbers cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.data.engine.iterator import new_context
from tfrkit.data.engine.node import Node
from tfrkit.errors import DataLossError

__all__ = ["nothing_left"]


def nothing_left(node: Node, numbers: Any, epoch: int, asker: str) -> DataLossError | None:
    """The error about elements that were all left out, which names the first one; None if none of them is damaged.

    They are read again for that.

    Args:
        node: the last stage of the pipeline.
        numbers: of the elements.
        epoch: the pass.
        asker: who cannot leave them out, and what else can be used.
    """
    context = new_context(node)
    node.lookup(context).at(np.array(numbers, np.int64).ravel(), epoch)
    if not context.damages:
        return None
    path, damage = context.damages[0]
    others = f", and {context.skipped - 1} more of the same request" if context.skipped > 1 else ""
    return DataLossError(
        f'record {damage.record} of {path!r} is damaged{others}: on_corrupt="skip" leaves nothing to return. {asker}, '
        "or take the damage out of the files with `tfr repair`.",
        path=path,
        record=damage.record,
        offset=damage.start if damage.start >= 0 else None,
    )
