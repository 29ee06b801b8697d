"""compile_proto: a `.proto` file as a serialised FileDescriptorSet, by grpcio-tools or protoc.

Both are the same compiler, run as a process of its own: what it says of a wrong file is the text of the error.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tfrkit.errors import InvalidArgumentError, MissingExtraError

__all__ = ["compile_proto"]

_IMPORT: Final = re.compile(r'^\s*import\s+(?:public\s+|weak\s+|option\s+)?"([^"]+)"\s*;', re.MULTILINE)
_SECONDS: Final = 120
_SHOWN: Final = 1000


def compile_proto(path: Path) -> bytes:
    """Compile a `.proto` file and all that it imports.

    Imports are looked for from the folder of the file, or from the nearest one above it where they are.

    Raises:
        InvalidArgumentError: the compiler refuses the file; the text is its own.
        MissingExtraError: neither grpcio-tools nor protoc is there.
        OSError: the file cannot be read.
    """
    source = path.resolve()
    root = _import_root(source, _IMPORT.findall(source.read_text(encoding="utf-8", errors="replace")))
    with tempfile.TemporaryDirectory(prefix="tfrkit-proto-") as folder:
        made = Path(folder, "set.pb")
        command = [
            *_compiler(path),
            f"-I{root}",
            "--include_imports",
            f"--descriptor_set_out={made}",
            str(source),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, check=False, text=True, errors="replace", timeout=_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise InvalidArgumentError(
                f"protoc has not compiled {str(path)!r} within {_SECONDS} seconds: is a pipe among its imports?"
            ) from None
        if done.returncode or not made.exists():
            said = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
            raise InvalidArgumentError(f"protoc cannot compile {str(path)!r}: {said:.{_SHOWN}}")
        return made.read_bytes()


def _compiler(path: Path) -> list[str]:
    if importlib.util.find_spec("grpc_tools") is not None:
        return [sys.executable, "-m", "grpc_tools.protoc"]
    if found := shutil.which("protoc"):
        return [found]
    raise MissingExtraError(
        f"compiling {str(path)!r} needs the package grpcio-tools or the program protoc, and neither is installed. "
        "Install the first with: pip install grpcio-tools, or pass a descriptor set that "
        "protoc --include_imports --descriptor_set_out=FILE has made elsewhere."
    )


def _import_root(source: Path, imports: list[str]) -> Path:
    """Return the nearest folder from which most of the imports are there; the file's own if none is anywhere."""
    folders = list(source.parents)
    found = [sum((folder / name).is_file() for name in imports) for folder in folders]
    return folders[found.index(max(found))]
