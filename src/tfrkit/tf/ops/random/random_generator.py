"""tf.random.Generator: the one of `tf.ops.random.generator_values`, with Tensors; and the global one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfrkit.tf.functions.lift import unwrap, wrap
from tfrkit.tf.ops.random import generator_values as plain

__all__ = ["Generator", "get_global_generator", "set_global_generator"]

_GIVE_TENSORS = ("make_seeds", "normal", "skip", "truncated_normal", "uniform", "uniform_full_int")
_TAKE_TENSORS = ("reset", "reset_from_key_counter", "reset_from_seed", "split")


class Generator(plain.Generator):
    """Random numbers, the same ones for the same state. Thread-safe."""

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        super().__init__(copy_from, unwrap(state), alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Make one of a seed: an integer, or up to three."""
        return super().from_seed(unwrap(seed), alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Make one of a key and the two halves of a counter."""
        return super().from_key_counter(unwrap(key), unwrap(counter), alg)

    @property
    def state(self) -> Any:
        """The state: three int64."""
        return wrap(super().state)

    @property
    def key(self) -> Any:
        """The last part of the state."""
        return wrap(super().state[-1])


def _on_tensors(method: Callable[..., Any], give: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(generator: Any, *args: Any, name: str | None = None, **options: Any) -> Any:  # noqa: ARG001
        options = {key: unwrap(value) for key, value in options.items()}
        return give(method(generator, *[unwrap(value) for value in args], **options))

    return call


for _name in _GIVE_TENSORS:
    setattr(Generator, _name, _on_tensors(getattr(plain.Generator, _name), wrap))
for _name in _TAKE_TENSORS:
    setattr(Generator, _name, _on_tensors(getattr(plain.Generator, _name), lambda value: value))

_shared: list[Any] = []


def get_global_generator() -> Any:
    """The generator of the whole process; it is made when it is first asked for."""
    if not _shared:
        _shared.append(Generator.from_non_deterministic_state())
    return _shared[0]


def set_global_generator(generator: Any) -> None:
    """Use another one from now on."""
    _shared[:] = [generator]
