"""Examples and SequenceExamples in bytes, and what is in them: parse into columns, encode from columns.

Opens no files. Byte strings inside features (raw numbers, JSON, other messages) are in `payloads/`.
"""
