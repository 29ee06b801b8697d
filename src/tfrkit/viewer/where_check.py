"""Whether a condition can be searched for: what it means, or what is wrong with it and where. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.near_names import near_names
from tfrkit.records.where import parse_where

__all__ = ["check_where"]


def check_where(text: str, kinds: Mapping[str, str], *, complete: bool) -> dict[str, Any]:
    """Check a condition while it is typed.

    Args:
        text: the condition.
        kinds: of the features that are known: "int64", "float32" or "bytes"; "" for one without a kind, or of several.
        complete: whether there are no others.

    Returns:
        {"ok": True, "features": [...], "unknown": [...]}, or {"ok": False, "error": text, "at": character or None}.

    >>> check_where("label > 3", {"label": "int64"}, complete=True)
    {'ok': True, 'features': ['label'], 'unknown': []}
    >>> check_where("label >", {"label": "int64"}, complete=True)["at"]
    7
    """
    try:
        where = parse_where(text)
    except InvalidArgumentError as error:
        return {"ok": False, "error": error.message, "at": error.at}
    places = dict(zip(where.keys, where.places, strict=True))
    unknown = [key for key in where.keys if key not in kinds]
    if unknown and complete:
        text = f"no record has a feature {unknown[0]!r}. {near_names(unknown[0], sorted(kinds))}"
        return {"ok": False, "error": text, "at": places[unknown[0]]}
    wrong = where.mismatch({key: kinds[key] for key in where.keys if kinds.get(key)})
    if wrong is not None:
        key, text = wrong
        return {
            "ok": False,
            "error": f"{text}: it is {kinds[key]}. Text stands in quotes.",
            "at": places[key],
        }
    return {"ok": True, "features": list(where.keys), "unknown": unknown}
