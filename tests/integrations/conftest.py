from __future__ import annotations

from collections import Counter

import pytest

from tfrkit.scanning.columns import ScanParser


@pytest.fixture
def decoded(monkeypatch):
    """How many values of each column were decoded: what a pushdown is about."""
    counts = Counter()
    parse = ScanParser.parse

    def counting(self, blocks, threads):
        chunk = parse(self, blocks, threads)
        counts.update({column.name: chunk.rows for column in self.columns})
        return chunk

    monkeypatch.setattr(ScanParser, "parse", counting)
    return counts
