"""The kinds of folders, a file for each: how one is recognised, and what is in it. Their table is `folder_table.py`."""
