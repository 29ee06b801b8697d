"""What only TensorFlow 1 had: the reader that takes file names from queues, the queues, its logger, old arguments."""
