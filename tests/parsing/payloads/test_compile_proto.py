"""compile_proto: `.proto` files through grpcio-tools, and through protoc where that is missing."""

from __future__ import annotations

import importlib.util
import stat
import sys

import pytest

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError, MissingExtraError
from tfrkit.parsing.payloads import compile_proto as module
from tfrkit.parsing.payloads.compile_proto import compile_proto
from tfrkit.parsing.payloads.descriptor_set import message_descriptor

LENS = 'syntax = "proto3"; package pkg.parts; message Lens { string name = 1; }'
FRAME = """
syntax = "proto3";
package pkg;
import "pkg/parts/lens.proto";
import "google/protobuf/timestamp.proto";
message Frame { int64 id = 1; parts.Lens lens = 2; google.protobuf.Timestamp time = 3; }
"""


@pytest.fixture
def frame(tmp_path):
    """Two files, of which one imports the other from the folder above both."""
    (tmp_path / "pkg" / "parts").mkdir(parents=True)
    (tmp_path / "pkg" / "parts" / "lens.proto").write_text(LENS)
    path = tmp_path / "pkg" / "frame.proto"
    path.write_text(FRAME)
    return path


def without_grpcio_tools(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        module.importlib.util, "find_spec", lambda name: None if name == "grpc_tools" else find(name)
    )


def test_imports_are_found_from_the_folder_they_begin_at(frame, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    message = message_descriptor(compile_proto(frame), "pkg.Frame")
    assert [field.name for field in message.fields] == ["id", "lens", "time"]
    assert sorted(tmp_path.rglob("*")) == before  # nothing is left


def test_a_file_is_parsed_with_by_its_path(frame):
    record = b"\x08\x07" + b"\x12\x04\x0a\x0250" + b"\x1a\x02\x08\x09"
    found = tfr.parse_proto([record, b""], frame, "pkg.Frame", ["id", "lens.name", "time.seconds"])
    assert found["id"].tolist() == [7, 0]
    assert found["lens.name"].to_list() == [b"50", b""]
    assert found["time.seconds"].tolist() == [9, 0]
    dataset = tfr.Dataset.from_tensor_slices([record]).parse_proto(str(frame), "pkg.Frame", ["id"])
    assert [each["id"] for each in dataset] == [7]


def test_what_the_compiler_says_is_the_error(tmp_path):
    path = tmp_path / "bad.proto"
    path.write_text('syntax = "proto3";\nmesage Frame {}\n')
    with pytest.raises(
        InvalidArgumentError, match=r"^protoc cannot compile '.*bad\.proto': .*bad\.proto:2:1: "
    ):
        compile_proto(path)
    path.write_text('syntax = "proto3";\nimport "missing.proto";\n')
    with pytest.raises(InvalidArgumentError, match=r"missing\.proto"):
        compile_proto(path)


def test_a_compiler_that_does_not_end_is_stopped(frame, monkeypatch):
    monkeypatch.setattr(module, "_SECONDS", 0.01)
    with pytest.raises(
        InvalidArgumentError, match=r"^protoc has not compiled '.*frame\.proto' within 0\.01 seconds"
    ):
        compile_proto(frame)


def test_a_missing_file_is_an_error_of_its_own(tmp_path):
    with pytest.raises(FileNotFoundError):
        compile_proto(tmp_path / "none.proto")


def test_a_name_cannot_be_an_option_of_the_compiler(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--version.proto").write_text(LENS)
    found = compile_proto(module.Path("--version.proto"))
    assert message_descriptor(found, "pkg.parts.Lens").full_name == "pkg.parts.Lens"


def test_protoc_is_taken_where_grpcio_tools_is_missing(frame, tmp_path, monkeypatch):
    without_grpcio_tools(monkeypatch)
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "protoc"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m grpc_tools.protoc "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    # A lone protoc has the files of protobuf beside it, which the one behind this script has not.
    source = tmp_path / "pkg" / "parts" / "lens.proto"
    assert message_descriptor(compile_proto(source), "pkg.parts.Lens").full_name == "pkg.parts.Lens"


def test_without_a_compiler_the_error_says_what_to_install(frame, tmp_path, monkeypatch):
    without_grpcio_tools(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtraError) as error:
        tfr.parse_proto([b""], frame, "pkg.Frame", ["id"])
    assert str(error.value) == (
        f"compiling {str(frame)!r} needs the package grpcio-tools or the program protoc, and neither is installed. "
        "Install the first with: pip install grpcio-tools, or pass a descriptor set that "
        "protoc --include_imports --descriptor_set_out=FILE has made elsewhere."
    )
