"""Options of a whole pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final

from tfrkit.data.node import Context, Node, NodeIterator

__all__ = ["Options", "OptionsNode"]

_DEFAULTS: Final = {"auto_shard_policy": 0}  # AUTO; what is not named here is None


class _Group:
    """Settings that TensorFlow has and that change nothing here: any attribute, kept."""

    def __init__(self) -> None:
        self.__dict__["values"] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__.get("values", {}).get(name, _DEFAULTS.get(name))

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["values"][name] = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Group) and self.__dict__["values"] == other.__dict__["values"]

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__["values"])

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__["values"] = dict(values)


@dataclass
class Options:
    """How a pipeline runs.

    Attributes:
        deterministic: whether parallel stages keep the order where they do not say themselves; None is True.
        threads: how many cores to use; None is all.
        autotune: TensorFlow's settings; kept, without effect.
        threading: `private_threadpool_size` is another name of `threads`; the rest is kept, without effect.
        experimental_distribute: kept, without effect.
        experimental_optimization: kept, without effect.

    >>> Options(deterministic=False).deterministic
    False
    """

    deterministic: bool | None = None
    threads: int | None = None
    autotune: _Group = field(default_factory=_Group)
    threading: _Group = field(default_factory=_Group)
    experimental_distribute: _Group = field(default_factory=_Group)
    experimental_optimization: _Group = field(default_factory=_Group)

    def merge(self, other: Options) -> Options:
        """These options, changed by those that `other` sets."""
        merged = Options(
            other.deterministic if other.deterministic is not None else self.deterministic,
            other.threads if other.threads is not None else self.threads,
        )
        for each in fields(self)[2:]:
            for options in (self, other):
                for name, value in getattr(options, each.name).__getstate__().items():
                    setattr(getattr(merged, each.name), name, value)
        return merged

    def thread_count(self) -> int | None:
        """How many cores to use, None if nobody said."""
        size = self.threads if self.threads is not None else self.threading.private_threadpool_size
        return int(size) if size else None


@dataclass(frozen=True, eq=False)
class OptionsNode(Node):
    """The input, with options for the pipeline that it is part of."""

    input: Node
    options: Options

    @staticmethod
    def of(node: Node) -> Options:
        """The options of a pipeline: those of all its parts, the later ones first."""
        found = Options()
        for part in node.inputs:
            found = found.merge(OptionsNode.of(part))
        return found.merge(node.options) if isinstance(node, OptionsNode) else found

    def signature(self) -> Node:
        """What counts for the name of a pipeline: how it runs does not."""
        return self.input

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """That of the input."""
        return self.input.begin(context, state)

    def element_spec(self) -> Any:
        """As the input's."""
        return self.input.element_spec()

    def cardinality(self) -> int:
        """As the input's."""
        return self.input.cardinality()

    @property
    def label(self) -> str:
        """As written."""
        return "with_options(...)"
