"""Where bytes live: local files, pipes and file objects, their names, locks and temporary files.

Knows nothing of records, and nothing of compressions (`tfrkit.codecs`).
"""
