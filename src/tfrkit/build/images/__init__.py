"""Photos into shards: classes, splits, names of features, pixels and records. Sources of photos are in `sources/`."""
