"""Schemas as tensorflow_metadata prints them, against what protobuf reads of the same text."""

from __future__ import annotations

import random

import numpy as np
import pytest
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

import tfrkit as tfr
from tfrkit.folders.proto_text import TextMessage, parse_proto_text
from tfrkit.folders.tfx_schema import read_tfx_schema

TYPES = {schema_pb2.BYTES: "bytes", schema_pb2.INT: "int64", schema_pb2.FLOAT: "float32"}
OUT = (
    schema_pb2.DEPRECATED,
    schema_pb2.PLANNED,
    schema_pb2.ALPHA,
    schema_pb2.DEBUG_ONLY,
    schema_pb2.DISABLED,
)
WORDS = (
    "a",
    "été",
    'quo"te',
    "back\\slash",
    "line\nbreak",
    "tab\t",
    "it's",
    "",
    "\x01\x7f",
    "中文",
    "{",
    "# no comment",
)


def random_schema(draw: random.Random) -> schema_pb2.Schema:
    schema = schema_pb2.Schema()
    for number in range(draw.randint(1, 8)):
        feature = schema.feature.add(name=f"{draw.choice(WORDS)}{number}", type=draw.randint(0, 4))
        if draw.random() < 0.5:
            feature.presence.min_fraction = draw.choice([1.0, 0.5, 0.0])
            feature.presence.min_count = 1
        if draw.random() < 0.5:
            feature.shape.SetInParent()
            for _ in range(draw.randint(0, 3)):
                feature.shape.dim.add(size=draw.choice([1, 2, 7]), name=draw.choice(WORDS))
        elif draw.random() < 0.5:
            least = draw.randint(0, 3)
            feature.value_count.min, feature.value_count.max = least, least + draw.randint(0, 1)
        if draw.random() < 0.4:
            feature.lifecycle_stage = draw.choice([0, 1, 2, 3, 4, 5, 6, 7])
        domain = draw.randint(0, 4)
        if domain == 0:
            feature.domain = draw.choice(["shared", "absent"])
        elif domain == 1:
            feature.string_domain.value.extend(draw.choices(WORDS, k=draw.randint(0, 3)))
        elif domain == 2:
            feature.int_domain.min, feature.int_domain.max = draw.randint(-(2**63), 0), 2**63 - 1
        elif domain == 3:
            feature.float_domain.min = draw.choice([float("-inf"), 1e-30, -2.5])
        feature.annotation.tag.extend(draw.choices(WORDS, k=draw.randint(0, 2)))
    schema.string_domain.add(name="shared", value=draw.choices(WORDS, k=3))
    return schema


def expected_spec(feature):
    """By the rules of tensorflow_transform's schema_as_feature_spec, and of a number of values that never differs."""
    dtype = TYPES[feature.type]
    counts = feature.value_count
    shape = None
    if feature.HasField("shape"):
        shape = [dim.size for dim in feature.shape.dim]
    elif feature.HasField("value_count") and counts.min == counts.max > 0:
        shape = [counts.min]
    if shape is None or feature.presence.min_fraction != 1:
        return tfr.VarLenFeature(dtype)
    return tfr.FixedLenFeature(shape, dtype)


def same(found: TextMessage, message) -> None:
    """Hold a parsed text against the message, field by field."""
    assert set(found.fields) == {field.name for field, _ in message.ListFields()}
    for field, value in message.ListFields():
        values = list(value) if field.is_repeated else [value]
        if field.message_type is not None:
            for each, inner in zip(found.messages(field.name), values, strict=True):
                same(each, inner)
        elif field.enum_type is not None:
            names = [field.enum_type.values_by_number[each].name for each in values]
            assert found.texts(field.name) == names
        elif isinstance(values[0], str):
            assert found.texts(field.name) == values
        elif isinstance(values[0], float):
            assert [float(np.float32(text)) for text in found.texts(field.name)] == values
        else:
            assert [int(text) for text in found.texts(field.name)] == values


@pytest.mark.parametrize("form", [{}, {"as_one_line": True}, {"as_utf8": True}, {"pointy_brackets": True},
                                  {"use_short_repeated_primitives": True}])  # fmt: skip
def test_text_is_read_as_protobuf_reads_it(form):
    draw = random.Random(1)
    for _ in range(100):
        schema = random_schema(draw)
        text = text_format.MessageToString(schema, **form)
        again = text_format.Parse(text, schema_pb2.Schema())
        same(parse_proto_text(text.encode(), "schema.pbtxt"), again)


def test_specs_follow_the_rules_of_transform():
    draw = random.Random(2)
    for _ in range(300):
        schema = random_schema(draw)
        found = read_tfx_schema(text_format.MessageToString(schema).encode(), "schema.pbtxt")
        used = [feature for feature in schema.feature if feature.lifecycle_stage not in OUT]
        assert found.spec == {each.name: expected_spec(each) for each in used if each.type in TYPES}
        assert found.left_out == tuple(each.name for each in used if each.type not in TYPES)
        shared = list(schema.string_domain[0].value)
        domains = {
            each.name: shared if each.domain == "shared" else list(each.string_domain.value) for each in used
        }
        assert found.domains == {
            name: tuple(values) for name, values in domains.items() if values and name in found.spec
        }


def test_sparse_features_take_their_parts():
    schema = schema_pb2.Schema()
    index = schema.feature.add(name="at", type=schema_pb2.INT)
    index.int_domain.min, index.int_domain.max = 0, 9
    schema.feature.add(name="weight", type=schema_pb2.FLOAT)
    sparse = schema.sparse_feature.add(name="both", is_sorted=True)
    sparse.index_feature.add(name="at")
    sparse.value_feature.name = "weight"
    found = read_tfx_schema(text_format.MessageToString(schema).encode(), "schema.pbtxt")
    assert found.spec == {"both": tfr.SparseFeature("at", "weight", "float32", 10, True)}
    sparse.index_feature.add(name="row")
    with pytest.raises(
        tfr.errors.DataLossError, match=r"expected names of .* features of the schema but got \['row'\]"
    ):
        read_tfx_schema(text_format.MessageToString(schema).encode(), "schema.pbtxt")
    schema.feature.add(name="row", type=schema_pb2.INT)
    sparse.dense_shape.dim.add(size=4)
    sparse.dense_shape.dim.add(size=5)
    found = read_tfx_schema(text_format.MessageToString(schema).encode(), "schema.pbtxt")
    assert found.spec["both"].size == [4, 5]
