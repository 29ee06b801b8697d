"""Columns as Arrow arrays and back, without copying where the layouts agree. Files are not its business."""
