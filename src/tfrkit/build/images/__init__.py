"""Photos into shards: classes, splits, names of features, pixels and records. Where photos lie is in `sources/`."""
