"""Namespaces: TensorFlow's modules, whose names are looked up in tables and imported when first used."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tfrkit.tf import names as tables
from tfrkit.tf.entry import Absent, Entry, Raw

__all__ = ["VERSION", "Namespace", "all_names", "install"]

VERSION: Final = "2.21.0"  # of the TensorFlow whose names and behaviour these are
_V1: Final = "compat.v1."


def all_names() -> dict[str, Entry]:
    """Every dotted name, with what stands behind it; those of `compat.v1` are there too."""
    given: dict[str, Entry] = {}
    for table in sorted(module.name for module in pkgutil.iter_modules(tables.__path__)):
        names: Mapping[str, Entry] = importlib.import_module(f"tfrkit.tf.names.{table}").NAMES
        for aliases, entry in names.items():
            for alias in aliases.split():
                if given.setdefault(alias, entry) != entry:
                    raise ValueError(f"two tables disagree about {alias}: {given[alias]} and {entry}")
    common = {name: entry for name, entry in given.items() if not name.startswith("compat.")}
    old = {_V1 + name: entry for name, entry in common.items()}
    new = {f"compat.v2.{name}": entry for name, entry in common.items()}
    return new | old | given


class Namespace:
    """The names of one of TensorFlow's modules.

    The module itself is a plain one, with functions for names that it has not yet: what has been used once is found in
    0.03 us, in one of a class of its own in 0.14 (benchmarks/make_examples.py: a tenth of the time of an Example).

    Attributes:
        path: its dotted name, "" for the top.
        entries: what its names mean.
        module: what users see.
    """

    def __init__(self, package: str, path: str) -> None:
        self.path = path
        self.entries: dict[str, Entry | Namespace] = {}
        self.module = ModuleType(f"{package}.{path}" if path else package)
        found: dict[str, Any] = {"__getattr__": self.find, "__dir__": self.names}
        # So that `import tfrkit.tf.io` looks in sys.modules, and `import tfrkit.tf.io.parsers` in the folder.
        folder = Path(__file__).parent.joinpath(*path.split("."))
        found["__path__"] = [str(folder)] if folder.is_dir() else []
        vars(self.module).update(found)

    def find(self, name: str) -> Any:
        """Find what a name means, and remember it.

        Raises:
            AttributeError: there is no such name; the text says which is nearest, or what to do.
        """
        if name.startswith("__"):
            raise AttributeError(f"module {self.module.__name__!r} has no attribute {name!r}")
        entry = self.entries.get(name)
        dotted = f"{self.path}.{name}" if self.path else name
        if entry is None or isinstance(entry, Absent):
            raise AttributeError(_missing(self, dotted, entry))
        value = entry.module if isinstance(entry, Namespace) else _load(entry, dotted)
        setattr(self.module, name, value)
        return value

    def names(self) -> list[str]:
        """Those that exist, sorted."""
        return sorted(name for name, entry in self.entries.items() if not isinstance(entry, Absent))


def install(package: str) -> Namespace:
    """Make the tree of namespaces, each importable as a module, and give its top."""
    root = Namespace(package, "")
    spaces = {"": root}
    for dotted, entry in all_names().items():
        path, _, name = dotted.rpartition(".")
        _space(spaces, package, path).entries[name] = entry
    return root


def _space(spaces: dict[str, Namespace], package: str, path: str) -> Namespace:
    found = spaces.get(path)
    if found is None:
        parent, _, name = path.rpartition(".")
        found = spaces[path] = Namespace(package, path)
        _space(spaces, package, parent).entries[name] = found
        sys.modules[found.module.__name__] = found.module
    return found


def _load(entry: str | Raw, dotted: str) -> Any:
    target = entry.target if isinstance(entry, Raw) else entry
    module, _, attribute = target.partition(":")
    value = getattr(importlib.import_module(f"tfrkit.{module}"), attribute)
    if isinstance(entry, Raw):
        return value
    from tfrkit.tf.functions.lift import lift

    return lift(value, dotted)


def _missing(space: Namespace, dotted: str, entry: Absent | None) -> str:
    """What to say about a name that is not there."""
    if entry is not None:
        return f"tf.{dotted} does not exist in tfrkit. {entry.advice}"
    near = _nearest(space, dotted)
    advice = f"The nearest that exists is tf.{near}." if near else "See docs/names.md for what exists."
    return f"tf.{dotted} does not exist in tfrkit. {advice}"


def _nearest(space: Namespace, dotted: str) -> str | None:
    """The name that is most likely meant: a slip in this module, the same name in another, or something like it."""
    name = dotted.rpartition(".")[2]
    before = f"{space.path}." if space.path else ""
    slips = difflib.get_close_matches(name, space.names(), n=1, cutoff=0.8)
    if slips:
        return before + slips[0]
    everything = [
        found
        for found, entry in all_names().items()
        if not isinstance(entry, Absent)
        and (not found.startswith("compat.") or space.path.startswith("compat."))
    ]
    by_last: dict[str, str] = {}
    for found in sorted(everything, key=lambda one: (one.count("."), not one.startswith("math."), one)):
        by_last.setdefault(found.rpartition(".")[2], found)
    if name in by_last:
        return by_last[name]
    here = difflib.get_close_matches(name, space.names(), n=1, cutoff=0.6)
    if here:
        return before + here[0]
    others = difflib.get_close_matches(name, by_last, n=1, cutoff=0.75)
    return by_last[others[0]] if others else None
