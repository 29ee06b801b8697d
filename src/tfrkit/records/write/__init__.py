"""Writing files of frames: one file, a set of shards, appending, and replacing an older set."""
