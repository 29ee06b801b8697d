"""Images and labels written with TF1's writer, and read with TFRecordDataset into (label, shape, image).

Changed: `_byte_feature` is `_bytes_feature`, as it is called, and its `byte_list` and `ByteList` are `bytes_list` and
`BytesList`; `get_image_binary`, `image_file`, `label` and the names of the files, which are left open, are given; the
function stands before its use.
"""

import sys

import numpy as np

from tfrkit import tf


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def _bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def get_image_binary(image_file):
    image = np.load(image_file)
    shape = np.array(image.shape, np.int32)
    return shape.tobytes(), image.tobytes()


def write(image_files, labels, out_file):
    # 创建一个writer写入tfr文件
    writer = tf.python_io.TFRecordWriter(out_file)
    for image_file, label in zip(image_files, labels):
        # 获取图片的序列化的shape以及value
        shape, binary_image = get_image_binary(image_file)

        # 创建特征对象
        features = tf.train.Features(feature={'label': _int64_feature(label),
                                              'shape': _bytes_feature(shape),
                                              'image': _bytes_feature(binary_image)})

        # 创建一个包含上文定义的特征的样例
        sample = tf.train.Example(features=features)

        # 把样例写入ftr文件
        writer.write(sample.SerializeToString())  # 写入的是字符串对象
    writer.close()


def _parase_fun(tfrecord_serialized):
    features = {'label': tf.FixedLenFeature([], tf.int64),
                'shape': tf.FixedLenFeature([], tf.string),
                'image': tf.FixedLenFeature([], tf.string)}

    parsed_features = tf.parse_single_example(tfrecord_serialized, features)

    return parsed_features['label'], parsed_features['shape'], parsed_features['image']


def main(folder):
    rng = np.random.default_rng(1)
    image_files, labels = [], []
    for number in range(10):
        image_files.append(f'{folder}/图片{number}.npy')
        labels.append(number % 3)
        np.save(image_files[-1], rng.integers(0, 256, (4 + number, 6, 3), np.uint8))
    tfrecord_files = [f'{folder}/a.tfrecord', f'{folder}/b.tfrecord']
    write(image_files[:6], labels[:6], tfrecord_files[0])
    write(image_files[6:], labels[6:], tfrecord_files[1])

    dataset = tf.data.TFRecordDataset(tfrecord_files)
    dataset = dataset.map(_parase_fun)  # 将tfrecord转换为所需要的格式
    # 即一个三元组（label, shape, image）
    for label, shape, image in dataset:
        sizes = np.frombuffer(shape.numpy(), np.int32)
        print(label.numpy(), sizes, np.frombuffer(image.numpy(), np.uint8).reshape(sizes).sum())


if __name__ == '__main__':
    main(sys.argv[1])
