"""Hashes of strings against published values."""

from __future__ import annotations

from tfrkit.tf.ops.strings.string_hash import fingerprint64, to_hash_bucket_fast


def test_fingerprint_of_nothing():
    assert fingerprint64(b"") == 0x9AE16A3B2F90404F


def test_buckets_keep_the_shape():
    assert to_hash_bucket_fast([["a", "b"], ["c", "d"]], 10).shape == (2, 2)
