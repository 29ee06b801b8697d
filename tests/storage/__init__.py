"""Tests of where bytes live."""
