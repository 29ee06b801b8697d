"""Count the functions that batches of a shuffled, parsed, prefetched pipeline go through.

python tools/count_walk.py           the number of functions and files
python tools/count_walk.py --list    and which they are

What thirty calls of `next` of a running pipeline call counts, in all threads; special methods and properties, which are
not steps of the walk, and what has no name (comprehensions, lambdas) do not. Whether a call reads a block, or finds its
batch ready, is a matter of timing: what any of some pipelines calls counts.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import tfrkit as tfr

PACKAGE = str(Path(tfr.__file__).parent)
SPEC: dict[str, Any] = {"label": tfr.FixedLenFeature([], "int64"), "ids": tfr.VarLenFeature("int64")}
RECORDS = 5000
CALLS = 30
PIPELINES = 6


def functions_of(call: Callable[[], Any]) -> set[tuple[str, str]]:
    """The functions of tfrkit that a call goes through, in all threads, as file and qualified name."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    ours = {
        (code.co_filename[len(PACKAGE) + 1 :], code.co_qualname) for code in found.copy() if _is_ours(code)
    }
    return {each for each in ours if not _is_property(*each)}


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(PACKAGE) and not code.co_name.startswith(("<", "__"))


def _is_property(file: str, name: str) -> bool:
    owner, _, attribute = name.partition(".")
    module = importlib.import_module("tfrkit." + file.removesuffix(".py").replace("/", "."))
    return isinstance(vars(module).get(owner), type) and isinstance(
        vars(vars(module)[owner]).get(attribute), property
    )


def walk() -> set[tuple[str, str]]:
    """The functions of the first walk of docs/architecture.md, once it is under way."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.tfrecord"
        with tfr.TFRecordWriter(path) as writer:
            for number in range(RECORDS):
                writer.write_example({"label": number, "ids": [number] * (number % 3)})
        return set[tuple[str, str]]().union(*(_walk_of(path) for _ in range(PIPELINES)))


def _walk_of(path: str) -> set[tuple[str, str]]:
    iterator = iter(tfr.TFRecordDataset(path).shuffle(1000, seed=1).parse(SPEC).batch(64).prefetch(2))
    for _ in range(3):
        next(iterator)
    try:
        return functions_of(lambda: [next(iterator) for _ in range(CALLS)])
    finally:
        iterator.close()


def main() -> None:
    """Print the numbers."""
    found = walk()
    if "--list" in sys.argv:
        for file, name in sorted(found):
            print(f"{file}: {name}")
    print(f"{len(found)} functions in {len({file for file, _ in found})} files")


if __name__ == "__main__":
    main()
