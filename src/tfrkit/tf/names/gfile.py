"""Files and folders."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

_NEW: Final = (
    "copy exists get_registered_schemes glob isdir join listdir makedirs mkdir remove rename rmtree stat walk"
)
_OLD: Final = {
    "Copy": "copy_v1",
    "DeleteRecursively": "delete_recursively",
    "Exists": "exists_v1",
    "Glob": "glob_v1",
    "IsDirectory": "isdir_v1",
    "ListDirectory": "listdir_v1",
    "MakeDirs": "makedirs_v1",
    "MkDir": "mkdir_v1",
    "Remove": "remove_v1",
    "Rename": "rename_v1",
    "Stat": "stat_v1",
    "Walk": "walk_v1",
}

NAMES: Final[dict[str, Entry]] = {
    "io.gfile.GFile": Raw("tf.io.gfile_object:GFile"),
    **{f"io.gfile.{name}": Raw(f"tf.io.gfile_functions:{name}") for name in _NEW.split()},
    "gfile.GFile gfile.Open": Raw("tf.io.gfile_object:GFile"),
    "gfile.FastGFile": Raw("tf.io.gfile_object:FastGFile"),
    **{f"gfile.{name}": Raw(f"tf.io.gfile_functions:{target}") for name, target in _OLD.items()},
}
