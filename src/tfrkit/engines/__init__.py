"""Engines: run a plan of independent tasks, here on the threads of this process."""
