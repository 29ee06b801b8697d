from __future__ import annotations

import lzma

import pytest

from tfrkit.codecs.xz import XZ

DATA = b"some data " * 1000


@pytest.mark.parametrize("level", [XZ.default_level, *XZ.levels])
def test_other_programs_read_what_is_written(level):
    encoder = XZ.encoder(level)
    assert lzma.decompress(encoder.compress(DATA) + encoder.flush()) == DATA
