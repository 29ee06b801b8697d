"""Delimited text as a table: CSV, TSV, any separator, and Hive's text files."""
