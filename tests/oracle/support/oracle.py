"""The same input through TensorFlow and through tfrkit: what each gives, in a form that can be compared.

TensorFlow is imported when first needed, once per process. An outcome is a record, or a failure that keeps the name
of its class and its text; TensorFlow's texts are freed of what eager execution puts round them.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import gc
import importlib
import os
import re
import resource
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tfrkit as tfr

# TensorFlow's inflating reader works in input and output windows of this many bytes.
WINDOW = 262_144
COMPRESSIONS = ("", "ZLIB", "GZIP")
_FORKS, _FORK_SECONDS = 4, 20  # see signal_of
_DECORATED = re.compile(r"\{\{function_node [^}]*\}\} (.*) \[Op:\w+\](?: name: [\w/]*)?", re.DOTALL)


class Failure(NamedTuple):
    """An exception that came instead of a record."""

    name: str
    message: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Take class name and text; TensorFlow's without decoration."""
        return cls(type(error).__name__, undecorated(str(getattr(error, "message", error))))


Outcome = bytes | Failure


def undecorated(message: str) -> str:
    """The core of a message, without what eager execution puts round it."""
    decorated = _DECORATED.fullmatch(message)
    return decorated[1] if decorated else message


@functools.cache
def tensorflow() -> Any:
    """Import TensorFlow quietly."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module("tensorflow")
        module.get_logger().setLevel("ERROR")
        module.constant(0)
    gc.collect()  # what is garbage now would never be found any more
    gc.freeze()  # a collection is 100 times quicker when it need not look at all that TensorFlow is made of
    return module


def tf_writer(path: object, options: Any = None) -> Any:
    """TensorFlow's TFRecordWriter."""
    return tensorflow().io.TFRecordWriter(path, options)


def our_writer(path: Any, options: Any = None) -> tfr.TFRecordWriter:
    """tfrkit's TFRecordWriter, under TensorFlow's policy."""
    return tfr.TFRecordWriter(path, options, policy=tfr.TENSORFLOW)


def tf_iterator(path: object, options: Any = None) -> Any:
    """TensorFlow's tf_record_iterator."""
    return tensorflow().compat.v1.io.tf_record_iterator(path, options)


def attempt(call: Callable[[], Any]) -> Any:
    """Give what the call gives, or the failure it ends in; StopIteration counts as one."""
    try:
        return call()
    except Exception as error:
        return Failure.of(error)


def drain(give: Callable[[], Any], patience: int = 2) -> list[Any]:
    """Call until StopIteration, on through failures; so many repeated failures in a row are taken for endless."""
    outcomes: list[Any] = []
    repeats = 0
    while repeats < patience:
        try:
            outcome = give()
        except StopIteration:
            break
        except Exception as error:
            outcome = Failure.of(error)
        repeats = repeats + 1 if isinstance(outcome, Failure) and outcomes[-1:] == [outcome] else 0
        outcomes.append(outcome)
    return outcomes


def _names(paths: Path | Sequence[Path]) -> list[str]:
    return [str(path) for path in ([paths] if isinstance(paths, Path) else paths)]


def tf_results(
    paths: Path | Sequence[Path], compression: str = "", *, buffer_size: int | None = None, skip: int = 0
) -> list[Outcome]:
    """Read with TFRecordDataset, one element at a time, on through errors."""
    dataset = tensorflow().data.TFRecordDataset(_names(paths), compression, buffer_size=buffer_size)
    if skip:
        dataset = dataset.skip(skip)
    elements = iter(dataset)
    return drain(lambda: next(elements).numpy(), patience=2 + len(_names(paths)))


def our_results(
    paths: Path | Sequence[Path], compression: str = "", *, skip: int = 0, quiet: bool = True, **options: Any
) -> list[Outcome]:
    """Read with `read_records` under TensorFlow's policy, one element at a time, on through errors.

    Args:
        paths: one file or several.
        compression: TensorFlow's type string.
        skip: records to skip first. As in TensorFlow, a skip that fails starts afresh in the next file: all of it.
        quiet: let DataLossWarning pass; otherwise whoever calls must expect it.
        options: for `read_records`.
    """
    with _quietly(quiet):
        records = tfr.read_records(_names(paths), policy=tfr.TENSORFLOW, compression=compression, **options)
        waiting = [skip] if skip else []

        def give() -> bytes:
            if waiting:
                records.skip(waiting[0])
                waiting.clear()
            return next(records)

        return drain(give, patience=2 + len(_names(paths)))


def our_block_results(paths: Path | Sequence[Path], compression: str = "", **options: Any) -> list[Outcome]:
    """Read with `read_blocks` under TensorFlow's policy; the blocks are cut into records."""
    outcomes: list[Outcome] = []
    with _quietly(True):
        blocks = iter(
            tfr.read_blocks(_names(paths), policy=tfr.TENSORFLOW, compression=compression, **options)
        )
        for outcome in drain(lambda: next(blocks), patience=2 + len(_names(paths))):
            outcomes += [outcome] if isinstance(outcome, Failure) else outcome.to_list()
    return outcomes


@contextlib.contextmanager
def _quietly(quiet: bool) -> Iterator[None]:
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
        yield


def explain_difference(ours: Sequence[Any], theirs: Sequence[Any]) -> str:
    """Say where tfrkit's outcomes leave TensorFlow's, or '' if nowhere.

    A failure agrees if the class has the same name and the text begins with TensorFlow's, up to the end of a word.
    """
    for number, (our, their) in enumerate(zip(ours, theirs, strict=False)):
        if isinstance(our, Failure) and isinstance(their, Failure) and _agrees(our, their):
            continue
        if our != their:
            return f"outcome {number}: tfrkit {_short(our)}, TensorFlow {_short(their)}"
    if len(ours) != len(theirs):
        first = min(len(ours), len(theirs))
        rest = ours[first] if len(ours) > first else theirs[first]
        return f"tfrkit gives {len(ours)} outcomes, TensorFlow {len(theirs)}; the first extra one: {_short(rest)}"
    return ""


def assert_same(ours: Sequence[Any], theirs: Sequence[Any], what: str = "") -> None:
    """Fail with the first difference, if there is one."""
    difference = explain_difference(ours, theirs)
    assert not difference, f"{what}: {difference}" if what else difference


def _agrees(ours: Failure, theirs: Failure) -> bool:
    rest = ours.message[len(theirs.message) :]
    begins = ours.message.startswith(theirs.message)
    return ours.name == theirs.name and begins and not re.match(r"\w| ?\(Is this|' failed with", rest)


def _short(outcome: object) -> str:
    text = repr(outcome)
    return text if len(text) <= 200 else f"{text[:200]}... ({len(text)} characters)"


def signal_of(call: Callable[[], object]) -> int:
    """Run the call in a forked child and give the signal that ended it, 0 if none did.

    A child that waits for a lock which a thread of TensorFlow held at the fork says nothing about the call: it is
    ended after a while, and another one is forked.
    """
    for _ in range(_FORKS):
        found = _signal_of_child(call)
        if found != signal.SIGALRM:
            return found
    raise AssertionError(f"none of {_FORKS} children came to an end within {_FORK_SECONDS} s")


def _signal_of_child(call: Callable[[], object]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # forking beside TensorFlow's threads: the child only makes this call
        child = os.fork()
    if child == 0:
        try:
            signal.alarm(_FORK_SECONDS)
            faulthandler.disable()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            call()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
