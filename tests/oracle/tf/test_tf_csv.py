"""decode_csv, base64 and whole files: the same calls through TensorFlow and through tfrkit.tf."""

from __future__ import annotations

import numpy as np

from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

LINES = [
    "1,2.5,a", "1,2", "1", "x,2.5,a", ",,", '1,2,"b,""c"', '1,2,a"b', '1,2,"a', '1,2,"a"x', " 1 , 2.5 ,b", "1.5,1,a",
    "99999999999,1,a", "1,x,a", "1\n,2,a", '1,2,"a\nb"', "", "1,,", '1,2,""', '1,2,""""', '1,2,"a""', "NA,NA,NA",
    '1,"2",3', "1,2,3,", "0x1,0x1,a",
]  # fmt: skip


@tf_rule("6 io.decode_csv")
def test_decode_csv():
    for line in LINES:
        same(lambda tf: tf.io.decode_csv(line, [[0], [0.5], ["d"]]))
        same(lambda tf: tf.io.decode_csv([line], [[0], [0.5], ["d"]], na_value="NA"))
        same(lambda tf: tf.io.decode_csv(line, [[7], ["e"], ["d"]], use_quote_delim=False))
        same(lambda tf: tf.io.decode_csv(line, [["z"]], select_cols=[1]))
        required = [np.zeros(0, np.int64), np.zeros(0, np.float64), ["x"]]
        same(lambda tf: tf.io.decode_csv([line], required))
    for pair in (["x,1", "1"], ["1", 'a"'], ["\n1,2", "1,\n"], ["1,2,", "x"], ["1,,", '"1"\n,']):
        for options in ({}, {"use_quote_delim": False}, {"select_cols": [0, 2]}):
            same(lambda tf: tf.io.decode_csv(pair, [[0], ["d"]], **options))
    same(lambda tf: tf.io.decode_csv([["1,a"], ['2,"b,""c"']], [[0], [""]]))
    same(lambda tf: tf.compat.v1.decode_csv("1;2", [0, 1], ";"))
    fails(
        lambda tf: tf.io.decode_csv("1;2", [[0], [1]], field_delim=";;"),
        "InvalidArgumentError",
        "only 1 char",
    )
    fails(lambda tf: tf.io.decode_csv("1,2", [[0, 1], [1]]), "InvalidArgumentError", "only be 1 default")
    fails(lambda tf: tf.io.decode_csv("1,2", [np.array([True]), [1]]), "InvalidArgumentError", "OUT_TYPE")
    for columns in ([2, 0], [0], [-1, 0], [0, 0]):
        fails(lambda tf: tf.io.decode_csv("1,2,3", [[0], [1]], select_cols=columns), "ValueError")


@tf_rule("6 io.read_file")
def test_whole_files(tmp_path):
    path = str(tmp_path / "deep" / "er" / "a.bin")
    same(lambda tf: tf.io.write_file(path, b"abc\0"))
    same(lambda tf: tf.io.read_file(path))
    same(lambda tf: tf.io.read_file(tf.constant(path)))
    for name in ("b.txt", "c.txt"):
        (tmp_path / name).write_text(name)
    same(lambda tf: tf.io.matching_files(str(tmp_path / "*.txt")))
    same(lambda tf: tf.io.matching_files([str(tmp_path / "*.txt"), path]))
    same(lambda tf: tf.io.matching_files(str(tmp_path / "none*")))
    fails(lambda tf: tf.io.read_file(str(tmp_path / "none")), "NotFoundError", "No such file or directory")
    fails(lambda tf: tf.io.read_file(str(tmp_path)), "FailedPreconditionError", "Is a directory")
    fails(lambda tf: tf.io.write_file(str(tmp_path), "a"), "FailedPreconditionError", "Is a directory")
    fails(lambda tf: tf.io.read_file([path]), "InvalidArgumentError", "must be scalar")
    fails(lambda tf: tf.io.write_file(path, ["a"]), "InvalidArgumentError", "must be scalar")
    fails(lambda tf: tf.io.matching_files([[path]]), "InvalidArgumentError", "scalar or vector")


@tf_rule("6 io.base64")
def test_base64():
    for text in ("a", ["", "ab", b"\xff\xfe\xfd"]):
        for pad in (False, True):
            same(lambda tf: tf.io.encode_base64(text, pad=pad))
            same(lambda tf: tf.io.decode_base64(tf.io.encode_base64(text, pad=pad)))
    fails(lambda tf: tf.io.decode_base64("a"), "InvalidArgumentError")
