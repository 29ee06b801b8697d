"""Where elements come from: files of records or lines, arrays, generators, ranges."""
