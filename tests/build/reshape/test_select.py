from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.build.support.frame_files import contents, files_in, put_records, tree
from tests.records.support.made import flip, frames
from tfrkit import _core
from tfrkit.build.reshape.feature_change import feature_change
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.block import Block

EXAMPLES = [
    {"label": number % 5, "name": f"名{number}", "score": [0.5 * number, 1.0], "image": bytes(number)}
    for number in range(50)
]
MESSAGES = [tfr.make_example(example).SerializeToString() for example in EXAMPLES]


def selected(tmp_path, records=MESSAGES, **options) -> list[bytes]:
    put_records(tmp_path / "in.tfrecord", records)
    tfr.select(tmp_path / "in.tfrecord", tmp_path / "out.tfrecord", overwrite=True, **options)
    return contents(tmp_path / "out.tfrecord")[0]


def features(record: bytes) -> dict[str, bytes]:
    """Give the features of an Example with their bytes."""
    return {
        key: value.SerializeToString()
        for key, value in tfr.Example.FromString(record).features.feature.items()
    }


def test_where_keeps_records_as_they_are(tmp_path):
    assert selected(tmp_path, where="label == 3") == MESSAGES[3::5]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"keys": ["label", "name"]}, {"label": "label", "name": "name"}),
        ({"drop": ["image"]}, {"label": "label", "name": "name", "score": "score"}),
        ({"keys": ["label"], "rename": {"name": "text"}}, {"label": "label", "name": "text"}),
        (
            {"rename": {"label": "score", "score": "label"}, "drop": ["image", "name"]},
            {"label": "score", "score": "label"},
        ),
        ({"rename": {"name": "n" * 300}, "keys": []}, {"name": "n" * 300}),
    ],
)
def test_features_are_kept_dropped_and_renamed(options, names, tmp_path):
    for before, after in zip(MESSAGES, selected(tmp_path, **options), strict=True):
        old = features(before)
        assert features(after) == {new: old[key] for key, new in names.items()}


def test_records_and_features_are_selected_together(tmp_path):
    got = selected(tmp_path, where="label == 2 and name != '名7'", drop=["name", "image"])
    assert [tfr.to_dict(tfr.Example.FromString(record)) == {} for record in got] == [False] * 9
    assert all(sorted(features(record)) == ["label", "score"] for record in got)


def test_sequence_examples_keep_their_lists(tmp_path):
    message = tfr.make_sequence_example({"id": 1, "x": 2}, {"steps": [[1], [2]], "x": [["a"]]})
    (got,) = selected(tmp_path, [message.SerializeToString()], drop=["x"])
    parsed = tfr.SequenceExample.FromString(got)
    assert list(parsed.context.feature) == ["id"]
    assert list(parsed.feature_lists.feature_list) == ["steps"]
    assert parsed.feature_lists.feature_list["steps"] == message.feature_lists.feature_list["steps"]


def test_unknown_fields_stay_where_they_are(tmp_path):
    unknown = b"\x9a\x06\x03abc"  # field 99
    got = selected(tmp_path, [unknown + MESSAGES[7] + unknown], drop=["image"])
    assert got[0].startswith(unknown)
    assert got[0].endswith(unknown)
    assert sorted(features(got[0])) == ["label", "name", "score"]


def test_result_is_what_protobuf_would_make_of_it(tmp_path):
    for before, after in zip(MESSAGES, selected(tmp_path, keys=["label", "image"]), strict=True):
        message = tfr.Example.FromString(before)
        for key in ("name", "score"):
            del message.features.feature[key]
        assert tfr.Example.FromString(after) == message


def test_two_features_of_one_name_are_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"record 0 of .* would have two features called 'label'"):
        selected(tmp_path, rename={"name": "label"})
    only = [tfr.make_example({"name": "x"}).SerializeToString()]
    assert sorted(features(selected(tmp_path, only, rename={"name": "label"})[0])) == ["label"]
    assert sorted(features(selected(tmp_path, rename={"name": "label"}, drop=["label"])[0])) == [
        "image",
        "label",
        "score",
    ]


def test_what_is_no_example_is_refused_with_its_place(tmp_path):
    with pytest.raises(
        InvalidArgumentError, match="expected an Example or a SequenceExample but record 1 of"
    ):
        selected(tmp_path, [MESSAGES[0], b"\x0a\xff\xff"], drop=["image"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "There is nothing to select"),
        ({"keys": ["a"], "drop": ["a"]}, "The feature 'a' cannot be dropped and kept"),
        ({"keys": ["a"], "rename": {"b": "a"}}, "Two features would have one name"),
        ({"where": "label = 3"}, "at character 7"),
        (
            {"keys": ["nowhere"]},
            r"keys \(--key\): no record has a feature 'nowhere'. There are 'image', 'label',",
        ),
        ({"drop": ["lable"]}, r"drop \(--drop\): no record has a feature 'lable'. Did you mean 'label'\?"),
        (
            {"rename": {"Score": "s"}},
            r"rename \(--name\): no record has a feature 'Score'. Did you mean 'score'\?",
        ),
        (
            {"where": "labl == 3"},
            r"where \(--where\): no record has a feature 'labl'. Did you mean 'label'\?",
        ),
        ({"where": "not lable"}, "no record has a feature 'lable'"),
    ],
)
def test_wrong_arguments_are_refused(options, expected, tmp_path):
    with pytest.raises(InvalidArgumentError, match=expected):
        selected(tmp_path, **options)


def test_each_input_has_its_file_in_a_folder(tmp_path):
    for name, kind in (("a.tfrecord", ""), ("b.tfrecord.gz", "GZIP"), ("b2", "")):
        put_records(tmp_path / "in" / name, MESSAGES[:10], kind)
    for workers in (1, 3):
        tfr.select(tmp_path / "in" / "*", tmp_path / str(workers), where="label == 1", workers=workers)
    assert [path.name for path in files_in(tmp_path / "1")] == ["a.tfrecord", "b.tfrecord", "b2.tfrecord"]
    assert contents(*files_in(tmp_path / "1")) == [[MESSAGES[1], MESSAGES[6]]] * 3
    assert tree(tmp_path / "1") == tree(tmp_path / "3")


def test_damage_raises_or_is_left_out(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(flip(frames(MESSAGES), len(frames(MESSAGES[:7])) + 13))
    with pytest.raises(DataLossError, match="record 7"):
        tfr.select(path, tmp_path / "x.tfrecord", drop=["image"])
    assert tfr.select(path, tmp_path / "y.tfrecord", drop=["image"], on_corrupt="skip").records == 49


def test_no_records_are_selected_from_none(tmp_path):
    assert selected(tmp_path, [], where="label == 3", drop=["x"]) == []
    assert selected(tmp_path, where="label == 99") == []


def test_offsets_outside_the_data_are_refused():
    with pytest.raises(IndexError, match="offsets and lengths"):
        _core.select_features(b"abc", np.array([1]), np.array([3]), (), True)
    with pytest.raises(ValueError, match="slots"):
        _core.select_features(b"", np.array([0]), np.array([0]), ((b"a", b"b", 5),), True)


def test_frames_of_changed_records_are_right():
    change = feature_change(None, ["image"], {})
    assert change is not None
    block = change.apply(Block.from_records(MESSAGES))
    assert _core.check_frames(block.data, block.offsets, block.lengths)[0] == -1
    assert (
        _core.scan_frames(block.data, 0, len(block.data), True, 2**32).lengths.tolist()
        == block.lengths.tolist()
    )
