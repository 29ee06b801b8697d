"""One pipeline in tf.data and in tfrkit: what both give, element by element, in one form that can be compared.

A case is a function of a `Space`: it builds a dataset with the library's classes. Both datasets are iterated with
`next`, on through errors, and what comes is put into the plain form of `parsed.py`. Functions of a case
run in TensorFlow as graphs and in tfrkit as Python, so they are arithmetic that means the same in both; where one
shall fail, it uses `Space.check`. TensorFlow's own errors are compared by class and text, those of functions only by
their place, since TensorFlow wraps them and tfrkit hands them out as they are.

    agree(lambda lib: lib.Dataset.range(5).map(lambda x: lib.check(x != 3, x * 2)))
    agree(lambda lib: lib.Dataset.range(3).batch(2), [[0, 1], [2]])
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import tfrkit as tfr
from tests.data.support.spaces import TOLD, Space, tfrkit_space
from tests.oracle.support import tf_scenarios
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import Dense, Ragged, Sparse, core, plain
from tfrkit.data.verbs.verb_group import VerbGroup

USER = Failure("error of a function", "")  # an exception that a case's own function raised
END = "end of sequence"
_WHERE = re.compile(  # what TensorFlow says of the place: the stages, the node, the trace of a Python function
    r"^Error in user-defined function passed to .*? with iterator: [\w:\[\]]+: |\n\t \[\[.*|\nTraceback \(most.*",
    re.DOTALL,
)
LIMIT = 200  # outcomes of one pass; no case is longer, so what is cut off is endless


@dataclass(frozen=True)
class TensorFlowSpace(Space):
    """tf.data; functions are graphs."""

    tf: Any = None

    def check(self, condition: Any, value: Any) -> Any:
        """Hang an assertion on the value."""
        with self.tf.control_dependencies([self.tf.debugging.Assert(condition, [TOLD])]):
            return self.tf.nest.map_structure(self.tf.identity, value)

    def where(self, condition: Any, this: Any, that: Any) -> Any:
        """Choose."""
        return self.tf.where(condition, this, that)

    def full(self, count: Any, value: Any) -> Any:
        """A tensor of rank 1."""
        return self.tf.fill([self.tf.cast(count, self.tf.int32)], value)

    def length(self, value: Any) -> Any:
        """As a tensor."""
        return self.tf.shape(value)[0]

    def cast(self, value: Any, dtype: str) -> Any:
        """A scalar of that type."""
        return self.tf.cast(value, dtype)

    def text(self, number: Any) -> Any:
        """The digits."""
        return self.tf.strings.as_string(number)

    def parse(self, dataset: Any, batched: bool) -> Any:
        """A function of map."""
        io = self.tf.io
        spec = {
            "n": io.FixedLenFeature([], "int64"),
            "pair": io.FixedLenFeature([2], "float32"),
            "name": io.FixedLenFeature([], "string"),
        }
        return dataset.map(lambda x: (io.parse_example if batched else io.parse_single_example)(x, spec))

    def note(self, number: Any, calls: list[int]) -> Any:
        """Call Python out of the graph."""

        def append(value: Any) -> Any:
            calls.append(int(value))
            return value

        noted = self.tf.py_function(append, [number], number.dtype)
        noted.set_shape(())
        return noted

    def assert_cardinality(self, dataset: Any, count: int) -> Any:
        """No method in TensorFlow."""
        return dataset.apply(self.tf.data.experimental.assert_cardinality(count))

    def leaf_amount(self, leaf: Any) -> Any:
        """Sum up."""
        leaf = getattr(leaf, "flat_values", leaf)
        if leaf.dtype == self.tf.string:
            leaf = self.tf.strings.length(leaf)
        if leaf.dtype == self.tf.bool or leaf.dtype.size < 8:
            leaf = self.tf.cast(leaf, self.tf.float64 if leaf.dtype.is_floating else self.tf.int64)
        return self.tf.cast(self.tf.reduce_sum(leaf), self.tf.int64)


def theirs() -> Space:
    """TensorFlow's tf.data."""
    tf = tensorflow()
    data = tf.data
    return TensorFlowSpace(
        "TensorFlow", data.Dataset, data.TFRecordDataset, data.TextLineDataset, tf.TensorSpec,
        tf.random.set_seed, tf=tf,
    )  # fmt: skip


def ours() -> Space:
    """tfrkit."""
    return tfrkit_space()


def ours_by_its_names() -> Space:
    """`tfrkit.tf`, with the functions that TensorFlow has, too."""
    tf = tf_scenarios.ours()
    data = tf.data
    return TensorFlowSpace(
        "tfrkit.tf", data.Dataset, data.TFRecordDataset, data.TextLineDataset, tf.TensorSpec,
        tf.random.set_seed, tf=tf,
    )  # fmt: skip


Case = Callable[[Space], Any]


class Facts(NamedTuple):
    """All that is compared of a pipeline."""

    passes: list[list[Any]]  # for each pass: elements in plain form, failures, and END
    cardinality: Any
    element_spec: Any


def failure(error: BaseException) -> Failure:
    """Class and text of an error, freed of decoration; errors of a case's functions are all the same."""
    text = str(getattr(error, "message", error))
    told = _WHERE.sub("", core(text)).strip()
    return USER if TOLD in text else Failure(type(error).__name__, told)


def outcomes(dataset: Any, limit: int = LIMIT) -> list[Any]:
    """What `next` gives until the end, which is END, or until the limit."""
    iterator = attempt(lambda: iter(dataset))
    return [iterator] if isinstance(iterator, Failure) else drain(iterator, limit)


def drain(iterator: Iterator[Any], limit: int = LIMIT) -> list[Any]:
    """What an iterator that stands anywhere still gives."""
    found: list[Any] = []
    while len(found) < limit:
        try:
            element = next(iterator)
        except StopIteration:
            return [*found, END]
        except Exception as error:
            found.append(failure(error))
        else:
            found.append(plain(element))
    return found


def attempt(call: Callable[[], Any]) -> Any:
    """Give what a call gives, or its failure."""
    try:
        return call()
    except Exception as error:
        return failure(error)


@contextmanager
def fresh(library: Space) -> Iterator[None]:
    """No global seed before and after, functions taken as they are, and warnings about lost data let through."""
    library.set_seed(None)
    with warnings.catch_warnings(), _as_written():
        warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
        try:
            yield
        finally:
            library.set_seed(None)


@contextmanager
def _as_written() -> Iterator[None]:
    """TensorFlow rewrites the source of functions, for their branches and loops, unless told not to."""
    tensorflow()
    from tensorflow.python.autograph.core import ag_ctx

    with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.DISABLED):
        yield


def unfused(library: Space, dataset: Any) -> Any:
    """The dataset as it is written: without the rewriting and the prefetching that are TensorFlow's default."""
    if not isinstance(library, TensorFlowSpace):
        return dataset
    options = library.tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return dataset.with_options(options)


def facts(library: Space, case: Case, *, passes: int = 1, limit: int = LIMIT) -> Facts | Failure:
    """Build the pipeline and go through it; a Failure if it cannot be built."""
    with fresh(library):
        dataset = attempt(lambda: case(library))
        if isinstance(dataset, Failure):
            return dataset
        runs = [outcomes(dataset, limit) for _ in range(passes)]
        cardinality = attempt(lambda: int(dataset.cardinality()))
        return Facts(runs, cardinality, attempt(lambda: spec_of(dataset.element_spec)))


def value(library: Space, call: Callable[[Space], Any]) -> Any:
    """What a call with a library gives, in plain form, or its failure."""
    with fresh(library):
        found = attempt(lambda: call(library))
        return found if isinstance(found, Failure | str | bool | list) else plain(found)


def spec_of(spec: Any) -> Any:
    """An element_spec in plain form: (kind, dtype, shape), shape None if even the rank is unknown."""
    if isinstance(spec, Mapping):
        return {key: spec_of(part) for key, part in spec.items()}
    if isinstance(spec, tuple) and not hasattr(spec, "dtype"):
        return tuple(spec_of(part) for part in spec)
    shape = spec.shape
    rank = getattr(shape, "rank", None) if hasattr(shape, "rank") else (None if shape is None else len(shape))
    sizes = None if rank is None else tuple(None if size is None else int(size) for size in shape)
    dtype = getattr(spec.dtype, "name", spec.dtype)
    dtype = "string" if dtype in ("object", "bytes", "string", bytes) else str(np.dtype(dtype))
    return type(spec).__name__, dtype, sizes


def difference(mine: Facts | Failure, reference: Facts | Failure, *, spec: bool = True) -> str:
    """Say where tfrkit leaves TensorFlow, or '' if nowhere."""
    if isinstance(mine, Failure) or isinstance(reference, Failure):
        return "" if same(mine, reference) else _both(mine, reference)
    for number, (run, wanted) in enumerate(zip(mine.passes, reference.passes, strict=True)):
        for at, (one, other) in enumerate(zip(run, wanted, strict=False)):
            if not same(one, other):
                return f"pass {number}, outcome {at}:{_both(one, other)}\nall: {_both(run, wanted)}"
        if len(run) != len(wanted):
            return f"pass {number} has another length:{_both(run, wanted)}"
    if mine.cardinality != reference.cardinality:
        return f"cardinality:{_both(mine.cardinality, reference.cardinality)}"
    if spec and mine.element_spec not in (
        reference.element_spec,
        USER,
    ):  # tfrkit runs a function to see what it gives
        return f"element_spec:{_both(mine.element_spec, reference.element_spec)}"
    return ""


def same(mine: Any, reference: Any) -> bool:
    """Equal outcomes; a text of tfrkit's may go on where TensorFlow's ends."""
    if isinstance(mine, Failure) and isinstance(reference, Failure):
        return mine.name == reference.name and mine.message.startswith(reference.message)
    return bool(mine == reference)


def _both(mine: Any, reference: Any) -> str:
    return f"\n  tfrkit     {shown(mine)}\n  TensorFlow {shown(reference)}"


def shown(found: Any) -> Any:
    """An outcome in short: plain numbers, lists, tuples and dicts; failures as they are."""
    if isinstance(found, Dense):
        if found.dtype.startswith(("float", "bfloat")):
            width = np.dtype(found.dtype).itemsize
            return np.array(found.values, f"u{width}").view(found.dtype).reshape(found.shape).tolist()
        return found.values
    if isinstance(found, Sparse):
        return "sparse", found.indices, shown(found.values), found.dense_shape
    if isinstance(found, Ragged):
        return "ragged", [splits for _, splits in found.splits], shown(found.values)
    if isinstance(found, dict):
        return {key: shown(part) for key, part in found.items()}
    if isinstance(found, list) or type(found) is tuple:
        return type(found)(shown(part) for part in found)
    return found


@contextmanager
def shards_make_all() -> Iterator[None]:
    """Let tfrkit's own shards have the elements of others made, as `tfrkit.tf` and TensorFlow do."""
    usual = VerbGroup.usual_policy
    VerbGroup.usual_policy = usual.with_options(makes_left_out=True)
    try:
        yield
    finally:
        VerbGroup.usual_policy = usual


def agree(
    case: Case,
    expected: Any = None,
    *,
    passes: int = 1,
    limit: int = LIMIT,
    spec: bool = True,
    own: Case | None = None,
) -> Facts | Failure:
    """TensorFlow gives what is expected, and tfrkit what TensorFlow gives.

    Args:
        case: builds the pipeline.
        expected: the elements of the first pass in short form (see `shown`) with failures in their places, without
            END; or the Failure of building it; None for whatever TensorFlow gives. TensorFlow's text of a failure
            begins with the one expected.
        passes: how many iterators go through the dataset, one after the other.
        limit: outcomes of a pass that are looked at; give one to endless pipelines.
        spec: compare element_spec too.
        own: the pipeline with which TensorFlow does what tfrkit does with the case, by its own names and on purpose;
            what `case` gives in TensorFlow, tfrkit gives with `shards_make_all`.
    """
    reference = facts(theirs(), case, passes=passes, limit=limit)
    if expected is not None:
        expect(reference, expected)
    for library in (ours(), ours_by_its_names()):
        with shards_make_all() if own is not None else nullcontext():
            found = difference(facts(library, case, passes=passes, limit=limit), reference, spec=spec)
        assert not found, f"{library.name}: {found}"
    if own is not None:
        wanted = facts(theirs(), own, passes=passes, limit=limit)
        found = difference(facts(ours(), case, passes=passes, limit=limit), wanted, spec=spec)
        assert not found, f"by its own names: {found}"
    return reference


def expect(reference: Facts | Failure, expected: Any) -> None:
    """Fail unless these are the outcomes of the first pass."""
    if isinstance(reference, Failure) or isinstance(expected, Failure):
        assert same(reference, expected), _both(expected, reference)
        return
    run = [outcome for outcome in reference.passes[0] if outcome is not END]
    matches = [same(one, wanted) or shown(one) == wanted for one, wanted in zip(run, expected, strict=False)]
    agrees = len(run) == len(expected) and all(matches)
    assert agrees, f"TensorFlow gives {shown(run)}, not {expected}"


def agree_on(call: Callable[[Space], Any], expected: Any = None) -> Any:
    """A call that gives no dataset (`reduce`, `len`, ...) does the same in both; see `agree`."""
    reference = value(theirs(), call)
    if expected is not None:
        assert same(reference, expected) or shown(reference) == expected, reference
    for library in (ours(), ours_by_its_names()):
        mine = value(library, call)
        assert same(mine, reference), library.name + _both(mine, reference)
    return reference


def fails(name: str, message: str) -> Failure:
    """An expected failure: its class, and what its text begins with."""
    return Failure(name, message)
