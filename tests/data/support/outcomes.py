"""What an iterator gives, errors in their places; and pipelines cut and continued at every element."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfrkit import BytesColumn


def plain(value: Any) -> Any:
    """An element as plain Python."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(plain(item) for item in value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value.to_numpy().tolist() if isinstance(value, BytesColumn) else value


def outcomes(elements: Any, limit: int = 10_000) -> list[Any]:
    """Elements and the texts of errors, until the end."""
    found: list[Any] = []
    iterator: Iterator[Any] = iter(elements)
    while len(found) < limit:
        try:
            found.append(plain(next(iterator)))
        except StopIteration:
            break
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def advance(iterator: Iterator[Any], count: int) -> None:
    """Take so many elements or errors."""
    for _ in range(count):
        try:
            next(iterator)
        except StopIteration:
            return
        except Exception:
            continue


def resumed(make: Callable[[], Any], at: int) -> list[Any]:
    """What a new iterator gives from the state that another had after so many outcomes."""
    iterator = iter(make())
    advance(iterator, at)
    state = json.loads(json.dumps(iterator.state()))
    iterator.close()
    return outcomes(make().iter_from(state))


def wait_for(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait until something holds; whether it does in the end."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()
