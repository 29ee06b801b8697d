"""parse_proto on random messages of random types: every value is the one that protobuf's own classes find.

TFRKIT_PROTO_CASES sets how many types are tried, TFRKIT_PROTO_SEED the first of their seeds.
"""

from __future__ import annotations

import os
import warnings
from random import Random

import pytest

import tfrkit as tfr
from tests.parsing.support.random_protos import (
    dotted,
    found_at,
    is_map,
    is_repeated,
    load,
    paths_of,
    plain,
    random_file,
    random_message,
)

CASES = int(os.environ.get("TFRKIT_PROTO_CASES", "200"))
FIRST = int(os.environ.get("TFRKIT_PROTO_SEED", "0"))
RECORDS = 12


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES, 20))
def test_values_are_those_of_protobuf(seed):
    for each in range(seed, min(seed + 20, FIRST + CASES)):
        check_case(each)


def check_case(seed):
    random = Random(seed)
    descriptors, classes = load(random_file(random))
    made = classes[random.choice("ABC")]
    records = [random_message(random, made.DESCRIPTOR) for _ in range(RECORDS)]
    messages = [made.FromString(record) for record in records]
    paths = paths_of(random, made.DESCRIPTOR)
    if not paths:
        return
    enums = random.choice(["number", "name"])
    maps = {
        dotted(path[: depth + 1]) + ".key"
        for path in paths
        for depth, field in enumerate(path)
        if is_map(field)
    }
    oneofs = {one.name for one in made.DESCRIPTOR.oneofs}
    asked = [*{dotted(path) for path in paths}, *maps, *oneofs]
    random.shuffle(asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
        warnings.filterwarnings("ignore", ".* is an Example")
        columns = tfr.parse_proto(records, descriptors, made.DESCRIPTOR.full_name, asked, enums=enums)
    assert list(columns) == asked
    rows = {name: [nested(column[row]) for row in range(RECORDS)] for name, column in columns.items()}
    for path in paths:
        name = dotted(path)
        depth = next((place for place, field in enumerate(path) if is_map(field)), None)
        for row, message in enumerate(messages):
            found = rows[name][row]
            if depth is not None:
                levels = sum(map(is_repeated, path[:depth]))
                found = as_dict(rows[f"{dotted(path[: depth + 1])}.key"][row], found, levels)
            elif path[-1].message_type is not None:
                found = parsed(found, path[-1].message_type, classes)
            assert found == found_at(message, path, enums), (seed, name, row)
    for name in oneofs:
        assert rows[name] == [(message.WhichOneof(name) or "").encode() for message in messages], (seed, name)


def nested(value):
    """The value of a row as lists, of what compares."""
    value = (
        value.to_list()
        if hasattr(value, "to_list")
        else value.tolist()
        if hasattr(value, "tolist")
        else value
    )
    return [nested(one) for one in value] if isinstance(value, list) else plain(value)


def as_dict(keys, values, levels):
    if not levels:
        return dict(zip(keys, values, strict=True))
    return [as_dict(*pair, levels - 1) for pair in zip(keys, values, strict=True)]


def parsed(data, descriptor, classes):
    """The bytes of messages as protobuf writes them again."""
    from google.protobuf import message_factory

    if isinstance(data, list):
        return [parsed(one, descriptor, classes) for one in data]
    return message_factory.GetMessageClass(descriptor).FromString(data).SerializeToString(deterministic=True)
