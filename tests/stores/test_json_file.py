from __future__ import annotations

import json

import pytest

from tfrkit.stores.json_file import json_bytes, json_line


@pytest.mark.parametrize(
    "text", ["", "plain", "中文 \U0001f600", "\udcff\udc80", 'quotes " and \\', "\n\t\x00"]
)
def test_every_text_comes_back(text):
    for data in (json_bytes({text: [text]}), json_line({text: [text]})):
        data.decode()
        assert json.loads(data) == {text: [text]}


def test_same_value_gives_the_same_bytes():
    assert (
        json_bytes({"b": 1, "a": [2]})
        == json_bytes({"a": [2], "b": 1})
        == b'{\n "a": [\n  2\n ],\n "b": 1\n}\n'
    )
    assert json_line({"b": 1, "a": [2]}) == b'{"a":[2],"b":1}\n'
