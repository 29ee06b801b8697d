"""Data sets that others wrote, opened as they are: what is in this folder, and its records as a `Dataset`.

A file for each kind of folder lives in `kinds/`, with their table in `folder_table.py`. What records hold is a tree of
features (`feature_tree.py`), which `decode/` makes columns of; `tfds/` reads the files that TensorFlow Datasets keeps.
Nothing here writes, and no other library is asked.
"""
