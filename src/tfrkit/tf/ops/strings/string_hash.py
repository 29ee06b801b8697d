"""Hashes of strings as bucket numbers: FarmHash's Fingerprint64.

It is a published function on bytes, whose values never change. TensorFlow's other two hashes are not here.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.tf.ops.strings.string_values import map_strings

__all__ = ["fingerprint64", "to_hash_bucket_fast"]

_M: Final = 2**64 - 1
_K0: Final = 0xC3A5C85C97CB3127
_K1: Final = 0xB492B66FBE98F273
_K2: Final = 0x9AE16A3B2F90404F


def to_hash_bucket_fast(input: Any, num_buckets: int) -> Any:
    """Return the bucket number of each string: FarmHash's Fingerprint64 modulo `num_buckets`.

    >>> to_hash_bucket_fast(["a", "b"], 1000).tolist()
    [939, 822]
    """
    count = _buckets(num_buckets)
    return map_strings(
        input,
        lambda texts: [fingerprint64(text) % count for text in texts],
        np.int64,
        "StringToHashBucketFast",
    )


def _buckets(count: Any) -> int:
    number = int(count)
    if number < 1:
        raise InvalidArgumentError(f"Value for attr 'num_buckets' of {number} must be at least minimum 1")
    return number


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _half(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _right(value: int, bits: int) -> int:
    """Rotate to the right."""
    return (value >> bits | value << (64 - bits)) & _M


def _mix(value: int) -> int:
    return value ^ value >> 47


def _pair(low: int, high: int, multiplier: int) -> int:
    """Two words as one."""
    first = _mix((low ^ high) * multiplier & _M)
    second = _mix((high ^ first) * multiplier & _M)
    return second * multiplier & _M


def fingerprint64(data: bytes) -> int:
    """Return FarmHash's Fingerprint64 of a byte string.

    >>> hex(fingerprint64(b""))
    '0x9ae16a3b2f90404f'
    """
    size = len(data)
    if size <= 16:
        return _upto_16(data, size)
    if size <= 32:
        return _ends_mixed(data, size)[2]
    if size <= 64:
        return _upto_64(data, size)
    return _longer(data, size)


def _upto_16(data: bytes, size: int) -> int:
    if size >= 8:
        multiplier = _K2 + size * 2
        first = (_word(data, 0) + _K2) & _M
        second = _word(data, size - 8)
        third = (_right(second, 37) * multiplier + first) & _M
        fourth = ((_right(first, 25) + second) & _M) * multiplier & _M
        return _pair(third, fourth, multiplier)
    if size >= 4:
        return _pair((size + (_half(data, 0) << 3)) & _M, _half(data, size - 4), _K2 + size * 2)
    if size:
        low = data[0] + (data[size >> 1] << 8)
        high = size + (data[size - 1] << 2)
        return _mix((low * _K2 ^ high * _K0) & _M) * _K2 & _M
    return _K2


def _ends_mixed(data: bytes, size: int) -> tuple[int, int, int]:
    """Mix the first and the last 16 bytes; the last number is the hash of at most 32 bytes."""
    multiplier = _K2 + size * 2
    first = _word(data, 0) * _K2 & _M if size > 32 else _word(data, 0) * _K1 & _M
    second = _word(data, 8)
    third = _word(data, size - 8) * multiplier & _M
    fourth = _word(data, size - 16) * _K2 & _M
    low = (_right((first + second) & _M, 43) + _right(third, 30) + fourth) & _M
    high = (first + _right((second + _K2) & _M, 18) + third) & _M
    return first, low, _pair(low, high, multiplier)


def _upto_64(data: bytes, size: int) -> int:
    multiplier = _K2 + size * 2
    a, y, z = _ends_mixed(data, size)
    e = _word(data, 16) * multiplier & _M
    f = _word(data, 24)
    g = (y + _word(data, size - 32)) * multiplier & _M
    h = (z + _word(data, size - 24)) * multiplier & _M
    low = (_right((e + f) & _M, 43) + _right(g, 30) + h) & _M
    return _pair(low, (e + _right((f + a) & _M, 18) + g) & _M, multiplier)


def _weak(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Two words of 32 bytes and two seeds."""
    w, x, y, z = (_word(data, at + step) for step in (0, 8, 16, 24))
    a = (a + w) & _M
    b = _right((b + a + z) & _M, 21)
    before = a
    a = (a + x + y) & _M
    b = (b + _right(a, 44)) & _M
    return (a + z) & _M, (b + before) & _M


_State = tuple[int, int, int, tuple[int, int], tuple[int, int]]


def _longer(data: bytes, size: int) -> int:
    seed = 81
    y = (seed * _K1 + 113) & _M
    z = _mix((y * _K2 + 113) & _M) * _K2 & _M
    state: _State = ((seed * _K2 + _word(data, 0)) & _M, y, z, (0, 0), (0, 0))
    for at in range(0, (size - 1) // 64 * 64, 64):
        state = _block(data, at, state, _K1, 1)
    x, y, z, v, w = state
    multiplier = (_K1 + ((z & 0xFF) << 1)) & _M
    w = ((w[0] + (size - 1 & 63)) & _M, w[1])
    v = ((v[0] + w[0]) & _M, v[1])
    w = ((w[0] + v[0]) & _M, w[1])
    # The last 64 bytes, which may overlap those before.
    x, y, z, v, w = _block(data, size - 64, (x, y, z, v, w), multiplier, 9)
    low = (_pair(v[0], w[0], multiplier) + _mix(y) * _K0 + z) & _M
    return _pair(low, (_pair(v[1], w[1], multiplier) + x) & _M, multiplier)


def _block(data: bytes, at: int, state: _State, multiplier: int, weight: int) -> _State:
    """Mix 64 bytes into the state."""
    x, y, z, v, w = state
    x = _right((x + y + v[0] + _word(data, at + 8)) & _M, 37) * multiplier & _M
    y = _right((y + v[1] + _word(data, at + 48)) & _M, 42) * multiplier & _M
    x ^= w[1] * weight & _M
    y = (y + v[0] * weight + _word(data, at + 40)) & _M
    z = _right((z + w[0]) & _M, 33) * multiplier & _M
    v = _weak(data, at, v[1] * multiplier & _M, (x + w[0]) & _M)
    w = _weak(data, at + 32, (z + w[1]) & _M, (y + _word(data, at + 16)) & _M)
    return z, y, x, v, w
