"""Reading files of frames from the first byte to the last: bytes to blocks, and blocks to records, examples or tables.

Random access is in `access/`.
"""
