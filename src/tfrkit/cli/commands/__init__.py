"""The commands of `tfr`, a file each or for several that share everything. What all share is one folder up."""
