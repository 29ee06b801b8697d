"""Records for tests of exports: everything that a feature can be, and an own way back from exported files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from pyarrow import ipc, parquet

import tfrkit
from tfrkit.build.tables.json_notation import decode_special
from tfrkit.model.no_bytes import NoBytes
from tfrkit.parsing.encode import ExampleEncoder

NO_BYTES = NoBytes()
UNUSUAL = np.array([0xFFC00000, 0x7F800001, 0x7FC00000], np.uint32).view(np.float32)
FLOATS = np.array([-0.0, np.inf, -np.inf, 1e-45, 3.4028235e38, 0.1, 16777216.0], np.float32)

EXAMPLES = {
    "label": [3, None, 2**63 - 1, -(2**63)],
    "lists": [[1, 2], [], None, [3]],
    "empty int64": tfrkit.Ragged(np.zeros(0, np.int64), [0, 0, 0, 0, 0]),
    "empty/float": tfrkit.Ragged(np.zeros(0, np.float32), [0, 0, 0, 0, 0]),
    "empty bytes": [NO_BYTES, None, NO_BYTES, NO_BYTES],
    "x.y": tfrkit.Ragged(FLOATS, [0, 2, 2, 6, 7]),
    "nan": tfrkit.Ragged(UNUSUAL, [0, 1, 2, 2, 3]),
    "one float": np.array([1.0, 1e22, np.nan, 2.5], np.float32),
    "": ["", None, '中文 \u2028 \x00 "quoted"', b"\xff\xfe"],
    "many\0texts": [["a", b"\x80"], [], ["|", ",\n"], None],
    "名 'x'": [1, 2, 3, 4],
}
CONTEXT = {"user": ["u1", None, "u3", "u4"], "ratings": [1, 2, None, 4]}
LISTS = {
    "ratings": [[4.5, 3.0], None, [], [1.0]],
    "words": [[["a"], []], [["b", b"\xff"]], None, []],
    "steps without values": [[NO_BYTES], None, None, [NO_BYTES, NO_BYTES]],
    "no steps": [[], None, [], None],
}


def write(path: Path, records: object) -> Path:
    """A file of records, or of Examples made of columns."""
    with tfrkit.TFRecordWriter(path) as writer:
        writer.write_many(tfrkit.encode_examples(records) if isinstance(records, dict) else records)
    return path


def sequences() -> tfrkit.Block:
    """SequenceExamples with every kind of list; those of "steps without values" are int64."""
    return tfrkit.encode_sequence_examples(CONTEXT, LISTS)


_VALUES = (
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(lambda values: np.array(values, np.int64)),
    st.lists(st.floats(width=32), max_size=3).map(lambda values: np.array(values, np.float32)),
    st.lists(st.binary(max_size=4) | st.text(max_size=3).map(str.encode), max_size=3).map(
        lambda values: values or NO_BYTES
    ),
)
_KEYS = st.text(max_size=4).filter(lambda name: name != "$feature_lists")


@st.composite
def any_examples(draw) -> list[bytes]:
    """Serialised Examples of which at least one has a feature; each feature has one kind."""
    kinds = draw(st.dictionaries(_KEYS, st.sampled_from(_VALUES), min_size=1, max_size=4))
    rows = draw(st.lists(st.fixed_dictionaries({}, optional=kinds), min_size=1, max_size=5))
    if not any(rows):
        rows.append({name: draw(values) for name, values in kinds.items()})
    return [tfrkit.make_example(row).SerializeToString(deterministic=True) for row in rows]


def records_of(path: Path) -> list[bytes]:
    """What an exported file says, as records: read without tfrkit's own readers."""
    if path.suffix == ".jsonl":
        return _from_json(path)
    arrow = path.suffix == ".arrow"
    table = ipc.open_file(str(path)).read_all() if arrow else parquet.read_table(str(path))
    columns = {}
    lists = {}
    for field, column in zip(table.schema, table.columns, strict=True):
        marked = (field.metadata or {}).get(b"tfrkit:feature_list")
        if marked is None:
            columns[field.name] = column
        else:
            lists[marked.decode()] = column
    if lists:
        return tfrkit.encode_sequence_examples(columns, lists).to_list()
    return tfrkit.encode_examples(columns).to_list()


def _from_json(path: Path) -> list[bytes]:
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    all_lists = [line.pop("$feature_lists", {}) for line in lines]
    kinds = _kinds(lines)
    step_kinds = _kinds(
        [{name: step} for lists in all_lists for name, steps in lists.items() for step in steps]
    )
    encoder = ExampleEncoder()
    found = []
    for line, lists in zip(lines, all_lists, strict=True):
        features = {name: _feature(value, kinds.get(name)) for name, value in line.items()}
        steps = {name: [_feature(step, step_kinds.get(name)) for step in row] for name, row in lists.items()}
        found.append(encoder.encode(tfrkit.make_sequence_example(features, steps) if steps else features))
    return found


def _kinds(lines: list[dict]) -> dict[str, object]:
    """The type of each key, from the lines that show one: an empty list does not."""
    return {
        name: feature.dtype
        for line in lines
        for name, value in line.items()
        if (feature := _feature(value, None)) is not None
    }


def _feature(value: object, kind: object) -> np.ndarray | None:
    if isinstance(value, dict):
        name, values = decode_special(value)
        kind = {"int64": np.int64, "float": np.float32, "bytes": object}[name]
    else:
        values = value if isinstance(value, list) else [value]
        if values:
            kind = {int: np.int64, float: np.float32, str: object}[type(values[0])]
    if not values and kind in (object, np.dtype(object)):
        kind = bytes  # an array of objects without any says nothing
    return None if kind is None else np.array(values, kind)
