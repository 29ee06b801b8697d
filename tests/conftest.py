"""What every test gets: a current native module, quiet TensorFlow, and hypothesis without surprises."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

pytest_plugins = [
    "tests.support.forks",  # bounds what tests fork
    "tests.support.ray",  # a Ray cluster, started when a test asks for it
    "tests.support.servers.fixtures",  # servers, started when a test asks for one
    "tests.support.spark",  # a Spark cluster, likewise
]

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ("*.cc", "*.h", "CMakeLists.txt", "*.cmake")

# Before TensorFlow is imported: no banners, no looking for graphics cards.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

# Indexes of remote files are kept in the cache folder: one that ends with the tests.
_cache = tempfile.TemporaryDirectory(prefix="tfrkit-cache-")
os.environ["TFRKIT_CACHE"] = _cache.name

# On a shared machine a deadline fails for reasons that are not ours; in CI the same inputs every time.
hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")

# A shell that runs the tests in the background has them ignore interrupts, and so would all their processes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    """Refuse to test a native module that is older than its source."""
    stamp = Path(sys.prefix) / ".stamp-tfrkit"
    if not stamp.exists():
        return  # not the environment that make keeps
    built = stamp.stat().st_mtime
    sources = [ROOT / "CMakeLists.txt", *(path for glob in NATIVE for path in (ROOT / "src").rglob(glob))]
    sources = [path for path in sources if path.exists() and not path.name.endswith("_test.cc")]
    newer = [path for path in sources if path.stat().st_mtime > built]
    if newer:
        pytest.exit(f"{newer[0].relative_to(ROOT)} is newer than the installed tfrkit; run `make install`", 4)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests that fork first and those that import TensorFlow last: what forks should be small."""
    order = {"robustness": 0, "oracle": 2}
    items.sort(key=lambda item: order.get(item.path.relative_to(ROOT).parts[1], 1))


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of garbage collections, which would look at all of them each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_global_seed() -> Iterator[None]:
    """Take back the global seed that a test or a page of the docs has set, in tfrkit and in TensorFlow."""
    yield
    seeds = sys.modules.get("tfrkit.values.seeds")
    if seeds is not None:
        seeds.set_seed(None)
    theirs = sys.modules.get("tensorflow.python.eager.context")
    if theirs is not None and theirs.global_seed() is not None:
        sys.modules["tensorflow"].random.set_seed(None)
