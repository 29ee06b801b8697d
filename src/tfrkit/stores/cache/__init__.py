"""The cache folder: what was read of remote files, kept on the local disk, and where that is.

Knows no store: files are known by their URL and version. Nothing here is needed for a correct result; what is missing,
damaged or cannot be written is fetched again.
"""
