"""Whole files as strings: read_file, write_file, matching_files."""

from __future__ import annotations

import os
from typing import Any

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.stores import files
from tfrkit.stores.glob_files import glob_files
from tfrkit.tf.io.gfile_functions import open_to_write, os_errors, path_text
from tfrkit.tf.ops.strings.string_values import flat_strings, scalar_string, shape_text, strings_of

__all__ = ["matching_files", "read_file", "write_file"]


def read_file(filename: Any) -> bytes:
    """Return all bytes of a file.

    Raises:
        NotFoundError: it does not exist.
        FailedPreconditionError: it is a folder.
        InvalidArgumentError: there are several names.
    """
    path = _path(filename, "ReadFile")
    with os_errors(path):
        return files.read_bytes(path)


def write_file(filename: Any, contents: Any) -> None:
    """Write a file, and make its folders where they do not exist.

    Raises:
        FailedPreconditionError: the path is a folder.
        InvalidArgumentError: there are several names, or several strings.
    """
    path = _path(filename, "WriteFile")
    data = scalar_string(contents, "Contents tensor must be scalar, but had shape: ")
    folder = os.path.dirname(path)
    with os_errors(path):
        if folder and files.traits_of(path).writes:
            files.make_folder(folder)
        with open_to_write(path) as file:
            file.write(data)


def matching_files(pattern: Any) -> BytesColumn:
    """Return the sorted names of the files that match one of the patterns; see `glob_files` for their syntax.

    Raises:
        InvalidArgumentError: the patterns have more than one dimension.
    """
    column = strings_of(pattern, "MatchingFiles")
    if len(column.shape) > 1:
        raise InvalidArgumentError(
            f"Input patterns tensor must be scalar or vector, but had shape: {shape_text(column.shape)}"
        )
    found = glob_files(os.fsdecode(text) for text in flat_strings(column))
    return BytesColumn.from_list([os.fsencode(path) for path in found])


def _path(filename: Any, op: str) -> str:
    text = scalar_string(
        os.fspath(filename) if isinstance(filename, os.PathLike) else filename,
        "Input filename tensor must be scalar, but had shape: ",
        op,
    )
    return path_text(text)
