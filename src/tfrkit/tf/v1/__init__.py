"""What only TensorFlow 1 had: readers that take file names from queues, the queues, and its logger."""
