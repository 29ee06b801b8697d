"""Raw images and labels written by TF1's writer with each of its compressions.

Changed: `byte_lda` is `bytes_lda`, as it is defined; `path`, `data` and `label`, which are left open, are given (where
the text has cv2.imread, a BGR image is made); all three kinds of compression are used one after another.
"""

import sys

import numpy as np

from tfrkit import tf

int64_lda = lambda val: tf.train.Feature(
    int64_list=tf.train.Int64List(value=[val]))
bytes_lda = lambda val: tf.train.Feature(
    bytes_list=tf.train.BytesList(value=[val]))


def main(folder):
    kinds = tf.python_io.TFRecordCompressionType
    for compression_type in [kinds.NONE, kinds.ZLIB, kinds.GZIP]:
        path = f'{folder}/{compression_type}.tfrecord'
        # GZIP 就是常见的GZIP 压缩，在win上可以用7z看到里面的文件和不压缩时的大小一样，
        # 估计内容也是一样的，压缩不知道会不会影响读取时的速度
        options_ = tf.python_io.TFRecordOptions(compression_type)
        with tf.python_io.TFRecordWriter(path, options_) as writer:
            for label in range(11):
                # data = cv2.imread(file) # 通道顺序 BGR
                data = np.arange(30 * 40 * 3, dtype=np.uint32).reshape(30, 40, 3) // (label + 1) % 256
                data = data.astype(np.uint8)
                feature_map = {
                    "image": bytes_lda(data.tobytes()),  # tobytes() type: <class 'bytes'>
                    "label": int64_lda(int(label))
                }
                features_ = tf.train.Features(feature=feature_map)
                example = tf.train.Example(features=features_)
                writer.write(example.SerializeToString(deterministic=True))
            # end
        for record in tf.python_io.tf_record_iterator(path, options_):
            example = tf.train.Example.FromString(record)
            image = example.features.feature['image'].bytes_list.value[0]
            print(compression_type, example.features.feature['label'].int64_list.value, sum(image))


if __name__ == '__main__':
    main(sys.argv[1])
