"""Lines of tab-separated files, exported from Hive, become TFRecord files in several processes.

Changed: comments begin with `#`; the dict that `parse_line` fills is the one it returns; values are lists of a float, of
bytes and of an int, as the lists of a feature want them; `np.float` is `np.float64`; `__name__` is spelled out; the
arguments, which are left open, are parsed; every input has its own output, where all had the same; pandas is not used.
"""

import argparse
import glob
import os
from multiprocessing import Pool

import numpy as np

from tfrkit import tf


# （3）tfrecord行字段解析
def parse_line(line):
    feature_list = line.strip('\n').split('\t')
    features = dict()
    features.update({'fea1': tf.train.Feature(float_list=tf.train.FloatList(value=np.array([feature_list[0]], dtype=np.float64)))})
    features.update({'fea2': tf.train.Feature(bytes_list=tf.train.BytesList(value=[feature_list[1].encode('utf-8')]))})

    features.update({'label': tf.train.Feature(int64_list=tf.train.Int64List(value=[int(feature_list[2])]))})
    return features


# （2）tfrecord写入函数
def tfrecord_process(params):
    infile_name = params[0]
    output_dir = params[1]

    outfile_name = f'{output_dir}/{os.path.basename(infile_name)}.tfrecord'
    tfrecord_out = tf.io.TFRecordWriter(outfile_name)  # 定义输出文件
    with open(infile_name, 'r', encoding='utf-8') as fp:
        for line in fp.readlines():
            feat = parse_line(line)  # （3）tfrecord行字段解析
            example = tf.train.Example(features=tf.train.Features(feature=feat))
            serialized = example.SerializeToString()
            tfrecord_out.write(serialized)
    tfrecord_out.close()


# （1）多线程读取解析。
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument('--input_dir')
    parser.add_argument('--output_dir')
    parser.add_argument('--threads', type=int, default=2)
    args = parser.parse_args()
    # 定义多线程读取
    input_dir = args.input_dir
    output_dir = args.output_dir
    input_files = glob.glob(input_dir)
    parameters = [[item, output_dir] for item in input_files]

    pool = Pool(args.threads)
    pool.map(tfrecord_process, parameters)
    pool.close()
    pool.join()
