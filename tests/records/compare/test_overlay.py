"""Histograms of two data sets with the same edges."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tfrkit.records.compare.overlay import overlays


@pytest.mark.parametrize(
    ("old", "new", "edges"),
    [
        ([1, 2], [2, 4], [1, 2, 3, 4, 5]),
        ([1.5, 2.5], [3.5], 25),
        ([0] * 500 + [10**12], list(range(500)), 24),
        ([2**63 - 1], [-(2**63)], 25),
    ],
)
def test_edges_cover_both(old, new, edges, tmp_path):
    found = []
    for name, values in (("a", old), ("b", new)):
        with tfr.TFRecordWriter(str(tmp_path / name)) as writer:
            for value in values:
                writer.write_example({"x": value})
        found.append(tfr.stats(str(tmp_path / name)))
    drawn = overlays(*found, is_list=False)["x"]["values"]
    assert (sum(drawn.old), sum(drawn.new)) == (len(old), len(new))
    assert list(drawn.edges) == edges if isinstance(edges, list) else abs(len(drawn.edges) - edges) <= 1


def test_values_of_one_number_or_one_side_are_not_drawn(tmp_path):
    for name, example in (("a", {"x": 1, "only": 2}), ("b", {"x": 1, "t": b"q"})):
        with tfr.TFRecordWriter(str(tmp_path / name)) as writer:
            writer.write_example(example)
    assert overlays(tfr.stats(str(tmp_path / "a")), tfr.stats(str(tmp_path / "b")), is_list=False) == {
        "x": {}
    }
