"""The code in the documentation runs, and its links lead somewhere.

Every block that is fenced as `python` is run, those of one file in order and in one namespace, in an empty
folder. A block fenced as `python s3`, `python azure`, `python gs` or `python http` is run with a server of that kind,
which has `my-bucket` or `my-container`; one fenced as `python ray` with a cluster, one fenced as `python spark` while a
Spark session is active. Blocks of docs/other-engines.md that are fenced as `python beam`, `python daft` or
`python pandas` are run by tests/integrations/test_other_engines.py. A block fenced as `python skip` is not run: it
shows another program, or something that does not end.
"""

from __future__ import annotations

import dataclasses
import doctest
import re

import pytest

from tests.support import ray as ray_support
from tests.support import spark as spark_support
from tests.support.apart import run_apart
from tests.support.pages import (
    FENCE,
    PAGES,
    ROOT,
    WITH_CODE,
    WITH_RECORDINGS,
    Block,
    blocks_of,
    imports_jax,
    page_name,
    run_block,
)
from tfrkit.stores.object_config import configure_store
from tfrkit.testing.reference import frames

LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
TWO_RECORDS = frames([b"one", b"two"])
APART = [page for page in WITH_CODE if imports_jax(page)]
# Pages with recordings run with these.
ALONE = [page for page in WITH_CODE if page not in WITH_RECORDINGS and page not in APART]
ELSEWHERE = {"skip", "beam", "daft", "pandas"}
CLUSTERS = {"docs/ray.md": ray_support.cluster, "docs/spark-and-hive.md": spark_support.cluster}


@pytest.fixture
def s3_of_page(s3_server, monkeypatch):
    """A bucket that is found through the environment, as most users have it."""
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
    s3_server.bucket("my-bucket")


@pytest.fixture
def azure_of_page(azure_server):
    azure_server.container("my-container")
    configure_store("az://my-container", **azure_server.options())


@pytest.fixture
def gs_of_page(google_server):
    google_server.bucket("my-bucket")
    google_server.put("my-bucket", "train-00000-of-00001.tfrecord", TWO_RECORDS)
    configure_store("gs://my-bucket", **google_server.options(anonymous=True))


@pytest.fixture
def http_of_page(http_server):
    """What the page calls data.example.com."""
    for number in range(2):
        http_server.files[f"train-{number:05d}-of-00002.tfrecord"] = TWO_RECORDS
    return {"https://data.example.com": http_server.url}


@pytest.fixture
def ray_of_page(ray):
    """Nothing is called otherwise: the process is connected."""


@pytest.fixture
def spark_of_page(spark):
    """The session that the page's first block would make."""
    return {'SparkSession.builder.master("local[4]").': "SparkSession.builder."}


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=CLUSTERS.get(page_name(page), ()), id=page_name(page)) for page in ALONE],
)
def test_code_of_page_runs(page, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text("utf-8")):
        language, _, kind = block.info.partition(" ")
        if language != "python" or kind in ELSEWHERE:
            continue
        code = block.code
        if kind:
            for written, meant in (request.getfixturevalue(f"{kind}_of_page") or {}).items():
                code = code.replace(written, meant)
        run_block(dataclasses.replace(block, code=code), page_name(page), namespace)


@pytest.mark.parametrize("page", APART, ids=page_name)
def test_code_of_page_runs_in_a_process_of_its_own(page, tmp_path):
    code = f"import pathlib\nfrom tests.support.pages import run_page\nrun_page(pathlib.Path({str(page)!r}))\nprint(1)"
    assert run_apart(code, tmp_path, TFRKIT_CACHE=str(tmp_path / "cache"), JAX_PLATFORMS="cpu") == 1


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_of_page_lead_to_files(page):
    text = FENCE.sub("", page.read_text("utf-8"))
    targets = {found["target"].split("#")[0] for found in LINK.finditer(text)}
    local = {
        target for target in targets if target and "://" not in target and not target.startswith("mailto:")
    }
    missing = sorted(target for target in local if not (page.parent / target).exists())
    assert not missing


def test_readme_has_code():
    assert ROOT / "README.md" in WITH_CODE


def test_blocks_know_their_lines():
    text = "a\n\n```python\nx = 1\ny = 2\n```\n\n```bash\nmake\n```\n```python skip\nz\n```\n"
    assert blocks_of(text) == [
        Block("python", "x = 1\ny = 2\n", 4),
        Block("bash", "make\n", 9),
        Block("python skip", "z\n", 12),
    ]


def test_error_in_a_block_names_the_line_of_the_page():
    with pytest.raises(ZeroDivisionError) as caught:
        run_block(Block("python", "x = 1\nx / 0\n", 40), "page.md", {})
    assert caught.traceback[-1].lineno == 40  # counted from 0


def test_examples_of_a_session_are_compared():
    namespace: dict[str, object] = {}
    run_block(Block("python", ">>> x = 2\n>>> x\n2\n", 1), "page.md", namespace)
    assert namespace["x"] == 2
    with pytest.raises(doctest.DocTestFailure):
        run_block(Block("python", ">>> x\n3\n", 1), "page.md", namespace)
