"""There and back: exported records are built into the same records again."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit
from tests.build.export_samples import EXAMPLES, write
from tfrkit.build import export, table


@pytest.mark.parametrize("form", ["parquet", "arrow", "jsonl"])
def test_examples_are_built_again_byte_by_byte(tmp_path, form):
    named = {name or "no name": column for name, column in EXAMPLES.items()}
    source = write(tmp_path / "a.tfrecord", named)
    export(source, tmp_path / f"a.{form}")
    report = table(tmp_path / f"a.{form}", tmp_path / "out")
    assert (report.records, report.bad) == (4, {})
    assert list(tfrkit.read_records(f"{tmp_path}/out/*.tfrecord")) == list(tfrkit.read_records(source))


def test_exports_of_several_shards_are_built_together(tmp_path):
    for number in range(2):
        write(tmp_path / f"{number}.tfrecord", {"x": np.ones((1, 2 * number), np.int64), str(number): ["a"]})
    export(f"{tmp_path}/*.tfrecord", tmp_path / "lines", "jsonl")
    table(tmp_path / "lines", tmp_path / "out", shards=1)
    again = list(tfrkit.read_records(f"{tmp_path}/out/*.tfrecord"))
    assert again == list(tfrkit.read_records(f"{tmp_path}/?.tfrecord"))
