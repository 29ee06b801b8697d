"""Tar files of samples: what webdataset makes of them, and of everything odd that records and keys may hold."""

from __future__ import annotations

import base64
import io
import json
import struct
import tarfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
import webdataset
from hypothesis import given

import tfrkit as tfr
from tests.build.support.export_samples import EXAMPLES, any_examples, sequences, write
from tests.build.support.made import left_over, tree
from tests.records.support.made import flip
from tfrkit.build.export.export_sample_files import settle_files
from tfrkit.build.export.export_tar import tar_header
from tfrkit.errors import AlreadyExistsError, DataLossError, InvalidArgumentError
from tfrkit.records.check.make_manifest import make_manifest
from tfrkit.scanning.columns import settle_columns
from tfrkit.stores import files

IMAGES = {
    "png": tfr.image.encode_png(np.zeros((2, 3, 3), np.uint8)),
    "jpg": tfr.image.encode_jpeg(np.zeros((2, 3, 3), np.uint8)),
}


def photos(path: Path, count: int = 20) -> Path:
    """Records as image data sets have them; every third has no caption."""
    with tfr.TFRecordWriter(path) as writer:
        for number in range(count):
            record: dict[str, Any] = {
                "image/encoded": IMAGES["png" if number % 2 else "jpg"],
                "label": number,
            }
            record |= {
                "name": f"a/{number}.b.jpg",
                "box": [0.5, float(number)],
                "tags": ["x", "ü"],
                "score": number / 8,
            }
            record |= {"mask": b"\xff\0" * number} | ({"caption": f"n° {number}"} if number % 3 else {})
            writer.write_example(record)
    return path


def samples(folder: Path, pattern: str = "*.tar", *, decoded: bool = True) -> list[dict[str, Any]]:
    """What webdataset reads, decoded, with everything that it adds left out; files are closed, which it does not do."""
    with ExitStack() as stack:
        opened = [
            {"url": str(path), "stream": stack.enter_context(path.open("rb"))}
            for path in sorted(folder.glob(pattern))
        ]
        steps = (webdataset.tariterators.tar_file_expander, webdataset.tariterators.group_by_keys)
        more = (webdataset.decode(),) if decoded else ()
        read = webdataset.DataPipeline(lambda: iter(opened), *steps, *more)
        return [{name: value for name, value in each.items() if name != "__url__"} for each in read]


def test_webdataset_reads_each_record_as_a_sample_with_decoded_values(tmp_path):
    photos(tmp_path / "a.tfrecord")
    report = tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "out" / "t", shards=3)
    assert [shard.name for shard in report.shards] == ["t-000000.tar", "t-000001.tar", "t-000002.tar"]
    assert [shard.records for shard in report.shards] == [7, 7, 6]
    found = samples(tmp_path / "out")
    assert len(found) == 20
    for number, sample in enumerate(found):
        kind = "png" if number % 2 else "jpg"
        assert sample.pop("__key__") == f"{number:09d}"
        assert sample.pop(f"image_encoded.{kind}") == IMAGES[kind]
        assert sample.pop("box.npy").tolist() == [0.5, number]
        score = sample.pop("score.npy")
        assert (score.shape, score.dtype, float(score)) == ((), np.float32, number / 8)
        wanted = {"label.cls": number, "name.txt": f"a/{number}.b.jpg", "tags.json": ["x", "ü"]}
        wanted |= {"mask.bin": b"\xff\0" * number} | ({"caption.txt": f"n° {number}"} if number % 3 else {})
        assert sample == wanted


def test_names_keys_and_features_are_as_the_user_says(tmp_path):
    photos(tmp_path / "a.tfrecord", 4)
    names = {"image/encoded": "jpg", "label": "cls", "score": "score.json", "caption": "txt"}
    tfr.build.export_webdataset(
        tmp_path / "a.tfrecord", tmp_path / "t", names=names, key_feature="name", columns=list(names)
    )
    first, second, *_ = samples(tmp_path)
    assert second == {
        "__key__": "a_1_b_jpg",
        "jpg": IMAGES["png"],
        "cls": 1,
        "score.json": 0.125,
        "txt": "n° 1",
    }
    assert first.keys() == second.keys() - {"txt"}


def test_every_member_is_as_tarfile_writes_it(tmp_path):
    photos(tmp_path / "a.tfrecord", 3)
    tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t")
    data = (tmp_path / "t-000000.tar").read_bytes()
    with tarfile.open(tmp_path / "t-000000.tar") as tar:
        for info in tar:
            assert (info.mtime, info.mode, info.uid, info.uname, info.isreg()) == (0, 0o644, 0, "", True)
            assert data[info.offset : info.offset_data] == info.tobuf(tarfile.GNU_FORMAT)
    assert data.endswith(bytes(1024))


@pytest.mark.parametrize("name", ["a", "x" * 100, "x" * 101, "ü" * 80, "q/" * 200])
@pytest.mark.parametrize("size", [0, 511, 8**11 - 1, 8**11])
def test_headers_of_any_name_and_size_are_those_of_tarfile(name, size):
    info = tarfile.TarInfo(name)
    info.size = size
    assert tar_header(name.encode(), size) == info.tobuf(tarfile.GNU_FORMAT)


def test_odd_features_lose_nothing(tmp_path):
    write(tmp_path / "a.tfrecord", EXAMPLES)
    report = tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t")
    found = samples(tmp_path)
    records = list(tfr.read_examples(tmp_path / "a.tfrecord"))
    assert len(found) == len(records) == 4
    assert [each.get("label.cls") for each in found] == [3, None, 2**63 - 1, -(2**63)]
    assert [each["名 'x'.cls"] for each in found] == [1, 2, 3, 4]
    assert found[0]["many_texts.json"] == {"$base64": ["YQ==", "gA=="]}
    assert [each.get("feature.bin") for each in found] == [b"", None, EXAMPLES[""][2].encode(), b"\xff\xfe"]
    for sample, record in zip(found, records, strict=True):
        assert ("x.y.npy" in sample) == ("x.y" in record)
        if "x.y" in record:
            np.testing.assert_array_equal(sample["x.y.npy"], np.atleast_1d(record["x.y"]))
        assert ("empty_float.npy" in sample) == ("empty/float" in record)
    assert report.bad == {}


@given(any_examples())
def test_any_examples_are_samples_with_the_same_values(tmp_path_factory, messages):
    folder = tmp_path_factory.mktemp("any")
    schema = tfr.inspect(write(folder / "a.tfrecord", messages))
    columns = settle_columns(schema)
    stems = {
        column.name: file.stem.lower()
        for column, file in zip(columns, settle_files(columns, schema, {}), strict=True)
    }
    tfr.build.export_webdataset(folder / "a.tfrecord", folder / "t", shard_records=2)
    found = samples(folder, decoded=False)
    assert len(found) == len(messages)
    for sample, message in zip(found, messages, strict=True):
        wanted = {
            stems[name]: values_of(feature)
            for name, feature in tfr.Example.FromString(message).features.feature.items()
        }
        names = {name.rpartition(".")[0]: name for name in sample if name not in ("__key__", "json")}
        assert names.keys() == wanted.keys()
        assert ("json" in sample) == (not wanted)
        assert {stem: contents_of(name, sample[name]) for stem, name in names.items()} == wanted


def values_of(feature: Any) -> list[Any]:
    """The values of a feature; of floats the bits."""
    values = list(getattr(feature, feature.WhichOneof("kind") or "int64_list").value)
    return [struct.pack("<f", value) for value in values] if feature.HasField("float_list") else values


def contents_of(name: str, content: bytes) -> list[Any]:
    """The values in a file of a sample."""
    match name.rpartition(".")[2]:
        case "npy":
            array = np.atleast_1d(np.load(io.BytesIO(content)))
            return [value.tobytes() for value in array] if array.dtype == np.float32 else array.tolist()
        case "cls":
            return [int(content)]
        case "json":
            return list(decode_bytes(json.loads(content)))
    return [content]


def decode_bytes(value: Any) -> list[bytes]:
    if isinstance(value, dict):
        texts = value["$base64"]
        return [base64.b64decode(text) for text in ([texts] if isinstance(texts, str) else texts)]
    return [text.encode() for text in value]


def test_feature_lists_are_json(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many(sequences())
    tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t")
    found = samples(tmp_path)
    assert [each.get("user.txt") for each in found] == ["u1", None, "u3", "u4"]
    assert found[3]["feature_lists_ratings.json"] == [1.0]


def test_hostile_keys_lead_nowhere_and_no_two_are_the_same(tmp_path):
    keys = [
        "../../etc/passwd",
        "/abs",
        "..",
        "",
        "a.b",
        "a\0b",
        "a_b",
        "a_b-2",
        "x" * 5000,
        "n\nl",
        b"\xff",
        "000000003",
    ]
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        for key in keys:
            writer.write_example({"key": key})
        writer.write_example({"other": 1})
    report = tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t", key_feature="key")
    found = [each["__key__"] for each in samples(tmp_path)]
    assert len(set(found)) == len(found) == len(keys) + 1
    assert found[:8] == [
        "____etc_passwd",
        "_abs",
        "000000002",
        "000000003",
        "a_b",
        "a_b-2",
        "a_b-3",
        "a_b-2-2",
    ]
    assert (found[11], found[12]) == ("000000003-2", "000000012")
    assert not any("/" in key or "\\" in key or key.startswith(".") for key in found)
    assert report.noted == {
        "keys with characters that names of samples cannot have, which were changed": 7,
        "keys that another sample of the file has, which were given a number": 4,
        "records without a key, which have their number instead": 3,
        "texts that are not UTF-8, in files called .bin": 1,
    }


def test_many_equal_keys_are_numbered(tmp_path):
    count = 1000
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_batch({"key": ["same"] * count})
    report = tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t", key_feature="key")
    assert report.noted == {"keys that another sample of the file has, which were given a number": count - 1}
    assert [each["__key__"] for each in samples(tmp_path)][-1] == f"same-{count}"


def test_equal_keys_at_the_ends_of_files_are_two_samples(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_batch({"key": ["a", "b", "b", "c"]})
    tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t", key_feature="key", shards=2)
    assert [each["__key__"] for each in samples(tmp_path)] == ["a", "b", "b", "c"]


def test_records_without_features_are_samples_too(tmp_path):
    write(tmp_path / "a.tfrecord", [b"", tfr.make_example({"a": 1}).SerializeToString(), b""])
    report = tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t")
    assert samples(tmp_path) == [
        {"__key__": "000000000", "json": {}}, {"__key__": "000000001", "a.cls": 1}, {"__key__": "000000002", "json": {}}
    ]  # fmt: skip
    assert report.noted == {"records without any feature, which are an empty .json": 2}


def test_no_records_are_an_empty_file(tmp_path):
    write(tmp_path / "a.tfrecord", [])
    report = tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t", key_feature="key")
    assert (report.records, samples(tmp_path)) == (0, [])
    with tarfile.open(tmp_path / "t-000000.tar") as tar:
        assert tar.getnames() == []


def test_what_is_not_what_it_looks_like_is_counted(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        for number in range(200):
            broken = number == 150
            writer.write_example(
                {"image": b"?" if broken else IMAGES["png"], "text": b"\xff" if broken else "ä"}
            )
    report = tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t")
    assert samples(tmp_path)[150] == {"__key__": "000000150", "image.bin": b"?", "text.bin": b"\xff"}
    assert report.noted == {
        "images of an unknown format, in files called .bin": 1, "texts that are not UTF-8, in files called .bin": 1
    }  # fmt: skip


def test_names_of_features_that_readers_would_take_for_one_are_told_apart(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_example({"A": 1, "a": 2, "a/b": 3, "a_b": 4, "../x": 5})
    tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t")
    (found,) = samples(tmp_path)
    assert found == {
        "__key__": "000000000", "_x.cls": 5, "a.cls": 1, "a-2.cls": 2, "a_b.cls": 3, "a_b-2.cls": 4
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": {"lable": "cls"}}, r"names \(--name\): no feature 'lable' is written.*'label'"),
        ({"names": {"label": "../x"}}, r"expected letters, digits, - and _.*got '\.\./x'"),
        ({"names": {"label": ""}}, "expected letters"),
        ({"names": {"label": "jpg"}}, "'label' is int64, which 'jpg' cannot hold"),
        ({"names": {"tags": "txt"}}, "'tags' is list of"),
        ({"names": {"label": "A.json", "score": "a.json"}}, r"two features have the name 'a\.json'"),
        (
            {"key_feature": "box"},
            r"expected a feature of one byte string or one integer but 'box' has list of",
        ),
        ({"key_feature": "nme"}, "no record has a feature 'nme'"),
        ({"columns": ["nme"]}, "no record has a feature 'nme'"),
        ({"shards": 2, "shard_records": 3}, "at most one of shards"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(options, message, tmp_path):
    photos(tmp_path / "a.tfrecord")
    with pytest.raises(InvalidArgumentError, match=message):
        tfr.build.export_webdataset(tmp_path / "*.tfrecord", tmp_path / "out" / "t", **options)
    assert not (tmp_path / "out").exists()


def test_other_messages_are_refused_and_the_record_is_named(tmp_path):
    write(tmp_path / "a.tfrecord", [tfr.make_example({"a": 1}).SerializeToString(), b"\xff\xff"])
    with pytest.raises(InvalidArgumentError, match=r"record 1 of .*a\.tfrecord"):
        tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t")


def test_prefix_is_no_file_name(tmp_path):
    photos(tmp_path / "a.tfrecord", 1)
    with pytest.raises(
        InvalidArgumentError, match=r"expected a folder and the beginning of names.*Numbers and \.tar"
    ):
        tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t.tar")


@pytest.mark.parametrize(
    ("options", "records"),
    [({"shard_records": 8}, [7, 7, 6]), ({"shard_bytes": 2000}, None), ({"shards": 2}, [10, 10])],
)
def test_files_are_as_large_as_asked(options, records, tmp_path):
    size = photos(tmp_path / "a.tfrecord").stat().st_size
    report = tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t", **options)
    found = [shard.records for shard in report.shards]
    assert found == records or (records is None and len(found) == -(-size // 2000))
    assert sum(found) == 20


def test_damage_is_an_error_or_left_out_and_counted(tmp_path):
    path = photos(tmp_path / "a.tfrecord")
    path.write_bytes(flip(path.read_bytes(), 1000))
    with pytest.raises(DataLossError, match=r"a\.tfrecord"):
        tfr.build.export_webdataset(path, tmp_path / "t")
    report = tfr.build.export_webdataset(path, tmp_path / "t", on_corrupt="skip", shards=2)
    assert (report.records, sum(report.bad.values())) == (19, 1)
    assert [each["__key__"] for each in samples(tmp_path)] == [f"{number:09d}" for number in range(19)]
    stopped = tfr.build.export_webdataset([path, path], tmp_path / "stop" / "t", on_corrupt="stop")
    assert 0 < stopped.records < 38
    assert stopped.bad == {"damaged: the rest of the file is left out": 2}
    with pytest.raises(InvalidArgumentError, match="max_bad"):
        tfr.build.export_webdataset(path, tmp_path / "u", on_corrupt="skip", max_bad=0)


def test_it_is_a_job_that_is_complete_once_and_replaces_others_only_if_told(tmp_path):
    path = photos(tmp_path / "a.tfrecord")
    options: Any = {"shards": 3}
    first = tfr.build.export_webdataset(path, tmp_path / "out" / "t", **options)
    before = tree(tmp_path / "out")
    again = tfr.build.export_webdataset(path, tmp_path / "out" / "t", **options)
    assert (first.resumed, again.resumed, tree(tmp_path / "out")) == (0, 3, before)
    (tmp_path / "out" / "t-000001.tar").unlink()
    assert tfr.build.export_webdataset(path, tmp_path / "out" / "t", **options).resumed == 2
    assert tree(tmp_path / "out") == before
    with pytest.raises(AlreadyExistsError, match=r"3 shards of 't\.tar' already.*It differs in: names"):
        tfr.build.export_webdataset(path, tmp_path / "out" / "t", names={"label": "cls"}, **options)
    tfr.build.export_webdataset(
        path, tmp_path / "out" / "t", names={"label": "cls"}, shards=2, overwrite=True
    )
    assert sorted(each.name for each in (tmp_path / "out").glob("*.tar")) == ["t-000000.tar", "t-000001.tar"]
    assert left_over(tmp_path / "out") == []


def test_records_and_exports_of_one_prefix_live_in_one_folder(tmp_path):
    path = photos(tmp_path / "a.tfrecord")
    tfr.reshard(path, tmp_path / "out" / "t", shards=2)
    tfr.build.export_webdataset(path, tmp_path / "out" / "t", shards=2)
    tfr.reshard(path, tmp_path / "out" / "t", shards=1, overwrite=True)
    found = sorted(each.name for each in (tmp_path / "out").glob("t-*"))
    assert found == ["t-00000-of-00001.tfrecord", "t-000000.tar", "t-000001.tar"]
    assert len(samples(tmp_path / "out")) == 20
    assert len(tfr.load(tmp_path / "out", split="t")) == 20
    assert tfr.verify(tmp_path / "out").ok
    manifest = (tmp_path / "out" / "manifest.json").read_bytes()
    report = make_manifest(str(tmp_path / "out"))
    assert (len(report.shards), report.dropped) == (1, ())
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes()) == {
        **json.loads(manifest),
        "spec": ANY,
    }
    assert tfr.build.export_webdataset(path, tmp_path / "out" / "t", shards=2).resumed == 2


def test_lost_and_cut_exports_are_found(tmp_path):
    path, out = photos(tmp_path / "a.tfrecord"), tmp_path / "out"
    tfr.reshard(path, out / "t", shards=2)
    tfr.build.export_webdataset(path, out / "t", shards=3)
    assert (tfr.verify(out).ok, tfr.verify(out).others) == (True, ())
    assert not tfr.verify(str(out / "t-0000*.tfrecord")).problems
    (out / "t-000001.tar").unlink()
    with open(out / "t-000002.tar", "ab") as file:
        file.write(b"more")
    problems = [(each.kind, Path(each.path).name) for each in tfr.verify(out).problems]
    assert problems == [("missing", "t-000001.tar"), ("differs", "t-000002.tar")]
    assert make_manifest(str(out)).dropped == ("t-000001.tar",)
    assert "t-000001.tar" not in (out / "manifest.json").read_text("utf-8")


def test_records_cannot_have_the_names_of_exports(tmp_path):
    path = photos(tmp_path / "a.tfrecord")
    with pytest.raises(InvalidArgumentError, match=r"'t\.tar'; files of records cannot .*Leave out '\.tar'"):
        tfr.ShardWriter(tmp_path / "t.tar", shards=2)
    with pytest.raises(InvalidArgumentError, match=r"'t\.tar'; files of records cannot"):
        tfr.reshard(path, tmp_path / "t.tar", shards=2)


def test_only_integers_go_into_files_that_webdataset_reads_as_such(tmp_path):
    path = photos(tmp_path / "a.tfrecord")
    with pytest.raises(
        InvalidArgumentError, match=r"'score' is .* which 'cls' cannot hold.*cls for an integer"
    ):
        tfr.build.export_webdataset(path, tmp_path / "t", names={"score": "cls"})


def test_a_folder_of_tar_files_alone_is_no_data_set_of_records(tmp_path):
    tfr.build.export_webdataset(photos(tmp_path / "a.tfrecord"), tmp_path / "out" / "t")
    with pytest.raises(tfr.errors.OpError, match="out"):
        tfr.load(tmp_path / "out")


def test_files_in_a_store_are_those_of_a_folder(s3_folder, tmp_path):
    path = photos(tmp_path / "a.tfrecord")
    tfr.build.export_webdataset(path, tmp_path / "out" / "t", shards=2)
    tfr.build.export_webdataset(path, f"{s3_folder}/t", shards=2)
    for name in ("t-000000.tar", "t-000001.tar", "manifest.json"):
        assert files.read_bytes(f"{s3_folder}/{name}") == (tmp_path / "out" / name).read_bytes()


def test_arrays_are_what_numpy_writes(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_example({"a": [1, 2, 3], "b": np.float32(0.1)})
        writer.write_example({"a": [], "b": np.float32(np.nan)})
    tfr.build.export_webdataset(tmp_path / "a.tfrecord", tmp_path / "t")
    with tarfile.open(tmp_path / "t-000000.tar") as tar:
        for name, array in (
            ("000000000.a.npy", np.arange(1, 4)),
            ("000000000.b.npy", np.array(0.1, np.float32)),
        ):
            file = io.BytesIO()
            np.save(file, array)
            member = tar.extractfile(name)
            assert member is not None
            assert member.read() == file.getvalue()


def test_command_prints_what_it_wrote(tmp_path, capsys, monkeypatch):
    from tfrkit.cli.main import run

    monkeypatch.chdir(tmp_path)
    photos(tmp_path / "a.tfrecord")
    arguments = [
        "export",
        "webdataset",
        "a.tfrecord",
        "out/t",
        "--shards",
        "2",
        "--name",
        "label=cls",
        "--json",
    ]
    assert run([*arguments, "--key-feature", "name", "--key", "label"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [shard["name"] for shard in report["shards"]] == ["t-000000.tar", "t-000001.tar"]
    assert samples(tmp_path / "out")[0] == {"__key__": "a_0_b_jpg", "cls": 0}
    assert run(["export", "webdataset", "a.tfrecord", "out/u", "--dry-run"]) == 0
    assert "u.tar" in capsys.readouterr().out
