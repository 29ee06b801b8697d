"""Tests of building shards from other formats, and of exporting them."""
