"""One manifest for shards of several builds and copies: counted, never believed."""

from __future__ import annotations

import json
import shutil

import pytest

import tfrkit as tfr
from tfrkit.errors import DataLossError, FailedPreconditionError, NotFoundError
from tfrkit.model.spec_json import spec_from_data


def content(folder):
    return json.loads((folder / "manifest.json").read_bytes())


def shards(folder, prefix, count, values, key="label"):
    """A set of a ShardWriter."""
    with tfr.ShardWriter(folder / prefix, shards=count) as writer:
        for value in values:
            writer.write_example({key: value})


def built(folder, rows, **options):
    import pyarrow as pa

    return tfr.build.table(pa.table(rows), folder, **options)


def copy(source, folder):
    """Copy shards, and not what describes them."""
    folder.mkdir(exist_ok=True)
    for path in source.glob("*.tfrecord*"):
        shutil.copy(path, folder)


def test_shards_without_a_manifest_are_counted_and_their_spec_is_found(tmp_path):
    shards(tmp_path / "a", "train", 2, range(5))
    copy(tmp_path / "a", tmp_path / "all")
    report = tfr.make_manifest(tmp_path / "all")
    assert (report.records, [shard.records for shard in report.shards]) == (5, [3, 2])
    assert report.spec == {"label": tfr.FixedLenFeature([], "int64")}
    said = content(tmp_path / "all")
    assert said["made_by"] == {"train": {"writer": "tfr index", "shards": 2, "compression": ""}}
    assert said["shards"] == content(tmp_path / "a")["shards"]
    assert spec_from_data(said["spec"]) == report.spec
    assert tfr.verify(tmp_path / "all").ok
    before = (tmp_path / "all" / "manifest.json").read_bytes()
    tfr.make_manifest(tmp_path / "all")
    assert (tmp_path / "all" / "manifest.json").read_bytes() == before


def test_jobs_and_specs_of_several_builds_are_merged(tmp_path):
    built(tmp_path / "a", {"n": [1, 2], "s": ["x", "y"], "f": [0.5, 1.5]}, prefix="train", shards=2)
    built(tmp_path / "b", {"n": [[3, 4]], "s": ["z"]}, prefix="test")
    copy(tmp_path / "a", tmp_path / "all")
    copy(tmp_path / "b", tmp_path / "all")
    shutil.copy(tmp_path / "b" / "manifest.json", tmp_path / "b.json")
    report = tfr.make_manifest(tmp_path / "all", [tmp_path / "a", tmp_path / "b.json"])
    a, b = content(tmp_path / "a"), content(tmp_path / "b")
    said = content(tmp_path / "all")
    assert said["made_by"] == {**a["made_by"], **b["made_by"]}
    assert said["jobs"] == {**a["jobs"], **b["jobs"]}
    assert report.conflicts == ()
    assert report.spec == {
        "f": tfr.VarLenFeature("float32"),
        "n": tfr.VarLenFeature("int64"),
        "s": tfr.FixedLenFeature([], "bytes"),
    }
    assert tfr.verify(tmp_path / "all").ok
    assert len(tfr.parse_example(list(tfr.read_records(f"{tmp_path}/all/*.tfrecord")), report.spec)["s"]) == 3
    before = (tmp_path / "all" / "manifest.json").read_bytes()
    tfr.make_manifest(tmp_path / "all")  # by its own manifest, without the sources
    assert (tmp_path / "all" / "manifest.json").read_bytes() == before


def test_sets_of_one_prefix_keep_both_jobs(tmp_path):
    built(tmp_path / "a", {"n": [1, 2]}, shards=2)
    built(tmp_path / "b", {"n": [3, 4, 5]}, shards=3)
    copy(tmp_path / "a", tmp_path / "all")
    copy(tmp_path / "b", tmp_path / "all")
    jobs = content(tmp_path / "a")["jobs"] | content(tmp_path / "b")["jobs"]
    for sources in ([tmp_path / "a", tmp_path / "b"], []):
        report = tfr.make_manifest(tmp_path / "all", sources)
        assert report.made_by == {
            "data": {"writer": "tfr index", "shards": 5, "compression": "", "jobs": sorted(jobs)}
        }
        assert content(tmp_path / "all")["jobs"] == jobs
        assert (report.spec, report.records) == ({"n": tfr.FixedLenFeature([], "int64")}, 5)
    assert tfr.verify(tmp_path / "all").ok


def test_manifest_that_says_another_count_is_not_believed(tmp_path):
    built(tmp_path / "a", {"n": [1, 2]})
    path = tmp_path / "a" / "manifest.json"
    said = content(tmp_path / "a")
    said["shards"][0]["records"] = 7
    path.write_text(json.dumps(said))
    report = tfr.make_manifest(tmp_path / "a")
    size = (tmp_path / "a" / "data-00000-of-00001.tfrecord").stat().st_size
    assert report.conflicts == (
        f"data-00000-of-00001.tfrecord: {path} says 7 records in {size} bytes, but there are 2 in {size}",
    )
    assert content(tmp_path / "a")["shards"][0]["records"] == 2
    assert content(tmp_path / "a")["made_by"]["data"]["writer"] == "tfr index"
    assert tfr.verify(tmp_path / "a").ok


def test_features_of_different_kinds_are_named_and_left_out_of_the_spec(tmp_path):
    built(tmp_path / "all", {"n": [1], "x": [1]}, prefix="a")
    built(tmp_path / "all", {"n": ["text"], "x": [2]}, prefix="b")
    report = tfr.make_manifest(tmp_path / "all")
    assert report.spec == {"x": tfr.FixedLenFeature([], "int64")}
    assert report.conflicts == (
        (
            "feature 'n' is left out of the spec: FixedLenFeature(shape=[], dtype='int64', default_value=None) in "
            "a-*-of-00001.tfrecord, FixedLenFeature(shape=[], dtype='bytes', default_value=None) in "
            "b-*-of-00001.tfrecord"
        ),
    )


def test_records_that_are_no_examples_have_no_spec(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "raw.tfrecord.gz") as writer:
        writer.write_many([b"\xff\xff", b""])
    shards(tmp_path, "train", 1, range(5))
    report = tfr.make_manifest(tmp_path)
    assert (report.spec, content(tmp_path)["spec"]) == (None, None)
    assert report.conflicts == (
        "raw.tfrecord.gz has no spec (its records are not plain Examples), so the folder has none",
    )
    assert [(shard.name, shard.compression) for shard in report.shards] == [
        ("raw.tfrecord.gz", "GZIP"),
        ("train-00000-of-00001.tfrecord", ""),
    ]
    assert content(tmp_path)["made_by"]["train"]["writer"] == "ShardWriter"
    assert tfr.verify(tmp_path).ok


def test_shards_that_are_gone_are_dropped(tmp_path):
    shards(tmp_path, "train", 1, range(5))
    shards(tmp_path, "old", 1, range(5))
    (tmp_path / "old-00000-of-00001.tfrecord").unlink()
    report = tfr.make_manifest(tmp_path)
    assert (report.dropped, list(report.made_by)) == (("old-00000-of-00001.tfrecord",), ["train"])
    assert tfr.verify(tmp_path).ok


def test_later_build_takes_the_spec_of_the_folder_out(tmp_path):
    built(tmp_path, {"n": [1]}, prefix="a")
    tfr.make_manifest(tmp_path)
    assert content(tmp_path)["spec"] is not None
    built(tmp_path, {"n": ["x"]}, prefix="b")
    assert "spec" not in content(tmp_path)


def test_incomplete_set_is_refused(tmp_path):
    shards(tmp_path, "train", 3, range(5))
    (tmp_path / "train-00001-of-00003.tfrecord").unlink()
    before = (tmp_path / "manifest.json").read_bytes()
    with pytest.raises(FailedPreconditionError) as caught:
        tfr.make_manifest(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}; 2 of 3 shards of 'train-*-of-00003.tfrecord' are there, and train-00001-of-00003.tfrecord is "
        "missing or too many. Copy the whole set, or move what is left of it away."
    )
    assert (tmp_path / "manifest.json").read_bytes() == before


def test_damaged_shard_is_refused(tmp_path):
    shards(tmp_path / "a", "train", 2, range(5))
    copy(tmp_path / "a", tmp_path / "all")
    path = tmp_path / "all" / "train-00001-of-00002.tfrecord"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(
        DataLossError, match=r"truncated record.*Nothing was written. Fix or remove it first."
    ):
        tfr.make_manifest(tmp_path / "all")
    assert not (tmp_path / "all" / "manifest.json").exists()


def test_folder_in_which_a_job_was_interrupted_is_refused(tmp_path):
    shards(tmp_path, "train", 1, range(5))
    journal = tmp_path / ".tfrkit" / "job-0123456789abcdef.jsonl"
    header = {
        "format": "tfrkit-job", "version": 1, "digest": "0123456789abcdef", "prefixes": {"x": False},
        "made_by": {}, "transient": {}, "staged": False,
    }  # fmt: skip
    journal.write_text(json.dumps(header) + "\n")
    with pytest.raises(FailedPreconditionError) as caught:
        tfr.make_manifest(tmp_path)
    assert str(caught.value) == (
        f"{journal}; a job or a repair in this folder is not complete. Wait for it, or run its command again, "
        "and then make the manifest."
    )


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(NotFoundError) as caught:
        tfr.make_manifest(tmp_path)
    assert str(caught.value) == f"{tmp_path}; no shards in this folder. Name the folder that has them."
    shards(tmp_path / "a", "train", 1, range(5))
    with pytest.raises(NotFoundError) as caught:
        tfr.make_manifest(tmp_path / "a", [tmp_path])
    assert str(caught.value) == (
        f"{tmp_path}/manifest.json; there is no such manifest. Name a folder that has one, or its copy."
    )
    (tmp_path / "broken.json").write_text("[]")
    with pytest.raises(
        DataLossError, match=r"broken.json; expected a tfrkit manifest but got something else"
    ):
        tfr.make_manifest(tmp_path / "a", [tmp_path / "broken.json"])


def test_lost_records_of_a_repaired_shard_stay_known(tmp_path):
    shards(tmp_path, "train", 1, range(5))
    path = tmp_path / "train-00000-of-00001.tfrecord"
    data = bytearray(path.read_bytes())
    data[14] ^= 1
    path.write_bytes(data)
    tfr.repair_files(str(tmp_path))
    before = content(tmp_path)["shards"]
    assert before[0]["lost"] == 1
    tfr.make_manifest(tmp_path)
    assert content(tmp_path)["shards"] == before


def test_folders_of_a_store_are_served(tmp_path):
    base = f"memory://{tmp_path.name}-manifests"
    with tfr.TFRecordWriter(f"{base}/a.tfrecord") as writer:
        writer.write_batch({"n": [1, 2]})
    assert tfr.make_manifest(base).records == 2
    assert tfr.verify(base).ok


def test_manifest_with_odd_jobs_or_spec_is_refused(tmp_path):
    shards(tmp_path, "train", 1, range(5))
    good = content(tmp_path)
    for change, text in (
        ({"spec": 3}, "spec: expected an object but got 3"),
        (
            {"made_by": {"train": {"jobs": "x"}}},
            "made_by: jobs of 'train': expected a list of hex digits but got 'x'",
        ),
    ):
        (tmp_path / "manifest.json").write_text(json.dumps(good | change))
        with pytest.raises(DataLossError) as caught:
            tfr.make_manifest(tmp_path)
        assert text in str(caught.value)
