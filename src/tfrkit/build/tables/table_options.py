"""The options of `tfr.build.table` and `tfr build table`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from tfrkit.build.job.job_options import (
    BadOptions,
    CompressionOptions,
    LayoutOptions,
    RunOptions,
    SeedOptions,
    ShardSizeOptions,
)
from tfrkit.build.tables.format_table import format_names, named_format
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import OptionSet, option, option_class, read_list, read_pairs, size_bytes

__all__ = ["MAX_FIELD", "PER_INPUT", "TableColumnOptions", "TableOptions", "TableRowOptions", "unescape"]

MAX_FIELD: Final = 64 << 20
PER_INPUT: Final = "per-input"
_ESCAPE: Final = re.compile(r"\\(x[0-9A-Fa-f]{2}|.)")
_ESCAPES: Final = {"t": "\t", "n": "\n", "\\": "\\", "0": "\0"}


def _read_shards(text: str) -> int | str:
    if text != PER_INPUT and not (text.isascii() and text.isdecimal()):
        raise ValueError("a number or per-input")
    return text if text == PER_INPUT else int(text)


def _read_null_values(texts: Iterable[str]) -> dict[str | None, str]:
    """Read `VALUE`, for all columns, and `NAME=VALUE`."""
    parts = [text.rpartition("=") for text in texts]
    return {name if equals else None: value for name, equals, value in parts}


def unescape(text: str) -> str:
    r"""Read a separator as it is written on a command line: `\t`, `\n`, `\0`, `\x01`, and `\\` for a backslash."""

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 3 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(plain, text)


@option_class
class TableColumnOptions(OptionSet):
    """Which columns become features, and how."""

    column: Iterable[str] | Mapping[str, str] = option(
        (),
        "Kind of a column: fea1:float, label:int64, name:bytes, or 'tags:bytes[|]' for a list.",
        more='A list of such texts here, or a dict such as {"fea1": "float"}. Kinds of other columns are found out: '
        "int64 if all values are integers, float if all are numbers, else bytes.",
        metavar="NAME:KIND",
        several=True,
    )
    columns: Sequence[str] | None = option(
        None,
        "Only these columns, in this order; 'feat_*' means all that match.",
        more="Names in `column`, `drop` and `null_value` may be patterns, too; a real name wins.",
        metavar="A,B",
        several=True,
        read=read_list,
    )
    drop: Sequence[str] = option(
        (), "Not these columns, or not those that match 'tmp_*'.", metavar="A,B", several=True, read=read_list
    )
    rename: Mapping[str, str] | None = option(
        None,
        "Another name for a column's feature.",
        "--name",
        more="Names of features by columns here.",
        metavar="OLD=NEW",
        several=True,
        read=read_pairs,
    )
    null_value: Any = option(
        None,
        "What stands for a null, in all columns or one; else the feature is absent.",
        more="By column in a dict here, in which None stands for all other columns.",
        metavar="[NAME=]VALUE",
        several=True,
        read=_read_null_values,
    )


@option_class
class TableRowOptions(OptionSet):
    """How rows go to shards."""

    prefix: str = option(
        "data", "File name prefix of the shards.", more='With `layout="tfds"` the split: train by default.'
    )
    shuffle: bool = option(False, "Shuffle the rows of all inputs.")


@option_class
class TableOptions(
    TableColumnOptions,
    TableRowOptions,
    SeedOptions,
    ShardSizeOptions,
    LayoutOptions,
    CompressionOptions,
    BadOptions,
    RunOptions,
):
    """The options of `table`."""

    format: str | None = option(
        None,
        "Of all inputs; by default from suffix or content.",
        metavar=f"<{'|'.join(format_names())}>",
        choices=format_names,
    )
    names: Sequence[str] | None = option(
        None,
        "Names of the columns of text without a header.",
        metavar="A,B",
        read=lambda text: read_list([text]),
    )
    header: bool | None = option(
        None,
        "Whether delimited text begins with names.",
        "--header/--no-header",
        more="By default it does, unless `names` are given.",
    )
    delimiter: str | None = option(
        None, r"Between fields of text: ';', '\t', '\x01'.", metavar="TEXT", read=unescape
    )
    quote: str | None = option(None, "Quotation mark of text; '' for none.", metavar="CHAR")
    escape: str | None = option(None, "Takes the next character as it is.", metavar="CHAR")
    encoding: str | None = option(None, "Of delimited text: utf-8, gbk, latin-1 ...")
    nulls: Sequence[str] | None = option(
        None,
        r"Text that means null, such as \N or NULL.",
        "--null",
        more="A list of them here.",
        metavar="TEXT",
        several=True,
    )
    max_field: int = option(
        MAX_FIELD,
        "A longer field is a bad line.",
        more="Of JSON: a longer line.",
        metavar="SIZE",
        read=size_bytes,
        least=1,
    )
    partition: str | Sequence[str] = option(
        (),
        "Read only files in such folders: 'dt>=2024-01-01', 'country in (de, fr)'.",
        more="One condition, or a list of conditions that all must hold; other files are not opened.",
        metavar="CONDITION",
        several=True,
    )
    partitions: bool = option(
        True, "Make columns of folders called name=value.", "--partitions/--no-partitions"
    )
    where: str | None = option(
        None,
        'Write only rows for which this holds: \'label >= 3 and country in ("de", "fr")\'.',
        more="An expression on columns of the input, as `select` has it; they need not be written.",
        metavar="EXPRESSION",
    )
    shards: int | Literal["per-input"] | None = option(
        None,
        "How many files, or one for each input.",
        metavar="N|per-input",
        read=_read_shards,
        least=1,
    )

    def __post_init__(self) -> None:
        """Check what no input fits."""
        super().__post_init__()
        if self.format is not None:
            named_format(self.format)
        if self.shards == PER_INPUT and self.shard_bytes is not None:
            raise InvalidArgumentError("Expected either shards per input or a size of shards, and not both.")
        if self.shards == PER_INPUT and self.shuffle:
            raise InvalidArgumentError(
                "Rows cannot be shuffled over all inputs (--shuffle) and stay in a file for each (--shards per-input). "
                "Leave out one of them."
            )

    def of_text(self) -> dict[str, Any]:
        """Those that not every format has, as far as they were given."""
        names = ("names", "header", "delimiter", "quote", "escape", "encoding", "nulls")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {name: tuple(given[name]) if name in ("names", "nulls") else given[name] for name in given}
