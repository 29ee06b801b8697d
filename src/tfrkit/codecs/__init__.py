"""Compressions: streams of bytes into compressed ones and back. Knows neither paths nor records.

One file per compression has its `Codec` (`codec.py`), and `table.py` has them all. `file_kinds.py` names other files
by their first bytes.

Where bytes are read from and written to is in `tfrkit.stores`.
"""
