"""Strings, and files as strings."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry

NAMES: Final[dict[str, Entry]] = {
    "strings.as_string as_string": "ops.string_numbers:as_string",
    "strings.bytes_split": "ops.strings:bytes_split",
    "strings.format": "ops.string_format:format_strings",
    "strings.join": "ops.string_join:join",
    "compat.v1.string_join": "ops.string_join:join",
    "strings.length": "ops.strings:length",
    "strings.lower": "ops.strings:lower",
    "strings.ngrams": "ops.string_join:ngrams",
    "strings.reduce_join": "ops.string_join:reduce_join",
    "compat.v1.strings.reduce_join compat.v1.reduce_join": "ops.string_join:reduce_join_v1",
    "strings.regex_full_match": "ops.string_regex:regex_full_match",
    "strings.regex_replace": "ops.string_regex:regex_replace",
    "compat.v1.regex_replace": "ops.string_regex:regex_replace",
    "strings.split": "ops.string_split:split",
    "compat.v1.strings.split": "ops.string_split:split_v1",
    "compat.v1.string_split": "ops.string_split:string_split",
    "strings.strip": "ops.strings:strip",
    "compat.v1.string_strip": "ops.strings:strip",
    "strings.substr": "ops.strings:substr",
    "compat.v1.substr": "ops.strings:substr",
    "strings.to_hash_bucket": "ops.string_hash:to_hash_bucket",
    "compat.v1.string_to_hash_bucket compat.v1.strings.to_hash_bucket": "ops.string_hash:to_hash_bucket_v1",
    "strings.to_hash_bucket_fast": "ops.string_hash:to_hash_bucket_fast",
    "compat.v1.string_to_hash_bucket_fast": "ops.string_hash:to_hash_bucket_fast",
    "strings.to_hash_bucket_strong": "ops.string_hash:to_hash_bucket_strong",
    "compat.v1.string_to_hash_bucket_strong": "ops.string_hash:to_hash_bucket_strong",
    "strings.to_number": "ops.string_numbers:to_number",
    "compat.v1.strings.to_number compat.v1.string_to_number": "ops.string_numbers:to_number_v1",
    "strings.unicode_decode": "ops.string_unicode:unicode_decode",
    "strings.unicode_decode_with_offsets": "ops.string_unicode:unicode_decode_with_offsets",
    "strings.unicode_encode": "ops.string_unicode:unicode_encode",
    "strings.unicode_split": "ops.string_unicode:unicode_split",
    "strings.unicode_split_with_offsets": "ops.string_unicode:unicode_split_with_offsets",
    "strings.unicode_transcode": "ops.string_unicode:unicode_transcode",
    "strings.unsorted_segment_join": "ops.string_join:unsorted_segment_join",
    "strings.upper": "ops.strings:upper",
    "io.decode_csv": "ops.decode_csv:decode_csv",
    "compat.v1.io.decode_csv compat.v1.decode_csv": "ops.decode_csv:decode_csv_v1",
    "io.read_file": "ops.files:read_file",
    "compat.v1.read_file": "ops.files:read_file",
    "io.write_file": "ops.files:write_file",
    "compat.v1.write_file": "ops.files:write_file",
    "io.matching_files": "ops.files:matching_files",
    "compat.v1.matching_files": "ops.files:matching_files",
}
