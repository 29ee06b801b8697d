"""Random trees of features and random examples of them, for TensorFlow Datasets to encode."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow_datasets as tfds

F = tfds.features
_NUMBERS = (
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bool_",
)
_ENCODED = (
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bool_",
)
_DEPTH = 3  # of dicts and sequences inside each other


class RandomFeatures:
    """A random tree, made of a seed, and examples of it.

    What TensorFlow Datasets writes but cannot read is not made: fixed lengths in two sequences inside each other,
    values of unknown sizes inside sequences, and encoded uint32.
    """

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        names = [f"f{number}" for number in range(self._random.integers(1, 5))]
        self._tree = {name: self._feature(0, sequences=0, steps=False) for name in names}
        self.features = F.FeaturesDict({name: feature for name, (feature, _) in self._tree.items()})

    def example(self) -> dict[str, Any]:
        """Return the next example."""
        return {name: make() for name, (_, make) in self._tree.items()}

    def _feature(self, depth: int, *, sequences: int, steps: bool) -> tuple[Any, Any]:
        kinds = ["array", "array", "encoded", "image", "text", "label", "audio", "box"]
        if depth < _DEPTH:
            kinds += ["dict", "sequence", "sequence", "translation"]
            kinds += [] if sequences else ["steps", "video"]
        made: tuple[Any, Any] = getattr(self, f"_{self._random.choice(kinds)}")(depth, sequences, steps)
        return made

    def _array(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        dtype = np.dtype(str(self._random.choice(_NUMBERS)).removesuffix("_"))
        shape = self._shape(0 if sequences else 1)
        return F.Tensor(shape=shape, dtype=dtype.type), lambda: self._numbers(shape, dtype)

    def _encoded(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        dtype = np.dtype(str(self._random.choice(_ENCODED)).removesuffix("_"))
        shape = self._shape(0 if sequences else 2)
        encoding = str(self._random.choice(["bytes", "zlib"]))
        feature = F.Tensor(shape=shape, dtype=dtype.type, encoding=encoding)
        return feature, lambda: self._numbers(shape, dtype)

    def _image(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        channels = int(self._random.choice([1, 3, 4]))
        sizes: tuple[int | None, ...] = (3, 2) if self._random.random() < 0.6 or sequences else (None, None)
        dtype = np.dtype(str(self._random.choice(["uint8", "uint16"])))
        feature = F.Image(shape=(*sizes, channels), dtype=dtype.type, encoding_format="png")
        return feature, lambda: self._numbers((*sizes, channels), dtype, least=1)

    def _video(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        frames = self._length()
        return F.Video(shape=(frames, 2, 2, 3)), lambda: self._numbers((frames, 2, 2, 3), np.dtype(np.uint8))

    def _text(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        return F.Text(), self._word

    def _label(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        return F.ClassLabel(names=["a", "b", "c"]), lambda: int(self._random.integers(-1, 3))

    def _audio(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        if sequences:
            return self._text(depth, sequences, steps)
        return F.Audio(dtype=np.int16), lambda: self._numbers((None,), np.dtype(np.int16))

    def _box(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        return F.BBoxFeature(), lambda: F.BBox(*sorted(map(float, self._random.random(4))))

    def _translation(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        if self._random.random() < 0.5 or sequences:
            return F.Translation(languages=["en", "de"]), lambda: {"en": self._word(), "de": self._word()}
        feature = F.TranslationVariableLanguages(languages=["en", "de"])
        return feature, lambda: {"de": [self._word() for _ in range(self._count() + 1)]}

    def _dict(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        names = [f"{letter}" for letter in "xyz"[: self._random.integers(1, 4)]]
        inner = {name: self._feature(depth + 1, sequences=sequences, steps=steps) for name in names}
        feature = F.FeaturesDict({name: each for name, (each, _) in inner.items()})
        return feature, lambda: {name: make() for name, (_, make) in inner.items()}

    def _sequence(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        inner, make = self._feature(depth + 1, sequences=sequences + 1, steps=steps)
        # A fixed length anywhere in nested sequences makes a folder that tfds cannot read.
        alone = not sequences and not _has_sequence(inner)
        length = self._length() if alone else None
        return F.Sequence(inner, length=length), lambda: [make() for _ in range(self._count(length))]

    def _steps(self, depth: int, sequences: int, steps: bool) -> tuple[Any, Any]:
        inner, make = self._feature(depth + 1, sequences=sequences + 1, steps=True)
        return F.Dataset(inner), lambda: [make() for _ in range(self._count())]

    def _shape(self, unknown: int) -> tuple[int | None, ...]:
        shape: list[int | None] = [
            int(size) for size in self._random.integers(1, 4, self._random.integers(0, 3))
        ]
        for place in self._random.permutation(len(shape))[: self._random.integers(0, unknown + 1)]:
            shape[place] = None
        return tuple(shape)

    def _numbers(self, shape: tuple[int | None, ...], dtype: np.dtype[Any], least: int = 0) -> Any:
        sizes = [max(least, self._count()) if size is None else size for size in shape]
        if dtype.kind == "f":
            return self._random.normal(size=sizes).astype(dtype)
        if dtype.kind == "b":
            return self._random.random(sizes) < 0.5
        info = np.iinfo(dtype)
        return self._random.integers(info.min, info.max, sizes, dtype, endpoint=True)

    def _length(self) -> int | None:
        return None if self._random.random() < 0.6 else 2

    def _count(self, length: int | None = None) -> int:
        return int(self._random.integers(0, 4)) if length is None else length

    def _word(self) -> str:
        return "".join(self._random.choice(list("abcü "), self._random.integers(0, 6)))


def _has_sequence(feature: Any) -> bool:
    if isinstance(feature, F.Sequence):
        return True
    return isinstance(feature, F.FeaturesDict) and any(map(_has_sequence, feature.values()))
