"""Elements while they move: structures, columns and chunks of them, their specs and who owns their arrays."""
