"""The records that the files are made of: Examples of numbers, photos as JPEG, photos as pixels.

Writes no files. Everything follows from fixed seeds. A pool is made once in each process that asks for it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.rivals import tensorflow

JPEG_QUALITY = 84  # with the pictures below: about 37 kB each
SMALL = (375, 500)
LARGE = (960, 1280)


@cache
def pool(name: str, count: int) -> list[bytes]:
    """`count` distinct serialized Examples of one kind: "examples", "photos" or "pixels"."""
    return {"examples": _examples, "photos": _photos, "pixels": _pixels}[name](count)


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


def _photos(count: int) -> list[bytes]:
    """Examples of about 37 kB: a JPEG, which no compression makes smaller, and its label."""
    tf = tensorflow()
    return [
        _image_example(tf.io.encode_jpeg(picture, quality=JPEG_QUALITY).numpy(), number)
        for number, picture in enumerate(_pictures(count, SMALL))
    ]


def _pixels(count: int) -> list[bytes]:
    """Examples of 3.7 MB: the pixels of a photo as they are, and its label."""
    return [
        _image_example(picture.tobytes(), number) for number, picture in enumerate(_pictures(count, LARGE))
    ]


def _image_example(image: bytes, number: int) -> bytes:
    tf = tensorflow()
    example = tf.train.Example()
    example.features.feature["image"].bytes_list.value.append(image)
    example.features.feature["label"].int64_list.value.append(number % 1000)
    return bytes(example.SerializeToString(deterministic=True))


def _pictures(count: int, size: tuple[int, int]) -> list[np.ndarray]:
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
