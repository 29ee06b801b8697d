from __future__ import annotations

import pytest

import tfrkit as tfr
from tfrkit.viewer.asked import Asked
from tfrkit.viewer.session import Session
from tfrkit.viewer.shown.record import record_json


@pytest.fixture
def session(tmp_path):
    with tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write_example({"kind": 1, "many": [0, 7, -1], "other": 1})
    session = Session(
        [str(tmp_path / "a.tfrecord")],
        class_names={"kind": ("cat", "dog"), "many": ("x",), "gone": ("y",)},
    )
    session.start()
    yield session
    session.close()


def test_names_of_classes_stand_beside_their_numbers(session):
    found = {each["name"]: each for each in record_json(session, Asked({"n": "0"}))["features"]}
    assert (found["kind"]["values"], found["kind"]["texts"], found["kind"]["role"]) == (
        [1],
        ["1 (dog)"],
        "label",
    )
    assert found["many"]["texts"] == ["0 (x)", "7", "-1"]
    assert "texts" not in found["other"]
