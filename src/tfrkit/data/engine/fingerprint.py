"""Fingerprints of pipelines: what a saved state knows its pipeline by. Pure: no I/O.

A stage is its verb and its arguments, as a user wrote them; a user's function is its name, its code, and the plain
values that it was made with. Nothing of how tfrkit is written counts: no class, field or module name of ours, and no
code of ours. Saved states hold fingerprints, so what is described here never changes within a version of states.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import dis
import functools
import hashlib
import types
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

from tfrkit.data.engine.node import Node, signed_fields
from tfrkit.model.element_spec import ElementSpec

__all__ = ["fingerprint", "other_stage", "stages_of"]

_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes, type, np.dtype, np.generic)
_MAX_LABEL: Final = 80  # characters of a stage's label


def fingerprint(node: Node) -> str:
    """Identify a pipeline: equal for equal verbs with equal arguments, in every process and every release."""
    return (
        _digest([_stage(node), *map(fingerprint, node.inputs)], 16)
        if node.verb
        else fingerprint(*node.inputs)
    )


def stages_of(node: Node) -> Iterator[tuple[str, str]]:
    """All stages, inputs first: the label of each, and the fingerprint of the stage without its inputs."""
    for part in node.inputs:
        yield from stages_of(part)
    if node.verb:
        yield node.label[:_MAX_LABEL], _stage(node)


def _stage(node: Node) -> str:
    return _digest([node.verb, *_describe(node.arguments())], 8)


def _digest(texts: Iterable[str], size: int) -> str:
    digest = hashlib.blake2b(digest_size=size)
    for part in texts:
        digest.update(part.encode("utf-8", "surrogateescape"))
        digest.update(b"\0")
    return digest.hexdigest()


def other_stage(before: Any, now: list[list[str]]) -> str:
    """Say which stage of a state differs from that of a dataset.

    >>> other_stage([["range(9)", "aa"], ["batch(2)", "bb"]], [["range(9)", "aa"], ["batch(3)", "cc"]])
    'expected batch(2) at stage 1 (the source is stage 0) but the dataset has batch(3)'
    """
    try:
        old = [(str(label), str(name)) for label, name in before]
    except (TypeError, ValueError):
        return "the state does not list its stages"
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
            return f"expected {expected} {where} but the dataset does not have it"
        if kind == "replace" and expected == got:
            return f"expected {expected} {where} but the dataset's has other arguments or another function"
        if kind == "replace":
            return f"expected {expected} {where} but the dataset has {got}"
    return "the same stages are combined in another way"


def _ours(kind: Any) -> bool:
    return str(getattr(kind, "__module__", "")).partition(".")[0] == "tfrkit"


def _describe(value: Any) -> Iterator[str]:
    """Everything that a value is, as texts."""
    if isinstance(value, ElementSpec):
        yield repr(value)  # TensorFlow's text
    elif _ours(type(value)) and not isinstance(value, (list, tuple, dict)):
        yield from _describe(_parts_of_ours(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for each in dataclasses.fields(value):
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
        yield f"{'tuple' if _ours(type(value)) else type(value).__name__} {len(value)}"
        for item in value:
            yield from _describe(item)
    elif isinstance(value, (set, frozenset)):
        yield repr(sorted(map(repr, value)))  # the order differs from process to process
    elif callable(value) and not isinstance(value, type):
        yield from _describe_function(value)
    else:
        yield _describe_leaf(value)


def _parts_of_ours(value: Any) -> tuple[Any, ...]:
    """What counts of an object of a class of tfrkit: its `signature`, or else the values it is made of, in order."""
    if hasattr(value, "signature"):
        return ("signature", value.signature())
    if dataclasses.is_dataclass(value):
        return signed_fields(value)
    if callable(value):
        return ("function", getattr(value, "__wrapped__", None) or getattr(value, "__name__", None))
    return tuple(value.__reduce__()[1])  # the columns: what they hold


def _describe_leaf(value: Any) -> str:
    if isinstance(value, np.generic):
        return f"{value.dtype.str} {value.item()!r}"
    if isinstance(value, type) and _ours(value):
        return value.__name__
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
    """A user's function; one of ours by its name alone."""
    if isinstance(function, functools.partial):
        yield "partial"
        yield from _describe_function(function.func, seen)
        yield from _describe(list(function.args))
        yield from _describe(function.keywords)
        return
    function = getattr(function, "__func__", function)
    if _ours(function):
        yield str(getattr(function, "__name__", "function"))
        return
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
    """The defaults of a function's arguments, and the variables of enclosing functions that it does not change."""
    yield "defaults", function.__defaults__
    for name, value in (function.__kwdefaults__ or {}).items():
        yield name, value
    changed = _rebound(function.__code__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name not in changed:
            with contextlib.suppress(ValueError):  # it has no value yet
                yield name, cell.cell_contents


def _rebound(code: types.CodeType) -> set[str]:
    """The variables of enclosing functions that a function, or one inside it, changes."""
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
        yield "object" if _ours(type(value)) else type(value).__qualname__


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
