"""Statements about TensorFlow, and the tests that check each against the real one."""
