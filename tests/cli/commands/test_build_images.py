"""`tfr build images`: what it prints, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.build.support.image_samples import examples, photos, picture, write_files


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A folder of photos, in the working folder."""
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path / "photos", photos({"cat": 6, "dog": 4}))


def test_summary_goes_to_the_output_and_remarks_elsewhere(source, command):
    write_files(source, {"cat/empty.jpg": b"", "cat/notes.txt": b"notes"})
    code, out, err = command(
        "build", "images", "photos", "out", "--split", "train=0.8,test=0.2", "--shards", "2"
    )
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["files", "shards", "records"],
        ["test-*-of-00002.tfrecord", "2", "2"],
        ["train-*-of-00002.tfrecord", "2", "8"],
    ]
    assert "2 bad inputs left out: empty file (1), not an image (1)" in err
    assert "photos/cat/notes.txt: not an image" in err


def test_json_has_everything(source, command):
    code, out, err = command("build", "images", "photos", "out", "--json", "--quiet")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert report["records"] == 10
    assert report["shards"][0]["name"] == "train-00000-of-00001.tfrecord"


def test_dry_run_writes_nothing(source, command, tmp_path):
    code, out, _ = command("build", "images", "photos", "out", "--dry-run", "--shards", "3")
    assert code == 0
    assert ["train", "3"] in [line.split() for line in out.splitlines()]
    assert "state: nothing is there yet" in out
    assert not (tmp_path / "out").exists()


def test_options_reach_the_records(source, command, tmp_path):
    arguments = (
        "--names",
        "plain",
        "--name",
        "label=y",
        "--size",
        "8x6",
        "--encoding",
        "raw",
        "--order",
        "bgr",
    )
    code, _, _ = command(
        "build", "images", "photos", "out", *arguments, "--no-shuffle", "--shard-size", "1kB"
    )
    assert code == 0
    found = examples(tmp_path / "out")
    assert set(found[0]) == {"image", "y", "height", "width", "channels"}
    assert [(one["height"], one["width"], len(one["image"])) for one in found] == [(8, 6, 144)] * 10
    assert len(list((tmp_path / "out").glob("*.tfrecord"))) == 4


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nothing", "out"], 2, "error: nothing; No such file or directory"),
        (["photos", "out", "--split", "train=0.5"], 2, "expected ratios that add up to 1 but got 0.5"),
        (
            ["photos", "out", "--name", "label"],
            2,
            "error: Expected OLD=NEW, such as image=picture, for rename (--name) but got 'label'.",
        ),
        (["photos", "out", "--names", "mine"], 2, "--names"),
        (["photos", "photos/out"], 2, "expected a folder for the output outside of the source"),
        (["photos"], 2, "OUT"),
    ],
)
def test_errors_say_what_to_do(source, command, arguments, code, message):
    found, out, err = command("build", "images", *arguments)
    assert (found, out) == (code, "")
    assert message in err


def test_fatal_bad_input_names_the_file(source, command):
    write_files(source, {"cat/cut.jpg": picture(3)[:-20]})
    code, out, err = command("build", "images", "photos", "out", "--on-bad", "raise")
    assert (code, out) == (1, "")
    assert "error: photos/cat/cut.jpg: broken image: the JPEG file has no end: it is cut" in err


def test_no_usable_image_is_bad_data(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path / "photos", {"cat/1.jpg": b"no image"})
    code, _, err = command("build", "images", "photos", "out")
    assert code == 1
    assert "error: All 1 inputs are bad, so there is nothing to write: not an image (1)." in err


def test_other_output_is_refused_and_replaced(source, command):
    assert command("build", "images", "photos", "out")[0] == 0
    code, _, err = command("build", "images", "photos", "out", "--seed", "1")
    assert code == 2
    assert "--overwrite" in err
    assert command("build", "images", "photos", "out", "--seed", "1", "--overwrite")[0] == 0


def test_help_has_an_example(command):
    code, out, _ = command("build", "images", "--help")
    assert code == 0
    assert "Example: tfr build images photos.zip out --split" in out


def test_photos_do_not_pay_for_tables_and_decoders(source):
    program = (
        "import sys; from tfrkit.cli.main import run; code = run(['build', 'images', 'photos', 'out', '-q']);"
        "heavy = {'pyarrow', 'pandas', 'PIL', 'simplejpeg', 'rich'} & set(sys.modules);"
        "sys.exit(f'{code} {sorted(heavy)}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=source.parent, capture_output=True, text=True, check=False
    )
    assert done.stderr == "0 []\n"
