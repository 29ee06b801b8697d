"""TensorFlow's two Python readers of old: `tf_record_iterator`, which may be polled, and the random reader.

They read one record at a time and keep their offset; `read_records` is the fast way.
"""

from __future__ import annotations

from typing import Any

from tfrkit import _core
from tfrkit.errors import DataLossError, FailedPreconditionError, OpError
from tfrkit.records.cut import HEADER_BYTES, FrameCutter
from tfrkit.records.damage import Damage
from tfrkit.records.options import TFRecordOptions
from tfrkit.records.policy import TENSORFLOW
from tfrkit.storage.inflate import Decoder, open_decoder
from tfrkit.storage.paths import path_text
from tfrkit.storage.source import ByteSource, open_source

__all__ = ["tf_record_iterator", "tf_record_random_reader"]
