"""Compressions: streams of bytes into compressed ones and back. Knows neither paths nor records.

Where bytes are read from and written to is in `tfrkit.stores`.
"""
