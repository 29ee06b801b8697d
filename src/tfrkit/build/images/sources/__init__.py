"""Where photos are found: folders, ZIP and tar archives, lists."""
