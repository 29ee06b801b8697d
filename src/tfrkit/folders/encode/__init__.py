"""Values to what an Example stores of them, by a tree of features: the way back of `decode/`. Writes no files."""
