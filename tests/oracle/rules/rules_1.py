"""The statements about TensorFlow's TFRecord files that tfrkit keeps to: framing, damage, compression, writer.

Data only. Each entry is checked live against TensorFlow by the tests marked with its id.
"""

from __future__ import annotations

SECTION_1: dict[str, str] = {
    # 1.1 framing
    "1.1 layout": "A frame is the length (8 bytes, little endian), its masked CRC-32C (4), the data, and the data's "
    "masked CRC-32C (4); a file is frames and nothing else.",
    "1.1 masked crc": "The stored checksum is the CRC-32C rotated right by 15 bits plus 0xa282ead8, modulo 2^32.",
    "1.1 golden bytes": "The records `hello`, the empty one and `xyz` make one fixed sequence of 56 bytes.",
    "1.1 zero-length record": "A record without data is legal, takes 16 bytes and ends in 0xa282ead8.",
    # 1.2 damaged files
    "1.2 empty file": "A file of no bytes has no records and is no error.",
    "1.2 truncated header": "1 to 11 bytes where a header should be end the file silently.",
    "1.2 truncated data": "A header whose data or footer is cut is a DataLossError that names the record's start.",
    "1.2 corrupted length": "A wrong length or length checksum is a DataLossError that names the record's start.",
    "1.2 corrupted length at 0": "The same damage in the first header adds a doubt that this is a TFRecord file.",
    "1.2 corrupted data": "Wrong data or a wrong data checksum is a DataLossError that names the data's offset, "
    "12 bytes behind the record's start.",
    "1.2 trailing garbage": "12 or more bytes of garbage after the last record give all records, then a DataLossError.",
    "1.2 length beyond file": "A length that its checksum confirms and the file does not hold is a cut record.",
    "1.2 length beyond memory": "TensorFlow's process dies of such a length when the memory does not hold it either; "
    "tfrkit reports a cut record.",
    "1.2 length too large": "A confirmed length of 2^64-5 or more is a DataLossError `record size too large`.",
    "1.2 negative length": "A confirmed length from 2^63-4 up to that is an InvalidArgumentError with length + 4 as a "
    "negative number.",
    "1.2 negative length unbuffered": "With buffer_size=0 TensorFlow words it differently; the class is the same.",
    "1.2 missing file": "A file that does not exist is a NotFoundError `<path>; No such file or directory`.",
    "1.2 directory": "A directory is a FailedPreconditionError `<path>; Is a directory`.",
    "1.2 every reader": "TFRecordDataset with and without buffer and tf_record_iterator see the same in a damaged file.",
    "1.2 skip leaves data unchecked": "Dataset.skip does not look at the data checksum of what it skips.",
    "1.2 skip checks length": "Dataset.skip checks the length checksum of what it skips.",
    "1.2 skip truncated": "Skipping a cut record says `reached end of file`, and skipping past the end is no error.",
    "1.2 next file after data loss": "After a DataLossError the rest of that file is given up and the next file follows.",
    "1.2 missing file stays": "After a NotFoundError the reader does not advance: the same error comes for ever.",
    "1.2 directory is passed": "After the error about a directory the next file follows.",
    # 1.3 compression
    "1.3 type strings": "The types are the strings '', 'GZIP' and 'ZLIB'; a dataset takes any other string for none.",
    "1.3 containers": "ZLIB is RFC 1950 with a 32 kB window; GZIP is RFC 1952 without name and time, OS 3, and with "
    "XFL 2 for level 9 and 4 for levels 0 and 1.",
    "1.3 defaults": "By default the bytes are zlib's at level 6 with mem_level 9 over all frames in one stream.",
    "1.3 empty stream": "A compressed file without records is a whole empty stream: 8 bytes ZLIB, 20 bytes GZIP.",
    "1.3 flush": "flush() is a partial flush: what was written is readable, and a second flush adds nothing.",
    "1.3 buffered until flush": "Small writes reach the disk with flush() or close() only.",
    "1.3 reader ignores options": "The reader knows the type only: what was written with a window_bits of another "
    "container cannot be read by the same type.",
    "1.3 options without compression": "Without compression the other options have no effect.",
    "1.3 gzip members": "All members of a GZIP file are read as one stream; a record may lie across them.",
    "1.3 zlib streams": "Of concatenated ZLIB streams only the first is read; what follows is ignored.",
    "1.3 garbage behind zlib": "Garbage after a ZLIB stream is ignored.",
    "1.3 garbage behind gzip": "Garbage after a GZIP stream is an error after the last record.",
    "1.3 gzip headers": "Members may carry name, comment, extra field and header checksum; wrong ones are zlib's errors.",
    "1.3 preset dictionary": "A ZLIB stream that wants a preset dictionary is a DataLossError with error 2.",
    "1.3 empty member": "An empty member ends the file silently where all the rest is in the same 256 kB window.",
    "1.3 window in a trailer": "So does a member of which only bytes that give no data (the 8-byte trailer, the end of "
    "the last block) lie behind the end of a 256 kB window, if all the rest of the file is in the next window.",
    "1.3 window is safe from tfrkit": "No file that tfrkit writes as members runs into that.",
    "1.3 truncated container": "A cut container ends the inner stream there, with `EOF reached` for a cut record.",
    "1.3 missing trailer": "A container without its trailer is no error.",
    "1.3 container checksum": "A wrong container checksum or length is a DataLossError, and the records of the 256 kB "
    "that were inflated with it are lost.",
    "1.3 wrong type": "GZIP read as ZLIB, ZLIB as GZIP, or plain as either, is `incorrect header check`.",
    "1.3 compressed read as none": "A compressed file read as none is no TFRecord file.",
    "1.3 uncompressed offsets": "Offsets in messages count uncompressed bytes.",
    "1.3 huge lengths": "In compressed files confirmed huge lengths are cut records, worded by what is left in the buffer.",
    # 1.4 writer, options, iterators
    "1.4 path": "The writer takes str and bytes; any other path is a TypeError.",
    "1.4 options": "options is a TFRecordOptions, a type string or a TFRecordCompressionType number.",
    "1.4 overwrites": "Opening a writer empties an existing file.",
    "1.4 missing folder": "A path in a missing folder is a NotFoundError, a directory a FailedPreconditionError.",
    "1.4 disk full": "A full disk is a ResourceExhaustedError at flush or close; the writer can be closed then.",
    "1.4 record types": "write takes bytes, bytearray, numpy.bytes_, and str as UTF-8.",
    "1.4 other record types": "write refuses memoryview, arrays, numbers, None, lists and tensors with a TypeError.",
    "1.4 context manager": "`with` gives the writer itself, closes it, and lets exceptions pass with the data on disk.",
    "1.4 destructor": "A writer that is dropped closes its file.",
    "1.4 closed writer": "After close, write and flush are FailedPreconditionErrors; close and `with` are fine.",
    "1.4 every option": "flush_mode, buffer sizes, window_bits, level, method, mem_level and strategy make the same bytes.",
    "1.4 bad flush mode": "An unknown flush_mode fails once the input buffer is full, and the deflate error is a "
    "DataLossError.",
    "1.4 impossible options": "TensorFlow's process dies of options that zlib refuses; tfrkit raises a ValueError.",
    "1.4 option types": "Options that are no small integers are a TypeError when the writer is made.",
    "1.4 options attributes": "TFRecordOptions keeps what it was given, in nine attributes in a fixed order.",
    "1.4 nested options": "TFRecordOptions of TFRecordOptions takes the type from the inner one and nothing else.",
    "1.4 type of options": "get_compression_type_string maps falsy values, options, 0, 1, 2 and the three strings.",
    "1.4 bad type": "Any other compression type is a ValueError; one that does not hash is a TypeError.",
    "1.4 compression types": "TFRecordCompressionType has NONE 0, ZLIB 1 and GZIP 2.",
    "1.4 iterator": "tf_record_iterator takes a path and options and gives bytes; files that cannot be opened are "
    "errors at once, directories at the first record.",
    "1.4 iterator polls": "Its StopIteration is not final: records that are added later are given.",
    "1.4 iterator waits for a cut record": "A cut record is an error every time until the file holds the whole of it.",
    "1.4 iterator stays at damage": "A damaged record is the same error every time.",
    "1.4 iterator polls compressed": "Polling works on compressed files too, across flushes and members.",
    "1.4 iterator close": "After close it gives nothing more; closing twice is fine.",
    "1.4 iterator reopen": "reopen continues at the kept offset, and is an error while open or when the file is gone.",
}
