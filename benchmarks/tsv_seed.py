"""The seed's program for TSV under TensorFlow: two processes, one tf.train.Example for each line, ten columns.

    python -m benchmarks.tsv_seed FOLDER FILE...

As in `examples/seeds/tsv.py`, with more columns of the same kinds; every file gets its own output in FOLDER.
"""

from __future__ import annotations

import os
import sys
from multiprocessing import Pool

import numpy as np
import tensorflow as tf


def parse_line(line):
    feature_list = line.strip("\n").split("\t")
    features = {}
    for i in range(6):
        value = np.array([feature_list[i]], dtype=np.float64)
        features.update({f"fea{i + 1}": tf.train.Feature(float_list=tf.train.FloatList(value=value))})
    for i in range(6, 9):
        value = [feature_list[i].encode("utf-8")]
        features.update({f"fea{i + 1}": tf.train.Feature(bytes_list=tf.train.BytesList(value=value))})
    features.update({"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(feature_list[9])]))})
    return features


def tfrecord_process(params):
    infile_name, output_dir = params
    tfrecord_out = tf.io.TFRecordWriter(f"{output_dir}/{os.path.basename(infile_name)}.tfrecord")
    with open(infile_name, encoding="utf-8") as fp:
        for line in fp.readlines():
            feat = parse_line(line)
            example = tf.train.Example(features=tf.train.Features(feature=feat))
            tfrecord_out.write(example.SerializeToString())
    tfrecord_out.close()


if __name__ == "__main__":
    pool = Pool(2)
    pool.map(tfrecord_process, [(path, sys.argv[1]) for path in sys.argv[2:]])
    pool.close()
    pool.join()
