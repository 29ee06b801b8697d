"""Every method of TF1's TFRecordReader, over a queue of file names.

The text lists the methods; the calls are ours. TensorFlow has the reader in graphs only, so each step is handed to
`run`: it calls the step, or runs what the step gives in a session. What TensorFlow cannot do, save and restore its
place, is a function of its own.
"""

import sys

from tfrkit import tf


def write(folder):
    files = []
    for name, count in [('甲', 3), ('empty', 0), ('b', 4)]:
        files.append(f'{folder}/{name}.tfrecord')
        with tf.python_io.TFRecordWriter(files[-1]) as writer:
            for number in range(count):
                writer.write(f'{name} {number}'.encode())
    return files


def text(value, folder):
    return value.decode().replace(f'{folder}/', '')


def main(folder, run=lambda step: [getattr(part, 'numpy', lambda part=part: part)() for part in step()]):
    files = write(folder)
    queue = tf.FIFOQueue(10, [tf.string], shapes=[[]])
    run(lambda: [queue.enqueue_many([files * 2])])
    run(lambda: [queue.close()])
    reader = tf.TFRecordReader(name='reader', options=None)
    for _ in range(5):
        key, value = run(lambda: reader.read(queue))
        produced, completed = run(lambda: [reader.num_records_produced(), reader.num_work_units_completed()])
        print(text(key, folder), text(value, folder), produced, completed)
    keys, values = run(lambda: reader.read_up_to(queue, 10))
    print([text(key, folder) for key in keys], [text(value, folder) for value in values])
    run(lambda: [reader.reset()])
    print(run(lambda: [reader.num_records_produced(), reader.num_work_units_completed()]))
    while True:
        try:
            key, value = run(lambda: reader.read(queue))
        except tf.errors.OutOfRangeError:
            break
        print(text(key, folder), text(value, folder))


def save_and_restore(folder):
    files = write(folder)
    queue = tf.train.string_input_producer(files, num_epochs=1, shuffle=False)
    reader = tf.TFRecordReader()
    first = [reader.read(queue)[1].numpy() for _ in range(2)]
    assert reader.supports_serialize
    state = reader.serialize_state()
    rest = [reader.read(queue)[1].numpy() for _ in range(5)]
    reader.restore_state(state)
    print(first, rest, reader.num_records_produced().numpy(), reader.num_records_units_completed().numpy())
    print(reader.read(queue)[1].numpy())


if __name__ == '__main__':
    main(sys.argv[1])
    save_and_restore(sys.argv[1])
