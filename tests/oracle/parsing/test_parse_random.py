"""Random Examples, SequenceExamples and specs through TensorFlow and tfrkit: the same results, the same errors.

All messages are as protobuf writes them, so that both policies must agree with TensorFlow.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.oracle import Failure
from tests.oracle.support.parsed import OURS, OURS_BY_DEFAULT, by_its_names, explain, outcome, theirs
from tests.oracle.support.wire import entry, example, feature_list, floats, ints, sequence_example, strings
from tests.support.rules import tf_rule

TYPES = st.sampled_from(["int64", "float32", "string"])
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 300)
BODIES = st.one_of(
    st.lists(NUMBERS, max_size=4).map(lambda values: ints(*values)),
    st.lists(st.floats(width=32), max_size=4).map(lambda values: floats(*values)),
    st.lists(st.binary(max_size=3), max_size=4).map(lambda values: strings(*values)),
    st.just(b""),
)
SMALL = {"int64": st.integers(-9, 9), "float32": st.floats(width=32), "string": st.binary(max_size=2)}
# TensorFlow keeps scalars that it has converted, and takes a kept 0.0 for -0.0; adding 0.0 leaves no -0.0.
DEFAULTS = {**SMALL, "float32": SMALL["float32"].map(lambda value: value + 0.0)}
SHAPES = st.sampled_from([[], [1], [2], [2, 1], [0], [3], [1, 2, 2]])
PARTITIONS = ["RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds"]


@st.composite
def values_of(draw, dtype):
    """The body of a Feature that is mostly of this type."""
    if draw(st.integers(0, 9)) == 0:
        return draw(BODIES)
    values = draw(st.lists(SMALL[dtype], max_size=4))
    return {"int64": ints, "float32": floats, "string": strings}[dtype](*values)


@st.composite
def a_default(draw, dtype, shape):
    """None, or so many values as the shape has; now and then others."""
    count = 1
    for size in shape:
        count *= size
    choice = draw(st.integers(0, 9))
    if choice < 4:
        return None
    if choice == 4:
        count += 1
    values = draw(st.lists(DEFAULTS[dtype], min_size=count, max_size=count))
    return values[0] if not shape and values else values


@st.composite
def a_feature(draw):
    """The name of a feature's class with its arguments."""
    dtype = draw(TYPES)
    kind = draw(st.sampled_from(["FixedLen", "FixedLen", "VarLen", "FixedLenSequence", "Ragged"]))
    if kind == "FixedLen":
        shape = draw(SHAPES)
        return "FixedLenFeature", (shape, dtype, draw(a_default(dtype, shape)))
    if kind == "FixedLenSequence":
        default = draw(st.none() | DEFAULTS[dtype])
        return "FixedLenSequenceFeature", (
            draw(SHAPES.filter(lambda shape: shape != [0])),
            dtype,
            True,
            default,
        )
    return ("VarLenFeature", (dtype,)) if kind == "VarLen" else ("RaggedFeature", (dtype,))


def make(library, spec):
    return {key: getattr(library, name)(*arguments) for key, (name, arguments) in spec.items()}


def agree(case):
    """Both policies agree with TensorFlow."""
    reference = outcome(theirs(), case)
    for library in (OURS, OURS_BY_DEFAULT, by_its_names()):
        difference = explain(outcome(library, case), reference)
        assert not difference, f"{library.name}: {difference}"


@st.composite
def examples_for(draw, spec):
    """A few Examples that mostly fit a spec."""
    records = []
    for _ in range(draw(st.integers(1, 4))):
        entries = []
        for key, (_, arguments) in spec.items():
            dtype = next(argument for argument in arguments if argument in ("int64", "float32", "string"))
            if draw(st.integers(0, 5)):
                entries.append(entry(key.encode(), draw(values_of(dtype))))
        if draw(st.booleans()):
            entries.append(entry(b"other", draw(BODIES)))
        records.append(example(*draw(st.permutations(entries))))
    return records


@tf_rule("3 result keys")
@tf_rule("3 FixedLen default")
@tf_rule("3 VarLen batch")
@tf_rule("3 FixedLenSequence batch")
@settings(max_examples=120)
@given(st.data())
def test_any_spec_of_any_examples(data):
    spec = data.draw(st.dictionaries(st.sampled_from("abc"), a_feature(), min_size=1))
    records = data.draw(examples_for(spec))
    agree(lambda lib: lib.parse_example(records, make(lib, spec)))
    agree(lambda lib: lib.parse_single_example(records[0], make(lib, spec)))


@tf_rule("3 Sparse sorted")
@tf_rule("3 Sparse several keys")
@settings(max_examples=60)
@given(st.data())
def test_any_sparse_feature(data):
    dtype = data.draw(TYPES)
    keys = data.draw(st.sampled_from(["i", ["i"], ["i", "j"]]))
    size = 9 if isinstance(keys, str) else [9] * len(keys)
    ordered = data.draw(st.booleans())
    records = []
    for _ in range(data.draw(st.integers(1, 3))):
        count = data.draw(st.integers(0, 4))
        lists = {key: data.draw(st.lists(st.integers(-2, 9), min_size=count, max_size=count)) for key in "ij"}
        values = data.draw(st.lists(SMALL[dtype], min_size=count, max_size=count))
        body = {"int64": ints, "float32": floats, "string": strings}[dtype](*values)
        entries = [entry(key.encode(), ints(*numbers)) for key, numbers in lists.items()]
        records.append(example(*entries, entry(b"v", body)))
    spec = {"s": ("SparseFeature", (keys, "v", dtype, size, ordered))}
    agree(lambda lib: lib.parse_example(records, make(lib, spec)))
    agree(lambda lib: lib.parse_single_example(records[0], make(lib, spec)))


def a_partition(rows, name):
    """Lengths of rows said in the way of a partition class; ValueRowIds end with a row that has values."""
    ends = [sum(rows[: number + 1]) for number in range(len(rows))]
    return {
        "RowSplits": [0, *ends],
        "RowLengths": list(rows),
        "RowStarts": [0, *ends[:-1]][: len(rows)],
        "RowLimits": ends,
        "ValueRowIds": [number for number, length in enumerate(rows) for _ in range(length)],
    }[name]


@tf_rule("3 Ragged partitions")
@tf_rule("3 Ragged rank")
@tf_rule("3 Ragged uniform innermost")
@settings(max_examples=100)
@given(st.data())
def test_any_ragged_feature(data):
    levels = data.draw(st.lists(st.sampled_from([*PARTITIONS, "Uniform"]), min_size=1, max_size=3))
    uniform = data.draw(st.integers(1, 2))
    records = []
    for _ in range(data.draw(st.integers(1, 3))):
        entries = []
        count = data.draw(st.integers(1, 3)) if "Uniform" not in levels[:1] else data.draw(st.integers(1, 2))
        for depth, name in enumerate(levels):
            if name == "Uniform":
                count *= uniform
                continue
            rows = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
            if rows and name == "ValueRowIds" and not rows[-1]:
                rows[-1] = 1
            entries.append(entry(b"p%d" % depth, ints(*a_partition(rows, name))))
            count = sum(rows)
        records.append(example(*entries, entry(b"v", ints(*range(count)))))

    def spec(lib):
        cls = lib.RaggedFeature
        parts = [
            cls.UniformRowLength(uniform) if name == "Uniform" else getattr(cls, name)(f"p{depth}")
            for depth, name in enumerate(levels)
        ]
        return {"r": cls("int64", "v", parts)}

    agree(lambda lib: lib.parse_example(records, spec(lib)))
    agree(lambda lib: lib.parse_single_example(records[0], spec(lib)))


@tf_rule("3 sequence FixedLenSequence")
@tf_rule("3 sequence VarLen")
@tf_rule("3 sequence Ragged")
@tf_rule("3 sequence context")
@settings(max_examples=100)
@given(st.data())
def test_any_spec_of_any_sequence_examples(data):
    dtype = data.draw(TYPES)
    shape = data.draw(st.sampled_from([[], [1], [2], [2, 1]]))
    kind = data.draw(st.sampled_from(["FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature"]))
    arguments = (shape, dtype, data.draw(st.booleans())) if kind.startswith("Fixed") else (dtype,)
    context = {
        "n": data.draw(st.sampled_from([("VarLenFeature", ("int64",)), ("RaggedFeature", ("int64",))]))
    }
    records = []
    for _ in range(data.draw(st.integers(1, 3))):
        rows = data.draw(st.none() | st.lists(values_of(dtype), max_size=3))
        lists = [] if rows is None else [entry(b"t", feature_list(*rows))]
        some = [entry(b"n", data.draw(values_of("int64")))] if data.draw(st.booleans()) else []
        records.append(sequence_example(some, lists))
    specs = lambda lib: (make(lib, context), make(lib, {"t": (kind, arguments)}))  # noqa: E731
    for case in (
        lambda lib: lib.parse_sequence_example(records, *specs(lib)),
        lambda lib: lib.parse_single_sequence_example(records[0], *specs(lib)),
    ):
        reference = outcome(theirs(), case)
        difference = explain(outcome(OURS, case), reference)
        assert not difference, difference
        ours = outcome(OURS_BY_DEFAULT, case)  # of several faults it may name another one
        assert isinstance(ours, Failure) == isinstance(reference, Failure)
        assert isinstance(ours, Failure) or not explain(ours, reference)
