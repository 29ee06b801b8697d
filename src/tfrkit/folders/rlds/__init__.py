"""Data sets of episodes (RLDS, Open X-Embodiment): `tfrkit.rlds.open` gives their episodes, steps and windows.

How long episodes are is counted in `episode_lengths.py`, what an element is made of in `windows.py`, by way of
`step_leaves.py`, a feature of a step, and `episode_record.py`, the values of one record.
"""

from tfrkit.folders.rlds.rlds_folder import RldsFolder, open  # noqa: A004  # tfrkit.rlds.open

__all__ = ["RldsFolder", "open"]
