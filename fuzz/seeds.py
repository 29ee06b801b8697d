"""Write the files that fuzzing starts from: small valid record files, and slightly damaged ones.

    python fuzz/seeds.py FOLDER    fills FOLDER/<target>/ for every target

The frames are made here, not by tfrkit, so that a fault in its writer cannot hide one in its reader; only the
indexes are its own work. Without such files a fuzzer would spend its time on guessing checksums.
"""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np

import tfrkit
from tfrkit.records.access.index import build_index

POLYNOMIAL = 0x82F63B78  # CRC-32C, bits reversed
PAYLOADS: tuple[list[bytes], ...] = (
    [],
    [b""],
    [b"hello"],
    [b"hello", b"", b"xyz"],
    [b"a" * 300, b"b" * 5],
    [b"\0" * 40] * 3,
)


def masked_crc32c(data: bytes) -> int:
    """Return the checksum that TFRecord files carry, bit by bit: slow and plain."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(payload: bytes) -> bytes:
    """Return a record as it is on disk."""
    length = struct.pack("<Q", len(payload))
    return b"".join(
        [length, struct.pack("<I", masked_crc32c(length)), payload, struct.pack("<I", masked_crc32c(payload))]
    )


def plain_files() -> list[bytes]:
    """Return uncompressed files: whole, cut, flipped, with garbage in the middle, with a lying length."""
    whole = [b"".join(map(frame, payloads)) for payloads in PAYLOADS]
    first = whole[3]
    huge = struct.pack("<Q", 1 << 62)
    return [
        *whole,
        first[:-3],
        first[:30],
        first[:13] + b"\xff" + first[14:],
        frame(b"one") + b"garbage between" + frame(b"two"),
        huge + struct.pack("<I", masked_crc32c(huge)) + frame(b"after"),
        frame(frame(b"a frame inside a payload")),
    ]


def compressed_files() -> list[bytes]:
    """Return the plain files in every container, also as several gzip members and cut short."""
    files = []
    for plain in plain_files():
        half = len(plain) // 2
        member = gzip.compress(plain, mtime=0)
        files += [
            member,
            zlib.compress(plain),
            gzip.compress(plain[:half], mtime=0) + gzip.compress(plain[half:], mtime=0),
            member[: len(member) * 2 // 3],
            member + b"tail",
            lzma.compress(plain),
        ]
    return files


def index_files() -> list[bytes]:
    """Return indexes of whole files, plain and as GZIP members."""
    indexes = []
    with tempfile.TemporaryDirectory() as folder:
        for number, payloads in enumerate(PAYLOADS):
            for suffix in ("tfrecord", "tfrecord.gz"):
                shard = str(Path(folder, f"{number}.{suffix}"))
                for payload in payloads:  # each opening for append is a member of its own
                    with tfrkit.TFRecordWriter(shard, append=True) as writer:
                        writer.write(payload)
                if payloads:
                    indexes.append(build_index(shard).to_bytes())
    return indexes


def tensor_messages() -> list[bytes]:
    """Return tensors of all types and JSON, each behind the number of its type in fuzz_parse_tensor."""
    types = ("f4", "f8", "i4", "u1", "i2", "i1", "O", "c8", "i8", "?", "u2", "c16", "f2", "u4", "u8")
    arrays = [np.arange(4).reshape(2, 2).astype(kind if kind != "O" else "S") for kind in types]
    messages = [bytes([number]) + tfrkit.serialize_tensor(array) for number, array in enumerate(arrays)]
    listed = (
        b"\x02\x08\x03\x12\x04\x12\x02\x08\x03\x3a\x02\x01\x02"  # values one by one, fewer than the shape has
    )
    text = (
        b'{"features":{"feature":{"a":{"int64List":{"value":[1,"2"]}},"b":{"bytesList":{"value":["YQ=="]}}}}}'
    )
    return [*messages, listed, bytes([len(types)]) + text]


def sequence_messages() -> list[bytes]:
    """Return SequenceExamples behind the bytes that choose what is parsed of them, two in each."""
    usual = tfrkit.SequenceExample()
    usual.context.feature["a"].int64_list.value.extend([1, -1, 1 << 40])
    usual.context.feature["bb"].bytes_list.value.extend([b"xy", b""])
    for number in range(5):
        usual.feature_lists.feature_list["t"].feature.add().int64_list.value.append(number << 7 * number)
        usual.feature_lists.feature_list["a"].feature.add().float_list.value.extend([1, 2, 3, 4])
    usual.feature_lists.feature_list["other"].feature.add()
    record = usual.SerializeToString()
    unset = tfrkit.SequenceExample()
    unset.context.feature["a"].SetInParent()
    unset.feature_lists.feature_list["t"].feature.add()
    chosen = [
        bytes([2, 0, 0, 0, 2, 1, 0, 1, 3, 0]),  # a, bb, t, a: kind, count (and whether it may be missing)
        bytes([2, 0, 0, 0, 2, 0, 0, 1, 0, 0]),
    ]
    bodies = [
        bytes([255]) + record,
        bytes([1]) + unset.SerializeToString() + record,
        bytes([255]) + record * 2,
    ]
    return [head + body for head in chosen for body in bodies]


def example_records() -> list[bytes]:
    """Return an Example with every kind of feature, and a SequenceExample."""
    values = {"ids": [1, 300, -1], "at": [0.5, 2.0], "name": b"x", "label": 3}
    sequence = tfrkit.make_sequence_example({"label": 3}, {"s": [[1, 2], [3]], "t": [[b"a"], []]})
    return [tfrkit.make_example(values).SerializeToString(), sequence.SerializeToString()]


def delimited(tag: int, body: bytes) -> bytes:
    """Return a field with its tag and its length, which is below 128."""
    return bytes([tag, len(body)]) + body


def wire_records() -> list[bytes]:
    """Return serialized Examples with the keys of fuzz_parse_example: usual ones, unpacked, twice, damaged."""
    features = {
        b"a": b"\x1a\x03\x0a\x01\x05",
        b"bb": b"\x12\x06\x0a\x04\x00\x00\x80\x3f",
        b"label": b"\x0a\x06\x0a\x04text",
        b"other": b"\x1a\x04\x0a\x02\x80\x01",
        b"z": b"",
    }
    entries = [
        delimited(0x0A, delimited(0x0A, key) + delimited(0x12, value)) for key, value in features.items()
    ]
    unpacked = delimited(0x0A, delimited(0x0A, b"a") + delimited(0x12, b"\x1a\x04\x08\x05\x08\x06"))
    usual = delimited(0x0A, b"".join(entries))
    return [
        usual,
        delimited(0x0A, b"".join(reversed(entries))),
        delimited(0x0A, unpacked + entries[1]),
        usual + delimited(0x0A, entries[0]) + b"\x12\x01x",
        usual[:-9],
        b"",
    ]


def proto_messages() -> list[bytes]:
    """Return fields of fuzz_parse_proto, two bytes each behind their number, then records behind their sizes."""
    fields = (
        2,
        0x00,
        19,
        0x01,
        71,
        0x02,
        87,
        0x03,
        129,
        0x04,
        199,
        0x05,
        1,
        0x10,
        39,
        0x11,
        21,
        0x21,
        24,
        0x22,
        33,
        0x0F,
    )
    inner = b"\x08\x05" + delimited(0x12, b"text") + b"\x15\x01\x02\x03\x04"
    records = [
        b"\x08\xac\x02" + delimited(0x12, b"\x01\x02\x03") + delimited(0x1A, inner) + delimited(0x1A, inner),
        delimited(0x22, inner) * 3 + b"\x23\x08\x01\x24" + b"\x28\x01" + delimited(0x32, inner) + b"\x28\x02",
        delimited(0x22, b"\x1b\x0b\x08\x01\x0c\x1c") + b"\xc2\xb8\x02\x01",
        b"\x0d\x01\x02\x03\x04" + delimited(0x32, b"\x08"),
        b"",
    ]
    behind = b"".join(bytes([len(record)]) + record for record in records)
    return [bytes([count, *fields[: 2 * count]]) + behind for count in (1, 4, 8, len(fields) // 2)]


def png_rows() -> list[bytes]:
    """Return options of fuzz_png (width, height, depth, colour, interlace, channels, key) and rows behind them."""
    rows = b"".join(bytes([number % 5, *range(number, number + 12)]) for number in range(6))
    return [
        bytes([4, 0, 5, depth, color, interlaced, channels, 1 + 2 * (color % 2)]) + rows
        for depth in range(5)
        for color in range(5)
        for interlaced, channels in ((0, 0), (1, 2))
    ]


def png_files() -> list[bytes]:
    """Return options of fuzz_png_file (height or size, width), and a file of that size or compressed rows."""
    rows = bytes([0, 1, 2, 3, 1, 10, 1, 1]) + bytes([2, 0, 0, 1]) * 9
    streams = [zlib.compress(rows, level) for level in (0, 1, 9)]
    header = b"IHDR" + struct.pack(">IIBBBBB", 3, 11, 8, 0, 0, 0, 0)
    found = [bytes([len(rows), 0]) + stream for stream in streams]
    for stream in streams:
        chunks = [struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
                  for body in (header, b"IDAT" + stream, b"IEND")]  # fmt: skip
        found.append(bytes([10, 66]) + b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    return found


def delimited_texts() -> list[bytes]:
    """Return options of fuzz_scan_rows (flags, longest field, row, columns, where to cut) and some rows behind them."""
    texts = [
        b'1,0.5,x\n2,,"y\n""z"\r\n\\N,nan,007\n',
        b"1\t2|3\ta\x031\x02b\x032\n\r\n\\N\tx\t\n",
        '1,2|3,\u4e2d\n"open\n4,5,6'.encode(),
    ]
    usual = [bytes([flags, 40, 40, 3, 7]) + text for text in texts for flags in (0, 35, 63, 127)]
    long = b'a,"b\nc,d\n""e\\"\n",\\\r\nf,"\r\n\ng,h\n'  # over limits of a few bytes, inside of quotes and behind
    return usual + [bytes([flags, 0, limit, 2, 7]) + long for flags in (3, 7, 39) for limit in (3, 9)]


def image_files() -> list[bytes]:
    """Return small images behind 1, with EXIF data among them, and a ZIP archive behind 0."""
    gif = b"GIF89a\4\0\3\0\0\0\0;"
    frame = bytes.fromhex("ffc0000b080010002001011100ffda0008010100003f0000ffd9")
    exif = b"Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0"
    jpeg = b"\xff\xd8\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + frame
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\3\0\0\0\0\0\0\0\0\0\0\0\0tRNS\0\0\0\0IEND"
    bmp = b"BM" + struct.pack("<IHHIIiiHHI", 58, 0, 0, 54, 40, 1, 1, 1, 24, 0) + bytes(24)
    webp = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\0" + bytes(12)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("cat/1.gif", gif)
        file.writestr("\u732b/2.gif", gif)
    return [b"\1" + content for content in (gif, jpeg, png, bmp, webp)] + [b"\0" + archive.getvalue()]


SEEDS = {
    "fuzz_index": index_files,
    "fuzz_image_files": image_files,
    "fuzz_parse_sequence": sequence_messages,
    "fuzz_parse_proto": proto_messages,
    "fuzz_png": png_rows,
    "fuzz_png_file": png_files,
    "fuzz_parse_tensor": tensor_messages,
    "fuzz_scan_rows": delimited_texts,
}


def seeds_of(target: str) -> list[bytes]:
    """Return the inputs that a target starts from."""
    if target in SEEDS:
        return SEEDS[target]()
    if target == "fuzz_parse_example":  # which keys, one byte for each, then records behind their sizes
        return [
            bytes([63, *options]) + b"".join(bytes([len(record)]) + record for record in wire_records())
            for options in (bytes(6), bytes([3, 4, 5, 20, 35, 50]), bytes([131, 132, 133, 145, 160, 2]))
        ]
    if target == "fuzz_read":  # its first byte chooses the options
        files = plain_files() + compressed_files()
        return [bytes([number % 8]) + data for number, data in enumerate(files)]
    if target == "fuzz_select":  # sizes of a key and a name, whether others stay, key, name, record
        return [bytes([1, 1, keep]) + b"ab" + record for record in example_records() for keep in (0, 1)]
    if target in ("fuzz_statistics", "fuzz_value_places"):
        return [b"\xff" + record for record in example_records()]  # the length of the record, then the record
    return [b"\0\0" + data for data in plain_files()]  # options, then data


def main(folder: Path) -> None:
    """Write the seeds of every target of this folder."""
    here = Path(__file__).resolve().parent
    targets = sorted({path.stem for path in here.glob("fuzz_*.*") if path.suffix in {".cc", ".py"}})
    for target in targets:
        place = folder / target
        place.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(seeds_of(target)):
            (place / f"seed-{number:03}").write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
