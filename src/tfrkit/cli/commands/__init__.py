"""The commands of `tfr`, a file each. What they share is one folder up."""
