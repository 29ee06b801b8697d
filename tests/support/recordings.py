"""Terminal recordings in the documentation: fenced as `console`, run by bash, compared with what is recorded.

A line `$ command` is run in the page's folder, with `tfr` and `python` on the path; lines `> ...` behind it continue
it. What follows is its output, standard error among it. `...` stands for anything within a line and, alone on a line,
for any lines. The `python` blocks of such a page run in the same folder, in their place.

To replace the outputs of a page: `python -m tests.support.recordings docs/command-line.md`. It leaves recordings
alone that still fit, so that a `...` survives.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from tests.support.pages import Block, blocks_of, run_block

ANYTHING = "..."


@dataclass(frozen=True, slots=True)
class Recording:
    """A command, and what it printed; `line` is that of the command in the page."""

    command: str
    output: list[str]
    line: int


def recordings_of(block: Block) -> list[Recording]:
    """Cut a block into its commands and their outputs."""
    found: list[Recording] = []
    for number, line in enumerate(block.code.splitlines(), block.line):
        if line.startswith("$ "):
            found.append(Recording(line[2:], [], number))
        elif found and line.startswith("> ") and not found[-1].output:
            last = found.pop()
            found.append(Recording(f"{last.command}\n{line[2:]}", [], last.line))
        elif found:
            found[-1].output.append(line.rstrip())
        else:
            raise ValueError(f"line {number}: a recording begins with `$ ` and a command")
    for recording in found:
        while recording.output and not recording.output[-1]:
            recording.output.pop()  # a blank line before the next command
    return found


def fits(printed: str, recorded: list[str]) -> bool:
    """Tell whether an output is the recorded one."""
    parts = []
    for line in recorded:
        if line.strip() == ANYTHING:
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(map(re.escape, line.split(ANYTHING))) + r"[ \t]*\n")
    text = printed.rstrip("\n") + "\n" if printed.strip() else ""
    return re.fullmatch("".join(parts), text) is not None


def prepare(folder: Path) -> dict[str, str]:
    """Make the commands `tfr` and `python`; gives the environment to run recordings in."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for name, arguments in (("tfr", "-m tfrkit "), ("python", "")):
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        script.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TFR_", "PYTEST"))}
    return {
        **kept,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "HOME": str(folder),
        "TFRKIT_CACHE": str(folder / ".cache"),  # `tfr cache clear` must not remove that of the user
    }


def run(command: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a command and give what it printed."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    return done.stdout.decode(errors="replace")


def play(text: str, page: str, folder: Path) -> Iterator[tuple[Recording, str]]:
    """Run a page in an empty folder; gives each recording with what was printed."""
    environment = prepare(folder)
    place = folder / "page"
    place.mkdir()
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(text):
        if block.info == "python":
            with chdir(place):
                run_block(block, page, namespace)
        elif block.info == "console":
            for recording in recordings_of(block):
                yield recording, run(recording.command, place, environment)


def renew(text: str, page: str) -> str:
    """Give a page with the outputs that its commands print now."""
    lines = text.splitlines()
    with tempfile.TemporaryDirectory() as folder:
        played = list(play(text, page, Path(folder)))
    for recording, printed in reversed(played):
        if not fits(printed, recording.output):
            start = recording.line + recording.command.count("\n")
            lines[start : start + len(recording.output)] = [line.rstrip() for line in printed.splitlines()]
    return "\n".join(lines) + "\n"


def main(paths: list[str]) -> None:
    """Replace the outputs of some pages."""
    for path in map(Path, paths):
        path.write_text(renew(path.read_text("utf-8"), path.name), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
