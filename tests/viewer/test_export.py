"""The static page of real files."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import tfrkit as tfr
from tests.records.support.made import flip, frame, put
from tests.viewer.test_export_html import HOSTILE, Elements
from tfrkit.errors import InvalidArgumentError, OutOfRangeError
from tfrkit.viewer.export import export, make_page
from tfrkit.viewer.session import ViewedSet


def jpeg(shade):
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), (shade, 0, 0)).save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.fixture
def photos(tmp_path):
    path = str(tmp_path / "photos.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        for n in range(60):
            image = b"\xff\xd8\xff broken" if n == 7 else jpeg(4 * n)
            writer.write_example({"image": image, "label": n % 3, "name": f"photo {n}"})
    viewed = ViewedSet([path])
    viewed.data.start()
    return viewed


def test_first_records_are_shown_with_pictures(photos, tmp_path):
    target = str(tmp_path / "page.html")
    size = export(photos, target, count=20)
    with open(target, "rb") as file:
        data = file.read()
    found = Elements(data)
    assert len(data) == size
    assert len([tag for tag, _ in found.elements if tag == "img"]) == 2 * 19
    assert "this image does not decode" in found.text
    assert "60 records in 1 file" in found.text
    assert "Records: 20 shown" in found.text
    assert "'photo 19'" in found.text
    assert "0 to 2, mean 1" in found.text
    assert str(tmp_path).encode() not in data  # nobody else needs to know


def test_damaged_records_are_among_those_that_are_counted(tmp_path):
    frames = [frame(tfr.make_example({"n": n}).SerializeToString()) for n in range(6)]
    path = put(tmp_path / "a.tfrecord", b"".join([*frames[:2], flip(frames[2], 14), *frames[3:]]))
    viewed = ViewedSet([str(path)])
    viewed.data.start()
    viewed.data.locate(5)
    page = make_page(viewed)
    viewed.data.close()
    assert (page.records, page.counted, page.files[0][2]) == (6, 5, 6)


def test_condition_chooses_records(photos):
    page = make_page(photos, "label == 2", count=3)
    assert [record.number for record in page.shown] == [2, 5, 8]
    assert page.where == "label == 2"


def test_records_are_chosen_by_number(photos):
    assert [record.number for record in make_page(photos, records=[59, 7, 7]).shown] == [7, 59]
    with pytest.raises(OutOfRangeError, match="no record 60"):
        make_page(photos, records=[60])
    with pytest.raises(InvalidArgumentError, match="not both"):
        make_page(photos, "label", [1])


def test_sequences_damage_and_payloads_are_shown(tmp_path):
    sequence = tfr.SequenceExample()
    sequence.feature_lists.feature_list["frames"].feature.add().int64_list.value.extend([1, 2])
    records = [frame(sequence.SerializeToString()), frame(b"\xffpayload"), flip(frame(b"x" * 50), 20)]
    page = make_page(ViewedSet([str(put(tmp_path / "a", b"".join(records)))]))
    [first, second, third] = page.shown
    assert [(cell.name, cell.kind, cell.text) for cell in first.cells] == [
        ("frames", "int64", "1 step: [1, 2]")
    ]
    assert [(cell.name, cell.kind) for cell in second.cells] == [("the record", "bytes")]
    assert "checksum" in third.error or "corrupted" in third.error


def test_hostile_data_stays_text(tmp_path):
    path = str(tmp_path / "<b>.tfrecord")
    text = HOSTILE.replace("\ud800", "")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_example({text: text.encode(), "t": [text.encode(), b"\xff"]})
        writer.write_example({"many": np.arange(300), **{f"f{n}": n for n in range(300)}})
    export(ViewedSet([path]), str(tmp_path / "page.html"))
    found = Elements((tmp_path / "page.html").read_bytes())
    assert {"script", "b", "iframe", "object"}.isdisjoint(tag for tag, _ in found.elements)
    assert "and 101 more features" in found.text
