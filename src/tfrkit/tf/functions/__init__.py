"""Functions of TensorFlow that call functions: lifting, tf.function, branches and loops, Python functions."""
