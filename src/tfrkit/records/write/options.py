"""TFRecordOptions and TFRecordCompressionType, with TensorFlow's names, rules and defaults."""

from __future__ import annotations

import zlib
from typing import Any, Final

from tfrkit.codecs.table import codec
from tfrkit.errors import InvalidArgumentError

__all__ = ["DEFAULT_BUFFER_BYTES", "TFRecordCompressionType", "TFRecordOptions"]

DEFAULT_BUFFER_BYTES: Final = 262144
# The options that tune zlib, and the width that TensorFlow gives to each.
_BITS: Final = {
    "flush_mode": 8,
    "input_buffer_size": 64,
    "output_buffer_size": 64,
    "window_bits": 8,
    "compression_level": 8,
    "compression_method": 8,
    "mem_level": 8,
    "compression_strategy": 8,
}


class TFRecordCompressionType:
    """Numbers of the compressions that TensorFlow knows."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a TFRecord file is written. What is None gets zlib's default, as in TensorFlow.

    Args:
        compression_type: "GZIP", "ZLIB", "" or None; a number of TFRecordCompressionType; other TFRecordOptions.
        flush_mode: zlib's flush mode each time the input buffer is full; Z_NO_FLUSH by default.
        input_buffer_size: bytes that are gathered before they are compressed; 262144 by default.
        output_buffer_size: bytes that are gathered before they are written; 262144 by default.
        window_bits: zlib's base two logarithm of the window, with the container's sign and offset.
        compression_level: 0 to 9, or -1 for 6.
        compression_method: only 8 (deflate) exists.
        mem_level: 1 to 9; 9 by default.
        compression_strategy: zlib's strategy; Z_DEFAULT_STRATEGY by default.

    Raises:
        ValueError: the compression type is none of the above.

    >>> TFRecordOptions.get_compression_type_string(TFRecordOptions("GZIP"))
    'GZIP'
    """

    compression_type_map: Final = {
        TFRecordCompressionType.NONE: "",
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
    }

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Return "", "ZLIB" or "GZIP" for anything that may stand for a compression.

        Raises:
            ValueError: it stands for none.
        """
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return str(options)
        raise ValueError(f'Not a valid compression_type: "{options}"')

    def zlib_arguments(self) -> tuple[int, int, int, int, int]:
        """Return level, method, window bits, memory level and strategy as TensorFlow hands them to zlib."""
        window_bits = codec(self.get_compression_type_string(self)).window_bits or zlib.MAX_WBITS
        return (
            -1 if self.compression_level is None else self.compression_level,
            zlib.DEFLATED if self.compression_method is None else self.compression_method,
            window_bits if self.window_bits is None else self.window_bits,
            9 if self.mem_level is None else self.mem_level,
            zlib.Z_DEFAULT_STRATEGY if self.compression_strategy is None else self.compression_strategy,
        )

    def check(self) -> None:
        """Check the options that tune zlib, before a file is touched.

        Raises:
            TypeError: an option is no integer, or too large for its place in TensorFlow's options.
            InvalidArgumentError: zlib refuses them. TensorFlow ends the process instead.
        """
        for name, bits in _BITS.items():
            value = getattr(self, name)
            if value is not None and not _fits(value, bits):
                raise TypeError(
                    f"incompatible function arguments: expected {name} to be an int{bits} but got {value!r}"
                )
        if self.output_buffer_size is not None and self.output_buffer_size <= 1:
            raise InvalidArgumentError(
                f"Expected output_buffer_size to be at least 2 but got {self.output_buffer_size}."
            )
        try:
            zlib.compressobj(*self.zlib_arguments())
        except (ValueError, zlib.error) as error:
            raise InvalidArgumentError(
                f"zlib refuses these options: {error}. Level, method, window bits, memory level and strategy "
                f"were {self.zlib_arguments()}."
            ) from error

    def tunes_zlib(self) -> bool:
        """Tell whether any option is given that only one plain stream can honour."""
        return any(getattr(self, name) is not None for name in _BITS)


def _fits(value: Any, bits: int) -> bool:
    return hasattr(value, "__index__") and -(1 << bits - 1) <= value.__index__() < 1 << bits - 1
