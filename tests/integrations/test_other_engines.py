"""The recipes of docs/other-engines.md for engines that want older packages than the other tests have.

`make test-engines`, which `make test` runs, has an environment with these engines.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tfrkit as tfr
from tests.support.apart import run_apart
from tests.support.pages import ROOT, blocks_of

PAGE = ROOT / "docs" / "other-engines.md"
ENGINES = ("beam", "daft", "pandas")


def test_every_kind_of_block_is_run_somewhere():
    kinds = {block.info for block in blocks_of(PAGE.read_text("utf-8"))}
    assert kinds == {"python", *(f"python {kind}" for kind in ENGINES)}


@pytest.mark.engines
@pytest.mark.parametrize("kind", ENGINES)
def test_recipe_runs(kind, tmp_path):
    code = f"""
import pathlib
from tests.support.pages import run_page
if __name__ == "__main__":
    run_page(pathlib.Path({str(PAGE)!r}), ("python", "python {kind}"))
    print(1)
"""
    environment = {
        "TFRKIT_CACHE": str(tmp_path / "cache"),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    assert run_apart(code, tmp_path, warnings="default", **environment) == 1


def test_dask_reads_in_other_processes(tmp_path):
    import dask.dataframe as dd

    rows = np.arange(100_000)
    with tfr.ShardWriter(tmp_path / "n", shards=3) as writer:
        writer.write_batch({"n": rows, "name": ["a name of some bytes" * 5] * len(rows)})
    scan = tfr.scan(tmp_path / "n-*.tfrecord", where="n < 70000")
    frame = dd.from_map(tfr.Scan.to_pandas, scan.parts(3), meta=scan.schema.empty_table().to_pandas())
    assert frame.npartitions > 1
    found = frame.n.compute(scheduler="processes", num_workers=2)
    assert sorted(found) == list(range(70_000))
