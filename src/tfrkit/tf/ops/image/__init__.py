"""Operations on images that only TensorFlow's names have."""
