"""Where bytes live: local files, object stores, web servers, what fsspec reaches, memory, pipes and file objects.

`store.py` says what a store is, a file for each kind is one, and `table.py` finds the one that a path or URL belongs
to. The rest of tfrkit uses `files.py`. Knows nothing of records, and nothing of compressions (`tfrkit.codecs`).
"""
