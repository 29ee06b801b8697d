"""tf.data: pipelines of `tfrkit.data` under TensorFlow's interface, and the stages that only TensorFlow has.

The module that users see as `tfrkit.tf.data` has TensorFlow's names only.
"""
