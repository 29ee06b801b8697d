"""PNG: decoding pixel for pixel as TensorFlow does, and encoding."""
