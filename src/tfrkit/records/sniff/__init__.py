"""Telling by their first bytes what files and values are. Pure: no I/O."""
