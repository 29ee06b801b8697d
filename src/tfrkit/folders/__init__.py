"""Data sets that others wrote, opened as they are: what is in this folder, and its records as a `Dataset`; and written.

A file for each kind of folder lives in `kinds/`, with their table in `folder_table.py`. What records hold is a tree of
features (`feature_tree.py`), which `decode/` makes columns of, and `encode/` the features of Examples; `tfds/` reads
and writes the files that TensorFlow Datasets keeps. No other library is asked.
"""
