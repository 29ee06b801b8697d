"""Check what no other linter looks at: sizes and names of files, white space, signs of unfinished work.

python tools/check_tree.py    prints what is wrong, one line each, and exits with 1 if there is anything
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE_SUFFIXES = {".py", ".cc", ".h"}
MAX_LINES = 600
MAX_BYTES = 200_000  # data is made by scripts, not kept
VAGUE_NAMES = {"base", "common", "helper", "helpers", "misc", "util", "utils"}
UNFINISHED = tuple(
    word + mark for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X") for mark in (":", "(", " ")
)


def tracked_files() -> list[Path]:
    """Return the files that git knows, or would take with `git add`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = (ROOT / name for name in names.split("\0") if name)
    return sorted(path for path in files if path.is_file())


def problems_of(path: Path, data: bytes) -> Iterator[str]:
    """Say what is wrong with one file. Pure: no I/O."""
    if path.stem.lower() in VAGUE_NAMES:
        yield "name it after what it owns"
    if len(data) > MAX_BYTES:
        yield f"{len(data)} bytes are too many; make it with a script"
    if b"\0" in data:
        return
    lines = data.decode("utf-8").splitlines()
    if data and not data.endswith(b"\n"):
        yield "no newline at the end"
    if path.suffix in SOURCE_SUFFIXES and len(lines) > MAX_LINES:
        yield f"{len(lines)} lines; split it by step of the data's path"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield f"line {number}: white space at the end"
        if "\t" in line and path.name != "Makefile":
            yield f"line {number}: tab"
        if any(word in line + " " for word in UNFINISHED):
            yield f"line {number}: do it, or leave it out"


def main() -> int:
    """Check every file; return the exit code."""
    count = 0
    for path in tracked_files():
        for problem in problems_of(path, path.read_bytes()):
            print(f"{path.relative_to(ROOT)}: {problem}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
