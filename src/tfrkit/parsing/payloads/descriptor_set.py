"""Descriptor sets: what messages of some types look like, from bytes, a file, or a `.proto` file.

A set is passed on as serialised bytes, which pickle and can be compared; protobuf's own descriptors are made of it when
they are needed. Compiling `.proto` files is in `compile_proto.py`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.message import DecodeError

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.messages import is_message, message_bytes, message_name
from tfrkit.model.near_names import near_names
from tfrkit.parsing.payloads.compile_proto import compile_proto
from tfrkit.stores.files import file_size, read_bytes
from tfrkit.stores.url import display_name, is_url, local_path

__all__ = ["message_descriptor", "read_descriptors"]

_SET: Final = "google.protobuf.FileDescriptorSet"
_BROUGHT: Final = "google/protobuf/"  # the folder of the files that protobuf has itself
_SHOWN: Final = 200
_MAX_BYTES: Final = 256 << 20


def read_descriptors(source: Any) -> bytes:
    """Return a serialised FileDescriptorSet.

    Args:
        source: the set as bytes or as a message; the path of a file: of a set, which may be a URL, or a `.proto` file;
            or what protoc has generated for Python: a module or a class of messages.

    Raises:
        InvalidArgumentError: it is no set, or protoc refuses the `.proto` file.
        MissingExtraError: neither grpcio-tools nor protoc is there to compile a `.proto` file.
        OSError: the file cannot be read.
        TypeError: it is something else.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if is_message(source) and message_name(source) == _SET:
        return message_bytes(source)
    if isinstance(generated := getattr(source, "DESCRIPTOR", None), (FileDescriptor, Descriptor)):
        return _generated_set(generated if isinstance(generated, FileDescriptor) else generated.file)
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(
            "expected a FileDescriptorSet (bytes or a message), or the path of one or of a .proto file, "
            f"or a generated module or class, but got {type(source).__name__}"
        )
    path = os.fspath(source)
    if not path.endswith(".proto"):
        return _read_set(path)
    if is_url(path):
        raise InvalidArgumentError(
            f"{display_name(path)!r} cannot be compiled where it is: copy it to this machine with all that it imports, "
            "or name a descriptor set that protoc --include_imports --descriptor_set_out=FILE has made of it"
        )
    return compile_proto(Path(local_path(path)))


def _read_set(path: str) -> bytes:
    size = file_size(path)
    if size > _MAX_BYTES:
        raise InvalidArgumentError(
            f"{display_name(path)!r} has {size:,} bytes, and a descriptor set at most {_MAX_BYTES:,}. "
            "Does the path name the records?"
        )
    found = read_bytes(path)
    _files_of(found, repr(display_name(path)))  # which refuses a file that is something else
    return found


@functools.lru_cache(maxsize=16)
def message_descriptor(descriptors: bytes, name: str) -> Any:
    """Find a type of messages.

    Args:
        descriptors: a serialised FileDescriptorSet.
        name: the full name of the type.

    Returns:
        protobuf's descriptor, in a pool of its own.

    Raises:
        InvalidArgumentError: there is no such type in the set, or the set is not whole.
    """
    files = _files_of(descriptors, f"{len(descriptors)} bytes")
    pool = _pool_of(files)
    try:
        return pool.FindMessageTypeByName(name)
    except KeyError:
        known = sorted(full for file in files.values() for full in _names_of(file))
        same = [full for full in known if full.rpartition(".")[2] == name.rpartition(".")[2]]
        near = f"Did you mean {' or '.join(map(repr, same))}?" if same else near_names(name, known)
        raise InvalidArgumentError(
            f"No descriptor found for message type {name!r:.{_SHOWN}}. {near}"
        ) from None


def _generated_set(file: Any) -> bytes:
    """A file of a process, and all that it imports."""
    files = {file.name: file}
    pending = [file]
    while pending:
        for each in pending.pop().dependencies:
            if each.name not in files:
                files[each.name] = each
                pending.append(each)
    found = descriptor_pb2.FileDescriptorSet()
    for name in sorted(files):
        found.file.add().ParseFromString(files[name].serialized_pb)
    return message_bytes(found)


def _files_of(data: bytes, shown: str) -> dict[str, Any]:
    found = descriptor_pb2.FileDescriptorSet()
    try:
        found.ParseFromString(data)
        good = all(file.name for file in found.file) and (bool(found.file) or not data)
    except (DecodeError, ValueError):  # a ValueError: names that are not text
        good = False
    if not good:
        raise InvalidArgumentError(
            f"{shown} are no serialised FileDescriptorSet. Make one with: "
            "protoc --include_imports --descriptor_set_out=FILE SOURCE.proto"
        )
    return {file.name: file for file in found.file}


def _names_of(file: Any) -> Iterator[str]:
    pending = [(file.package, message) for message in file.message_type]
    while pending:
        prefix, message = pending.pop()
        full = f"{prefix}.{message.name}" if prefix else message.name
        if not message.options.map_entry:
            yield full
        pending += [(full, inner) for inner in message.nested_type]


def _pool_of(files: Mapping[str, Any]) -> Any:
    """Put files into a pool, each after those that it imports."""
    pool = descriptor_pool.DescriptorPool()
    done: set[str] = set()
    for name in files:
        pending = [(name, "")]
        while pending:
            wanted, importer = pending[-1]
            file = None if wanted in done else _file_named(wanted, importer, files)
            missing = [] if file is None else [each for each in file.dependency if each not in done]
            if missing:
                if len(pending) > len(files) + len(missing) + 1000:
                    raise InvalidArgumentError(
                        f"the descriptor set has files that import one another: {wanted!r}"
                    )
                pending += [(each, wanted) for each in missing]
                continue
            if file is not None:
                _add_file(pool, file)
                done.add(wanted)
            pending.pop()
    return pool


def _file_named(name: str, importer: str, files: Mapping[str, Any]) -> Any:
    if name in files:
        return files[name]
    try:
        if not name.startswith(_BROUGHT):
            raise KeyError(name)
        return descriptor_pb2.FileDescriptorProto.FromString(_well_known().FindFileByName(name).serialized_pb)
    except KeyError:
        raise InvalidArgumentError(
            f"the descriptor set has {importer!r} but not {name!r}, which that imports. "
            "Make it with protoc's option --include_imports."
        ) from None


@functools.cache
def _well_known() -> Any:
    """The pool with the files that protobuf brings."""
    from google.protobuf import (  # noqa: F401  # which puts them there
        any_pb2,
        api_pb2,
        duration_pb2,
        empty_pb2,
        field_mask_pb2,
        source_context_pb2,
        struct_pb2,
        timestamp_pb2,
        type_pb2,
        wrappers_pb2,
    )

    return descriptor_pool.Default()


def _add_file(pool: Any, file: Any) -> None:
    try:
        pool.AddSerializedFile(file.SerializeToString())
        pool.FindFileByName(file.name)
    except (TypeError, KeyError) as error:
        raise InvalidArgumentError(
            f"the descriptors of {file.name!r} are not valid: {error!s:.300}"
        ) from error
