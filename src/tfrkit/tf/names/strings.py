"""Strings, and files as strings."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Absent, Entry

_HASH: Final = Absent(
    "Use tf.strings.to_hash_bucket_fast, whose numbers are other ones; or hashlib in tf.py_function."
)

NAMES: Final[dict[str, Entry]] = {
    "strings.as_string as_string": "tf.ops.strings.string_numbers:as_string",
    "strings.bytes_split": "tf.ops.strings.strings:bytes_split",
    "strings.join": "tf.ops.strings.string_join:join",
    "compat.v1.string_join": "tf.ops.strings.string_join:join",
    "strings.length": "tf.ops.strings.strings:length",
    "strings.lower": "tf.ops.strings.strings:lower",
    "strings.reduce_join": "tf.ops.strings.string_join:reduce_join",
    "compat.v1.strings.reduce_join compat.v1.reduce_join": "tf.ops.strings.string_join:reduce_join_v1",
    "strings.regex_full_match": "tf.ops.strings.string_regex:regex_full_match",
    "strings.regex_replace": "tf.ops.strings.string_regex:regex_replace",
    "compat.v1.regex_replace": "tf.ops.strings.string_regex:regex_replace",
    "strings.split": "tf.ops.strings.string_split:split",
    "compat.v1.strings.split": "tf.ops.strings.string_split:split_v1",
    "compat.v1.string_split": "tf.ops.strings.string_split:string_split",
    "strings.strip": "tf.ops.strings.strings:strip",
    "compat.v1.string_strip": "tf.ops.strings.strings:strip",
    "strings.substr": "tf.ops.strings.strings:substr",
    "compat.v1.substr": "tf.ops.strings.strings:substr",
    "strings.to_hash_bucket_fast": "tf.ops.strings.string_hash:to_hash_bucket_fast",
    "compat.v1.string_to_hash_bucket_fast": "tf.ops.strings.string_hash:to_hash_bucket_fast",
    "strings.to_number": "tf.ops.strings.string_numbers:to_number",
    "compat.v1.strings.to_number compat.v1.string_to_number": "tf.ops.strings.string_numbers:to_number_v1",
    "strings.unicode_decode": "tf.ops.strings.string_unicode:unicode_decode",
    "strings.unicode_decode_with_offsets": "tf.ops.strings.string_unicode:unicode_decode_with_offsets",
    "strings.unicode_encode": "tf.ops.strings.string_unicode:unicode_encode",
    "strings.unicode_split": "tf.ops.strings.string_unicode:unicode_split",
    "strings.unicode_split_with_offsets": "tf.ops.strings.string_unicode:unicode_split_with_offsets",
    "strings.to_hash_bucket compat.v1.strings.to_hash_bucket compat.v1.string_to_hash_bucket": _HASH,
    "strings.to_hash_bucket_strong compat.v1.string_to_hash_bucket_strong": _HASH,
    "strings.format": Absent(
        "Use str.format in tf.py_function, or tf.strings.as_string and tf.strings.join."
    ),
    "strings.ngrams": Absent("Join slices, such as tf.strings.join([words[:-1], words[1:]], separator=' ')."),
    "strings.unicode_transcode": Absent("Use bytes.decode and str.encode in tf.py_function."),
    "strings.unsorted_segment_join": Absent("Group and join the strings with Python in tf.py_function."),
    "strings.upper": "tf.ops.strings.strings:upper",
    "io.decode_csv": "tf.io.csv_lines:decode_csv",
    "compat.v1.io.decode_csv compat.v1.decode_csv": "tf.io.csv_lines:decode_csv_v1",
    "io.read_file": "tf.io.whole_files:read_file",
    "compat.v1.read_file": "tf.io.whole_files:read_file",
    "io.write_file": "tf.io.whole_files:write_file",
    "compat.v1.write_file": "tf.io.whole_files:write_file",
    "io.matching_files": "tf.io.whole_files:matching_files",
    "compat.v1.matching_files": "tf.io.whole_files:matching_files",
}
