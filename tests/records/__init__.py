"""Tests of files of frames."""
