"""The records that the files are made of: Examples of numbers, of tokens, of photos; SequenceExamples.

Writes no files. Everything follows from fixed seeds. A pool is made once in each process that asks for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import numpy as np

from benchmarks.rivals import tensorflow

JPEG_QUALITY = 84  # with the pictures below: about 37 kB each
SMALL = (375, 500)
LARGE = (960, 1280)


@cache
def pool(name: str, count: int) -> list[bytes]:
    """`count` distinct serialized Examples of one kind, the key of `POOLS`."""
    return POOLS[name](count)


def _examples(count: int) -> list[bytes]:
    """Examples of about 630 bytes with 41 features, as a table of clicks has them.

    13 floats (logarithms of counts), 26 int64 (ids of categories, few of them frequent), a label, an
    identifier.
    """
    tf = tensorflow()
    rng = np.random.default_rng(1)
    floats = np.log1p(rng.geometric(0.002, size=(count, 13))).astype(np.float32).tolist()
    ids = (rng.zipf(1.15, size=(count, 26)) % 2_000_003).tolist()
    labels = (rng.random(count) < 0.25).astype(int).tolist()
    out = []
    for row in range(count):
        example = tf.train.Example()
        feature = example.features.feature
        for column, value in enumerate(floats[row]):
            feature[f"I{column + 1}"].float_list.value.append(value)
        for column, value in enumerate(ids[row]):
            feature[f"C{column + 1}"].int64_list.value.append(value)
        feature["label"].int64_list.value.append(labels[row])
        feature["id"].bytes_list.value.append(rng.bytes(8).hex().encode())
        out.append(example.SerializeToString(deterministic=True))
    return out


def _shuffled(count: int) -> list[bytes]:
    """The Examples of `_examples` with their features in another order in every record."""
    rng = random.Random(3)
    out = []
    for record in pool("examples", count):
        entries = _entries(record)
        rng.shuffle(entries)
        features = b"".join(entries)
        out.append(b"\x0a" + _varint(len(features)) + features)
    return out


def _entries(example: bytes) -> list[bytes]:
    """The entries of an Example's map with their tags, as they are in its bytes."""
    start = 2
    while example[start - 1] & 128:
        start += 1
    features, entries = example[start:], []
    while features:
        end = 2 + features[1]  # these entries are below 128 bytes
        entries.append(features[:end])
        features = features[end:]
    return entries


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _tokens(count: int) -> list[bytes]:
    """Examples of about 8.6 kB: 512 to 2,048 ids of words, and a weight for each."""
    tf = tensorflow()
    rng = np.random.default_rng(4)
    out = []
    for _ in range(count):
        length = int(rng.integers(512, 2049))
        example = tf.train.Example()
        feature = example.features.feature
        feature["input_ids"].int64_list.value.extend(rng.integers(50_000, size=length).tolist())
        feature["weights"].float_list.value.extend(rng.random(length, dtype=np.float32).tolist())
        out.append(example.SerializeToString(deterministic=True))
    return out


def _sequences(count: int) -> list[bytes]:
    """SequenceExamples of about 1.3 kB: a session of 16 to 64 events with an item and four numbers each."""
    tf = tensorflow()
    rng = np.random.default_rng(5)
    out = []
    for _ in range(count):
        length = int(rng.integers(16, 65))
        items, scores = (rng.zipf(1.15, size=length) % 2_000_003).tolist(), rng.random((length, 4))
        example = tf.train.SequenceExample()
        context = example.context.feature
        context["user"].int64_list.value.append(int(rng.integers(10_000_000)))
        context["age"].float_list.value.append(float(rng.random()))
        context["session"].bytes_list.value.append(rng.bytes(8).hex().encode())
        lists = example.feature_lists.feature_list
        for item, row in zip(items, scores.tolist(), strict=True):
            lists["item"].feature.add().int64_list.value.append(item)
            lists["scores"].feature.add().float_list.value.extend(row)
        out.append(example.SerializeToString(deterministic=True))
    return out


def _photos(count: int) -> list[bytes]:
    """Examples of about 37 kB: a JPEG, which no compression makes smaller, and its label."""
    tf = tensorflow()
    return [
        _image_example(tf.io.encode_jpeg(picture, quality=JPEG_QUALITY).numpy(), number)
        for number, picture in enumerate(pictures(count, SMALL))
    ]


def _pixels(count: int) -> list[bytes]:
    """Examples of 3.7 MB: the pixels of a photo as they are, and its label."""
    return [
        _image_example(picture.tobytes(), number) for number, picture in enumerate(pictures(count, LARGE))
    ]


def _image_example(image: bytes, number: int) -> bytes:
    tf = tensorflow()
    example = tf.train.Example()
    example.features.feature["image"].bytes_list.value.append(image)
    example.features.feature["label"].int64_list.value.append(number % 1000)
    return bytes(example.SerializeToString(deterministic=True))


def pictures(count: int, size: tuple[int, int]) -> list[np.ndarray]:
    """Pictures with the statistics of photos: a falling spectrum, channels alike, a little sensor noise."""
    rng = np.random.default_rng(2)
    side = 2 * max(size)
    fields = [_falling_noise(rng, side) for _ in range(6)]
    out = []
    for _ in range(count):
        cuts = []
        for chosen in rng.choice(len(fields), size=3, replace=False):
            top, left = rng.integers(side - size[0]), rng.integers(side - size[1])
            cuts.append(fields[chosen][top : top + size[0], left : left + size[1]])
        light, red, blue = cuts
        colours = np.stack([light + 0.3 * red, light, light + 0.3 * blue], axis=-1)
        noise = rng.standard_normal(colours.shape, dtype=np.float32)
        out.append(np.clip(128 + 45 * colours + noise, 0, 255).astype(np.uint8))
    return out


def _falling_noise(rng: np.random.Generator, side: int) -> np.ndarray:
    """A square of noise of unit variance whose amplitude falls as f^-1.4, as in a smooth photo."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None, :])
    frequency[0, 0] = np.inf
    spectrum = np.fft.rfft2(rng.standard_normal((side, side))) / frequency**1.4
    field = np.fft.irfft2(spectrum, s=(side, side))
    return np.asarray(field / field.std(), dtype=np.float32)


POOLS: dict[str, Callable[[int], list[bytes]]] = {
    "examples": _examples,
    "photos": _photos,
    "pixels": _pixels,
    "sequences": _sequences,
    "shuffled": _shuffled,
    "tokens": _tokens,
}
