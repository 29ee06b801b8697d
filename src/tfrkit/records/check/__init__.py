"""Whether files are whole, and mending them: verify, repair, and what a folder of shards should hold."""
