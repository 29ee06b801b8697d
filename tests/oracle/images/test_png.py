"""decode_png and encode_png in TensorFlow and in tfrkit, on files made by hand, by Pillow and by both."""

from __future__ import annotations

import io
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import skimage
from PIL import Image

from tests.oracle.support.codecs import mutated, ours, same
from tests.oracle.support.oracle import tensorflow
from tests.oracle.support.png_files import SIGNATURE, TYPES, chunk, header, mended, png, raw_rows, samples
from tests.support.rules import tf_rule

SIZES = [(1, 1), (3, 2), (5, 9), (13, 17), (8, 8), (1, 3)]
PHOTOS = sorted(Path(skimage.__file__).parent.glob("data/*.png"))
RGB = np.random.default_rng(1).integers(0, 256, (4, 5, 3))
RAW = raw_rows(RGB, 8, False, np.random.default_rng(2))
STREAM = zlib.compress(RAW)
HEAD = SIGNATURE + header(5, 4)
END = chunk(b"IEND")


def every_way(contents, what=""):
    for channels in (0, 1, 3, 4):
        for dtype in ("uint8", "uint16"):
            same("decode_png", contents, what=what, channels=channels, dtype=dtype)


def with_pixels(stream):
    return HEAD + chunk(b"IDAT", stream) + END


def palette_of(depth, generator):
    return chunk(b"PLTE", generator.bytes(3 << depth))


@tf_rule("6 decode_png types")
@pytest.mark.parametrize(("color", "depth"), TYPES)
@pytest.mark.parametrize("interlaced", [False, True])
def test_every_type(color, depth, interlaced):
    generator = np.random.default_rng(depth)
    for height, width in SIZES:
        image = samples(color, depth, height, width, generator)
        before = palette_of(depth, generator) if color == 3 else b""
        every_way(png(image, color, depth, interlaced=interlaced, before=before, split=23), (height, width))


@tf_rule("6 decode_png transparency")
@pytest.mark.parametrize(("color", "depth"), [kind for kind in TYPES if kind[0] in (0, 2, 3)])
def test_transparency(color, depth):
    generator = np.random.default_rng(depth)
    image = samples(color, depth, 6, 7, generator)
    if color == 3:
        before = palette_of(depth, generator)
        keys = [generator.bytes(1), generator.bytes(1 << depth), b"", generator.bytes((1 << depth) + 1)]
    else:
        before = b""
        key = struct.pack(f">{image.shape[2]}H", *map(int, image[3, 3]))
        keys = [key, bytes([byte | 0x80 for byte in key]), key + b"\0", b""]
    for key in keys:
        every_way(png(image, color, depth, before=before + chunk(b"tRNS", key)), key)
    every_way(png(image, color, depth, before=before + chunk(b"tRNS", keys[0], crc=1)))


@tf_rule("6 decode_png gray")
@pytest.mark.parametrize("depth", [8, 16])
def test_gray_of_colors_with_gamma(depth):
    def gamma(value):
        return chunk(b"gAMA", struct.pack(">I", value))

    srgb = chunk(b"sRGB", b"\0")
    image = samples(2, depth, 20, 20, np.random.default_rng(3))
    for before in (
        *(gamma(value) for value in (45455, 100000, 94999, 95000, 105001, 220000, 16, 15, 0, 625000001)),
        srgb,
        chunk(b"sRGB", b"\4") + gamma(45455),
        gamma(45455) + gamma(100000),
        srgb + gamma(100000),
        srgb + gamma(46000),
        gamma(100000) + srgb,
        srgb + srgb,
        chunk(b"PLTE", b"abc") + gamma(45455),
        chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)),
        gamma(45455) + chunk(b"sBIT", bytes([5, 6, 7])),
        gamma(45455) + chunk(b"sBIT", bytes([12, 11, 10])),
    ):
        every_way(png(image, 2, depth, before=before), before)


@tf_rule("6 decode_png sRGB profile")
def test_profiles_that_are_known_for_srgb():
    photo = next(path for path in PHOTOS if path.name == "chelsea.png").read_bytes()
    start = photo.index(b"iCCP")
    (length,) = struct.unpack_from(">I", photo, start - 4)
    body = photo[start + 4 : start + 4 + length]
    profile = zlib.decompress(body[body.index(b"\0") + 2 :])
    edited = bytes([*profile[:2000], profile[2000] ^ 1, *profile[2001:]])
    gamma = chunk(b"gAMA", struct.pack(">I", 60000))

    def named(content, name=b"n", method=0, crc=None):
        return chunk(b"iCCP", name + b"\0" + bytes([method]) + zlib.compress(content), crc)

    for before in (
        named(profile),
        named(profile, crc=1),
        named(profile, method=1) + gamma,
        named(profile, name=b"") + gamma,
        named(profile, name=b"n" * 80),
        named(edited),
        named(edited) + gamma,
        named(profile + b"more"),
        named(profile[:-4]) + gamma,
        named(profile) + gamma,
        named(profile) + chunk(b"sRGB", b"\0"),
    ):
        same("decode_png", png(RGB, 2, 8, before=before), what=before[:40], channels=1)


CHUNKS = {
    "data behind": png(RGB, 2, 8) + b"more",
    "no end": png(RGB, 2, 8)[:-12],
    "bad checksum of the end": png(RGB, 2, 8)[:-1] + b"x",
    "bad checksum of pixels": HEAD + chunk(b"IDAT", STREAM, 1) + END,
    "bad checksum of the header": SIGNATURE + header(5, 4)[:-1] + b"x" + chunk(b"IDAT", STREAM) + END,
    "bad checksum of text": png(RGB, 2, 8, before=chunk(b"tEXt", b"a\0b", 1)),
    "unknown critical chunk": png(RGB, 2, 8, before=chunk(b"ABCD")),
    "unknown critical chunk behind": png(RGB, 2, 8, after=chunk(b"ABCD")),
    "unknown chunk": png(RGB, 2, 8, before=chunk(b"abCD", b"x", 7), after=chunk(b"abCD")),
    "name of other bytes": png(RGB, 2, 8, before=chunk(b"a1CD")),
    "name of other bytes behind": png(RGB, 2, 8, after=chunk(b"a1CD")),
    "two headers": png(RGB, 2, 8, before=header(5, 4)),
    "a header behind": png(RGB, 2, 8, after=header(5, 4)),
    "text before the header": SIGNATURE + chunk(b"tEXt", b"a\0b") + png(RGB, 2, 8)[8:],
    "unknown before the header": SIGNATURE + chunk(b"abCD") + png(RGB, 2, 8)[8:],
    "no header": SIGNATURE + png(RGB, 2, 8)[33:],
    "no pixels": HEAD + END,
    "empty pixels": HEAD + chunk(b"IDAT") + END,
    "pixels in many chunks": png(RGB, 2, 8, split=1),
    "pixels interrupted": HEAD
    + chunk(b"IDAT", STREAM[:9])
    + chunk(b"tEXt", b"a\0")
    + chunk(b"IDAT", STREAM[9:])
    + END,
    "pixels twice": with_pixels(STREAM)[:-12] + chunk(b"IDAT", b"more") + END,
    "end before pixels": HEAD + END + chunk(b"IDAT", STREAM) + END,
    "end with content": with_pixels(STREAM)[:-12] + chunk(b"IEND", b"abc"),
    "length beyond": HEAD + struct.pack(">I4s", 0xFFFFFFFF, b"tEXt") + b"x" * 20,
    "palette in RGB": png(RGB, 2, 8, before=chunk(b"PLTE", b"abcdef")),
    "broken palette in RGB": png(RGB, 2, 8, before=chunk(b"PLTE", b"abcde")),
    "empty palette in RGB": png(RGB, 2, 8, before=chunk(b"PLTE")),
    "two palettes": png(RGB, 2, 8, before=chunk(b"PLTE", b"abc") * 2),
    "palette behind": png(RGB, 2, 8, after=chunk(b"PLTE", b"abc")),
    "palette in gray": png(RGB[:, :, :1], 0, 8, before=chunk(b"PLTE", b"ab")),
    "key before palette": png(RGB, 2, 8, before=chunk(b"tRNS", bytes(6)) + chunk(b"PLTE", b"abc")),
    "no palette": png(RGB[:, :, :1] % 4, 3, 2),
    "short palette": png(RGB[:, :, :1] % 16, 3, 4, before=chunk(b"PLTE", b"abcdef") + chunk(b"tRNS", b"\1")),
    "long palette": png(RGB[:, :, :1] % 4, 3, 2, before=chunk(b"PLTE", bytes(range(30)))),
    "broken palette": png(RGB[:, :, :1] % 4, 3, 2, before=chunk(b"PLTE", b"abcde")),
    "transparency before palette": png(
        RGB[:, :, :1] % 4, 3, 2, before=chunk(b"tRNS", b"\1") + chunk(b"PLTE", bytes(range(12)))
    ),
    "transparency behind": png(
        RGB[:, :, :1] % 4, 3, 2, before=chunk(b"PLTE", bytes(range(12))), after=chunk(b"tRNS", b"\1")
    ),
}


@tf_rule("6 decode_png chunks")
@pytest.mark.parametrize("what", CHUNKS)
def test_chunks(what):
    every_way(CHUNKS[what], what)


@tf_rule("6 decode_png header")
@pytest.mark.parametrize(
    "fields",
    [
        {"width": 0},
        {"height": 0},
        {"width": 1_000_000, "height": 1},
        {"width": 1_000_001, "height": 1},
        {"width": 1, "height": 1_000_001},
        {"width": 1 << 31},
        {"width": 23170, "height": 23170},
        {"width": 23171, "height": 23171},
        {"depth": 3},
        {"depth": 4},
        {"color": 1},
        {"color": 7},
        {"color": 3, "depth": 16},
        {"compression": 1},
        {"filters": 1},
        {"interlace": 2},
    ],
)
def test_headers(fields):
    contents = SIGNATURE + header(**{"width": 5, "height": 4, **fields}) + with_pixels(STREAM)[len(HEAD) :]
    same("decode_png", contents)


@tf_rule("6 decode_png pixels")
def test_damaged_pixels():
    noise = np.random.default_rng(4).bytes(5000)
    streams = [STREAM[:-cut] for cut in range(1, 8)]
    streams += [STREAM[:-1] + b"x", STREAM + b"more", b"\x78\x9d" + STREAM[2:], b"\x78\xbb" + STREAM[2:]]
    streams += [b"\x08\x1d" + STREAM[2:], b"\x88\x1c" + STREAM[2:]]  # windows of 256 bytes, and too large
    streams += [zlib.compress(RAW + noise), zlib.compress(RAW + noise)[:-1000], zlib.compress(RAW[:-1])]
    streams += [zlib.compress(bytes([kind]) + RAW[1:]) for kind in (5, 64, 255)]
    for stream in streams:
        same("decode_png", with_pixels(stream))
        same("decode_png", HEAD + chunk(b"IDAT", stream[:-6]) + chunk(b"IDAT", stream[-6:]) + END)


@tf_rule("6 decode_png truncated")
def test_every_cut():
    image = samples(3, 4, 7, 9, np.random.default_rng(5))
    before = palette_of(4, np.random.default_rng(6)) + chunk(b"tRNS", b"\1\2")
    contents = png(image, 3, 4, interlaced=True, before=before, split=30)
    for size in range(8, len(contents)):
        same("decode_png", contents[:size])
    found = same("decode_png", png(RGB, 2, 8)[:100])
    assert found.message == "Invalid PNG data, size 100"


@tf_rule("6 decode_png damaged")
@pytest.mark.parametrize("seed", range(3))
def test_mutations(seed):
    chosen = random.Random(seed)
    generator = np.random.default_rng(seed)
    files = [
        png(samples(2, 8, 7, 9, generator), 2, 8, interlaced=True, split=40),
        png(samples(3, 2, 7, 9, generator), 3, 2, before=palette_of(2, generator) + chunk(b"tRNS", b"\1\2")),
        png(samples(6, 16, 7, 9, generator), 6, 16, before=chunk(b"gAMA", struct.pack(">I", 45455))),
    ]
    for number in range(400):
        contents = mutated(chosen.choice(files), chosen, start=8)
        if chosen.random() < 0.6:
            contents = mended(contents)
        channels, dtype = chosen.choice((0, 1, 3, 4)), chosen.choice(("uint8", "uint16"))
        same("decode_png", contents, what=number, channels=channels, dtype=dtype)


@tf_rule("6 decode_png files")
@pytest.mark.parametrize("path", PHOTOS, ids=lambda path: path.stem)
def test_photos(path):
    for channels in (0, 1, 3, 4):
        same("decode_png", path.read_bytes(), channels=channels)
    same("decode_png", path.read_bytes(), dtype="uint16")


@tf_rule("6 decode_png files")
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "I;16"])
def test_files_of_pillow(mode):
    pixels = np.random.default_rng(7).integers(0, 256, (33, 47, 4), dtype=np.uint8)
    image = Image.fromarray(pixels)
    if mode == "I;16":
        image = Image.fromarray(pixels[:, :, 0].astype(np.uint16) * 200)
    else:
        image = image.convert("RGB").quantize(37) if mode == "P" else image.convert(mode)
    options = [{}, {"optimize": True}, {"compress_level": 0}]
    if mode in ("P", "L"):
        options.append({"transparency": 3})
    for option in options:
        file = io.BytesIO()
        image.save(file, "PNG", **option)
        every_way(file.getvalue(), option)


@tf_rule("6 decode_png arguments")
def test_arguments():
    contents = png(RGB, 2, 8)
    for channels in (None, True, 1.5, 2, 5, -1, "x", [3], np.int64(3)):
        same("decode_png", contents, channels=channels)
    for dtype in (None, "float32", "int32", "half", np.uint16, tensorflow().uint16, "nothing"):
        same("decode_png", contents, dtype=dtype)
    for wrong in (b"", b"x", [contents], [], 3, None, "text", np.array(contents, object)):
        same("decode_png", wrong)


@tf_rule("6 encode_png lossless")
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_each_decodes_what_the_other_encodes(dtype, channels):
    tf = tensorflow()
    generator = np.random.default_rng(channels)
    for height, width in SIZES:
        image = generator.integers(0, np.iinfo(dtype).max + 1, (height, width, channels), dtype)
        image[height // 2 :] = image[0, 0]
        for compression in (-1, 0, 1, 9):
            contents = ours("encode_png")(image, compression)
            assert np.array_equal(tf.io.decode_png(contents, dtype=dtype).numpy(), image)
        assert np.array_equal(ours("decode_png")(tf.io.encode_png(image).numpy(), dtype=dtype), image)


@tf_rule("6 encode_png batches")
def test_batches_are_encoded_one_by_one():
    images = np.random.default_rng(8).integers(0, 256, (2, 3, 4, 5, 3), dtype=np.uint8)
    theirs = tensorflow().io.encode_png(images).numpy()
    files = ours("encode_png")(images)
    assert files.shape == theirs.shape == (2, 3)
    for found, reference in zip(files.reshape((6,)), theirs.ravel(), strict=True):
        assert np.array_equal(ours("decode_png")(found), tensorflow().io.decode_png(reference).numpy())
    assert ours("encode_png")(images[:0]).shape == tensorflow().io.encode_png(images[:0]).shape == (0, 3)


@tf_rule("6 encode_png errors")
@pytest.mark.parametrize(
    "shape", [(), (3,), (3, 4), (3, 4, 0), (3, 4, 5), (0, 4, 3), (3, 0, 3), (2, 0, 4, 3), (1, 1000001, 1)]
)
def test_shapes_that_cannot_be_encoded(shape):
    same("encode_png", np.zeros(shape, np.uint8))


@tf_rule("6 encode_png errors")
def test_types_and_levels_that_cannot_be_encoded():
    for dtype in (np.float32, np.int32, np.int8, np.int64, np.uint32, bool, np.float16):
        same("encode_png", np.zeros((2, 2, 3), dtype))
    for image in ([[[1, 2, 3]]], "abc", None):
        same("encode_png", image)
    for compression in (-2, 10, "x"):
        same("encode_png", np.zeros((2, 2, 3), np.uint8), compression=compression)
