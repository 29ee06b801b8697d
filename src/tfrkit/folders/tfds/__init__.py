"""What TensorFlow Datasets keeps beside its shards: features.json, dataset_info.json, the names of shards."""
