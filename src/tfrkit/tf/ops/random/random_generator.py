"""tf.random.Generator: a generator of random numbers that carries its state, and the global one.

The state is three 64-bit integers, the counter's two halves and the key of Philox. Every call takes the numbers at the
counter, and advances it by 256 blocks for each number.
"""

from __future__ import annotations

import functools
import math
import secrets
import threading
from collections.abc import Callable
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from tfrkit.model.element_spec import as_dtype
from tfrkit.tf.functions.lift import unwrap, wrap
from tfrkit.values import random_numbers
from tfrkit.values.random import from_bell, from_uniform
from tfrkit.values.random_arguments import as_type, tensor_shape
from tfrkit.values.random_numbers import RandomStream
from tfrkit.values.stateful import note
from tfrkit.values.to_array import to_array

__all__ = ["Generator", "get_global_generator", "set_global_generator"]

_MASK: Final = 2**64 - 1
_PER_NUMBER: Final = 256
_PHILOX: Final = ("philox", "auto_select", 1, 3)
_WORDS: Final = 3


def _on_tensors(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method on values that takes and returns Tensors, and TensorFlow's argument `name`."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, name: str | None = None, **options: Any) -> Any:
        options = {key: unwrap(value) for key, value in options.items()}
        return wrap(method(self, *[unwrap(value) for value in args], **options))

    return call


class Generator:
    """Random numbers, the same ones for the same state. Thread-safe.

    Args:
        copy_from: another generator, whose state to start with.
        state: three integers; with `alg`.
        alg: "philox", or 1.

    >>> one, other = Generator.from_seed(5), Generator.from_seed(5)
    >>> bool(one.uniform([]) == other.uniform([])), bool(one.uniform([]) == one.uniform([]))
    (True, False)
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None) -> None:
        self._lock = threading.Lock()
        if copy_from is not None:
            self._words = copy_from.words
            return
        if alg not in _PHILOX:
            raise ValueError(
                f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox "
                "algorithm, threefry for the ThreeFry algorithm, and auto_select for auto-selection."
            )
        self._words = _words(unwrap(state))

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Self:
        """Make a generator from a seed: an integer, or up to three."""
        return cls(state=_seeded(unwrap(seed)), alg="philox" if alg is None else alg)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Self:
        """Make a generator from the state of another."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = "philox") -> Self:
        """Make a generator whose numbers cannot be foreseen."""
        words = [secrets.randbits(64) for _ in range(_WORDS)]
        return cls(state=np.array(words, np.uint64).view(np.int64), alg="philox" if alg is None else alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Self:
        """Make a generator from a key and the two halves of a counter."""
        return cls(state=_keyed(unwrap(key), unwrap(counter)), alg=alg)

    @property
    def words(self) -> tuple[int, int, int]:
        """The state, as integers without sign."""
        with self._lock:
            return self._words

    @property
    def state(self) -> Any:
        """The state: three int64."""
        return wrap(np.array(self.words, np.uint64).view(np.int64))

    @property
    def key(self) -> Any:
        """The last part of the state."""
        return self.state[-1]

    @property
    def algorithm(self) -> int:
        """TensorFlow's number of Philox."""
        return 1

    @_on_tensors
    def reset(self, state: Any) -> None:
        """Go to a state."""
        self._go(_words(state))

    @_on_tensors
    def reset_from_seed(self, seed: Any) -> None:
        """Go to the state that `from_seed` starts with."""
        self._go(_words(_seeded(seed)))

    @_on_tensors
    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Go to the state that `from_key_counter` starts with."""
        self._go(_words(_keyed(key, counter)))

    def _go(self, words: tuple[int, int, int]) -> None:
        with self._lock:
            self._words = words

    @_on_tensors
    def skip(self, delta: Any) -> Any:
        """Skip a number of numbers; return the state before."""
        return np.array(self._skip(int(to_array(delta))), np.uint64).view(np.int64)

    def _skip(self, count: int) -> tuple[int, int, int]:
        note()
        with self._lock:
            low, high, key = before = self._words
            counter = (low | high << 64) + _PER_NUMBER * count
            self._words = counter & _MASK, counter >> 64 & _MASK, key
            return before

    def _take(self, sizes: tuple[int, ...]) -> RandomStream:
        low, high, key = self._skip(math.prod(sizes))
        return RandomStream(key, high, low)

    def _integers(self, shape: Any, dtype: Any) -> Any:
        sizes, _ = tensor_shape(shape)
        drawn = random_numbers.full_integers(self._take(sizes), math.prod(sizes), as_dtype(dtype))
        return drawn.reshape(sizes) if sizes else drawn[0]

    @_on_tensors
    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32") -> Any:
        """Draw numbers that are equally likely; see `values.random.uniform`. None and None are any integers."""
        kind = as_dtype(dtype)
        if kind.kind in "iu" and (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype <dtype: '{kind.name}'>, minval and maxval must be both `None` or both "
                f"non-`None`; got minval={minval} and maxval={maxval}"
            )
        if kind.kind in "iu" and minval is None:
            return self._integers(shape, kind)
        sizes, _ = tensor_shape(shape)
        low, high = as_type(minval, kind), as_type(1 if maxval is None else maxval, kind)
        return from_uniform(self._take(sizes), sizes, low, high, kind)

    @_on_tensors
    def uniform_full_int(self, shape: Any, dtype: Any = "uint64") -> Any:
        """Draw integers of which all bits are random."""
        return self._integers(shape, dtype)

    @_on_tensors
    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32") -> Any:
        """Draw numbers of a normal distribution; see `values.random.normal`."""
        sizes, _ = tensor_shape(shape)
        return from_bell(lambda: self._take(sizes), sizes, mean, stddev, as_dtype(dtype), truncated=False)

    @_on_tensors
    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32") -> Any:
        """Draw numbers of a normal distribution near its mean; see `values.random.truncated_normal`."""
        sizes, _ = tensor_shape(shape)
        return from_bell(lambda: self._take(sizes), sizes, mean, stddev, as_dtype(dtype), truncated=True)

    @_on_tensors
    def make_seeds(self, count: Any = 1) -> Any:
        """Make `count` pairs of seeds, [2, count]."""
        keys = self._integers([int(to_array(count))], "int64")
        return np.stack([keys, np.zeros_like(keys)])

    @_on_tensors
    def split(self, count: Any = 1) -> list[Self]:
        """Make `count` generators that are independent of each other."""
        keys = self._integers([int(to_array(count))], "int64")
        return [type(self)(state=[0, 0, int(key)], alg="philox") for key in keys]


_shared: list[Any] = []


def get_global_generator() -> Any:
    """Return the generator of the whole process, which the first call makes."""
    if not _shared:
        _shared.append(Generator.from_non_deterministic_state())
    return _shared[0]


def set_global_generator(generator: Any) -> None:
    """Use another global generator from now on."""
    _shared[:] = [generator]


def _keyed(key: Any, counter: Any) -> list[int]:
    return [*to_array(counter).tolist(), int(to_array(key))]


def _seeded(seed: Any) -> npt.NDArray[Any]:
    """The state of a seed: an integer's words, lowest first, or as many integers as there are, at the end."""
    if isinstance(seed, int):
        words = [seed >> 64 * number & _MASK for number in range(_WORDS)]
    else:
        given = [int(value) & _MASK for value in to_array(seed).ravel().tolist()[:_WORDS]]
        words = [0] * (_WORDS - len(given)) + given
    return np.array(words, np.uint64).view(np.int64)


def _words(state: Any) -> tuple[int, int, int]:
    array = to_array(state)
    if array.shape != (_WORDS,):
        raise ValueError(f"Shapes {array.shape} and ({_WORDS},) are incompatible")
    low, high, key = (int(value) & _MASK for value in array.tolist())
    return low, high, key
