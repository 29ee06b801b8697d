"""Files of frames: reading, writing, random access, checking and mending."""
