"""Options of a whole pipeline."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Final

from tfrkit.data.engine.lookup import Lookup
from tfrkit.data.engine.node import Context, Node, NodeIterator, UnaryNode
from tfrkit.model.near_names import missing_attribute

__all__ = ["Options", "OptionsNode"]

_DEFAULTS: Final = {"auto_shard_policy": 0}  # AUTO; what is not named here is None
_TYPES: Final[dict[str, type]] = {
    "deterministic": bool,
    "threads": int,
    "enabled": bool,
    "private_threadpool_size": int,
    "max_intra_op_parallelism": int,
}
_KEPT: Final = frozenset(
    {
        "dataset_name",
        "experimental_external_state_policy",
        "experimental_service",
        "experimental_slack",
        "experimental_symbolic_checkpoint",
        "experimental_warm_start",
        "framework_type",
    }
)
_OLD_NAMES: Final = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}


def _check(owner: object, names: Collection[str], name: str, value: Any) -> None:
    """Refuse, in TensorFlow's words, an unknown name or a value of another type."""
    if name not in names:
        raise AttributeError(
            f"Cannot set the property {name} on {type(owner).__name__}. It has {', '.join(sorted(names))}."
        )
    kind = _TYPES.get(name)
    if kind is not None and value is not None and not isinstance(value, kind):
        raise TypeError(f'Property "{name}" must be of type {kind}, got: {value} (type: {type(value)})')


class _Group:
    """Settings that TensorFlow has and that change nothing here, kept."""

    names: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self.__dict__["values"] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in self.names:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__dict__.get("values", {}).get(name, _DEFAULTS.get(name))

    def __setattr__(self, name: str, value: Any) -> None:
        _check(self, self.names, name, value)
        self.__dict__["values"][name] = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Group) and self.__dict__["values"] == other.__dict__["values"]

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__["values"])

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__["values"] = dict(values)


class AutotuneOptions(_Group):
    """Kept, without effect."""

    names = frozenset(
        {
            "autotune_algorithm",
            "cpu_budget",
            "enabled",
            "initial_parallelism",
            "min_parallelism",
            "ram_budget",
        }
    )


class ThreadingOptions(_Group):
    """`private_threadpool_size` counts; the other is kept, without effect."""

    names = frozenset({"max_intra_op_parallelism", "private_threadpool_size"})


class DistributeOptions(_Group):
    """Kept, without effect."""

    names = frozenset({"auto_shard_policy", "num_devices"})


class OptimizationOptions(_Group):
    """Kept, without effect."""

    names = frozenset(
        {
            "apply_default_optimizations",
            "filter_fusion",
            "filter_parallelization",
            "inject_prefetch",
            "map_and_batch_fusion",
            "map_and_filter_fusion",
            "map_fusion",
            "map_parallelization",
            "noop_elimination",
            "parallel_batch",
            "seq_interleave_prefetch",
            "shuffle_and_repeat_fusion",
        }
    )


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

    TensorFlow's other settings (`experimental_slack` and so on) are kept, without effect; a name that it does not have
    is an AttributeError.

    >>> Options(deterministic=False).deterministic
    False
    """

    deterministic: bool | None = None
    threads: int | None = None
    autotune: AutotuneOptions = field(default_factory=AutotuneOptions)
    threading: ThreadingOptions = field(default_factory=ThreadingOptions)
    experimental_distribute: DistributeOptions = field(default_factory=DistributeOptions)
    experimental_optimization: OptimizationOptions = field(default_factory=OptimizationOptions)

    def __setattr__(self, name: str, value: Any) -> None:
        name = _OLD_NAMES.get(name, name)
        _check(self, {each.name for each in fields(self)} | _KEPT, name, value)
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name in _OLD_NAMES:
            return getattr(self, _OLD_NAMES[name])
        if name not in _KEPT:
            raise missing_attribute(self, name)
        return None

    def merge(self, other: Options) -> Options:
        """These options, changed by those that `other` sets."""
        merged = Options(
            other.deterministic if other.deterministic is not None else self.deterministic,
            other.threads if other.threads is not None else self.threads,
        )
        for options in (self, other):
            vars(merged).update({name: value for name, value in vars(options).items() if name in _KEPT})
            for each in fields(self)[2:]:
                for name, value in getattr(options, each.name).__getstate__().items():
                    setattr(getattr(merged, each.name), name, value)
        return merged

    def thread_count(self) -> int | None:
        """How many cores to use, None if it is not set."""
        size = self.threads if self.threads is not None else self.threading.private_threadpool_size
        return int(size) if size else None

    def turned_off(self) -> frozenset[str]:
        """The optimizations of TensorFlow that are off; what is said of one alone counts before what is of all."""
        optimization = self.experimental_optimization
        chosen = {name: getattr(optimization, name) for name in optimization.names}
        by_default = chosen["apply_default_optimizations"] in (None, True)
        return frozenset(name for name, on in chosen.items() if not (by_default if on is None else on))


@dataclass(frozen=True, eq=False)
class OptionsNode(UnaryNode):
    """The input, with options for the pipeline that it is part of."""

    options: Options

    verb = ""  # how a pipeline runs is no part of what it is
    selects = True
    is_transparent = True
    unindexable = ""

    def used(self, count: int) -> int | None:
        return count

    def lookup(self, context: Context) -> Lookup:
        return self.input.lookup(context)

    @staticmethod
    def of(node: Node) -> Options:
        """The options of a pipeline: those of all its parts, the later ones first."""
        found = Options()
        for part in node.inputs:
            found = found.merge(OptionsNode.of(part))
        return found.merge(node.options) if isinstance(node, OptionsNode) else found

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return self.input.begin(context, state)

    @property
    def label(self) -> str:
        return "with_options(...)"
