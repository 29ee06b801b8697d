"""Data sets for the tests of the page: photos, many pictures, steps, texts, hostile ones. The same bytes every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tfrkit as tfr

CLASSES = ["daisy", "rose", "tulip", "sunflower", "dandelion"]
SHARES = [0.4, 0.3, 0.2, 0.07, 0.03]
SCRIPT = "<script>window.harmed = 'script'</script><img src=x onerror=\"window.harmed = 'image'\">"
HOSTILE_FILE = "<img src=x onerror=window.harmed=1>&amp;'\".tfrecord"


def picture(random: np.random.Generator, height: int, width: int, hue: int) -> np.ndarray:
    """A flower: petals round a middle on a soft background."""
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float64)
    x, y = columns / width - random.uniform(0.4, 0.6), rows / height - random.uniform(0.4, 0.6)
    angle, radius = np.arctan2(y, x), np.hypot(x, y * height / width)
    petals = radius < 0.28 + 0.1 * np.cos((5 + hue) * angle + random.uniform(0, 6))
    ground = np.array([[46, 84, 62], [52, 70, 92], [96, 84, 60], [40, 60, 50], [70, 62, 84]][hue])
    petal = np.array([[238, 236, 228], [214, 74, 96], [226, 112, 178], [244, 186, 52], [240, 214, 84]][hue])
    image = ground + 60 * (1 - rows / height)[..., None] + random.normal(0, 4, (height, width, 1))
    image = np.where(petals[..., None], petal * (1.1 - 0.9 * radius[..., None]), image)
    image = np.where((radius < 0.09)[..., None], [120, 84, 30], image)
    return (image * random.uniform(0.55, 1.1)).clip(0, 255).astype(np.uint8)


def write_photos(path: Path, first: int, count: int, *, shift: float = 0.0) -> None:
    """Photos with a class, boxes, a score and a caption. Every 37th is cut short."""
    random = np.random.default_rng(first + 1)
    with tfr.TFRecordWriter(str(path)) as writer:
        for number in range(first, first + count):
            hue = int(random.choice(len(CLASSES), p=SHARES))
            height, width = int(random.integers(96, 200)), int(random.integers(120, 260))
            data = tfr.image.encode_jpeg(picture(random, height, width, hue))
            corners = np.sort(random.uniform(0.08, 0.92, (2, number % 3, 2)), axis=0).astype(np.float32)
            example = {
                "image/encoded": data[:200] if number % 37 == 5 else data,
                "image/height": height,
                "image/width": width,
                "image/class/label": hue,
                "image/class/text": CLASSES[hue].encode(),
                "image/object/bbox/ymin": corners[0, :, 0],
                "image/object/bbox/xmin": corners[0, :, 1],
                "image/object/bbox/ymax": corners[1, :, 0],
                "image/object/bbox/xmax": corners[1, :, 1],
                "score": np.float32(random.normal(0.6 + shift, 0.2)),
                "caption": f"A {CLASSES[hue]} in the garden, seen from the path, photo number {number}".encode(),
                "embedding": random.normal(size=64).astype(np.float32),
            }
            if number % 3 == 0:
                example["note"] = b'{"by": "ann", "stars": [1, 2, {"sure": true}]}'
            writer.write_example(example)


def write_many(path: Path, count: int) -> None:
    """As many tiny pictures as wanted, with their number."""
    random = np.random.default_rng(7)
    pictures = [tfr.image.encode_png(picture(random, 12, 12, hue)) for hue in range(len(CLASSES))]
    with tfr.TFRecordWriter(str(path)) as writer:
        for begin in range(0, count, 10_000):
            numbers = np.arange(begin, min(count, begin + 10_000))
            images = [pictures[number % len(pictures)] for number in numbers]
            writer.write_batch({"id": numbers, "image": images})


def write_steps(path: Path) -> None:
    """Episodes: a picture, a state and an action at each of their steps."""
    random = np.random.default_rng(3)
    with tfr.TFRecordWriter(str(path)) as writer:
        for episode in range(4):
            count = 20 + episode
            walk = np.cumsum(random.normal(0, 0.3, (count, 3)), axis=0).astype(np.float32)
            message = tfr.make_sequence_example(
                {"episode": episode, "task": b"pick up the cup"},
                {
                    "frame": [
                        [tfr.image.encode_png(picture(random, 48, 64, step % 5))] for step in range(count)
                    ],
                    "state": [list(row) for row in walk],
                    "action": [[step % 4] for step in range(count)],
                },
            )
            writer.write(message.SerializeToString())


def write_hostile(folder: Path) -> None:
    """Markup wherever text can be, bytes that are no text, pictures that are none, records that are no Examples."""
    with tfr.TFRecordWriter(str(folder / HOSTILE_FILE)) as writer:
        for number in range(12):
            writer.write_example(
                {
                    "label": SCRIPT.encode(),
                    SCRIPT: [number],
                    "image": b"\xff\xd8\xff\xe0 no picture"
                    if number % 2
                    else b"<svg onload='window.harmed=2'/>",
                    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'><script>window.harmed = 3</script></svg>",
                    "page": b"<!doctype html><script>window.harmed = 4</script>",
                    "json": b'{"<img src=x onerror=window.harmed=5>": "<script>window.harmed = 6</script>"}',
                    "bytes": bytes(range(256)),
                    "odd\u202e\x07name`": b"\xf0\x9f\x98\x80 \x1b[31m\x00",
                }
            )
        writer.write(b"<script>window.harmed = 7</script>")
        writer.write(b"")
        writer.write(bytes(range(255, 0, -1)) * 4)


def damage(path: Path, *, share: float = 0.5, length: int = 900) -> None:
    """Write over some bytes in the middle of a file."""
    data = bytearray(path.read_bytes())
    start = int(len(data) * share)
    data[start : start + length] = b"\x5a" * length
    path.write_bytes(data)
