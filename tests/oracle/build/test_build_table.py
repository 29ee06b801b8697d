"""The seed's program for TSV under TensorFlow and `build.table` write files that parse to the same values there."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.oracle import tensorflow
from tests.oracle.tf.test_seed_programs import TF2, load

FLOATS = [
    "0.1",
    "-0",
    "1e-45",
    "1e-50",
    "3.4028235e38",
    "1e39",
    "nan",
    "-inf",
    "16777217",
    "0.30000000000000004",
    "7.",
]
TEXTS = [
    "",
    "北京",
    'a "quoted" text',
    "'",
    "\\N",
    "NULL",
    "\x01\x02",
    "\0",
    "a,b;c|d",
    " blanks ",
    "\x85\u2028",
]
LABELS = ["0", "-1", "9223372036854775807", "-9223372036854775808"]


def write_table(path: Path, seed: int, rows: int = 300) -> None:
    """Write lines as Hive exports them: a float, a text and an integer."""
    chance = random.Random(seed)
    lines = []
    for _ in range(rows):
        value = chance.choice([*FLOATS, repr(chance.uniform(-100, 100)), f"{chance.gauss(0, 1e-6):.4e}"])
        label = chance.choice([*LABELS, str(chance.randrange(-(10**6), 10**6))])
        lines.append(f"{value}\t{chance.choice(TEXTS)}\t{label}\n")
    path.write_text("".join(lines), "utf-8", newline="")


@pytest.mark.parametrize("given", [("fea1:float", "fea2:bytes", "label:int64"), ()], ids=["given", "found"])
def test_the_seeds_program_and_build_table_give_the_same_values(
    tmp_path: Path, given: tuple[str, ...]
) -> None:
    tf = tensorflow()
    (tmp_path / "theirs").mkdir()
    paths = [tmp_path / f"00000{number}_0.tsv" for number in range(3)]
    program = load("seeds/tsv.py", TF2)
    for seed, path in enumerate(paths):
        write_table(path, seed)
        program["tfrecord_process"]([str(path), str(tmp_path / "theirs")])
    report = tfr.build.table(
        paths, tmp_path / "ours", names=["fea1", "fea2", "label"], column=given, shards="per-input"
    )
    assert (report.records, report.bad) == (900, {})
    spec = {
        "fea1": tf.io.FixedLenFeature([], tf.float32),
        "fea2": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }
    for path in paths:
        files = tmp_path / "theirs" / f"{path.name}.tfrecord", tmp_path / "ours" / f"{path.stem}.tfrecord"
        theirs, ours = (
            tf.io.parse_example(list(tf.data.TFRecordDataset(str(file)).as_numpy_iterator()), spec)
            for file in files
        )
        for name in spec:
            expected, got = theirs[name].numpy(), ours[name].numpy()
            if name == "fea1":  # bit for bit, but for the sign and payload of nan
                nans = np.isnan(expected)
                assert np.array_equal(nans, np.isnan(got))
                expected, got = expected[~nans].view(np.int32), got[~nans].view(np.int32)
            assert got.tolist() == expected.tolist()
