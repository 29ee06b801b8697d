"""tf.io: parsers with Tensors, files as strings, gfile, and decode_csv.

The module that users see as `tfrkit.tf.io` has TensorFlow's names only.
"""
