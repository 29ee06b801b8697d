"""ReadPolicy: everything where tfrkit's own reading differs from TensorFlow's, as data.

No other place asks which of the two is in force; code asks for the field that it needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from tfrkit.model.arguments import as_integer, check_bools
from tfrkit.model.near_names import did_you_mean

__all__ = ["TENSORFLOW", "TFRKIT", "OnCorrupt", "ReadPolicy"]

OnCorrupt = Literal["raise", "skip", "stop"]
_ON_CORRUPT: Final = ("raise", "skip", "stop")
_BOOLS: Final = (
    "crc", "globs", "tensorflow_containers", "missing_file_repeats", "checks_left_out", "exact_options", "cache",
    "makes_left_out",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """How files are read.

    Attributes:
        compression: "auto" finds out by the content; "" is none, else "GZIP", "ZLIB", "XZ", "ZSTD".
        crc: check the CRC of the data; that of the length is always checked.
        on_corrupt: "raise": the error comes in the record's place, the next record is the next file's first;
            "skip": drop it, find the next intact record, count; "stop": leave this file, with a warning.
        cut_tail: 1 to 11 bytes where a header should be are an "error" or just the "end" of the file; likewise a
            compressed container without its end.
        max_record_bytes: a record that claims more is damage.
        globs: paths may be patterns, and "-" is standard input.
        tensorflow_containers: what TensorFlow loses of GZIP and ZLIB files is lost too (with a warning), and an unknown
            name of a compression means none.
        missing_file_repeats: a file that is not there is the same error again on every call.
        wire: what bytes mean where protobuf and TensorFlow's parser of Examples disagree: "protobuf" merges and checks
            as the format says, "tensorflow" ignores, loses and refuses what TensorFlow does.
        checks_left_out: `skip` and `shard` right after a file's records check the data of those that they leave out,
            as of all others.
        makes_left_out: stages before a `shard` make the elements that it leaves out, too: their errors come, and an
            element that fails does not count. Otherwise each shard has its own made only.
        exact_options: writers give TensorFlow's bytes: one plain stream, no suffix is looked at, only bytes and str.
        cache: what is read of remote files is kept in the cache folder; None: as `configure_store` says.
    """

    compression: str = "auto"
    crc: bool = True
    on_corrupt: OnCorrupt = "raise"
    cut_tail: Literal["error", "end"] = "error"
    max_record_bytes: int = 1 << 32
    globs: bool = True
    tensorflow_containers: bool = False
    missing_file_repeats: bool = False
    wire: Literal["protobuf", "tensorflow"] = "protobuf"
    checks_left_out: bool = True
    exact_options: bool = False
    cache: bool | None = field(default=None, metadata={"unsigned": True})  # states do not depend on it
    makes_left_out: bool = field(default=False, metadata={"unsigned": True})

    def __post_init__(self) -> None:
        """Check what a user may have given.

        Raises:
            TypeError: a boolean or an integer is something else.
            ValueError: `on_corrupt` or `max_record_bytes` is not acceptable.
        """
        check_bools(**{name: getattr(self, name) for name in _BOOLS})
        if self.on_corrupt not in _ON_CORRUPT:
            near = did_you_mean(self.on_corrupt, _ON_CORRUPT)
            raise ValueError(
                f"expected on_corrupt to be one of {_ON_CORRUPT} but got {self.on_corrupt!r}{near}"
            )
        if as_integer("max_record_bytes", self.max_record_bytes) < 1:
            raise ValueError(f"expected max_record_bytes to be positive but got {self.max_record_bytes}")

    def with_options(self, **options: Any) -> ReadPolicy:
        """Return a policy with those options changed that are not None."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})


TFRKIT: Final = ReadPolicy()
TENSORFLOW: Final = ReadPolicy(
    compression="",
    cut_tail="end",
    max_record_bytes=2**63 - 17,  # 16 more no longer count as a positive size
    globs=False,
    tensorflow_containers=True,
    missing_file_repeats=True,
    wire="tensorflow",
    checks_left_out=False,
    exact_options=True,
    makes_left_out=True,
)
