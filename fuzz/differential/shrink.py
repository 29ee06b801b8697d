"""Make a disagreement small: fewer records, fewer features, fewer bytes, as long as it disagrees in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.differential.cases import Case

MAX_TRIES = 400


def shrink(case: Case, complaint: str, complaints_of: Callable[[Case], list[str]]) -> Case:
    """Give the smallest case found that has a complaint like the given one.

    Args:
        case: the case to begin with.
        complaint: what was said of it.
        complaints_of: says what is wrong with a case.
    """
    wanted = shape_of(complaint)
    tries = 0
    smaller = True
    while smaller and tries < MAX_TRIES:
        smaller = False
        for candidate in _smaller(case):
            tries += 1
            if any(shape_of(one) == wanted for one in complaints_of(candidate)):
                case, smaller = candidate, True
                break
            if tries >= MAX_TRIES:
                break
    return case


def shape_of(complaint: str) -> str:
    """A complaint without the values in it, so that two of the same cause look alike."""
    text = re.sub(r"value: '.*", "", complaint, flags=re.DOTALL)
    text = re.sub(r"b'(?:[^'\\]|\\.)*'|b\"(?:[^\"\\]|\\.)*\"", "b", text)
    text = re.sub(
        r"Key: .{0,140}?\.  |Feature: .{0,140}? \(data|'[^']{0,140}':|feature \S+|features?: \S+", "K", text
    )
    return re.sub(r"\d+", "0", text)[:160]


def _smaller(case: Case) -> Iterator[Case]:
    if len(case.records) > 1:
        for number in range(len(case.records)):
            yield replace(case, records=case.records[:number] + case.records[number + 1 :])
    for key in case.spec:
        spec = {name: feature for name, feature in case.spec.items() if name != key}
        if spec or case.lists:
            yield replace(case, spec=spec)
    for key in case.lists or {}:
        lists = {name: feature for name, feature in (case.lists or {}).items() if name != key}
        if lists or case.spec:
            yield replace(case, lists=lists)
    for number, record in enumerate(case.records):
        for cut in _cuts(record):
            yield replace(case, records=(*case.records[:number], cut, *case.records[number + 1 :]))


def _cuts(record: bytes) -> Iterator[bytes]:
    size = len(record) // 2
    while size:
        for start in range(0, len(record), size):
            yield record[:start] + record[start + size :]
        size //= 2


def reproducer(case: Case, seed: int, number: int) -> str:
    """Python code that shows the case."""
    single = "_single" if case.single else ""
    records = repr(case.records[0] if case.single else list(case.records))
    specs = repr(case.spec) if case.lists is None else f"{case.spec!r}, {case.lists!r}"
    function = f"parse{single}_example" if case.lists is None else f"parse{single}_sequence_example"
    return f"# seed {seed} case {number}\n{function}({records}, {specs})"
