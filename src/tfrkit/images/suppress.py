"""Overlapping boxes: of those that show the same thing the best one is kept.

Boxes are (top, left, bottom, right), opposite corners in any order. Two overlap by the quotient of the area that they
share and the area that they cover together.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.image_value import Image, as_image
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.values.hint import takes_hinted
from tfrkit.values.random_arguments import as_type

__all__ = [
    "hard",
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_with_scores",
    "overlaps_of",
    "scalar",
    "shown",
]

_SINGLE: Final = np.dtype(np.float32)
_WHOLE: Final = np.dtype(np.int32)
_Overlaps = Callable[[int, Image], Image]  # of a box with others, given by their numbers


@takes_hinted("boxes", "float32")
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
) -> Image:
    """Choose boxes by their scores, without those that overlap a better one.

    Args:
        boxes: [boxes, 4] of float32 or float16.
        scores: one for each box; of equal ones the first counts more.
        max_output_size: how many to choose at most.
        iou_threshold: how far two chosen ones may overlap, from 0 to 1.
        score_threshold: boxes up to this score are left out.

    Returns:
        The numbers of chosen boxes, the best first, as int32.

    Raises:
        InvalidArgumentError: a shape, a type or a number is wrong; the text is TensorFlow's.

    >>> non_max_suppression([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 3, 1, 4]], [0.5, 0.7, 0.6], 9).tolist()
    [1, 2]
    """
    corners, values = _of_boxes(boxes, scores)
    size, overlap, least = _numbers(max_output_size, iou_threshold, score_threshold)
    _check_boxes(corners, values, size, overlap)
    return hard(overlaps_of(corners), values, int(size), overlap[()], least[()])


@takes_hinted("boxes", "float32")
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
) -> tuple[Image, Image]:
    """Choose boxes by their scores, and lower the scores of those that overlap better ones.

    Args:
        boxes: [boxes, 4] of float32 or float16.
        scores: one for each box; of equal ones the first counts more.
        max_output_size: how many to choose at most.
        iou_threshold: how far two chosen ones may overlap, if sigma is 0.
        score_threshold: boxes up to this score are left out.
        soft_nms_sigma: how fast scores fall with the overlap (Bodla and others, 2017); 0 leaves boxes out instead.

    Returns:
        The numbers of chosen boxes, the best first, as int32, and the scores that they have left.

    Raises:
        InvalidArgumentError: a shape, a type or a number is wrong; the text is TensorFlow's.

    >>> chosen, left = non_max_suppression_with_scores([[0, 0, 1, 1], [0, 0, 1, 1]], [0.5, 0.7], 9, soft_nms_sigma=0.5)
    >>> chosen.tolist(), [round(float(score), 3) for score in left]
    ([1, 0], [0.7, 0.184])
    """
    corners, values = _of_boxes(boxes, scores)
    size, overlap, least = _numbers(max_output_size, iou_threshold, score_threshold)
    sigma = scalar(soft_nms_sigma, _SINGLE, "soft_nms_sigma")
    _check_boxes(corners, values, size, overlap)
    if sigma < 0:
        raise InvalidArgumentError("soft_nms_sigma_val must be >= 0")
    if sigma:
        return _soft(overlaps_of(corners), values, int(size), least[()], sigma[()])
    chosen = hard(overlaps_of(corners), values, int(size), overlap[()], least[()])
    return chosen, values[chosen]


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
) -> Image:
    """Choose things by their scores, without those that overlap a better one, by a table.

    Args:
        overlaps: [things, things]: how far the first overlaps the second.
        scores: one for each; of equal ones the first counts more.
        max_output_size: how many to choose at most.
        overlap_threshold: how far a worse one may overlap a better one.
        score_threshold: things up to this score are left out.

    Returns:
        The numbers of chosen things, the best first, as int32.

    Raises:
        InvalidArgumentError: a shape or the size is wrong; the text is TensorFlow's.

    >>> non_max_suppression_overlaps([[1, 0.2], [0.2, 1]], [0.5, 0.7], 9, 0.1).tolist()
    [1]
    """
    table, values = as_type(overlaps, _SINGLE), as_type(scores, _SINGLE)
    size = scalar(max_output_size, _WHOLE, "max_output_size")
    overlap = scalar(overlap_threshold, _SINGLE, "overlap_threshold")
    least = scalar(score_threshold, _SINGLE, "score_threshold")
    if table.ndim != 2:
        raise InvalidArgumentError(f"overlaps must be 2-D{shown(table)}")
    if table.shape[0] != table.shape[1]:
        raise InvalidArgumentError(f"overlaps must be square{shown(table)}")
    _check_scores(values, len(table))
    if size < 0:
        raise InvalidArgumentError("output size must be non-negative")
    return hard(lambda box, others: table[others, box], values, int(size), overlap[()], least[()])


def _of_boxes(boxes: Any, scores: Any) -> tuple[Image, Image]:
    given = as_image(boxes)
    if given.dtype.kind in "iub" or isinstance(boxes, (list, tuple)):
        given = as_type(boxes, _SINGLE)
    if given.dtype not in (np.float16, np.float32):
        name = op_name(dtype_name(given.dtype))
        raise InvalidArgumentError(
            f"Value for attr 'T' of {name} is not in the list of allowed values: half, float"
        )
    return given, as_type(scores, given.dtype)


def _numbers(size: Any, overlap: Any, least: Any) -> tuple[Image, Image, Image]:
    return (
        scalar(size, _WHOLE, "max_output_size"),
        scalar(overlap, _SINGLE, "iou_threshold"),
        scalar(least, _SINGLE, "score_threshold"),
    )


def scalar(value: Any, dtype: np.dtype[Any], name: str) -> Image:
    """Give a number as an array without dimensions.

    Raises:
        InvalidArgumentError: it is several.
    """
    array = as_type(value, dtype)
    if array.ndim:
        raise InvalidArgumentError(
            f"{name} must be 0-D, got shape {shown(array)} (Shape must be rank 0 but is rank {array.ndim})"
        )
    return array


def _check_boxes(boxes: Image, scores: Image, size: Image, overlap: Image) -> None:
    if not 0 <= overlap <= 1:
        raise InvalidArgumentError("iou_threshold must be in [0, 1]")
    if boxes.ndim != 2:
        raise InvalidArgumentError(
            f"boxes must be 2-D{shown(boxes)} (Shape must be rank 2 but is rank {boxes.ndim})"
        )
    if boxes.shape[1] != 4:
        raise InvalidArgumentError(f"boxes must have 4 columns (Dimension must be 4 but is {boxes.shape[1]})")
    _check_scores(scores, len(boxes))
    if size < 0:
        raise InvalidArgumentError("output size must be non-negative")


def _check_scores(scores: Image, count: int) -> None:
    if scores.ndim != 1:
        raise InvalidArgumentError(
            f"scores must be 1-D{shown(scores)} (Shape must be rank 1 but is rank {scores.ndim})"
        )
    if len(scores) != count:
        raise InvalidArgumentError(
            f"scores has incompatible shape (Dimensions must be equal, but are {count} and {len(scores)})"
        )


def shown(array: Image) -> str:
    """The shape of an array in messages."""
    return f"[{','.join(map(str, array.shape))}]"


def overlaps_of(boxes: Image) -> _Overlaps:
    """How far boxes overlap, in float32."""
    single = boxes.astype(np.float32)
    top, bottom = np.minimum(single[:, 0], single[:, 2]), np.maximum(single[:, 0], single[:, 2])
    left, right = np.minimum(single[:, 1], single[:, 3]), np.maximum(single[:, 1], single[:, 3])
    with np.errstate(all="ignore"):
        areas = (bottom - top) * (right - left)

    def overlaps(box: int, others: Image) -> Image:
        with np.errstate(all="ignore"):
            high = np.minimum(bottom[others], bottom[box]) - np.maximum(top[others], top[box])
            wide = np.minimum(right[others], right[box]) - np.maximum(left[others], left[box])
            shared = np.maximum(high, np.float32(0)) * np.maximum(wide, np.float32(0))
            found = shared / (areas[others] + areas[box] - shared)
        flat = (areas[others] <= 0) | (areas[box] <= 0)
        made: Image = np.where(flat, np.float32(0), found)
        return made

    return overlaps


def hard(overlaps: _Overlaps, scores: Image, size: int, most: Any, least: Any) -> Image:
    """The numbers of the best things above `least` that overlap no better one more than `most`."""
    above = np.flatnonzero(scores > scores.dtype.type(least))
    left = above[np.argsort(-scores[above].astype(np.float32), kind="stable")]
    chosen: list[int] = []
    while len(left) and len(chosen) < size:
        best, left = int(left[0]), left[1:]
        chosen.append(best)
        left = left[~(overlaps(best, left) > most)]
    return np.array(chosen, np.int32)


def _soft(overlaps: _Overlaps, scores: Image, size: int, least: Any, sigma: Any) -> tuple[Image, Image]:
    """As above with falling scores: a box waits again until no better one is before it."""
    scale = np.float32(-0.5) / np.float32(sigma)
    waiting = [(-scores[box], int(box), 0) for box in np.flatnonzero(scores > least)]
    heapq.heapify(waiting)
    chosen: list[int] = []
    kept: list[Any] = []
    while waiting and len(chosen) < size:
        negative, box, seen = heapq.heappop(waiting)
        score = before = -negative
        for overlap in overlaps(box, np.array(chosen[seen:][::-1], np.int64)):
            # In float64 and rounded once, as the C library does it; numpy's own differs in the last bit of most.
            lowered = np.float32(math.exp(float(scale * overlap * overlap)))
            score = scores.dtype.type(score * lowered)
            if score <= least:
                break
        if score == before:
            chosen.append(box)
            kept.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, box, len(chosen)))
    return np.array(chosen, np.int32), np.array(kept, scores.dtype)
