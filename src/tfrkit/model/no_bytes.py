"""NoBytes: a list without values that says which kind they would have. Needs no messages, and so no protobuf."""

from __future__ import annotations

__all__ = ["NoBytes"]


class NoBytes(list[bytes]):
    """An empty bytes_list, as `to_dict` returns it; a plain empty list has no kind."""
