"""States: where an iterator stands, as JSON; and whether a state belongs to this pipeline and these files.

A pipeline is known by its stages and their arguments (a function by its name, its code, and the plain values that it
was made with), files by their name without folder, their size and a checksum of their tail: data may have moved, but it
must be the same. A checksum of the state itself tells whether it came back as it was written.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import dis
import functools
import hashlib
import json
import os
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from tfrkit.data.engine.node import Node, to_json
from tfrkit.errors import InvalidArgumentError
from tfrkit.records.access.fingerprint import file_fingerprint

__all__ = ["StateKeeper", "fingerprint", "other_stage", "stages_of", "to_json"]

_VERSION: Final = 1
_KEYS: Final = frozenset({"version", "pipeline", "files", "at", "skip", "check"})
_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes, type, np.dtype, np.generic)
_MAX_LABEL: Final = 80  # characters of a stage's label
_MAX_NAMED: Final = 1000  # files whose own fingerprints are kept, to say which one has changed


class StateKeeper:
    """Writes the states of one iterator, and checks those that it is to go on from."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._files: dict[str, Any] | None = None

    @functools.cached_property
    def _pipeline(self) -> str:
        return fingerprint(self._node)

    @functools.cached_property
    def _stages(self) -> list[list[str]]:
        return list(map(list, stages_of(self._node)))

    def write(self, at: Any, skip: int) -> dict[str, Any]:
        """Make a state of where the pipeline stood, and how many elements it has given since."""
        if self._files is None:
            self._files = _files_of(self._node)
        at = to_json(at)
        return {
            "version": _VERSION,
            "pipeline": self._pipeline,
            "stages": self._stages,
            "files": self._files,
            "at": at,
            "skip": skip,
            "check": _checksum(at, skip),
        }

    def check(self, state: Mapping[str, Any]) -> tuple[Any, int]:
        """Refuse a state that is not of this pipeline and these files.

        Returns:
            Where to begin, and how many elements to drop.

        Raises:
            InvalidArgumentError: it is of another pipeline, a file has changed, or it was damaged on the way.
        """
        if not isinstance(state, Mapping) or not set(state) >= _KEYS:
            lacks = f" without {sorted(_KEYS - set(state))}" if isinstance(state, Mapping) else ""
            raise InvalidArgumentError(
                f"expected a state, as DatasetIterator.state() gives it, but got {type(state).__name__}{lacks}"
            )
        if state["version"] != _VERSION:
            raise InvalidArgumentError(f"expected a state of version {_VERSION} but got {state['version']!r}")
        if state["pipeline"] != self._pipeline:
            raise InvalidArgumentError(
                f"the state is of another pipeline: {other_stage(state.get('stages'), self._stages)}. Stages, their "
                "arguments and the code of their functions must be those of the dataset that it was taken from."
            )
        self._files = _files_of(self._node)
        if state["files"] != self._files:
            raise InvalidArgumentError(_difference(state["files"], self._files))
        at, skip = to_json(state["at"]), to_json(state["skip"])
        if state["check"] != _checksum(at, skip):
            raise InvalidArgumentError(
                f"the state is not as it was written: expected the checksum {state['check']!r} but got "
                f"{_checksum(at, skip)!r}. Keep it whole, as JSON or by pickle, or begin anew."
            )
        return at, skip


def _checksum(at: Any, skip: Any) -> str:
    text = json.dumps([at, skip], sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def fingerprint(node: Node) -> str:
    """Name a pipeline: equal for equal stages with equal arguments, in every process."""
    return _digest(_describe(node), 16)


def _digest(texts: Iterable[str], size: int) -> str:
    digest = hashlib.blake2b(digest_size=size)
    for part in texts:
        digest.update(part.encode("utf-8", "surrogateescape"))
        digest.update(b"\0")
    return digest.hexdigest()


def stages_of(node: Node) -> Iterator[tuple[str, str]]:
    """All stages, those that others pull from first: the label of each, and a name for it without its inputs."""
    for part in node.inputs:
        yield from stages_of(part)
    inputs = {id(part) for part in node.inputs}
    texts = [type(node).__name__]
    for each in dataclasses.fields(node):
        value = getattr(node, each.name)
        pulled = isinstance(value, tuple) and value and all(id(part) in inputs for part in value)
        if not (each.metadata.get("unsigned") or id(value) in inputs or pulled):
            texts += [each.name, *_describe(value)]
    yield node.label[:_MAX_LABEL], _digest(texts, 8)


def other_stage(before: Any, now: list[list[str]]) -> str:
    """Say which stage of a state is not that of a dataset.

    >>> other_stage([["range(9)", "aa"], ["batch(2)", "bb"]], [["range(9)", "aa"], ["batch(3)", "cc"]])
    'expected batch(2) at stage 1 (the source is stage 0) but the dataset has batch(3)'
    """
    try:
        old = [(str(label), str(name)) for label, name in before]
    except (TypeError, ValueError):
        return "it does not say of which"  # of an earlier version
    new = [(label, name) for label, name in now]
    matcher = difflib.SequenceMatcher(
        None, [name for _, name in old], [name for _, name in new], autojunk=False
    )
    for kind, first, last, begin, end in matcher.get_opcodes():
        expected = ", ".join(label for label, _ in old[first:last])
        got = ", ".join(label for label, _ in new[begin:end])
        where = f"at stage {first} (the source is stage 0)"
        if kind == "insert":
            after = old[first][0] if first < len(old) else "the end"
            return f"expected {after} {where} but the dataset has {got} before it"
        if kind == "delete":
            return f"expected {expected} {where} but the dataset has it not"
        if kind == "replace" and expected == got:
            return (
                f"expected {expected} {where} but that of the dataset has other arguments or another function"
            )
        if kind == "replace":
            return f"expected {expected} {where} but the dataset has {got}"
    return "its stages are put together in another way"


def _describe(value: Any) -> Iterator[str]:
    """Everything that a value is, as texts."""
    if type(value).__module__.startswith("tfrkit.") and hasattr(value, "signature"):
        yield from _describe(value.signature())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for each in dataclasses.fields(value):
            if not each.metadata.get("unsigned"):
                yield each.name
                yield from _describe(getattr(value, each.name))
        if callable(value):
            yield from _describe_function(value)
    elif isinstance(value, dict):
        yield f"dict {len(value)}"
        for key, item in value.items():
            yield repr(key)
            yield from _describe(item)
    elif isinstance(value, (list, tuple)):
        yield f"{type(value).__name__} {len(value)}"
        for item in value:
            yield from _describe(item)
    elif isinstance(value, (set, frozenset)):
        yield repr(sorted(map(repr, value)))  # the order differs from process to process
    elif callable(value) and not isinstance(value, type):
        yield from _describe_function(value)
    else:
        yield _describe_leaf(value)


def _describe_leaf(value: Any) -> str:
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        content = hashlib.blake2b(np.ascontiguousarray(value).data, digest_size=16).hexdigest()
        return f"array {value.dtype.str} {value.shape} {content}"
    try:
        made = value.__reduce_ex__(4)
    except Exception:
        made = None
    if isinstance(made, tuple) and made[1] and not any(part is value for part in made[1]):
        return "\n".join(_describe(list(made[1])))
    return type(value).__qualname__


def _describe_function(function: Any, seen: tuple[Any, ...] = ()) -> Iterator[str]:
    if isinstance(function, functools.partial):
        yield "partial"
        yield from _describe_function(function.func, seen)
        yield from _describe(list(function.args))
        yield from _describe(function.keywords)
        return
    function = getattr(function, "__func__", function)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    yield str(name or type(function).__qualname__)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is not None:
        yield from _describe_code(code)
    if isinstance(function, types.FunctionType) and function not in seen:
        for variable, value in _made_with(function):
            yield variable
            yield from _describe_constant(value, (*seen, function))


def _made_with(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The defaults of a function's arguments, and the variables round it that it does not itself change."""
    yield "defaults", function.__defaults__
    for name, value in (function.__kwdefaults__ or {}).items():
        yield name, value
    changed = _rebound(function.__code__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name not in changed:
            with contextlib.suppress(ValueError):  # it has no value yet
                yield name, cell.cell_contents


def _rebound(code: types.CodeType) -> set[str]:
    """The variables round a function that it changes, or a function in it."""
    names = {
        each.argval for each in dis.get_instructions(code) if each.opname in {"STORE_DEREF", "DELETE_DEREF"}
    }
    return names.union(*(_rebound(each) for each in code.co_consts if isinstance(each, types.CodeType)))


def _describe_constant(value: Any, seen: tuple[Any, ...]) -> Iterator[str]:
    """A value that a function uses; of one that may change while it runs, such as a list, only the type."""
    if isinstance(value, tuple):
        yield f"tuple {len(value)}"
        for item in value:
            yield from _describe_constant(item, seen)
    elif isinstance(value, np.ndarray) and value.flags.writeable:
        yield f"array {value.dtype.str} {value.shape}"
    elif isinstance(value, (*_PLAIN, np.ndarray, frozenset)):
        yield from _describe(value)
    elif isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        yield from _describe_function(value, seen)
    else:
        yield type(value).__qualname__


def _describe_code(code: types.CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _describe_code(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))  # the order of a set differs from process to process
        else:
            yield repr(constant)


def _files_of(node: Node) -> dict[str, Any]:
    """The files that a pipeline reads: their number, all together, and (if they are few) each."""
    prints = [(os.path.basename(path), file_fingerprint(path)) for path in _paths_of(node)]
    digest = hashlib.blake2b(repr(prints).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    named = [[name, found and list(found)] for name, found in prints] if len(prints) <= _MAX_NAMED else None
    return {"count": len(prints), "all": digest, "each": named}


def _paths_of(node: Node) -> list[str]:
    paths = list(getattr(node, "paths", ()))
    for part in node.inputs:
        paths.extend(_paths_of(part))
    return paths


def _difference(before: Any, now: dict[str, Any]) -> str:
    """Say which file is another one than before."""
    old, count = (before.get("each"), before.get("count")) if isinstance(before, Mapping) else (None, before)
    for one, other in zip(old if isinstance(old, list) else (), now["each"] or (), strict=False):
        if one != other:
            return (
                f"file {other[0]!r} is not the one that the state was taken from: expected name, size and checksum "
                f"{one} but got {other}. Go on with the same files, or begin anew."
            )
    return (
        f"the files are not those that the state was taken from: expected {count} but got {now['count']}, "
        "or their contents differ. Go on with the same files, or begin anew."
    )
