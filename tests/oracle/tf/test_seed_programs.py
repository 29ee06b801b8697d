"""The programs of `examples/`: under TensorFlow and under tfrkit they print the same and write the same.

What runs under TensorFlow is the file itself with its import line changed, as a user would change it the other way.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_images

import tfrkit as tfr
from tests.oracle.support.oracle import tensorflow

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
OURS = "from tfrkit import tf\n"
TF1 = "import tensorflow.compat.v1 as tf\n"
TF2 = "import tensorflow as tf\n"
TSV = '0.5\t北京\t1\n-1e-3\t\t-7\n3\ttab and "quotes"\t0\n'


def source_of(name: str, imports: str) -> str:
    """The text of a program with another import line."""
    source = (EXAMPLES / name).read_text("utf-8")
    assert source.count(OURS) == 1
    return source.replace(OURS, imports)


def load(name: str, imports: str) -> dict[str, Any]:
    """The names that a program defines."""
    if imports != OURS:
        tensorflow()
    names: dict[str, Any] = {"__name__": name}
    exec(compile(source_of(name, imports), name, "exec"), names)
    return names


def printed(call: Callable[[], Any]) -> str:
    """What a call prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        call()
    return out.getvalue()


def files_of(folder: Path) -> dict[str, bytes]:
    """The contents of the TFRecord files that were written."""
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*.tfrecord"))}


def run_both(name: str, imports: str, tmp_path: Path) -> str:
    """Run a program's `main` with both in a folder each: files and output are equal; the output is returned."""
    outputs, files = [], []
    for which in (imports, OURS):
        folder = tmp_path / ("ours" if which == OURS else "theirs")
        folder.mkdir()
        program = load(name, which)
        outputs.append(printed(lambda program=program, folder=folder: program["main"](str(folder))))
        files.append(files_of(folder))
    assert outputs[0] == outputs[1]
    assert files[0] == files[1]
    assert files[0]
    return outputs[0]


def test_features(tmp_path):
    shown = run_both("seeds/features.py", TF2, tmp_path)
    assert shown.startswith("int64_list {\n  value: 32\n}\n")


def test_stream_of_labels_shapes_and_images(tmp_path):
    folders = []
    outputs = []
    for imports in (TF1, OURS):
        folder = tmp_path / f"folder{len(folders)}"
        folder.mkdir()
        program = load("seeds/stream.py", imports)
        outputs.append(printed(lambda program=program, folder=folder: program["main"](str(folder))))
        folders.append(folder)
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("0 [4 6 3] ")
    for path in sorted(folders[0].glob("*.tfrecord")):  # map entries may be in another order
        theirs, ours = (list(map(tfr.to_dict, tfr.read_records(folder / path.name))) for folder in folders)
        assert ours == theirs


def test_compressions(tmp_path):
    shown = run_both("seeds/options.py", TF1, tmp_path)
    assert len(shown.splitlines()) == 33


def test_reader(tmp_path):
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    ours = load("seeds/reader.py", OURS)
    shown = printed(lambda: ours["main"](str(tmp_path / "ours")))
    theirs = load("seeds/reader.py", TF1)
    v1 = tensorflow().compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        expected = printed(lambda: theirs["main"](str(tmp_path / "theirs"), lambda step: session.run(step())))
    assert shown == expected
    assert "甲.tfrecord:0 甲 0 1 0" in shown


def test_reader_goes_back_to_a_saved_place(tmp_path):
    program = load("seeds/reader.py", OURS)
    shown = printed(lambda: program["save_and_restore"](str(tmp_path)))
    assert shown.splitlines()[-1] == repr("甲 2".encode())


@pytest.mark.parametrize("imports", [TF2, OURS], ids=["tensorflow", "tfrkit"])
def test_tables_in_several_processes(tmp_path, imports):
    for number in range(3):
        (tmp_path / f"00000{number}_0").write_text(TSV * (number + 1), "utf-8")
    program = tmp_path / "program.py"
    program.write_text(source_of("seeds/tsv.py", imports), "utf-8")
    arguments = ["--input_dir", f"{tmp_path}/00000*_0", "--output_dir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, str(program), *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    spec = {
        "fea1": tfr.FixedLenFeature([], "float32"),
        "fea2": tfr.FixedLenFeature([], "bytes"),
        "label": tfr.FixedLenFeature([], "int64"),
    }
    for number in range(3):
        records = list(tfr.read_records(tmp_path / f"00000{number}_0.tfrecord"))
        batch = tfr.parse_example(records, spec)
        assert batch["fea1"].tolist() == [0.5, np.float32(-1e-3), 3.0] * (number + 1)
        assert batch["fea2"].to_list() == ["北京".encode(), b"", b'tab and "quotes"'] * (number + 1)
        assert batch["label"].tolist() == [1, -7, 0] * (number + 1)


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Class folders with photos of several sizes."""
    folder = tmp_path_factory.mktemp("classes")
    rng = np.random.default_rng(3)
    for name, image in zip(("花", "temple"), load_sample_images().images, strict=True):
        (folder / "photos" / name).mkdir(parents=True)
        for number in range(6):
            top, left, height, width = rng.integers((0, 0, 60, 70), (200, 300, 220, 330))
            part = Image.fromarray(image[top : top + height, left : left + width])
            part.save(folder / "photos" / name / f"{number}.jpg", quality=int(rng.integers(50, 96)))
    return folder


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # the program leaves files open
def test_batches_of_photos(photos):
    batches = []
    for imports in (TF2, OURS):
        program = load("seeds/photos.py", imports)
        program["tf"].random.set_seed(7)  # else the order is another one in every run
        dataset = program["main"](str(photos))
        batches.append([(images.numpy(), labels.numpy()) for images, labels in dataset.take(4)])
    for (images, labels), (our_images, our_labels) in zip(*batches, strict=True):
        assert our_images.dtype == np.float32
        assert our_images.shape == (8, 96, 96, 3)
        np.testing.assert_array_equal(our_images, images)
        assert our_labels.dtype == labels.dtype
        np.testing.assert_array_equal(our_labels, labels)


def test_tutorial(photos, tmp_path):
    names = [str(photos / "photos" / name / "0.jpg") for name in ("花", "temple")]
    outputs, files = [], []
    for which in (TF2, OURS):
        folder = tmp_path / ("ours" if which == OURS else "theirs")
        folder.mkdir()
        program = load("tutorial.py", which)
        outputs.append(printed(lambda program=program, folder=folder: program["main"](str(folder), names)))
        files.append(files_of(folder))
    assert outputs[0] == outputs[1]
    assert files[0] == files[1]
    assert len(files[0]) == 2
