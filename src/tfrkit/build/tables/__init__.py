"""Tables into shards: which files, which columns of which kinds. Each format has a folder of its own."""
