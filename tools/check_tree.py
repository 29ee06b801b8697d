"""Check what no other linter looks at: files, folders, lines, class names, imports between parts, stages of pipelines.

python tools/check_tree.py            prints what is wrong, one line each, and exits with 1 if there is anything
python tools/check_tree.py --lines    prints PART_LINES as it would be written today
"""

from __future__ import annotations

import ast
import math
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.layers import WALLED, problems_of_imports  # noqa: E402

SOURCE_SUFFIXES = {".py", ".cc", ".h"}
MAX_LINES = 600
MAX_BYTES = 200_000  # data is made by scripts, not kept
MAX_FILES = 25  # of one folder below src/, README.md and __init__.py included
VAGUE_NAMES = {"base", "common", "helper", "helpers", "misc", "util", "utils"}
UNFINISHED = tuple(
    word + mark for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X") for mark in (":", "(", " ")
)
OWN_FOLDERS_OF_TESTS = {
    "golden",
    "oracle",
    "robustness",
    "support",
}  # the others are laid out like src/tfrkit

# The lines that each part may have, without tests: what was reached, rounded up to the next STEP. Raising a number is
# a decision, with its reason beside it.
STEP = 50
PART_LINES = {
    "src/bindings": 9_700,  # many files, or images, in one call; permutations; maps, asked for ahead; messages
    "src/core": 16_200,  # what a record means; shuffled records; permutations; messages of any type; PNG files; places
    "src/tfrkit": 1_850,  # names, errors, secrets, options, extras, threads (without a lock); names of folders
    "src/tfrkit/build": 20_400,  # Hive, and what it refuses; options; formats; row expressions; shuffles; WebDataset
    "src/tfrkit/cli": 4_100,  # build hive; skipped damage; `tfr sql`; `tfr view`; `tfr folder`; splits of folders
    "src/tfrkit/codecs": 1_800,  # what foreign files are by their first bytes; output left when all input is taken
    "src/tfrkit/data": 18_500,  # by number: ranks, positions, seeds; shards before stages; interruptions anywhere
    "src/tfrkit/engines": 1_700,  # the door, threads, processes, Ray, Spark and its errors, a channel to workers
    "src/tfrkit/folders": 7_400,  # the door; TFDS: descriptions, splits, order, features, written too; plain folders
    "src/tfrkit/images": 5_800,  # headers of files of all formats, and how photos are turned, which were in build
    "src/tfrkit/integrations": 5_050,  # SQL and frames; torch, JAX, grain, Keras; Ray and Spark, with their stores
    "src/tfrkit/model": 4_800,  # misspelt attributes are answered with the nearest one; records that a shuffle drew
    "src/tfrkit/parsing": 5_500,  # what each byte of a record means; messages of any type, and what bytes look like
    "src/tfrkit/records": 15_650,  # manifests; random access; zones; diff; cluster tasks; single records of any type
    "src/tfrkit/scanning": 2_700,  # exports, read_table; frames; zones; parts for clusters; conditions on any kind
    "src/tfrkit/stores": 6_250,  # object stores, fsspec, memory, the cache; ends of ranges; odd names
    "src/tfrkit/testing": 2_000,  # stages by number, in the plain engine; shards of batches before them
    "src/tfrkit/tf": 16_050,  # gfile on object stores, as TensorFlow has gs://; errors say what was given
    "src/tfrkit/values": 2_350,  # permutations
    "src/tfrkit/viewer": 4_700,  # server and guard, records with damage, of any type, pictures, bytes; jobs; orders
}


def tracked_files() -> list[Path]:
    """Return the files that git knows, or would take with `git add`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = (ROOT / name for name in names.split("\0") if name)
    return sorted(path for path in files if path.is_file())


def problems_of(path: PurePath, data: bytes) -> Iterator[str]:
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


def problems_of_folders(files: Mapping[str, bytes]) -> Iterator[str]:
    """Say which folders below src/ are too full or do not say what lives there. Pure: no I/O."""
    paths = {PurePosixPath(name) for name in files if name.startswith("src/")}
    for folder, count in sorted(Counter(path.parent for path in paths).items()):
        if count > MAX_FILES:
            yield f"{folder}: {count} files; split it into folders of at most {MAX_FILES}"
    folders = {folder for path in paths for folder in path.parents if len(folder.parts) > 1}
    for folder in sorted(folders):
        if folder.is_relative_to("src/tfrkit"):
            tree = ast.parse(files.get(f"{folder}/__init__.py", b""))
            if not ast.get_docstring(tree):
                yield f"{folder}: an __init__.py with a docstring has to say what lives there and what does not"
        elif not files.get(f"{folder}/README.md", b"").strip():
            yield f"{folder}: a README.md has to say what lives there and what does not"
    for folder in sorted({PurePosixPath(name).parent for name in files if name.startswith("tests/")}):
        mirrored = PurePosixPath("src/tfrkit", *folder.parts[1:])
        if mirrored not in folders and not OWN_FOLDERS_OF_TESTS.intersection(folder.parts):
            yield f"{folder}: there is no {mirrored}"


def lines_of_parts(files: Mapping[str, bytes]) -> dict[str, int]:
    """Count the lines of C++ and Python below src/ by part, without tests. Pure: no I/O."""
    counts: Counter[str] = Counter()
    for name, data in files.items():
        path = PurePosixPath(name)
        if path.parts[0] == "src" and path.suffix in SOURCE_SUFFIXES and not path.stem.endswith("_test"):
            depth = 3 if path.parts[1] == "tfrkit" else 2
            counts["/".join(path.parent.parts[:depth])] += data.count(b"\n")
    return dict(sorted(counts.items()))


def problems_of_lines(counts: Mapping[str, int], allowed: Mapping[str, int]) -> Iterator[str]:
    """Say which parts have more lines than they may have. Pure: no I/O."""
    for part, count in counts.items():
        if count > allowed.get(part, 0):
            yield f"{part}: {count} lines, and PART_LINES allows {allowed.get(part, 0)}"
    for part in allowed.keys() - counts.keys():
        yield f"{part}: in PART_LINES, but not in the tree"


def repeated_class_names(files: Mapping[str, bytes]) -> Iterator[str]:
    """Say which public class names occur twice in the package outside `tf`. Pure: no I/O."""
    places = defaultdict(list)
    for name, data in sorted(files.items()):
        path = PurePosixPath(name)
        if path.is_relative_to("src/tfrkit") and path.suffix == ".py" and path.parts[2] != WALLED:
            for node in ast.parse(data).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(str(path.relative_to("src/tfrkit")))
    for name, paths in sorted(places.items()):
        if len(paths) > 1:
            yield f"class {name} is defined {len(paths)} times: {', '.join(paths)}"


def questions_about_stages(files: Mapping[str, bytes]) -> Iterator[str]:
    """Say where a class of a pipeline's stages is asked for outside its own file; `Node` has traits. Pure: no I/O."""
    for name, data in sorted(files.items()):
        if not name.startswith("src/tfrkit/") or not name.endswith(".py") or b"Node" not in data:
            continue
        tree = ast.parse(data)
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)} | {"Node"}
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("isinstance", "issubclass"):
                asked = {getattr(each, "attr", getattr(each, "id", "")) for each in ast.walk(call.args[1])}
                for kind in sorted(kind for kind in asked - own if kind.endswith("Node")):
                    yield f"{name}, line {call.lineno}: asks for {kind}; read a trait of the node instead"


def table_of_lines(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield the rows of PART_LINES for these counts, with the exact counts beside them. Pure: no I/O."""
    for part, count in counts.items():
        yield f'    "{part}": {math.ceil(count / STEP) * STEP:_},  # {count:,}'
    python = sum(count for part, count in counts.items() if part.startswith("src/tfrkit"))
    yield f"    # {python:,} of Python, {sum(counts.values()) - python:,} of C++"


def problems() -> Iterator[str]:
    """Yield what is wrong with the tree."""
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in tracked_files()}
    for name, data in files.items():
        yield from (f"{name}: {problem}" for problem in problems_of(PurePosixPath(name), data))
    yield from problems_of_folders(files)
    yield from problems_of_imports()
    yield from problems_of_lines(lines_of_parts(files), PART_LINES)
    yield from repeated_class_names(files)
    yield from questions_about_stages(files)


def main(arguments: Sequence[str]) -> int:
    """Check every file; return the exit code."""
    if "--lines" in arguments:
        files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in tracked_files()}
        print("\n".join(table_of_lines(lines_of_parts(files))))
        return 0
    found = list(problems())
    print("".join(f"{problem}\n" for problem in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
