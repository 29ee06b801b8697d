"""Foreign formats into shards, and back. `tfrkit.build.images` and `tfrkit.build.table` are functions."""
