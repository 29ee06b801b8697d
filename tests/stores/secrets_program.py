"""What `test_secrets.py` runs: many operations and failures in one process, showing everything that can be shown."""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import tfrkit as tfr
from tfrkit.cli.main import run
from tfrkit.stores import object_config, object_requests
from tfrkit.stores.files import (
    create,
    file_info,
    find_files,
    is_there,
    list_names,
    open_source,
    read_bytes,
    remove,
    write_bytes,
)

# Failures that last are to be reported soon.
object_requests._ATTEMPTS = 2  # type: ignore[misc]
object_config._RETRIES = 0  # type: ignore[misc]
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
warnings.simplefilter("always")
counts = {"done": 0, "failed": 0}


def attempt(what: str, work: Callable[[], Any]) -> Any:
    """Do something, and show what became of it in every way in which a program may."""
    print("--", what, flush=True)
    try:
        result = work()
    except (Exception, SystemExit) as error:
        counts["failed"] += 1
        traceback.print_exc()
        print(str(error), repr(error), error.args, getattr(error, "path", ""), vars(error))
        logging.getLogger("program").exception("failed")
        warnings.warn(str(error), stacklevel=1)
        return None
    counts["done"] += 1
    print(repr(result)[:2000], str(result)[:2000])
    return result


def library(url: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield operations of the library on one URL."""
    folder = url.partition("?")[0].rpartition("/")[0]
    yield "read_blocks", lambda: sum(len(block) for block in tfr.read_blocks(url))
    yield "cached", lambda: sum(len(block) for block in tfr.read_blocks(url, cache=True))
    yield "cached again", lambda: tfr.read_blocks(url, cache=True)
    yield "read_records", lambda: next(iter(tfr.read_records(url)))
    yield "skip", lambda: len(list(tfr.read_records(url, on_corrupt="skip")))
    yield "stop", lambda: len(list(tfr.read_records(url, on_corrupt="stop", compression="GZIP")))
    yield "read_examples", lambda: len(list(tfr.read_examples(url)))
    yield "dataset", lambda: show_dataset(tfr.TFRecordDataset(url).batch(10))
    yield (
        "RecordFile",
        lambda: [tfr.RecordFile(url), tfr.RecordFile(url)[3], tfr.RecordFile(url).take([1, 5])],
    )
    yield "stats", lambda: tfr.stats(url)
    yield "diff", lambda: tfr.diff(url, url, compare="statistics")
    yield "inspect", lambda: tfr.inspect(url, 10)
    yield "verify", lambda: tfr.verify(url)
    yield "repair", lambda: tfr.repair(url, "repaired.tfrecord")
    yield "build_index", lambda: tfr.build_index(url)
    yield "file_info", lambda: file_info(url)
    yield "is_there", lambda: is_there(url)
    yield "source", lambda: [open_source(url), open_source(url, cache=True), open_source(url).name]
    yield "glob", lambda: find_files(folder + "/*.tfrecord")
    yield "names", lambda: list_names(folder)
    yield "write", lambda: write_some(url + ".new")
    yield "create", lambda: create(url + ".made").close()
    yield "write_bytes", lambda: write_bytes(url + ".small", b"x", expected="nothing of the kind")
    yield "remove", lambda: remove(url + ".small")
    yield "shards", lambda: write_shards(folder + "/shards/train")
    yield "reshard", lambda: tfr.reshard(url, "resharded", shards=2, overwrite=True)
    yield "not records", lambda: list(tfr.read_records(url, compression="ZLIB"))


def show_dataset(dataset: Any) -> list[Any]:
    """Look at a pipeline in every way."""
    iterator = iter(dataset)
    first = next(iterator)
    return [dataset, dataset.explain(), iterator, iterator.state(), len(first), str(dataset.profile(0.1))]


def write_some(url: str) -> Any:
    """Write a file through the writer."""
    with tfr.TFRecordWriter(url) as writer:
        writer.write_many([b"x"] * 10)
        return writer


def write_shards(url: str) -> Any:
    """Write a set of shards."""
    with tfr.ShardWriter(url, shards=2) as writer:
        writer.write(b"x")
        return writer


def commands(url: str) -> Iterator[list[str]]:
    """Yield command lines on one URL."""
    folder = url.partition("?")[0].rpartition("/")[0]
    for name in ("head", "cat", "count", "schema", "stats", "verify", "index"):
        yield [name, url]
        yield ["-v", name, url]
    yield ["count", "--json", url]
    yield ["verify", "--json", url]
    yield ["stats", "--json", url]
    yield ["diff", "--json", url, url]
    yield ["diff", url, url, "--compare", "statistics"]
    yield ["repair", url, "mended.tfrecord"]
    for name in ("reshard", "merge", "shuffle", "compress"):
        yield [name, url, f"out-{name}", "--overwrite"]
    yield ["reshard", "-v", url, folder + "/resharded"]
    yield ["sample", url, "sampled", "--count", "3"]
    yield ["export", "csv", url, "exported.csv"]
    yield ["build", "table", url, "built"]
    yield ["build", "images", folder, "built-images"]
    yield ["head", folder + "/*.tfrecord"]
    yield ["cache"]
    yield ["cache", "--json"]
    yield ["nonsense", url]
    yield ["head", "--nonsense", url]


def changed(url: str, how: Callable[[], Any]) -> Any:
    """Read a file that is changed in the middle."""
    blocks = iter(tfr.read_blocks(url, threads=1, block_bytes=1 << 16))
    next(blocks)
    how()
    return sum(len(block) for block in blocks)


def main() -> None:
    """Do all of it for each place; the places come through the environment, as secrets do."""
    given = json.loads(os.environ["PLACES"])
    for base, options in given["configure"].items():
        attempt("configure", lambda base=base, options=options: tfr.configure_store(base, **options))
    for number, (url, use_commands) in enumerate(given["urls"]):
        print("==", number, flush=True)
        for what, work in library(url):
            attempt(what, work)
        for command in commands(url) if use_commands else ():
            attempt(f"tfr {command[0]}", lambda command=command: run(command))
    for url in given["changing"]:
        data = read_bytes(url)
        attempt("changed", lambda url=url, data=data: changed(url, lambda: write_bytes(url, data[::-1])))
        attempt("deleted", lambda url=url: changed(url, lambda: remove(url)))
    print(counts)


main()
