"""Shuffling: TensorFlow's random order, the buffers that hold elements, and where a shuffle stands."""
