"""The command `tfr`: a file per command, over the library. Nothing here is importable API."""
