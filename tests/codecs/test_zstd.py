from __future__ import annotations

import sys

import pytest
import zstandard

from tfrkit.codecs.zstd import ZSTD
from tfrkit.errors import MissingExtraError

DATA = b"some data " * 1000


@pytest.mark.parametrize("level", [ZSTD.default_level, *ZSTD.levels])
def test_other_programs_read_what_is_written(level):
    encoder = ZSTD.encoder(level)
    packed = encoder.compress(DATA) + encoder.flush()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed) == DATA


def test_without_zstandard_the_error_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError) as caught:
        ZSTD.encoder(3)
    assert str(caught.value) == (
        "Writing ZSTD needs the package zstandard, which is not installed. "
        "Install it with: pip install 'tfrkit[zstd]'"
    )
    assert isinstance(caught.value, ImportError)
