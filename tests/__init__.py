"""The tests of tfrkit; laid out like `src/tfrkit`."""
