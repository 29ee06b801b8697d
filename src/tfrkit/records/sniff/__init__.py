"""Recognises files and values by their first bytes. Pure: no I/O."""
