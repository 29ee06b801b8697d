"""The same job, whatever runs it: shards, manifest, report and progress are those of threads.

Exports are compared in `tests/build/export/test_export_tasks.py`, tables of Hive in `tests/build/tables/hive/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tfrkit as tfr
from tests.build.support.made import left_over, tree
from tests.support import ray as ray_support
from tests.support import spark as spark_support
from tfrkit.build.job.progress import Progress

ENGINES = [
    "processes",
    pytest.param("ray", marks=ray_support.cluster),
    pytest.param("spark", marks=spark_support.cluster),
]


@pytest.fixture
def sources(tmp_path) -> Path:
    """Tables in two formats, one with a line that is none of its columns; photos, one of them broken; shards."""
    rng = np.random.default_rng(3)
    for number in range(12):
        folder = tmp_path / "photos" / f"class {number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 255, (16, 20, 3), np.uint8)
        (folder / f"{number}.png").write_bytes(tfr.image.encode_png(pixels))
    (tmp_path / "photos" / "class 1" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    numbers = pa.table(
        {"n": np.arange(9000), "x": rng.random(9000), "name": [f"row {n}" for n in range(9000)]}
    )
    pq.write_table(numbers, tmp_path / "a.parquet", row_group_size=2000)
    for part in range(3):
        lines = [f"{part * 1000 + row},{row / 8},word {row}" for row in range(500)]
        lines[part * 7] += ",one too many"
        (tmp_path / f"{part}.csv").write_text("\n".join(["id,x,word", *lines, ""]))
    tfr.build.table(tmp_path / "a.parquet", tmp_path / "records", shards=3, compression="GZIP")
    return tmp_path


def table(sources: Path, out: Path, **run: Any) -> Any:
    options: Any = {"shards": 4, "compression": "GZIP", "on_bad": "skip"}
    return tfr.build.table(sources / "*.csv", out, **options, **run)


def table_of_columns(sources: Path, out: Path, **run: Any) -> Any:
    return tfr.build.table(
        sources / "a.parquet", out, where="n >= 1000 and n < 8000", zones=True, shards=3, **run
    )


def shuffled_table(sources: Path, out: Path, **run: Any) -> Any:
    return tfr.build.table(sources / "a.parquet", out, shuffle=True, seed=5, shards=3, **run)


def photos(sources: Path, out: Path, **run: Any) -> Any:
    options: Any = {"split": {"train": 0.7, "test": 0.3}, "size": "8x8", "encoding": "jpeg", "on_bad": "skip"}
    return tfr.build.images(sources / "photos", out, shards=2, **options, **run)


def reshard(sources: Path, out: Path, **run: Any) -> Any:
    return tfr.reshard(sources / "records" / "*.gz", out / "r", shards=5, zones=True, **run)


def shuffle(sources: Path, out: Path, **run: Any) -> Any:
    return tfr.shuffle(sources / "records" / "*.gz", out / "s", shards=2, seed=1, **run)


def webdataset(sources: Path, out: Path, **run: Any) -> Any:
    return tfr.build.export_webdataset(
        sources / "records" / "*.gz", out / "w", shards=4, key_feature="name", **run
    )


def array_record(sources: Path, out: Path, **run: Any) -> Any:
    return tfr.build.export_array_record(
        sources / "records" / "*.gz", out / "a", shards=4, group_size=10, **run
    )


JOBS = [
    table,
    table_of_columns,
    shuffled_table,
    photos,
    reshard,
    shuffle,
    webdataset,
    array_record,
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_shards_manifest_report_and_progress_are_those_of_threads(
    engine: str, job: Callable[..., Any], sources: Path, request: pytest.FixtureRequest
) -> None:
    if engine != "processes":
        request.getfixturevalue(engine)

    def run(name: str) -> tuple[dict[str, Any], Progress]:
        seen: list[Progress] = []
        report = job(sources, sources / name, engine=name, workers=2, progress=seen.append).to_dict()
        assert report["records"] > 0
        return {**report, "folder": "", "seconds": 0}, replace(seen[-1], seconds=0)

    wanted, found = run("threads"), run(engine)
    assert found == wanted
    assert tree(sources / engine) == tree(sources / "threads")
    assert "manifest.json" in tree(sources / engine)
    assert left_over(sources / engine) == []
