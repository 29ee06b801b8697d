"""The options of `spark.read.format("tfrecord")` and of `df.write`: texts, as Spark has them.

Names are those of tfrkit in any case and with or without underscores (`on_corrupt`, `onCorrupt`), and those of
LinkedIn's spark-tfrecord. Pure: no I/O.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Self

from tfrkit.codecs.table import all_codecs, canonical
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.near_names import near_names
from tfrkit.options import read_list, size_bytes

__all__ = ["ReadOptions", "WriteOptions"]

_HADOOP: Final = "org.apache.hadoop.io.compress."  # before the names of its classes
_HADOOP_FILE: Final = re.compile(r"^file:/(?!/)")  # as Hadoop writes URLs of local files
_RECORD_TYPES: Final = {"example": "Example", "sequenceexample": "SequenceExample", "bytearray": "ByteArray"}
_SAMPLE: Final = 10_000
_SPLIT_BYTES: Final = 64 << 20


def _compression(text: str) -> str:
    known = {name: codec.name for codec in all_codecs() for name in codec.hadoop}
    return canonical(known.get(text.removeprefix(_HADOOP), text))


def _record_type(text: str) -> str:
    try:
        return _RECORD_TYPES[text.replace("_", "").lower()]
    except KeyError:
        raise ValueError("Example, SequenceExample or ByteArray") from None


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise ValueError("a whole number of at least 1")
    return int(text)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("a whole number") from None


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in read_list([text]) if name.strip())


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text.lower()

    return read


def _sample(text: str) -> int | None:
    return None if text.lower() == "all" else _number(text)


@dataclass(frozen=True, slots=True)
class _SourceOptions:
    """What reading and writing share."""

    paths: tuple[str, ...] = ()

    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {}
    aliases: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def of_source(cls, given: Mapping[str, str]) -> Self:
        """Read the options of a source.

        Raises:
            InvalidArgumentError: one is not known, or has a value that it cannot have.
        """
        known = {each.name.replace("_", ""): each.name for each in fields(cls)}
        values: dict[str, Any] = {}
        paths: list[str] = []
        for key, text in given.items():
            plain = key.replace("_", "").lower()
            if plain == "path":
                paths.append(text)
            elif plain == "paths":
                paths += json.loads(text)
            elif plain == "owner":  # which Spark gives for tables alone
                raise InvalidArgumentError(
                    "The format tfrecord cannot be that of a table, as Spark does not say where it is. Use CREATE "
                    "TEMPORARY VIEW name USING tfrecord OPTIONS (path 'data')."
                )
            else:
                name = known.get(cls.aliases.get(plain, plain))
                if name is None:
                    raise InvalidArgumentError(
                        f"The format tfrecord has no option {key!r}. {near_names(key, sorted(cls.readers))}"
                    )
                values[name] = _read(key, cls.readers[name], str(text))
        return cls(tuple(_HADOOP_FILE.sub("file:///", path) for path in paths), **values)


def _read(key: str, read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except InvalidArgumentError:
        raise
    except ValueError as error:
        raise InvalidArgumentError(
            f"Expected {error.args[0]} for the option {key!r} but got {text!r}."
        ) from None


@dataclass(frozen=True, slots=True)
class ReadOptions(_SourceOptions):
    """How files are read.

    Attributes:
        paths: files, patterns and folders.
        record_type: "Example", "SequenceExample" or "ByteArray"; None: found out.
        columns: only these, where no schema is given.
        where: which records, in the language of `tfr select`.
        text: bytes that are UTF-8 text become strings: "utf8": those that look like it; "binary": none.
        sample: how many records are looked at for the schema; None: all.
        on_corrupt: what to do about damage.
        crc: check the data of every record.
        compression: of all files; None: by content.
        split_bytes: about how much of the files a task reads.
        partitions: folders such as `day=1` below a folder that is read are columns.
    """

    record_type: str | None = None
    columns: tuple[str, ...] | None = None
    where: str | None = None
    text: str = "binary"
    sample: int | None = _SAMPLE
    on_corrupt: str = "raise"
    crc: bool = True
    compression: str | None = None
    split_bytes: int = _SPLIT_BYTES
    partitions: bool = True

    readers: ClassVar = {
        "record_type": _record_type,
        "columns": _names,
        "where": str,
        "text": _one_of("utf8", "binary"),
        "sample": _sample,
        "on_corrupt": _one_of("raise", "skip", "stop"),
        "crc": _boolean,
        "compression": _compression,
        "split_bytes": size_bytes,
        "partitions": _boolean,
    }
    aliases: ClassVar = {"codec": "compression", "stringtype": "text", "maxpartitionbytes": "splitbytes"}


@dataclass(frozen=True, slots=True)
class WriteOptions(_SourceOptions):
    """How files are written.

    Attributes:
        paths: one folder.
        record_type: "Example", "SequenceExample" or "ByteArray".
        compression: of the shards.
        level: of the compression.
        shard_records: at most so many records in a shard; by default a task writes one shard.
        shard_bytes: begin a new shard at about this size.
        partition_by: columns whose values name folders.
        prefix: of the names of shards.
        index: keep an index beside each shard.
        zones: keep zones beside each shard.
        overwrite_partitions: "static": overwriting replaces all; "dynamic": only partitions that have new rows.
    """

    record_type: str = "Example"
    compression: str = ""
    level: int | None = None
    shard_records: int | None = None
    shard_bytes: int | None = None
    partition_by: tuple[str, ...] = ()
    prefix: str = "part"
    index: bool = True
    zones: bool = False
    overwrite_partitions: str = "static"

    readers: ClassVar = {
        "record_type": _record_type,
        "compression": _compression,
        "level": _whole,
        "shard_records": _number,
        "shard_bytes": size_bytes,
        "partition_by": _names,
        "prefix": str,
        "index": _boolean,
        "zones": _boolean,
        "overwrite_partitions": _one_of("static", "dynamic"),
    }
    aliases: ClassVar = {
        "codec": "compression",
        "maxrecordsperfile": "shardrecords",
        "partitionoverwritemode": "overwritepartitions",
    }
