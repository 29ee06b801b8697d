"""TensorFlow's operations on values that no other part of tfrkit needs: a folder for each kind.

They take and return arrays; `tf.functions.function.lift` makes functions on Tensors of them.
"""
