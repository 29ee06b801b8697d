"""Episodes, steps and windows: whatever is asked of a dataset, and what is wrong said with its file and record."""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.folders.support.made_folders import CLASS, TEXT, features, tensor, write_tfds

IMAGE = {
    "pythonClassName": f"{CLASS}image_feature.Image",
    "image": {"shape": {"dimensions": ["4", "4", "1"]}, "dtype": "uint8", "encodingFormat": "png"},
}
STEP = features(
    observation=features(image=IMAGE, state=tensor("float32", 2)),
    action=tensor("float32", 3),
    is_first=tensor("bool"),
    language_instruction=TEXT,
)
SHARD = "digits-train.tfrecord-00000-of-00002"


def dataset_of(step: Any) -> dict[str, Any]:
    return {
        "pythonClassName": f"{CLASS}dataset_feature.Dataset",
        "sequence": {"feature": step, "length": "-1"},
    }


DESCRIBED = features(steps=dataset_of(STEP), episode_metadata=features(file=TEXT))


def episode(number: int, count: int) -> dict[str, Any]:
    """Return what is stored of an episode, whose step t has the image of value 10 * number + t."""
    return {
        "steps/observation/image": [
            tfr.image.encode_png(np.full((4, 4, 1), 10 * number + t, np.uint8)) for t in range(count)
        ],
        "steps/observation/state": [float(value) for t in range(count) for value in (number, t)],
        "steps/action": [float(t) for t in range(count) for _ in range(3)],
        "steps/is_first": [int(t == 0) for t in range(count)],
        "steps/language_instruction": [b"push"] * count,
        "episode_metadata/file": b"name",
    }


def empty() -> dict[str, Any]:
    return {**dict.fromkeys(episode(0, 1), np.zeros(0, np.int64)), "episode_metadata/file": b"name"}


LENGTHS = [3, 4, 1, 5]  # episodes 0 and 2 are in the first shard


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "robots")


@pytest.fixture(params=["leap", "stream"])
def counting(request, monkeypatch):
    """Count steps as those of large records are, and of small ones."""
    size = 0 if request.param == "leap" else 1 << 60
    monkeypatch.setattr("tfrkit.folders.rlds.episode_lengths._LEAP_BYTES", size)


def write(path, episodes, described=DESCRIBED, **options):
    return write_tfds(path, episodes, described, labels=(), **options)


@pytest.fixture
def robots(path):
    return tfr.rlds.open(write(path, [episode(*each) for each in enumerate(LENGTHS)]))


def values(ds):
    """The images of windows, which name their steps."""
    return [each["observation"]["image"][:, 0, 0, 0].tolist() for each in ds]


ORDER = [0, 1, 2, 20, 10, 11, 12, 13, 30, 31, 32, 33, 34]


def error_of(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_what_a_window_has(robots):
    window = robots.windows("train", history=2, future=3, pad="mask")[6]
    assert window["observation"]["image"].shape == (2, 4, 4, 1)
    assert window["observation"]["image"][:, 0, 0, 0].tolist() == [11, 12]
    assert window["action"].tolist() == [[2.0] * 3, [3.0] * 3, [3.0] * 3]
    assert window["language_instruction"].tolist() == [b"push"] * 3
    assert window["is_first"].tolist() == [False] * 3
    assert window["mask"]["observation"]["state"].tolist() == [True, True]
    assert window["mask"]["action"].tolist() == [True, True, False]


def test_every_way_gives_the_same_windows(robots):
    ds = robots.windows("train", 1, 1)
    assert values(ds) == [[each] for each in ORDER]
    assert [ds[number]["observation"]["image"][0, 0, 0, 0] for number in range(len(ds))] == ORDER
    assert ds.at([5, -1, 5])["observation"]["image"][:, 0, 0, 0, 0].tolist() == [11, 34, 11]
    assert values(ds[3:6]) == [[20], [10], [11]]
    assert sorted(values(ds.global_shuffle(seed=3))) == sorted([each] for each in ORDER)
    assert [*values(ds.shard(2, 0)), *values(ds.shard(2, 1))] == [[each] for each in ORDER[::2] + ORDER[1::2]]
    assert values(pickle.loads(pickle.dumps(ds))) == values(ds)
    assert values(ds.batch(4).unbatch()) == values(ds)


def test_states_resume_at_every_place(robots):
    ds = robots.windows("train")
    expected, iterator = values(ds), iter(ds)
    for place in range(len(ds)):
        assert values(ds.iter_from(iterator.state())) == expected[place:], place
        next(iterator)


def test_steps_stand_alone(robots):
    ds = robots.steps("train")
    assert [int(each["observation"]["image"][0, 0, 0]) for each in ds] == ORDER
    assert (ds[0]["language_instruction"], ds[4]["observation"]["state"].tolist()) == (b"push", [1.0, 0.0])
    assert robots.lengths("train").tolist() == [3, 1, 4, 5]
    assert len(robots.episodes("train")) == 4


def test_without_decoding_images_are_their_files(robots):
    image = robots.windows("train", decode=False)[5]["observation"]["image"][0]
    assert tfr.image.decode_image(image)[0, 0, 0] == 10


def test_spans_are_of_features_and_of_dicts(robots):
    ds = robots.windows(
        "train", spans={"observation": (-1, 2), "observation/state": None, "language_instruction": (0, 1)}
    )
    window = ds[5]
    assert list(window["observation"]) == ["image"]
    assert values([window]) == [[10, 11, 12]]
    assert window["language_instruction"].tolist() == [b"push"]
    only = robots.windows("train", spans={"observation": None, "is_first": None})
    assert sorted(only[0]) == ["action", "language_instruction"]


def test_spans_far_outside_repeat_the_nearest_step(robots):
    ds = robots.windows("train", pad="mask", spans={"observation/image": (-100, -98), "action": (99, 100)})
    window = ds[5]
    assert values([window]) == [[10, 10]]
    assert (window["action"][:, 0].tolist(), window["mask"]["action"].tolist()) == ([3.0], [False])


def test_wrong_arguments_are_refused(robots):
    refused = tfr.errors.InvalidArgumentError
    assert "from 1 to 1,048,576 but got 0" in error_of(refused, lambda: robots.windows("train", history=0))
    assert "'repeat' or 'mask'" in error_of(refused, lambda: robots.windows("train", pad="zero"))
    assert "such as (-1, 1), but got (1, 1)" in error_of(
        refused, lambda: robots.windows("train", spans={"action": (1, 1)})
    )
    text = error_of(refused, lambda: robots.windows("train", spans={"observation/imag": (0, 1)}))
    assert "no feature 'observation/imag' in the steps" in text
    assert "observation/image" in text
    everything = dict.fromkeys(["observation", "action", "is_first", "language_instruction"])
    assert "leave out all" in error_of(refused, lambda: robots.windows("train", spans=everything))
    assert "Unknown split" in error_of(tfr.errors.NotFoundError, lambda: robots.windows("test"))
    assert "expected a split" in error_of(TypeError, lambda: robots.windows(None))
    for width in (True, 10**10):
        assert "from 1 to 1,048,576 but got" in error_of(
            refused, lambda width=width: robots.windows("train", future=width)
        )


@pytest.mark.parametrize("span", [3, (1, 2, 3), "ab", (0, 10**12), (2**63 - 2, 2**63), {0, 1}, (1, 1), ()])
def test_spans_that_are_none_are_refused(robots, span):
    text = error_of(tfr.errors.InvalidArgumentError, lambda: robots.windows("train", spans={"action": span}))
    assert "Expected the span of 'action' to be (from, up to)" in text


def test_spans_are_by_name(robots):
    text = error_of(tfr.errors.InvalidArgumentError, lambda: robots.windows("train", spans=["action"]))
    assert "Expected spans to be a dict" in text
    text = error_of(TypeError, lambda: robots.windows("train", spans={"action": ("a", 2)}))
    assert "expected a span to be an integer" in text


def test_other_data_sets_are_refused(path):
    write(path, [{"x": 1}], features(x=tensor("int64")))
    text = error_of(tfr.errors.NotFoundError, lambda: tfr.rlds.open(path))
    assert "no RLDS data set: expected a feature 'steps' that is a Dataset or Sequence but it has 'x'" in text


@pytest.mark.usefixtures("counting")
def test_episodes_without_steps_are_counted_and_named(path):
    robots = tfr.rlds.open(write(path, [episode(0, 2), empty(), episode(1, 3), empty()]))
    assert robots.lengths("train").tolist() == [2, 3, 0, 0]
    named = f"2 episodes of 'train' have no steps, and so no windows: record 0 of '{path}/digits-train.tfrecord-00001"
    with pytest.warns(UserWarning, match=re.escape(named)):
        ds = robots.windows("train", 1, 1)
    assert values(ds) == [[0], [1], [10], [11], [12]]
    with pytest.warns(UserWarning, match="2 episodes"):
        assert len(robots.steps("train")) == 5
    assert len(robots.episodes("train")) == 4


def test_only_the_frames_of_a_window_are_decoded(path):
    broken = episode(0, 6)
    broken["steps/observation/image"][3] = b"no image"
    ds = tfr.rlds.open(write(path, [broken], shards=1)).windows("train", 2, 2)
    assert values([ds[2], ds[5]]) == [[1, 2], [4, 5]]
    for number in (3, 4):
        text = error_of(tfr.errors.InvalidArgumentError, lambda number=number: ds[number])
        assert "step 3: feature 'steps/observation/image': its image cannot be decoded" in text
        assert "in record 0 of" in text
        assert "digits-train.tfrecord-00000-of-00001" in text


def test_an_error_does_not_hide_the_windows_around_it(path):
    broken = episode(1, 3)
    broken["steps/observation/image"][1] = b"no image"
    ds = tfr.rlds.open(write(path, [episode(0, 2), broken], shards=1)).windows("train", 1, 1)
    found, iterator = [], iter(ds)
    for _ in range(len(ds)):
        try:
            found += values([next(iterator)])
        except tfr.errors.InvalidArgumentError:
            found.append("error")
    assert found == [[0], [1], [10], "error", [12]]


def test_a_feature_that_a_record_lacks_is_named(path):
    lacks = episode(1, 3)
    del lacks["steps/action"]
    ds = tfr.rlds.open(write(path, [episode(0, 2), lacks], shards=1)).windows("train")
    assert len(ds) == 5
    text = error_of(tfr.errors.InvalidArgumentError, lambda: ds[3])
    assert (
        "feature 'steps/action': expected values for 3 steps, which the episode has, but got those of 0"
        in text
    )
    assert "in record 1 of" in text
    assert ds[1]["action"].shape == (8, 3)


@pytest.mark.usefixtures("counting")
def test_a_record_whose_steps_cannot_be_counted_is_named(path):
    lacks = episode(1, 3)
    del lacks["steps/is_first"]
    robots = tfr.rlds.open(write(path, [episode(0, 2), lacks], shards=1))
    text = error_of(tfr.errors.DataLossError, lambda: robots.steps("train"))
    assert (
        "but 'steps/is_first' has 0 values, where a step has 1 and 'steps/observation/image' has 3 values, where a "
        "step has 1; in record 1 of" in text
    )


@pytest.mark.usefixtures("counting")
def test_a_step_of_a_huge_size_is_named_as_it_is(path):
    described = features(steps=dataset_of(features(action=tensor("int64", 1 << 30))))
    stored = {"steps/action": [1, 2]}
    robots = tfr.rlds.open(write(path, [stored], described, shards=1))
    text = error_of(tfr.errors.DataLossError, lambda: robots.steps("train"))
    assert "but 'steps/action' has 2 values, where a step has 1,073,741,824; in record 0" in text


NUMBERS = {
    "pythonClassName": f"{CLASS}sequence_feature.Sequence",
    "sequence": {"feature": tensor("int64"), "length": "-1"},
}


def test_features_of_an_episode_that_have_not_as_many_steps_are_refused(path):
    step = features(action=tensor("float32", 2), text=TEXT, inner=features(numbers=NUMBERS))
    described = features(steps=dataset_of(step), other=TEXT)
    good = {
        "steps/action": [1.0, 2.0, 3.0, 4.0],
        "steps/text": [b"a", b"b"],
        "steps/inner/numbers/ragged_flat_values": [1, 2, 3],
        "steps/inner/numbers/ragged_row_lengths_0": [1, 2],
        "other": b"x",
    }
    lacks = {key: value for key, value in good.items() if key != "steps/text"}
    short = {
        **good,
        "steps/inner/numbers/ragged_flat_values": [1],
        "steps/inner/numbers/ragged_row_lengths_0": [1],
    }
    ds = tfr.rlds.open(write(path, [good, lacks, short], described, shards=1)).episodes("train")
    assert ds[0]["steps"]["inner"]["numbers"].to_list() == [[1], [2, 3]]
    for number, key, count in ((1, "steps/text", 0), (2, "steps/inner/numbers", 1)):
        text = error_of(tfr.errors.InvalidArgumentError, lambda number=number: ds[number])
        assert (
            f"all features of a data set but 'steps/action' has 2 and {key!r} has {count}; in record {number}"
            in text
        )
    assert "in record 1 " in error_of(tfr.errors.InvalidArgumentError, lambda: list(ds))


def test_lengths_that_do_not_fit_the_values_of_a_step_name_its_feature(path):
    described = features(steps=dataset_of(features(action=tensor("int64"), numbers=NUMBERS)))
    stored = {
        "steps/action": [1, 2],
        "steps/numbers/ragged_flat_values": [1, 2],
        "steps/numbers/ragged_row_lengths_0": [1, 2**63 - 1],
    }
    ds = tfr.rlds.open(write(path, [stored], described, shards=1)).windows("train")
    text = error_of(tfr.errors.InvalidArgumentError, lambda: ds[0])
    assert f"feature 'steps/numbers': the length of a sequence is {2**63 - 1} but there are 2 values" in text


def test_data_sets_in_data_sets_have_as_many_elements_of_each_feature(path):
    inner = dataset_of(features(a=tensor("int64"), b=tensor("int64")))
    described = features(steps=dataset_of(features(inner=inner, done=tensor("bool"))))

    def stored(lengths):
        return {
            "steps/done": [0, 1],
            "steps/inner/a/ragged_flat_values": [1, 2, 3],
            "steps/inner/a/ragged_row_lengths_0": [1, 2],
            "steps/inner/b/ragged_flat_values": list(range(sum(lengths))),
            "steps/inner/b/ragged_row_lengths_0": lengths,
        }

    ds = tfr.load(write(path, [stored([1, 2]), stored([1, 1])], described, shards=1), "train")
    assert ds[0]["steps"]["inner"]["b"].to_list() == [[0], [1, 2]]
    text = error_of(tfr.errors.InvalidArgumentError, lambda: ds[1])
    assert "but 'steps/inner/a' has 3 and 'steps/inner/b' has 2; in record 1" in text


def test_values_of_another_type_are_an_error(path):
    wrong = episode(1, 3)
    wrong["steps/action"] = [1] * 9
    ds = tfr.rlds.open(write(path, [wrong], shards=1)).windows("train")
    text = error_of(tfr.errors.InvalidArgumentError, lambda: ds[0])
    assert "steps/action" in text
    assert "Data types don't match" in text


def test_values_that_are_no_whole_steps_are_an_error(path):
    wrong = episode(1, 3)
    wrong["steps/action"] = wrong["steps/action"][:-1]
    ds = tfr.rlds.open(write(path, [wrong], shards=1)).windows("train")
    text = error_of(tfr.errors.InvalidArgumentError, lambda: ds[0])
    assert "feature 'steps/action': expected 3 values for each step but got 8 in all; in record 0 of" in text


@pytest.mark.usefixtures("counting")
def test_records_of_unusual_form_are_read(path):
    """The features in two pieces, which merge: no writer makes that, and protobuf reads it."""
    robots = tfr.rlds.open(write(path, [episode(0, 4)], shards=1))
    expected = values(robots.windows("train"))
    file = f"{path}/digits-train.tfrecord-00000-of-00001"
    (record,) = tfr.read_records(file)
    with tfr.TFRecordWriter(file) as writer:
        writer.write(record + b"\x0a\x00")
    again = tfr.rlds.open(path)
    assert again.lengths("train").tolist() == [4]
    assert values(again.windows("train")) == expected
    assert again.windows("train")[1]["language_instruction"][0] == b"push"


def test_a_damaged_record_is_an_error_of_its_windows(path):
    robots = tfr.rlds.open(write(path, [episode(0, 2), episode(1, 3)], shards=1))
    file = f"{path}/digits-train.tfrecord-00000-of-00001"
    with open(file, "r+b") as damaged:
        data = damaged.read()
        at = data.index(b"push", len(data) // 2)
        damaged.seek(at)
        damaged.write(b"pull")
    ds = robots.windows("train", 1, 1)
    assert values([ds[1]]) == [[1]]
    assert "checksum" in error_of(tfr.errors.DataLossError, lambda: ds[2])


@pytest.mark.usefixtures("counting")
def test_steps_are_counted_by_any_feature(path):
    random = np.random.default_rng(3)
    lengths = random.integers(0, 40, 30).tolist()
    for shape, kind in ((tensor("float32", 3, 2), "f"), (TEXT, "s"), (tensor("int64", 2), "i")):
        values = {"f": [0.5] * 6, "s": [b"text"], "i": [1 << 40, -1]}[kind]
        episodes = [{"a": b"x" * 300, "steps/x": values * length, "zz": 1} for length in lengths]
        described = features(steps=dataset_of(features(x=shape)), a=TEXT, zz=tensor("int64"))
        robots = tfr.rlds.open(write(f"{path}-{kind}", episodes, described, shards=1))
        assert robots.lengths("train").tolist() == lengths


@pytest.mark.usefixtures("counting")
def test_compressed_shards_are_read(path):
    write(path, [episode(*each) for each in enumerate(LENGTHS)])
    for number in range(2):
        file = f"{path}/digits-train.tfrecord-0000{number}-of-00002"
        records = list(tfr.read_records(file))
        with tfr.TFRecordWriter(file, "GZIP") as writer:
            writer.write_many(records)
    robots = tfr.rlds.open(path)
    assert robots.lengths("train").tolist() == [3, 1, 4, 5]
    assert values(robots.windows("train", 1, 1)) == [[each] for each in ORDER]
    assert len(list(robots.episodes("train"))) == 4


def test_folders_of_other_stores_are_opened():
    robots = tfr.rlds.open(write("memory://rlds/robots", [episode(*each) for each in enumerate(LENGTHS)]))
    assert values(robots.windows("train[:3]", 1, 1)) == [[each] for each in ORDER[:8]]


@pytest.mark.usefixtures("counting")
def test_counts_that_the_description_has_wrong_are_an_error(path):
    split = {"name": "train", "shardLengths": ["2", "3"]}
    robots = tfr.rlds.open(
        write(path, [episode(*each) for each in enumerate(LENGTHS)], info={"splits": [split]})
    )
    assert "expected 3 records" in error_of(tfr.errors.DataLossError, lambda: robots.steps("train"))


def test_steps_named_mask_have_no_mask(path):
    described = features(steps=dataset_of(features(mask=tensor("int64"))))
    robots = tfr.rlds.open(write(path, [{"steps/mask": [1, 2]}], described, shards=1))
    assert "named 'mask' already" in error_of(
        tfr.errors.InvalidArgumentError, lambda: robots.windows("train", pad="mask")
    )
    assert robots.windows("train", 1, 2)[0]["mask"].tolist() == [1, 2]


@pytest.mark.usefixtures("counting")
def test_steps_that_are_no_dicts(path):
    described = features(steps=dataset_of(tensor("int32")))
    ds = tfr.rlds.open(write(path, [{"steps": [5, 6, 7]}], described, shards=1)).windows("train", 1, 2)
    assert [each.tolist() for each in ds] == [[5, 6], [6, 7], [7, 7]]
    text = error_of(tfr.errors.InvalidArgumentError, lambda: tfr.rlds.open(path).windows("train", pad="mask"))
    assert "The steps are no dicts" in text


def test_steps_that_only_have_sequences_are_not_counted(path):
    inner = {
        "pythonClassName": f"{CLASS}sequence_feature.Sequence",
        "sequence": {"feature": tensor("int32"), "length": "-1"},
    }
    stored = {"steps/x/ragged_flat_values": [1], "steps/x/ragged_row_lengths_0": [1]}
    robots = tfr.rlds.open(write(path, [stored], features(steps=dataset_of(features(x=inner))), shards=1))
    assert "cannot be counted" in error_of(tfr.errors.InvalidArgumentError, lambda: robots.steps("train"))
    assert len(robots.episodes("train")) == 1


def test_statistics_are_those_of_plain_numpy(robots):
    found = robots.statistics("train")
    assert sorted(found) == ["action", "num_trajectories", "num_transitions", "observation/state"]
    assert (found["num_trajectories"], found["num_transitions"]) == (4, 13)
    steps = list(robots.steps("train"))
    for name, values in (
        ("action", [each["action"] for each in steps]),
        ("observation/state", [each["observation"]["state"] for each in steps]),
    ):
        stacked = np.array(values)
        expected = {kind: getattr(stacked, kind)(0) for kind in ("mean", "std", "max", "min")}
        expected |= {f"q{percent:02}": np.quantile(stacked, percent / 100, axis=0) for percent in (1, 99)}
        assert sorted(found[name]) == sorted(expected)
        for kind, each in expected.items():
            np.testing.assert_allclose(found[name][kind], each, rtol=1e-5)
    assert json.loads(json.dumps(found)) == found


def test_statistics_of_parts_and_of_other_features(robots):
    found = robots.statistics("train[:1]", ["is_first"])
    assert found["num_transitions"] == 3
    assert (found["is_first"]["mean"], found["is_first"]["max"]) == (pytest.approx(1 / 3), 1.0)
    refused = tfr.errors.InvalidArgumentError
    assert "no feature 'acton' of numbers" in error_of(refused, lambda: robots.statistics("train", ["acton"]))
    assert "'observation/image' of numbers" in error_of(
        refused, lambda: robots.statistics("train", ["observation/image"])
    )


def test_statistics_need_steps(path):
    robots = tfr.rlds.open(write(path, [empty()], shards=1))
    with pytest.warns(UserWarning, match="1 episodes"):
        assert "no steps in 'train'" in error_of(
            tfr.errors.InvalidArgumentError, lambda: robots.statistics("train")
        )
