"""Images of another size, with TensorFlow's numbers bit for bit."""
