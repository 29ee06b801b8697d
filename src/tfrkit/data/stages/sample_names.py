"""What samples are known by, so that no two of a pipeline share a seed: a name of their file, and their row.

Pure: no I/O. How a seed is made of them is in `seeded.py`, and in FORMAT.md.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from itertools import takewhile
from typing import Any, Final

from tfrkit.data.engine.node import Node
from tfrkit.stores.url import is_url, local_path, path_parts

__all__ = ["SampleNames", "with_rows_counted"]

_ENDLESS: Final = 1 << 48  # rows that a source without end counts as


class SampleNames:
    """The names that files of a pipeline count by.

    That is the file's own name, if no other file has the same; else its path from the folder that all have in common.
    A file that only a user's function knows has its whole path.

    Args:
        paths: all files that are known before the pipeline runs.
        only_files: rows of sources in memory are not known apart: a function makes some of the sources.

    >>> SampleNames(["/data/a.tfrecord", "/data/b.tfrecord"]).of("/data/b.tfrecord")
    'b.tfrecord'
    >>> SampleNames(["/data/x/a.tfrecord", "/data/y/a.tfrecord"]).of("/data/y/a.tfrecord")
    'y/a.tfrecord'
    """

    def __init__(self, paths: Iterable[str] = (), *, only_files: bool = False) -> None:
        self.only_files = only_files
        parts = {path: _parts(path) for path in paths}
        files = set(parts.values())
        levels = zip(*(each[:-1] for each in files), strict=False)
        common = sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, levels))
        common = common if len({each[-1] for each in files}) < len(files) else -1
        self._known = {each: "/".join(each[common:]) for each in files}
        self._found: dict[str | None, str] = {None: ""} | {
            path: self._known[each] for path, each in parts.items()
        }

    @classmethod
    def before(cls, node: Node) -> SampleNames:
        """Those of the files that a stage reads from."""
        stages = list(node.stages())
        made = any(each.makes_datasets for each in stages)
        return cls((path for each in stages for path in _files(each)), only_files=made)

    def of(self, path: str | None) -> str:
        """The name of a file; that of no file is empty."""
        if path not in self._found:
            parts = _parts(path or "")
            self._found[path] = self._known.get(parts) or "/".join(parts)
        return self._found[path]


def _files(node: Node) -> tuple[str, ...]:
    source = node.record_source if node.makes_datasets else node
    return getattr(source, "paths", ())


def _parts(path: str) -> tuple[str, ...]:
    return path_parts(path if is_url(path) else os.path.abspath(local_path(path)))


def with_rows_counted(node: Node, first: int = 0) -> tuple[Node, int]:
    """A pipeline whose sources in memory number their rows one after another, and how many rows there are then.

    Args:
        node: the pipeline.
        first: the number of the first row.
    """
    if node.makes_datasets:
        return node, first
    if hasattr(node, "first_row"):
        count, made = node.cardinality(), node
        if first:
            changed: dict[str, Any] = {"first_row": first}
            made = dataclasses.replace(node, **changed)
        return made, first + (count if count >= 0 else _ENDLESS)
    inputs: list[Node] = []
    for each in node.inputs:
        part, first = with_rows_counted(each, first)
        inputs.append(part)
    same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
    return node if same else node.with_inputs(tuple(inputs)), first
