"""Images that cannot be decoded: errors with their places, or left out and counted."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.image_files import BROKEN, SPEC, jpeg, write_images
from tests.data.support.outcomes import outcomes
from tfrkit.errors import DataLossWarning, InvalidArgumentError

TEXTS = {
    "cut": "jpeg::Uncompress failed. Invalid JPEG data or crop window.",
    "empty": "Input is empty.",
    "text": "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.",
    "bad png": "Invalid PNG. Failed to initialize decoder.",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("broken")
    return [
        write_images(folder / "a.tfrecord", 6, {1: "cut", 4: "text"}),
        write_images(folder / "b.tfrecord", 5, {0: "empty", 3: "bad png"}),
    ]


PLACES = {("a", 1): "cut", ("a", 4): "text", ("b", 0): "empty", ("b", 3): "bad png"}


def collect(iterator):
    labels, errors = [], []
    while True:
        try:
            element = next(iterator)
        except StopIteration:
            return labels, errors
        except InvalidArgumentError as error:
            errors.append(error)
        else:
            labels += np.atleast_1d(element["label"]).tolist()


@pytest.mark.parametrize("kind", TEXTS)
def test_the_text_is_tensorflows_and_names_the_feature(kind):
    ds = tfr.Dataset.from_tensors({"image": BROKEN[kind](), "n": 1}).decode_image("image")
    with pytest.raises(InvalidArgumentError) as caught:
        next(iter(ds))
    assert str(caught.value).startswith(TEXTS[kind])
    assert str(caught.value).endswith("in feature 'image'")
    assert caught.value.path is None


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("batch", [None, 1])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_names_file_and_record_and_iteration_goes_on(files, shuffled, batch, threads):
    ds = tfr.TFRecordDataset(files)
    ds = ds.shuffle(5, seed=1) if shuffled else ds
    ds = ds.parse(SPEC).decode_image("image", size=(4, 4))
    ds = ds if batch is None else ds.batch(batch)
    labels, errors = collect(iter(ds.with_options(tfr.Options(threads=threads))))
    assert sorted(labels) == [0, 1, 2, 2, 3, 4, 5]
    found = {}
    for error in errors:
        assert str(error).endswith(f"in feature 'image', record {error.record} of {error.path!r}")
        name = error.path.rsplit("/", 1)[-1][0]
        found[name, error.record] = next(kind for kind, text in TEXTS.items() if str(error).startswith(text))
        assert 'on_corrupt="skip"' in error.__notes__[-1]
    assert found == PLACES


def test_the_error_of_a_batch_names_its_record_too(files):
    for ds in (
        tfr.TFRecordDataset(files).parse(SPEC).batch(4).decode_image("image", size=(4, 4)),
        tfr.TFRecordDataset(files).batch(4).parse(SPEC).decode_image("image", size=(4, 4)),
    ):
        labels, errors = collect(iter(ds))
        assert labels == []
        assert [(error.path[-10], error.record) for error in errors] == [("a", 1), ("a", 4), ("b", 3)]
        assert errors[0].__notes__[0] == "It is example 1 of 4, counted from 0."
    unknown = tfr.TFRecordDataset(files).parse(SPEC).map(dict).batch(4).decode_image("image", size=(4, 4))
    _, errors = collect(iter(unknown))
    assert errors[0].path is None
    assert errors[0].__notes__[0] == "It is example 1 of 4, counted from 0."


def test_behind_a_map_the_place_is_known(files):
    ds = tfr.TFRecordDataset(files).parse(SPEC).map(dict, num_parallel_calls=2).decode_image("image")
    _, errors = collect(iter(ds))
    assert [(error.path[-10], error.record) for error in errors] == list(PLACES)


@pytest.mark.parametrize("parallel", [None, 2])
@pytest.mark.parametrize("batch", [None, 3, 100])
def test_skip_drops_and_counts(files, batch, parallel):
    ds = tfr.TFRecordDataset(files, on_corrupt="skip", num_parallel_reads=parallel).parse(SPEC)
    ds = ds.decode_image("image", size=(4, 4))
    iterator = iter(ds if batch is None else ds.batch(batch))
    labels, errors = collect(iterator)
    assert errors == []
    assert sorted(labels) == [0, 1, 2, 2, 3, 4, 5]
    assert iterator.skipped == 4
    places = {(path[-10], damage.record) for path, damage in iterator.damages}
    assert places == set(PLACES)
    assert {damage.kind for _, damage in iterator.damages} == {"bad image"}
    assert iterator.damages[0][1].detail == "feature 'image'"


def test_skip_fills_up_batches(files):
    ds = tfr.TFRecordDataset(files, on_corrupt="skip").parse(SPEC).decode_image("image", size=(4, 4)).batch(3)
    assert [len(batch["label"]) for batch in ds] == [3, 3, 1]


def test_skip_in_a_batch_leaves_its_row_out(files):
    ds = tfr.TFRecordDataset(files, on_corrupt="skip").parse(SPEC).batch(4).decode_image("image", size=(4, 4))
    iterator = iter(ds)
    found = list(iterator)
    assert [batch["label"].tolist() for batch in found] == [[0, 2, 3], [5, 1], [2, 4]]
    assert [batch["image"].shape for batch in found] == [(3, 4, 4, 3), (2, 4, 4, 3), (2, 4, 4, 3)]
    assert iterator.skipped == 4


def test_a_batch_of_broken_images_is_empty():
    column = tfr.BytesColumn.from_list([b"x", b"y"])
    ds = tfr.Dataset.from_tensors({"image": column, "n": np.arange(2)})
    for options in ({"size": (4, 5)}, {}):
        found = ds.decode_image("image", on_corrupt="skip", **options).get_single_element()
        assert (len(found["image"]), len(found["n"])) == (0, 0)


def test_an_element_of_several_images_goes_as_a_whole():
    contents = np.array([[jpeg(0), b"x"], [jpeg(0), jpeg(12)]], object)
    ds = tfr.Dataset.from_tensor_slices({"image": contents, "n": [1, 2]})
    found = list(ds.decode_image("image", on_corrupt="skip"))
    assert [int(each["n"]) for each in found] == [2]


def test_stop_leaves_the_rest_of_the_file(files):
    ds = tfr.TFRecordDataset(files, on_corrupt="stop").parse(SPEC).decode_image("image")
    iterator = iter(ds)
    with pytest.warns(DataLossWarning, match="left out") as caught:
        labels, errors = collect(iterator)
    assert errors == []
    assert labels == [0]
    assert len(caught) == 2
    assert iterator.skipped == 2
    with pytest.warns(DataLossWarning):
        assert collect(iter(ds.repeat(2)))[0] == [0, 0]
    again = tfr.TFRecordDataset(files, on_corrupt="stop").repeat(3).parse(SPEC).decode_image("image")
    with pytest.warns(DataLossWarning):
        assert collect(iter(again))[0] == [0, 0, 0]


def test_stop_without_a_file_is_the_end():
    contents = [jpeg(0), b"x", jpeg(12)]
    ds = tfr.Dataset.from_tensor_slices({"image": contents}).decode_image("image", on_corrupt="stop")
    iterator = iter(ds)
    with pytest.warns(DataLossWarning, match="everything after it is left out"):
        assert len(list(iterator)) == 1
    state = json.loads(json.dumps(iterator.state()))
    assert list(ds.iter_from(state)) == []


def test_what_the_verb_says_counts_more_than_the_source(files):
    ds = tfr.TFRecordDataset(files).parse(SPEC).decode_image("image", on_corrupt="skip")
    assert len(list(ds)) == 7
    ds = tfr.TFRecordDataset(files, on_corrupt="skip").parse(SPEC).decode_image("image", on_corrupt="raise")
    assert len(collect(iter(ds))[1]) == 4


def test_the_source_of_names_counts_too(files):
    names = tfr.Dataset.from_tensor_slices([str(file) for file in files])
    ds = tfr.TFRecordDataset(names, on_corrupt="skip").parse(SPEC).decode_image("image")
    assert len(list(ds)) == 7


def test_ignore_errors_drops_them_too(files):
    ds = tfr.TFRecordDataset(files).parse(SPEC).decode_image("image").ignore_errors()
    iterator = iter(ds)
    assert len(list(iterator)) == 7
    assert iterator.ignored == 4


def test_errors_pickle_with_their_places(files):
    ds = tfr.TFRecordDataset(files).parse(SPEC).decode_image("image").skip(1)
    with pytest.raises(InvalidArgumentError) as caught:
        next(iter(ds))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.message, copy.path, copy.record) == (str(caught.value), str(files[0]), 1)


@pytest.mark.parametrize("on_corrupt", ["raise", "skip", "stop"])
@pytest.mark.filterwarnings("ignore:.*left out")
def test_counts_and_states_fit_at_every_place(files, on_corrupt):
    def make():
        ds = tfr.TFRecordDataset(files, on_corrupt=on_corrupt).repeat(2).shuffle(4, seed=2)
        return ds.parse(SPEC).select("image", "label").decode_image("image").map(lambda each: each["label"])

    whole = outcomes(make())
    iterator = iter(make())
    for number in range(len(whole) + 1):
        state = json.loads(json.dumps(iterator.state()))
        assert outcomes(make().iter_from(state)) == whole[number:]
        outcomes(iterator, 1)
