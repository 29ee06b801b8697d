"""list_files: names of files that match patterns."""

from __future__ import annotations

from typing import Any

from tfrkit.data.node import Node


def make_list_files_node(pattern: Any, shuffle: bool | None, seed: int | None) -> Node:
    """Match now; the names are slices, shuffled if asked."""
    raise NotImplementedError
