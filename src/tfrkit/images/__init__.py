"""Pixels: decoding, encoding, resizing, colours, crops and random changes, as arrays.

`tfrkit.image` has the public names. Pipelines of images are in `tfrkit.data.features`.
"""
