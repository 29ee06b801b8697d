"""Hashes of strings against published values."""

from __future__ import annotations

from tfrkit.tf.ops.strings.string_hash import _siphash, fingerprint64, to_hash_bucket_fast


def test_siphash_of_its_paper():
    key = 0x0706050403020100, 0x0F0E0D0C0B0A0908
    assert _siphash(bytes(range(15)), *key) == 0xA129CA6149BE45E5
    assert _siphash(b"", *key) == 0x726FDB47DD0E0E31


def test_fingerprint_of_nothing():
    assert fingerprint64(b"") == 0x9AE16A3B2F90404F


def test_buckets_keep_the_shape():
    assert to_hash_bucket_fast([["a", "b"], ["c", "d"]], 10).shape == (2, 2)
