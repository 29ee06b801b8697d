"""Small files written by TensorFlow 2.21, and what is in them."""
