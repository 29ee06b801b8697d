"""Records to values by a tree of features, whole columns at a time; opens no files."""
