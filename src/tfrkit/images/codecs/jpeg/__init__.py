"""JPEG: decoding bit for bit as TensorFlow does, cropping, scaling, encoding."""
