"""Examples in bytes, and what is in them: parse into columns, encode from columns. Opens no files."""
