"""Shards into other shards: compress, merge, reshard, sample, select, shuffle and split."""
