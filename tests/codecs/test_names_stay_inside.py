"""No other part knows a name, a suffix or the first bytes of a compression."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tfrkit.codecs.table import all_codecs

SOURCE = Path(__file__).parents[2] / "src" / "tfrkit"
# What has TensorFlow's names because they are TensorFlow's, and the plain engine, which shares no code with the other.
ALLOWED = {"records/write/options.py", "parsing/payloads/decode_compressed.py", "testing/plain_sources.py"}
ELSEWHERE = ("codecs/", "tf/", "images/")  # compressions themselves; TensorFlow's names; pixels
KNOWN = {codec.name for codec in all_codecs() if codec.name} | {
    suffix for codec in all_codecs() for suffix in codec.suffixes
}
MAGICS = tuple(magic for codec in all_codecs() for magic in codec.magic)


def leaks(tree: ast.AST) -> Iterator[str]:
    """Yield the constants of a module that only codecs should know. Prose that contains them does not count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and (
            (isinstance(node.value, str) and node.value in KNOWN)
            or (isinstance(node.value, bytes) and node.value.startswith(MAGICS))
        ):
            yield f"line {node.lineno}: {node.value!r}"


def modules() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(ELSEWHERE) and name not in ALLOWED:
            yield name


def test_modules_ask_the_codec():
    found = {name: list(leaks(ast.parse((SOURCE / name).read_bytes()))) for name in modules()}
    assert len(found) > 200
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_leak_is_found():
    program = 'if kind == "GZIP" or name.endswith(".zst") or head[:2] == b"\\x1f\\x8b": "GZIP or ZLIB"'
    assert len(list(leaks(ast.parse(program)))) == 3
