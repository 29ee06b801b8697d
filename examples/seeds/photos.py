"""A folder of photos per class becomes a TFRecord file; batches of decoded, resized, shuffled photos come out of it.

Changed: the file is read under the keys that it was written with ("image" and "label"; the text reads "image/encoded"
and "image/label"); the names of the files, the labels and the size of a batch, which are left open, are given.
"""

import glob
import os
import sys

from tfrkit import tf


def build(tfrecord_train, train_filenames, train_labels):
    with tf.io.TFRecordWriter(tfrecord_train) as writer:
        for filename, label in zip(train_filenames, train_labels):
            image = open(filename, 'rb').read()     # 读取数据集图片到内存，image 为一个 Byte 类型的字符串
            feature = {                             # 建立 tf.train.Feature 字典
                'image': tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),  # 图片是一个 Bytes 对象
                'label': tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))   # 标签是一个 Int 对象
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))  # 通过字典建立 Example
            writer.write(example.SerializeToString())   # 将Example序列化并写入 TFRecord 文件


Feature_description = {  # 定义Feature结构，告诉解码器每个Feature的类型是什么
    'image': tf.io.FixedLenFeature([], tf.string),
    'label': tf.io.FixedLenFeature([], tf.int64),
}


def _parse_example(example_string):  # 将 TFRecord 文件中的每一个序列化的 tf.train.Example 解码
    feature_dict = tf.io.parse_single_example(example_string, Feature_description)
    feature_dict['image'] = tf.io.decode_jpeg(feature_dict['image'], channels=3)  # 解码JPEG图片
    img = feature_dict['image']
    img = tf.image.resize(img, (96, 96))
    img = img/255
    return img, tf.stack([tf.cast(feature_dict['label'], 'int32')])


def load(train_file, batch):
    raw_dataset = tf.data.TFRecordDataset(train_file)  # 读取 TFRecord 文件
    raw_dataset = raw_dataset.repeat()
    train_datasets = raw_dataset.map(_parse_example)
    train_datasets = train_datasets.shuffle(buffer_size=1024)
    train_datasets = train_datasets.batch(batch)
    train_datasets = train_datasets.prefetch(buffer_size=-1)  # 开启预加载
    return train_datasets


def main(folder):
    classes = sorted(os.listdir(f'{folder}/photos'))
    filenames = sorted(glob.glob(f'{folder}/photos/*/*.jpg'))
    labels = [classes.index(os.path.basename(os.path.dirname(filename))) for filename in filenames]
    build(f'{folder}/train.tfrecord', filenames, labels)
    return load(f'{folder}/train.tfrecord', 8)


if __name__ == '__main__':
    for images, labels in main(sys.argv[1]).take(3):
        print(images.shape, images.dtype, labels.numpy().ravel())
