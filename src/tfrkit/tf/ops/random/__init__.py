"""tf.random.Generator. Random numbers themselves are in `tfrkit.values`."""
