"""OpenDataset: one of the datasets that interleave reads from, and how it is opened and restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.engine.cursor import Cursor, Segment
from tfrkit.data.engine.function_spec import call_with
from tfrkit.data.engine.keep_order import keep_order
from tfrkit.data.engine.node import AUTOTUNE, Context, Node
from tfrkit.data.engine.rewrites import optimise
from tfrkit.data.stages.prefetch import PrefetchNode

if TYPE_CHECKING:
    from tfrkit.data.stages.interleave import InterleaveNode

__all__ = ["OpenDataset", "node_of"]

_AHEAD: Final = 256  # elements that are asked for at once where that cannot be observed
_OVER: Final = -1


def node_of(made: Any) -> Node:
    """The node of the dataset that a user's function made.

    Raises:
        TypeError: it is not a dataset.
    """
    node = getattr(made, "node", None)
    if not isinstance(node, Node):
        raise TypeError(f"`map_func` must return a `Dataset` object. Got {type(made)}.")
    return node


class OpenDataset:
    """An open dataset, and the place of the element that it was made of.

    Attributes:
        pure: how far ahead it is read cannot be observed.
        node: what the function made; None if it failed.
    """

    __slots__ = ("_box", "_error", "_place", "node", "pure")

    def __init__(
        self, place: Any, box: Cursor | None, error: Exception | None, *, pure: bool, node: Node | None = None
    ) -> None:
        self._place = place
        self._box = box
        self._error = error  # in the place of a dataset that could not be made
        self.pure = pure
        self.node = node

    @classmethod
    def open(
        cls, node: InterleaveNode, context: Context, place: Any, element: Any, state: Any = None
    ) -> OpenDataset:
        """Call the function, and start or resume what it makes.

        Raises:
            Exception: that of the function.
        """
        made = named = optimise(keep_order(node_of(call_with(node.function, element)), free=False))
        pure = made.pure
        if node.parallel is not None and not getattr(made, "reads_ahead", False):
            made = PrefetchNode(made, AUTOTUNE)
        return cls(place, Cursor(made, context, state), None, pure=pure, node=named)

    @classmethod
    def failed(cls, place: Any, error: Exception) -> OpenDataset:
        """An error in place of a dataset, and then its end."""
        return cls(place, None, error, pure=False)

    @classmethod
    def restore(cls, node: InterleaveNode, context: Context, saved: Any) -> OpenDataset:
        """Make the dataset again of the same element, and resume it.

        Raises:
            Exception: the input or the function fails where it did not fail before.
        """
        if saved["at"] == _OVER:
            return cls(saved["of"], None, None, pure=False)
        cursor = Cursor(node.input, context, saved["of"])
        try:
            run = cursor.take(1)
        finally:
            cursor.close()
        if run is None or not len(run.chunk):
            error = None if run is None else run.error
            return cls.failed(saved["of"], error or RuntimeError("the element of a dataset has gone"))
        try:
            return cls.open(node, context, saved["of"], run.chunk.objects()[0], saved["at"])
        except Exception as failure:
            if saved["at"] is not None:
                raise
            return cls.failed(saved["of"], failure)

    def take(self, n: int) -> Segment | None:
        """Return at most n elements."""
        if self._box is None:
            error, self._error = self._error, None
            return None if error is None else Segment(ObjectChunk([]), error)
        return self._box.take(n, _AHEAD if self.pure else 0)

    def put_back(self, run: Segment, used: int) -> None:
        """Put back the run that was taken last, except its first elements, and its error."""
        if self._box is not None:
            self._box.put_back(run, used)

    def save(self) -> Any:
        """The element that it was made of, and where it stands: None if it could not be made, -1 if that was said."""
        at = self._box.save() if self._box is not None else None if self._error is not None else _OVER
        return {"of": self._place, "at": at}

    def close(self) -> None:
        """Close the dataset."""
        if self._box is not None:
            self._box.close()
