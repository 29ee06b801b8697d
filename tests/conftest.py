"""What every test gets: a current native module, quiet TensorFlow, and hypothesis without surprises."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

pytest_plugins = [
    "tests.support.forks",  # bounds what tests fork
    "tests.support.hangs",  # shows where a worker stood that crashed or was ended
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


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Fail a test that leaves something behind which would trouble those after it."""
    _check_threads()
    _check_windows()


def _check_threads() -> None:
    """What the bounded pool does comes to an end by itself: a thread that waits for ever is missing from then on."""
    threads = sys.modules.get("tfrkit.threads")
    pool = threads._pools.get(os.getpid(), (None,))[0] if threads is not None else None
    if pool is None or len(pool._idle) == len(pool._threads):
        return
    deadline = time.monotonic() + 30
    while len(pool._idle) < len(pool._threads) and time.monotonic() < deadline:
        time.sleep(0.001)
    if len(pool._idle) < len(pool._threads):
        frames = sys._current_frames()
        stuck = [each for each in pool.threads() if each.ident in frames]
        stacks = ["".join(traceback.format_stack(frames[each.ident])) for each in stuck]
        threads._pools.clear()  # the next tests are not to blame
        pytest.fail(
            "threads of the pool are still at work after this test:\n" + "\n".join(stacks), pytrace=False
        )


def _check_windows() -> None:
    """Windows of remote files must not be held: whatever a test has read is to be closed or gone."""
    remote = sys.modules.get("tfrkit.stores.remote_source")
    if remote is None or not remote._budget.held:
        return
    gc.collect()
    deadline = time.monotonic() + 30  # for requests that are under way, on a busy machine
    while remote._budget.held and time.monotonic() < deadline:
        time.sleep(0.01)
    if held := remote._budget.held:
        remote._renew_budget()  # the next tests are not to blame, whenever these bytes are let go
        pytest.fail(f"{held} bytes of remote files are still held after this test", pytrace=False)
