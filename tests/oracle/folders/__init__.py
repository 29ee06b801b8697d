"""Folders of data sets, as the libraries read them that made them."""
