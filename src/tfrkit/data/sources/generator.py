"""from_generator: what a Python generator yields.

The generator is called anew for every pass and asked for what is wanted, never more. Values become arrays of the types
that were announced, and are checked against the shapes, with TensorFlow's texts. A position is a number of elements:
to resume, the generator is called again and that many are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements import structure
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.elements.element_values import to_value
from tfrkit.data.elements.python_error import error_of
from tfrkit.data.engine.call_each import name_of
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Context, Node, NodeIterator, Run
from tfrkit.data.sources.generator_check import checker
from tfrkit.errors import InternalError, InvalidArgumentError
from tfrkit.model.element_spec import ElementSpec, TensorSpec

__all__ = ["GeneratorNode", "make_generator_node"]


@dataclass(frozen=True, eq=False)
class GeneratorNode(Node):
    """A function that returns an iterable, called for every pass, and the spec of what it yields."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    spec: Any

    verb = "from_generator"
    unindexable = "Give arrays to from_tensor_slices(), or write the elements to a file of records."
    seeks = False  # it is called again and its first elements dropped
    opaque = False  # the user said what is yielded
    pure = False  # a user's generator can notice, and may block

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _GeneratorIterator(self, 0 if state is None else state)

    def element_spec(self) -> Any:
        return self.spec

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def advice(self, each: float, *, waits: bool) -> str:
        return "a generator runs in one thread; make the elements in a map(..., num_parallel_calls=AUTOTUNE) after it"

    def _shown(self) -> str:
        return name_of(self.function)


class _GeneratorIterator(NodeIterator):
    def __init__(self, node: GeneratorNode, skip: int) -> None:
        self._node = node
        self._check = checker(node.spec)
        self._values: Iterator[Any] | None = None  # made at the first pull
        self._skip = skip  # to be dropped then
        self._done = skip  # values that were yielded, those that were refused too
        self._ended = skip < 0
        self._closed = False
        self._held: list[Any] = []  # from a pull that was interrupted
        self._unchecked: tuple[Any, ...] = ()  # the value that was yielded last, until it is in a run

    def pull(self, n: int) -> Run | None:
        """Ask for n values; one that is refused comes out as an error, and the next pull continues."""
        if self._ended:
            return None
        items, self._held = self._held[:n], self._held[n:]
        run: Run | None = None
        try:
            error = self._fill(items, n)
            run = Run(ObjectChunk(items), error) if items or error is not None else None
            self._unchecked = ()
        except StopIteration:  # of the function, or of what was seen before
            self._ended, self._values = True, None
        except Exception as failure:
            self._ended, self._values = True, None
            return Run(ObjectChunk(items), error_of(failure))
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self._held = items
            raise
        return run

    def _fill(self, items: list[Any], n: int) -> Exception | None:
        """Add values until there are n; return the error of one that is refused."""
        if self._values is None:
            values = iter(self._node.function(*self._node.args))
            for _ in range(self._skip):
                next(values)
            self._values = values
        values = self._values
        error: Exception | None = None
        while len(items) < n and error is None:
            if not self._unchecked:
                for value in values:  # not `next`: an interruption would lose what a call has returned
                    self._unchecked = (value,)
                    self._done += 1
                    break
                else:
                    self._ended, self._values = True, None
                    break
            try:
                checked = self._check(self._unchecked[0])
            except TypeError as refusal:
                error = InvalidArgumentError(f"TypeError: {refusal}")
            except InternalError as refusal:
                error = refusal
            else:
                items += [checked]  # not a call, either
                self._unchecked = ()
        if self._closed:  # by another thread, meanwhile
            _close(values)
        return error

    def save(self) -> int:
        """The number of values that were yielded; -1 at the end."""
        return -1 if self._ended else self._done - len(self._held) - len(self._unchecked)

    def close(self) -> None:
        self._closed = self._ended = True
        values, self._values = self._values, None
        if not getattr(values, "gi_running", False):  # else the thread that runs it closes it
            _close(values)


def _close(values: Any) -> None:
    close = getattr(values, "close", None)
    if close is not None:
        close()


def make_generator_node(generator: Any, types: Any, shapes: Any, args: Any, signature: Any) -> Node:
    """Check the arguments as TensorFlow does.

    Raises:
        TypeError: the generator cannot be called, or types and signature are both given or both missing.
    """
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    made = map(to_value, () if args is None else args)  # as numpy has them, bytes for a string
    arguments = tuple(each if isinstance(each, bytes) else np.asarray(each)[()] for each in made)
    return GeneratorNode(generator, arguments, _signature(types, shapes, signature))


def _signature(types: Any, shapes: Any, signature: Any) -> Any:
    if signature is None:
        if types is None:
            raise TypeError(
                "To specify the output signature you need to provide either the `output_signature` argument or the "
                "`output_types` argument."
            )
        if shapes is None:
            return structure.map_structure(lambda each: TensorSpec(None, each), types)
        return _with_shapes(types, shapes)
    for name, value in (("output_types", types), ("output_shapes", shapes)):
        if value is not None:
            raise TypeError(
                f"The `{name}` argument can not be used together with the `output_signature` argument."
            )
    for spec in structure.flatten(signature):
        if not isinstance(spec, ElementSpec):
            raise TypeError(
                "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                f"{type(spec)} which is not."
            )
    return signature


def _with_shapes(types: Any, shapes: Any) -> Any:
    """Put types and shapes together: shapes are lists and tuples themselves, so the types say where they stand."""
    if not structure.is_nested(types):
        return TensorSpec(shapes, types)
    if isinstance(types, dict):
        return {key: _with_shapes(each, shapes[key]) for key, each in types.items()}
    pairs = zip(types, shapes, strict=True)
    return structure.rebuild(types, [_with_shapes(*pair) for pair in pairs])
