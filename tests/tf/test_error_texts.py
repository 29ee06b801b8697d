"""After TensorFlow's text, errors say what was given, and what to do where that is not plain."""

from __future__ import annotations

import pytest

from tfrkit import tf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.concat([], 0), "'[N=0, Tidx=DT_INT32]': there are no tensors"),
        (lambda: tf.ones([2], tf.string), "of dtype string: choose a dtype of numbers"),
        (lambda: tf.range("a"), "range takes numbers, got string"),
        (lambda: tf.expand_dims([1], [0, 1]), "'dim' must be a tensor with a single value, got 2 values"),
        (lambda: tf.roll([1, 2], 1, 3), "axis 3 is out of range: the input has 1 dimensions"),
        (lambda: tf.roll([1, 2], [1, 2], 0), "shift and axis must have the same size, got 2 and 1"),
        (
            lambda: tf.pow([2], [-1]),
            "Integers to negative integer powers are not allowed: cast to floats first",
        ),
        (lambda: tf.searchsorted([[1, 2]], [[1], [2]]), "of both tensors must match. Got 1 and 2."),
        (lambda: tf.unique([[1]]), "unique expects a 1D vector. Got shape [1,1]."),
        (lambda: tf.math.bincount([-3]), "Input arr must be non-negative! Got -3."),
        (lambda: tf.math.segment_sum([1, 2, 3], [0, 1]), "dimension 0 of input. Got [2] for 3 rows."),
        (
            lambda: tf.math.segment_sum([1, 2], [1, 0]),
            "segment ids are not increasing: sort them, or use the function's unsorted_ variant",
        ),
        (lambda: tf.RaggedTensor.from_row_splits([], []), "may not be empty. Pass [0] for no rows."),
        (lambda: tf.RaggedTensor.from_uniform_row_length([1], -1), "must be >= 0. Got -1."),
        (lambda: len(tf.ragged.constant([[1]])), "object of type 'RaggedTensor' has no len(): use nrows()"),
        (lambda: tf.sparse.from_dense(3), "dimensions: 0. from_dense takes arrays, got a scalar."),
        (lambda: tf.sparse.reorder([1]), "Input must be a SparseTensor. Got "),
        (
            lambda: tf.SparseTensor([[0]], [1, 2], [3]),
            "Dimensions 1 and 2 are not compatible: rows of indices, and values",
        ),
        (
            lambda: tf.SparseTensor([[0]], [1], [3, 4]),
            "Dimensions 1 and 2 are not compatible: columns of indices, and sizes in dense_shape",
        ),
        (
            lambda: tf.SparseTensor([0], [1], [3]),
            "must have rank 2: indices are a row of numbers for each value",
        ),
        (
            lambda: tf.strings.unicode_decode(b"ab\xff", "UTF-8", errors="strict"),
            "Invalid formatting on input string: not utf-8 at byte 2. Pass errors='replace'.",
        ),
        (
            lambda: tf.strings.unicode_encode([0xD800], "UTF-8", errors="strict"),
            "out of range for Unicode, or is a surrogate. Got 55296.",
        ),
        (lambda: tf.strings.as_string(1, fill="ab"), "Fill string must be one or fewer characters, got 'ab'"),
        (
            lambda: tf.io.decode_csv(["1,2", 'a"b,3'], [[""], [0]]),
            "Unquoted fields cannot have quotes/CRLFs inside: field 0 of record 1, b'a\"b,3'",
        ),
        (
            lambda: tf.io.decode_csv(['1,"2'], [[""], [""]]),
            "followed by delim or end: field 1 of record 0, b'\"2'",
        ),
        (lambda: tf.io.decode_csv(["1"], [[""]], field_delim="::"), "should be only 1 char, got '::'"),
        (
            lambda: tf.io.decode_csv(["1"], [[""]], select_cols=[0, 1]),
            "Length of select_cols and record_defaults do not match. Got 2 and 1.",
        ),
        (
            lambda: tf.data.FixedLengthRecordDataset("a", 0),
            "`record_bytes` must be > 0, got 0",
        ),
        (
            lambda: tf.data.FixedLengthRecordDataset("a", 2, compression_type="LZ4"),
            "Unsupported compression_type. Expected '', 'GZIP' or 'ZLIB' but got 'LZ4'.",
        ),
        (lambda: tf.io.gfile.GFile("a", "x"), "or 'w+' or 'a+': got 'x'"),
        (
            lambda: tf.foldl(lambda a, b: a, tf.zeros([0])),
            "at least one row, or an initializer, but got neither",
        ),
        (
            lambda: tf.image.extract_patches(tf.zeros([1, 4, 4, 1]), [1, 0, 2, 1], [1] * 4, [1] * 4, "SAME"),
            "ksizes is out of range. Got [1, 0, 2, 1]: none may be below 1.",
        ),
        (
            lambda: tf.compat.v1.image.resize_images(tf.zeros([1, 4, 4, 1]), [2, 2], method=9),
            "Resize method is not implemented: 9. Use a name of tf.image.ResizeMethod.",
        ),
    ],
)
def test_texts_go_on_after_tensorflows(call, message):
    with pytest.raises(Exception) as caught:  # noqa: PT011  # classes are compared with TensorFlow's elsewhere
        call()
    assert message in str(getattr(caught.value, "message", caught.value))


def test_a_file_that_is_not_open_for_reading_is_named(tmp_path):
    path = str(tmp_path / "a")
    with (
        tf.io.gfile.GFile(path, "w") as file,
        pytest.raises(tf.errors.PermissionDeniedError, match=r"File isn't open for reading: .*a, mode 'w'$"),
    ):
        file.read()


def test_a_checkpoint_of_tensorflow_is_not_restored(tmp_path):
    path = tmp_path / "ckpt-1"
    path.with_name("ckpt-1.index").write_bytes(b"not JSON")
    iterator = iter(tf.data.Dataset.range(3))
    with pytest.raises(
        tf.errors.OpError, match="Checkpoints of TensorFlow cannot be restored here: choose another"
    ):
        tf.train.Checkpoint(it=iterator).restore(str(path))
