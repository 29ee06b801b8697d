"""Fuzzing: one target per parser, and tfrkit against TensorFlow and protobuf on random Examples."""
