"""Features made by the five usual helpers, printed, and written into a file.

Changed: the prompts and outputs of the notebook are gone, what it shows is printed; the file is written at the end, with
the writer that the text describes.
"""

import sys

from tfrkit import tf


def int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def float_list_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


def bytes_list_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))


def int64_list_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def main(folder):
    features = [
        int64_feature(32),
        bytes_feature(b'32'),
        float_list_feature([16, 32]),
        bytes_list_feature([b'32', b'16']),
        int64_list_feature([16, 32]),
    ]
    for feature in features:
        print(feature)
    with tf.io.TFRecordWriter(f'{folder}/features.tfrecord', options=None) as writer:
        for feature in features:
            example = tf.train.Example(features=tf.train.Features(feature={'特征': feature}))
            writer.write(example.SerializeToString())


if __name__ == '__main__':
    main(sys.argv[1])
