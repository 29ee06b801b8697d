"""decode_png and encode_png: conversions, damage, and hostile headers."""

from __future__ import annotations

import random
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrkit.errors import InternalError, InvalidArgumentError
from tfrkit.images.codecs.png.png import decode_png, encode_png
from tfrkit.model.bytes_column import BytesColumn

SIGNATURE = b"\x89PNG\r\n\x1a\n"
IMAGE = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


def chunk(name: bytes, body: bytes = b"") -> bytes:
    return struct.pack(">I4s", len(body), name) + body + struct.pack(">I", zlib.crc32(name + body))


def file_of(width, height, rows, *, depth=8, color=2, interlace=0, before=b"", after=b""):
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    pixels = chunk(b"IDAT", zlib.compress(rows))
    return SIGNATURE + chunk(b"IHDR", header) + before + pixels + after + chunk(b"IEND")


@given(
    st.sampled_from([np.uint8, np.uint16]),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(1, 4),
    st.integers(-1, 9),
    st.integers(0, 2**32 - 1),
)
def test_what_is_encoded_decodes_to_itself(dtype, height, width, channels, compression, seed):
    top = np.iinfo(dtype).max + 1
    image = np.random.default_rng(seed).integers(0, top, (height, width, channels), dtype)
    image[height // 2 :] = image[0, 0]  # something to predict
    assert np.array_equal(decode_png(encode_png(image, compression), dtype=dtype), image)


def test_batches_are_columns_of_files():
    images = np.arange(2 * 3 * 4 * 5 * 2, dtype=np.uint8).reshape(2, 3, 4, 5, 2)
    files = encode_png(images)
    assert isinstance(files, BytesColumn)
    assert files.shape == (2, 3)
    assert np.array_equal(decode_png(files.reshape((6,))[4]), images[1, 1])
    assert encode_png(images[:0]).shape == (0, 3)


def test_other_memory_orders_encode_the_same():
    image = np.arange(24, dtype=np.uint16).reshape(2, 4, 3)
    assert encode_png(image.astype(">u2")) == encode_png(np.asfortranarray(image)) == encode_png(image)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((2, 2, 1), np.float32), "Value for attr 'T' of float is not in the list of allowed values"),
        ([[[1]]], "Value for attr 'T' of int32 is not in the list of allowed values: uint8, uint16"),
        (np.zeros((2, 3), np.uint8), r"images must be at least rank 3\[2,3\]"),
        (np.zeros((2, 3, 5), np.uint8), "image must have 1, 2, 3, or 4 channels, got 5"),
    ],
)
def test_what_is_no_image_is_not_encoded(image, message):
    with pytest.raises(InvalidArgumentError, match=f"^{message}"):
        encode_png(image)


def test_images_without_pixels_are_not_encoded():
    with pytest.raises(
        InternalError, match=r"^PNG encoding failed at the following flattened batch indices: 0, 1"
    ):
        encode_png(np.zeros((2, 0, 3, 1), np.uint8))
    with pytest.raises(InvalidArgumentError, match=r"^compression should be in \[-1,9\], got 10"):
        encode_png(IMAGE, 10)


def test_gray_is_weighted_as_libpng_does():
    colors = file_of(2, 1, bytes([0, 133, 246, 5, 9, 9, 9]))
    assert decode_png(colors, channels=1).ravel().tolist() == [184, 9]
    wide = file_of(1, 1, bytes([0, 255, 255, 0, 0, 0, 0]), depth=16)
    assert decode_png(wide, channels=1, dtype="uint16").tolist() == [[[(9797 * 65535 + 16384) >> 15]]]


def test_gamma_counts_for_gray_only():
    gamma = chunk(b"gAMA", struct.pack(">I", 45455))
    colors = file_of(1, 1, bytes([0, 255, 0, 0]), before=gamma)
    assert decode_png(colors).tolist() == [[[255, 0, 0]]]
    assert decode_png(colors, channels=1).tolist() == [[[147]]]


def test_palette_and_transparency_are_expanded():
    extra = chunk(b"PLTE", bytes([1, 2, 3, 4, 5, 6])) + chunk(b"tRNS", bytes([7]))
    image = file_of(2, 1, bytes([0, 0b01000000]), depth=1, color=3, before=extra)
    assert decode_png(image).tolist() == [[[1, 2, 3, 7], [4, 5, 6, 255]]]
    assert decode_png(image, channels=3).tolist() == [[[1, 2, 3], [4, 5, 6]]]


@pytest.mark.parametrize("size", range(8, len(encode_png(IMAGE))))
def test_every_cut_is_an_error(size):
    with pytest.raises(
        InvalidArgumentError, match=rf"^Invalid PNG(\. Failed to initialize decoder\.| data, size {size})"
    ):
        decode_png(encode_png(IMAGE)[:size])


def test_messages_say_what_is_wrong():
    with pytest.raises(InvalidArgumentError, match=r"unknown filter"):
        decode_png(file_of(1, 1, bytes([9, 0, 0, 0])))
    with pytest.raises(InvalidArgumentError, match=r"hold 1 bytes too few"):
        decode_png(file_of(1, 1, bytes([0, 0, 0])))
    with pytest.raises(InvalidArgumentError, match=r"^PNG size too large for int: 30000 by 20000"):
        decode_png(file_of(30000, 20000, b""))
    damaged = bytearray(encode_png(IMAGE))
    damaged[-1] ^= 1
    with pytest.raises(InvalidArgumentError, match=r"checksum of a chunk IEND is stored as 0x"):
        decode_png(bytes(damaged))


def test_nothing_is_allocated_for_a_claim():
    claim = file_of(20000, 20000, bytes(1000), depth=16, color=6)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArgumentError, match=r"^Invalid PNG data, size"):
            decode_png(claim)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_mutations_give_an_image_or_an_error():
    generator = random.Random(1)
    seeds = [
        encode_png(IMAGE),
        file_of(3, 3, bytes(21), depth=4, color=3, interlace=1, before=chunk(b"PLTE", bytes(48))),
    ]
    for _ in range(3000):
        data = bytearray(generator.choice(seeds))
        for _ in range(generator.randrange(1, 4)):
            data[generator.randrange(8, len(data))] = generator.randrange(256)
        try:
            decode_png(
                mended(bytes(data)), generator.choice((0, 1, 3, 4)), generator.choice(("uint8", "uint16"))
            )
        except InvalidArgumentError as error:
            assert str(error).startswith(("Invalid PNG", "PNG size too large"))  # noqa: PT017


def mended(data: bytes) -> bytes:
    """The file with the checksums that its chunks should have, so that damage gets further."""
    made, at = bytearray(data[:8]), 8
    while len(data) - at >= 12:
        (length,) = struct.unpack_from(">I", data, at)
        if length > len(data) - at - 12:
            break
        made += data[at : at + 8 + length] + struct.pack(">I", zlib.crc32(data[at + 4 : at + 8 + length]))
        at += 12 + length
    return bytes(made) + data[at:]
