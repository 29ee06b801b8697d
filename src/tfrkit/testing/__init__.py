"""What tests of tfrkit, and of programs that use it, compare with. Nothing else in tfrkit imports it."""
