"""Random boxes for crops: of a random area and aspect ratio, covering enough of one of the boxes passed.

As TensorFlow samples them: several attempts, each of which draws numbers of one stream; the whole image if all fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.values.attributes import bool_attribute, int_attribute
from tfrkit.values.philox import Philox
from tfrkit.values.random_arguments import as_type, op_seed, stateless_stream
from tfrkit.values.random_numbers import RandomStream
from tfrkit.values.seeds import Operation, random_seeds
from tfrkit.values.stateful import note
from tfrkit.values.to_array import to_array

__all__ = ["sample_distorted_bounding_box", "stateless_sample_distorted_bounding_box"]

_ASPECT_RATIOS: Final = (0.75, 1.33)
_AREAS: Final = (0.05, 1.0)
_ATTEMPTS: Final = 100
_LEAST_AREA: Final = 1.0
_TYPES: Final = ("uint8", "int8", "int16", "int32", "int64")
_single: Final = np.float32


class SampleDistortedBoundingBoxV2(NamedTuple):
    """A box: where it begins and its size, both for slicing, and its corners as parts of height and width."""

    begin: npt.NDArray[Any]
    size: npt.NDArray[Any]
    bboxes: npt.NDArray[Any]


class StatelessSampleDistortedBoundingBox(NamedTuple):
    """The same of the operation without state."""

    begin: npt.NDArray[Any]
    size: npt.NDArray[Any]
    bboxes: npt.NDArray[Any]


class _Box(NamedTuple):
    left: int
    top: int
    right: int
    bottom: int

    def area(self) -> float:
        return float(_single((self.right - self.left) * (self.bottom - self.top)))

    def common(self, other: _Box) -> _Box:
        """What is in both; nothing if they are apart."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        return _Box(left, top, right, bottom) if left <= right and top <= bottom else _Box(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What boxes must be like."""

    height: int
    width: int
    dtype: np.dtype[Any]
    boxes: tuple[_Box, ...]
    covered: float
    aspect_ratios: tuple[float, float]
    areas: tuple[float, float]
    attempts: int


class _Numbers:
    """Numbers of a stream, as TensorFlow draws single ones of it."""

    def __init__(self, stream: RandomStream) -> None:
        self._philox = Philox(stream.key, stream.high, stream.block)

    def fraction(self) -> np.float32:
        """A float in [0, 1)."""
        bits = (self._philox.uint32(1) & np.uint32(0x7FFFFF)) | np.uint32(0x3F800000)
        return _single(bits.view(np.float32)[0] - _single(1))

    def below(self, limit: int) -> int:
        """An integer in [0, limit); numbers that would favour small ones are left out."""
        least = 0 if limit & (limit - 1) == 0 else (2**32 - 1) % limit + 1
        while (number := int(self._philox.uint32(1)[0])) < least:
            pass
        return number % limit


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
) -> Any:
    """Sample a box for a crop.

    Args:
        image_size: [height, width, channels].
        bounding_boxes: [batch, boxes, 4] of (top, left, bottom, right), each in [0, 1].
        seed: of this operation; 0 for a random one.
        min_object_covered: how much of one of the boxes the crop must cover.
        aspect_ratio_range: width / height of the crop, from and to; 0.75 and 1.33 by default.
        area_range: its part of the image's area, from and to; 0.05 and 1 by default.
        max_attempts: how often to try before taking the whole image; 100 by default.
        use_image_if_no_bounding_boxes: whether no boxes mean the whole image; otherwise they are an error.

    Returns:
        A named tuple: `begin` and `size` for slicing, and `bboxes` [1, 1, 4].

    Raises:
        InvalidArgumentError: an argument is out of its range; the text is TensorFlow's.

    >>> begin, size, boxes = sample_distorted_bounding_box([50, 40, 3], [[[0.1, 0.2, 0.9, 0.8]]], seed=1)
    >>> size.tolist()[2], boxes.shape
    (-1, (1, 1, 4))
    """
    note()
    return sample(
        Operation(op_seed(seed)) if seed else None,
        image_size,
        bounding_boxes,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )


def sample(call: Operation | None, image_size: Any, bounding_boxes: Any, *options: Any) -> Any:
    """Sample a box with the numbers of a call, or any; see `sample_distorted_bounding_box`."""
    rules = _rules(image_size, bounding_boxes, *options)
    attributes = rules.aspect_ratios, rules.areas, rules.attempts, bool(options[-1])
    kind = "SampleDistortedBoundingBoxV2", rules.dtype.name, str(attributes)
    place = random_seeds() if call is None else call.take(kind, rules.attempts)
    return SampleDistortedBoundingBoxV2(*_sample(rules, _Numbers(RandomStream(*place))))


def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
) -> Any:
    """Sample a box for a crop that belongs to the seeds; see `sample_distorted_bounding_box`.

    Args:
        image_size: [height, width, channels].
        bounding_boxes: [batch, boxes, 4] of (top, left, bottom, right), each in [0, 1].
        seed: two integers.
        min_object_covered: how much of one of the boxes the crop must cover.
        aspect_ratio_range: width / height of the crop, from and to; 0.75 and 1.33 by default.
        area_range: its part of the image's area, from and to; 0.05 and 1 by default.
        max_attempts: how often to try before taking the whole image; 100 by default.
        use_image_if_no_bounding_boxes: whether no boxes mean the whole image; otherwise they are an error.

    Returns:
        A named tuple: `begin` and `size` for slicing, and `bboxes` [1, 1, 4].

    Raises:
        InvalidArgumentError: an argument is out of its range; the text is TensorFlow's.

    >>> stateless_sample_distorted_bounding_box([50, 40, 3], [[[0.1, 0.2, 0.9, 0.8]]], (1, 2)).begin.dtype
    dtype('int32')
    """
    options = (
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )
    rules = _rules(image_size, bounding_boxes, *options)
    return StatelessSampleDistortedBoundingBox(*_sample(rules, _Numbers(stateless_stream(seed))))


def _rules(
    image_size: Any, boxes: Any, covered: Any, aspect_ratios: Any, areas: Any, attempts: Any, use_image: Any
) -> _Rules:
    """Check all arguments: the attributes first, then the tensors."""
    ratios = _range(aspect_ratios, _ASPECT_RATIOS, "Aspect ratio range")
    parts = _range(areas, _AREAS, "Area range")
    if max(parts) > 1:
        raise InvalidArgumentError(
            f"Area range must be less then or equal to 1.0: [{parts[0]:g}, {parts[1]:g}]"
        )
    tries = int_attribute(attempts, "max_attempts", _ATTEMPTS)
    if tries <= 0:
        raise InvalidArgumentError(f"Max attempts must be non-negative: {tries}")
    sizes = to_array(image_size)
    if dtype_name(sizes.dtype) not in _TYPES:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {op_name(dtype_name(sizes.dtype))} is not in the list of allowed values: "
            f"{', '.join(_TYPES)}"
        )
    if sizes.ndim != 1:
        raise InvalidArgumentError(f"image_size must be 1-dimensional{_shown(sizes.shape)}")
    if len(sizes) != 3:
        raise InvalidArgumentError(f"image_size must contain 3 elements{_shown(sizes.shape)}")
    height, width, _ = sizes.tolist()
    for size, name in ((height, "height"), (width, "width")):
        if not 0 <= size < 2**31 - 1:
            raise InvalidArgumentError(f"image {name} cannot be >= int32 max, got {size}")
    given = _boxes(boxes, height, width)
    least = _covered(covered)
    if not given and not bool_attribute(use_image, "use_image_if_no_bounding_boxes", False):
        raise InvalidArgumentError(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to "
            "not provide any bounding boxes."
        )
    return _Rules(
        height, width, sizes.dtype, given or (_Box(0, 0, width, height),), least, ratios, parts, tries
    )


def _shown(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _range(given: Any, default: tuple[float, float], name: str) -> tuple[float, float]:
    values = [float(_single(value)) for value in (default if given is None else given)]
    if len(values) != 2:
        raise InvalidArgumentError(f"{name} field must specify 2 dimensions, got {values}")
    if min(values) <= 0:
        raise InvalidArgumentError(f"{name} must be non-negative: [{values[0]:g}, {values[1]:g}]")
    return values[0], values[1]


def _covered(value: Any) -> float:
    least = as_type(value, np.dtype(np.float32))
    if least.ndim:
        raise InvalidArgumentError(f"min_object_covered must be 0-D, got shape {_shown(least.shape)}")
    if least < 0:
        raise InvalidArgumentError(f"Min object covered must be non-negative: {float(least):g}")
    return float(least)


def _boxes(value: Any, height: int, width: int) -> tuple[_Box, ...]:
    boxes = as_type(value, np.dtype(np.float32))
    if boxes.ndim != 3:
        raise InvalidArgumentError(
            f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {_shown(boxes.shape)}"
        )
    if boxes.shape[-1] != 4:
        raise InvalidArgumentError(f"bounding boxes must have shape [4] or [*, 4], got {_shown(boxes.shape)}")
    found = []
    for corners in boxes.reshape(-1, 4):
        for corner in corners.tolist():
            if not 0 <= corner <= 1:
                raise InvalidArgumentError(f"All bounding box coordinates must be in [0.0, 1.0]: {corner:g}")
        top, left, bottom, right = corners
        edges = left * _single(width), top * _single(height), right * _single(width), bottom * _single(height)
        found.append(_Box(*map(int, edges)))
    return tuple(found)


def _sample(rules: _Rules, numbers: _Numbers) -> tuple[Any, Any, Any]:
    box = _Box(0, 0, rules.width, rules.height)
    low, high = map(_single, rules.aspect_ratios)
    for _ in range(rules.attempts):
        found = _try_box(rules, _single(numbers.fraction() * (high - low) + low), numbers)
        if found is not None and _covers(found, rules):
            box = found
            break
    begin = np.array([box.top, box.left, 0]).astype(rules.dtype)
    size = np.array([box.bottom - box.top, box.right - box.left, -1]).astype(rules.dtype)
    whole = np.array([rules.height, rules.width, rules.height, rules.width], np.float32)
    with np.errstate(all="ignore"):
        corners = np.array([box.top, box.left, box.bottom, box.right], np.float32) / whole
    return begin, size, corners.reshape(1, 1, 4)


def _covers(box: _Box, rules: _Rules) -> bool:
    """Whether a box has pixels, and enough of one of those that were given."""
    if box.area() < _LEAST_AREA:
        return False
    return any(
        _single(box.common(given).area()) / _single(given.area()) >= rules.covered
        for given in rules.boxes
        if given.area() >= _LEAST_AREA
    )


def _try_box(rules: _Rules, ratio: np.float32, numbers: _Numbers) -> _Box | None:
    """Draw the height and the place of a box with this aspect ratio; None if no such box has the right area."""
    if rules.width <= 0 or rules.height <= 0 or rules.areas[0] > rules.areas[1]:
        return None
    least, most = (
        _single(_single(part) * _single(rules.width)) * _single(rules.height) for part in rules.areas
    )
    height, tallest = (_rounded(np.sqrt(area / ratio)) for area in (least, most))
    if _rounded(tallest * ratio) > rules.width:
        tallest = int((rules.width + 0.5 - float(_single(1e-7))) / float(ratio))
        if _rounded(tallest * ratio) > rules.width:
            tallest -= 1
    tallest = min(tallest, rules.height)
    height = min(height, tallest)
    if height < tallest:
        height += numbers.below(tallest - height + 1)
    width = _rounded(height * ratio)
    if _single(width * height) < least:
        height += 1
        width = _rounded(height * ratio)
    if _single(width * height) > most:
        height -= 1
        width = _rounded(height * ratio)
    area = _single(width * height)
    fits = 0 < width <= rules.width and 0 < height <= rules.height
    if area < least or area > most or not fits:
        return None
    top = numbers.below(rules.height - height) if height < rules.height else 0
    left = numbers.below(rules.width - width) if width < rules.width else 0
    return _Box(left, top, left + width, top + height)


def _rounded(number: np.float32) -> int:
    """The nearest integer, the even one of two."""
    return int(np.rint(_single(number)))
