"""Resume many pipelines in a process of its own: `python -m tests.data.support.resume FOLDER TASKS RESULTS`.

TASKS is a JSON list of [kind, seed, state, threads]; RESULTS is written by pickle: what each pipeline still gives.
"""

from __future__ import annotations

import json
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import tfrkit as tfr
from tests.data.support.calls import outcomes
from tests.data.support.chains import Chain, build
from tests.data.support.random_features import make_feature_chain
from tests.data.support.random_pipelines import make_chain
from tests.data.support.spaces import tfrkit_space

__all__ = ["KINDS", "dataset_of", "made", "resumed", "started"]

KINDS = {"any": make_chain, "features": make_feature_chain}


def made(kind: str, seed: int) -> Chain:
    """The chain of a task."""
    return KINDS[kind](seed)


def dataset_of(kind: str, seed: int, folder: Path, threads: int | None = None) -> Any:
    """Build it, to run on so many threads."""
    dataset = build(made(kind, seed), tfrkit_space(), folder)
    return dataset if threads is None else dataset.with_options(tfr.Options(threads=threads))


def started(kind: str, seed: int, folder: Path, state: Any, threads: int | None = None) -> Any:
    """An iterator from a state; what is lost of files on the way was told before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
        return dataset_of(kind, seed, folder, threads).iter_from(state)


def resumed(kind: str, seed: int, folder: Path, state: Any, threads: int) -> list[Any]:
    """What comes from a state on."""
    try:
        return outcomes(started(kind, seed, folder, state, threads))
    except Exception as error:
        return [f"cannot resume: {error!r}"]


def main() -> None:
    """Run all tasks."""
    folder, tasks, results = map(Path, sys.argv[1:])
    work = json.loads(tasks.read_text())
    found = [resumed(kind, seed, folder, state, threads) for kind, seed, state, threads in work]
    results.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
