"""Records by their number: the index of a shard, random access, counting and fetching."""
