"""Exports of Earth Engine, written as its guide of TFRecord and its mixer files describe them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.folders.kinds.earth_engine_folder import patch_shape

WIDTH, HEIGHT = 4, 3


def patch(number, height=HEIGHT, width=WIDTH):
    grid = np.arange(height * width).reshape(height, width)
    return {"B2": grid + number / 2, "mask": (grid % 200).astype(np.uint8), "count": grid * number}


def write_export(
    folder, name, files, total=None, *, height=HEIGHT, width=WIDTH, suffix="tfrecord.gz", **mixer
):
    number = 0
    for index, count in enumerate(files):
        with tfr.TFRecordWriter(str(folder / f"{name}-{index:05d}.{suffix}")) as writer:
            for _ in range(count):
                bands = patch(number, height, width)
                writer.write_example(
                    {
                        "B2": bands["B2"].ravel().tolist(),
                        "mask": bands["mask"].tobytes(),
                        "count": bands["count"].ravel().tolist(),
                    }
                )
                number += 1
    content = {
        "projection": {"crs": "EPSG:4326", "affine": {"doubleMatrix": [1e-3, 0.0, 7.0, 0.0, -1e-3, 46.0]}},
        "patchDimensions": [WIDTH, HEIGHT],
        "patchesPerRow": 5,
        "totalPatches": number if total is None else total,
        **mixer,
    }
    (folder / f"{name}-mixer.json").write_text(json.dumps(content))


def test_patches_have_the_size_of_the_mixer(tmp_path):
    write_export(tmp_path, "area", [3, 2])
    found = tfr.open_folder(tmp_path)
    assert (found.kind, found.description, found.splits["area"].records) == ("earth_engine", "EPSG:4326", 5)
    assert "  B2: Band(float32, shape=(3, 4))" in str(found).split("\n")
    ds = tfr.load(tmp_path, "area")
    assert len(ds) == 5
    for number, each in enumerate(ds):
        assert {key: value.tolist() for key, value in each.items()} == {
            key: value.tolist() for key, value in patch(number).items()
        }
        assert each["mask"].dtype == np.uint8
    assert ds[4]["B2"].tolist() == patch(4)["B2"].tolist()
    assert next(iter(ds.batch(4)))["B2"].shape == (4, 3, 4)


def test_the_overlap_of_a_kernel_makes_patches_larger(tmp_path):
    write_export(tmp_path, "area", [2], height=HEIGHT + 6, width=WIDTH + 6, suffix="tfrecord")
    assert tfr.load(tmp_path, "area")[1]["mask"].tolist() == patch(1, HEIGHT + 6, WIDTH + 6)["mask"].tolist()


@pytest.mark.parametrize("width", [1, 2, 7, 64, 256])
@pytest.mark.parametrize("height", [1, 3, 64, 100])
def test_every_overlap_is_found(width, height):
    for overlap in range(70):
        count = (width + overlap) * (height + overlap)
        assert patch_shape(count, width, height) == (height + overlap, width + overlap)
        assert patch_shape(count - 1, width, height) in (
            (count - 1,),
            (height + overlap - 1, width + overlap - 1),
        )


def test_names_without_a_dash_and_single_files_are_known(tmp_path):
    write_export(tmp_path, "a", [2])
    (tmp_path / "a-mixer.json").rename(tmp_path / "amixer.json")
    (tmp_path / "a-00000.tfrecord.gz").rename(tmp_path / "a00000.tfrecord.gz")
    write_export(tmp_path, "b 1.5", [3])
    (tmp_path / "b 1.5-00000.tfrecord.gz").rename(tmp_path / "b 1.5.tfrecord.gz")
    assert {name: len(ds) for name, ds in tfr.load(tmp_path).items()} == {"a": 2, "b 1.5": 3}
    assert len(list(tfr.load(tmp_path, "b 1.5"))) == 3


def test_another_number_of_patches_than_the_mixer_says_is_an_error(tmp_path):
    write_export(tmp_path, "one", [3], total=4)
    write_export(tmp_path, "two", [3, 2], total=4)
    for name in ("one", "two"):
        with pytest.raises(tfr.errors.DataLossError, match="as the description of the data set says"):
            list(tfr.load(tmp_path, name))


def test_missing_files_are_named(tmp_path):
    write_export(tmp_path, "area", [1, 1, 1])
    (tmp_path / "area-00001.tfrecord.gz").unlink()
    with pytest.raises(
        tfr.errors.NotFoundError, match=r"1 shards .* 'area-00001\.tf.*'\. Files up to number 00002"
    ):
        tfr.open_folder(tmp_path)
    (tmp_path / "area-999999999999999999.tfrecord.gz").touch()
    with pytest.raises(tfr.errors.NotFoundError, match="at least 999,999,999,999,999,996 shards"):
        tfr.open_folder(tmp_path)
    for path in tmp_path.glob("*.gz"):
        path.unlink()
    with pytest.raises(tfr.errors.NotFoundError, match=r"there are no files area-00000\.tfrecord\.gz"):
        tfr.open_folder(tmp_path)


def test_exports_of_other_bands_are_refused(tmp_path):
    write_export(tmp_path, "area", [1])
    write_export(tmp_path, "wide", [1], height=HEIGHT + 2, width=WIDTH + 2)
    with pytest.raises(
        tfr.errors.FailedPreconditionError, match="'area' and 'wide' have other bands or sizes"
    ):
        tfr.open_folder(tmp_path)


def test_files_without_a_mixer_are_left_out_with_a_warning(tmp_path):
    write_export(tmp_path, "area", [1])
    with tfr.TFRecordWriter(str(tmp_path / "table.tfrecord.gz")) as writer:
        writer.write_example({"B2": 1.0})
    with pytest.warns(UserWarning, match=r"1 files are of no export .*'table\.tfrecord\.gz'"):
        assert list(tfr.open_folder(tmp_path).splits) == ["area"]


def test_a_patch_of_another_size_is_named(tmp_path):
    write_export(tmp_path, "area", [1])
    with tfr.TFRecordWriter(str(tmp_path / "area-00000.tfrecord.gz")) as writer:
        for count in (12, 11):
            writer.write_example({"B2": [0.5] * count})
    (tmp_path / "area-mixer.json").write_text('{"patchDimensions": [4, 3]}')
    ds = tfr.load(tmp_path, "area")
    with pytest.raises(tfr.errors.InvalidArgumentError, match=r"B2.*area-00000\.tfrecord\.gz"):
        list(ds)


@pytest.mark.parametrize("sizes", [[4], [4, 0], [4, -1], [4, 10**12], ["a", 3], "4x3", None, [4, 3, 2]])
def test_damaged_sizes_are_refused(tmp_path, sizes):
    write_export(tmp_path, "area", [1], patchDimensions=sizes)
    with pytest.raises(tfr.errors.DataLossError, match=r"area-mixer\.json; mixer"):
        tfr.open_folder(tmp_path)


def test_records_that_are_no_examples_are_refused(tmp_path):
    write_export(tmp_path, "area", [1])
    with tfr.TFRecordWriter(str(tmp_path / "area-00000.tfrecord.gz")) as writer:
        writer.write(b"\xff\xff\xff")
    with pytest.raises(tfr.errors.DataLossError, match="its first record is no Example"):
        tfr.open_folder(tmp_path)


def test_a_damaged_file_that_is_named_like_a_mixer_is_told_if_it_has_files(tmp_path):
    with tfr.TFRecordWriter(str(tmp_path / "a-00000.tfrecord")) as writer:
        writer.write_example({"x": 1})
    (tmp_path / "remixer.json").write_text("{")
    assert tfr.open_folder(tmp_path).kind == "shards"
    (tmp_path / "a-mixer.json").write_text("{")
    with pytest.raises(tfr.errors.DataLossError, match=r"a-mixer\.json; expected JSON"):
        tfr.open_folder(tmp_path)


def test_two_mixers_of_one_export_are_refused(tmp_path):
    for name in ("a-mixer.json", "a_mixer.json"):
        (tmp_path / name).write_text('{"patchDimensions": [4, 3]}')
    with pytest.raises(
        tfr.errors.FailedPreconditionError, match=r"'a-mixer\.json' and 'a_mixer\.json' are of one"
    ):
        tfr.open_folder(tmp_path)
