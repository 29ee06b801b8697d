"""`tfr.build.images` from end to end: every kind of source gives the same shards."""

from __future__ import annotations

import json
import zipfile

import pytest

import tfrkit as tfr
from tests.build.support.image_samples import (
    FORMATS,
    examples,
    labels,
    photos,
    picture,
    shards,
    tarred,
    write_files,
    zipped,
)
from tfrkit.build.images.build_images import images
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError

FILES = photos({"cat": 3, "dog": 2}) | {"dog/small/9.png": picture(99, "PNG")}
EXPECTED = {
    "cat/0.jpg": 0,
    "cat/1.jpg": 0,
    "cat/2.jpg": 0,
    "dog/0.jpg": 1,
    "dog/1.jpg": 1,
    "dog/small/9.png": 1,
}


def test_folders_are_classes_and_files_are_kept(tmp_path):
    report = images(write_files(tmp_path / "photos", FILES), tmp_path / "out")
    assert labels(tmp_path / "out") == EXPECTED
    found = {one["image/filename"].decode(): one for one in examples(tmp_path / "out")}
    for name, content in FILES.items():
        assert found[name]["image/encoded"] == content
    assert found["dog/small/9.png"] == {
        "image/encoded": FILES["dog/small/9.png"],
        "image/format": b"PNG",
        "image/height": 12,
        "image/width": 16,
        "image/channels": 3,
        "image/filename": b"dog/small/9.png",
        "image/label": 1,
        "image/text": b"dog",
    }
    assert (tmp_path / "out" / "labels.txt").read_bytes() == b"cat\ndog\n"
    assert report.records == 6
    assert report.bad == {}


@pytest.mark.parametrize("top", ["", "photos/", "./"], ids=["bare", "in one folder", "dotted"])
@pytest.mark.parametrize("kind", ["zip", "deflated zip", "tar", "tar.gz"])
def test_archives_give_what_folders_give(tmp_path, kind, top):
    files = {top + name: content for name, content in FILES.items()}
    if kind == "tar.gz":
        source = tarred(tmp_path / "photos.tar.gz", files, "w:gz")
    elif kind == "tar":
        source = tarred(tmp_path / "photos.tar", files)
    else:
        method = zipfile.ZIP_DEFLATED if kind == "deflated zip" else zipfile.ZIP_STORED
        source = zipped(tmp_path / "photos.zip", files, method)
    report = images(source, tmp_path / "out", shards=2)
    assert report.records == 6
    name = "photos/" if top == "photos/" else ""
    assert labels(tmp_path / "out") == {name + path: label for path, label in EXPECTED.items()}
    if kind != "tar.gz" and not name:
        images(write_files(tmp_path / "photos", FILES), tmp_path / "folder", shards=2)
        assert shards(tmp_path / "out") == shards(tmp_path / "folder")


def test_gzipped_tar_without_shuffle_keeps_the_order_of_the_archive(tmp_path):
    names = ["dog/1.jpg", "cat/2.jpg", "dog/0.jpg", "cat/0.jpg", "cat/1.jpg"]
    source = tarred(tmp_path / "photos.tgz", {name: FILES[name] for name in names}, "w:gz")
    images(source, tmp_path / "out", shards=3, shuffle=False)
    assert [one["image/filename"].decode() for one in examples(tmp_path / "out")] == names


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_list_with_further_columns(tmp_path, suffix):
    write_files(tmp_path, FILES)
    rows = [
        {"path": "dog/0.jpg", "label": "hund", "age": 3, "weight": 2.5, "owner": "李"},
        {"path": str(tmp_path / "cat/1.jpg"), "label": "katze", "age": 11, "weight": 4, "owner": None},
    ]
    path = tmp_path / f"list.{suffix}"
    if suffix == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    else:
        mark = "," if suffix == "csv" else "\t"
        lines = [
            mark.join(rows[0]),
            *(mark.join("" if v is None else str(v) for v in row.values()) for row in rows),
        ]
        path.write_text("\n".join(lines), "utf-8-sig")
    report = images(path, tmp_path / "out", shuffle=False, names="plain")
    assert examples(tmp_path / "out") == [
        {"image": FILES["dog/0.jpg"], "label": 0, "age": 3, "weight": 2.5, "owner": "李".encode()},
        {"image": FILES["cat/1.jpg"], "label": 1, "age": 11, "weight": 4.0},
    ]
    assert (tmp_path / "out" / "labels.txt").read_text() == "hund\nkatze\n"
    assert report.bad == {}


def test_list_whose_labels_are_numbers_keeps_them(tmp_path):
    write_files(tmp_path, FILES)
    (tmp_path / "list.csv").write_text("cat/0.jpg,10\ndog/0.jpg,9\n")
    images(tmp_path / "list.csv", tmp_path / "out")
    assert labels(tmp_path / "out") == {"cat/0.jpg": 10, "dog/0.jpg": 9}
    assert not (tmp_path / "out" / "labels.txt").exists()
    assert "image/text" not in examples(tmp_path / "out")[0]


def test_flat_folder_has_no_labels(tmp_path):
    write_files(tmp_path / "photos", {"b.jpg": picture(1), "a.png": picture(2, "PNG")})
    images(tmp_path / "photos", tmp_path / "out", shuffle=False)
    found = examples(tmp_path / "out")
    assert [one["image/filename"] for one in found] == [b"a.png", b"b.jpg"]
    assert not {"image/label", "image/text"} & set(found[0])
    assert not (tmp_path / "out" / "labels.txt").exists()


def test_every_format_by_content_and_not_by_name(tmp_path):
    write_files(tmp_path / "photos", {f"c/{kind}.jpg": picture(1, kind) for kind in FORMATS})
    images(tmp_path / "photos", tmp_path / "out")
    for one in examples(tmp_path / "out"):
        kind = one["image/filename"].decode()[2:-4]
        size = one["image/height"], one["image/width"], one["image/channels"]
        assert (one["image/format"].decode(), *size) == (kind, 12, 16, 3)


def test_the_manifest_has_a_spec_that_parses_the_records(tmp_path):
    images(write_files(tmp_path / "photos", FILES), tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    (job,) = manifest["jobs"].values()
    assert job["made_by"]["source"]["images"] == 6
    assert str(tmp_path) not in json.dumps(manifest)
    spec = tfr.spec_from_json(json.dumps(job["spec"]))
    batch = tfr.parse_example(list(tfr.read_records(f"{tmp_path}/out/train-*")), spec)
    assert sorted(batch["image/label"].tolist()) == [0, 0, 0, 1, 1, 1]
    assert set(batch) == set(examples(tmp_path / "out")[0])


@pytest.mark.parametrize("kind", ["folder", "zip", "tar.gz"])
def test_workers_do_not_change_the_bytes_and_the_seed_does(tmp_path, kind):
    source = write_files(tmp_path / "photos", FILES)
    if kind == "zip":
        source = zipped(tmp_path / "photos.zip", FILES)
    elif kind == "tar.gz":
        source = tarred(tmp_path / "photos.tar.gz", FILES, "w:gz")
    for name, workers, seed in (("a", 1, 0), ("b", 4, 0), ("c", 4, 1)):
        images(source, tmp_path / name, shards=3, workers=workers, seed=seed, split="train=0.5,test=0.5")
    assert shards(tmp_path / "a") == shards(tmp_path / "b")
    assert shards(tmp_path / "a") != shards(tmp_path / "c")


def test_shard_size_decides_the_number(tmp_path):
    report = images(
        write_files(tmp_path / "photos", FILES), tmp_path / "out", shard_size=1500, compression="gzip"
    )
    assert len(report.shards) == 4
    assert all(shard.name.endswith("of-00004.tfrecord.gz") for shard in report.shards)


def test_same_job_again_does_nothing_and_another_is_refused(tmp_path):
    source = write_files(tmp_path / "photos", FILES)
    images(source, tmp_path / "out")
    assert images(source, tmp_path / "out").resumed == 1
    with pytest.raises(AlreadyExistsError):
        images(source, tmp_path / "out", seed=1)
    assert images(source, tmp_path / "out", seed=1, overwrite=True).resumed == 0


def test_progress_reaches_the_end(tmp_path):
    seen = []
    images(write_files(tmp_path / "photos", FILES), tmp_path / "out", progress=seen.append)
    assert (seen[-1].done_bytes, seen[-1].records) == (sum(map(len, FILES.values())), 6)


def test_output_inside_the_source_is_refused(tmp_path):
    source = write_files(tmp_path / "photos", FILES)
    with pytest.raises(InvalidArgumentError, match="expected a folder for the output outside of the source"):
        images(source, source / "out")
    assert not (source / "out").exists()


@pytest.mark.parametrize("kind", ["folder", "zip", "tar", "list"])
def test_empty_source_is_an_error(tmp_path, kind):
    source = tmp_path / "source"
    if kind == "folder":
        (source / "cat").mkdir(parents=True)
    elif kind == "zip":
        zipped(source.with_suffix(".zip"), {})
        source = source.with_suffix(".zip")
    elif kind == "tar":
        source = tarred(tmp_path / "source.tar", {})
    else:
        source = tmp_path / "source.csv"
        source.write_text("path,label\n")
    with pytest.raises(InvalidArgumentError, match="expected images but found none"):
        images(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_missing_and_unknown_sources_say_what_is_expected(tmp_path):
    with pytest.raises(NotFoundError, match=r"Expected a folder, a \.zip"):
        images(tmp_path / "photos", tmp_path / "out")
    (tmp_path / "photos.7z").write_bytes(b"7z\xbc\xaf")
    with pytest.raises(
        InvalidArgumentError, match=r"of paths and labels but got text\. Unpack other archives"
    ):
        images(tmp_path / "photos.7z", tmp_path / "out")
