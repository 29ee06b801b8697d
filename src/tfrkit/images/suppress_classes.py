"""Overlapping boxes of several classes: of every class the best ones are kept, and the best of all of them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.image_value import Image
from tfrkit.images.suppress import hard, overlaps_of, scalar, shown
from tfrkit.values.random_arguments import as_type

__all__ = ["combined_non_max_suppression"]

_SINGLE: Final = np.dtype(np.float32)
_WHOLE: Final = np.dtype(np.int32)


class CombinedNonMaxSuppression(NamedTuple):
    """Chosen boxes of each image, the best first, with zeros behind them.

    Attributes:
        nmsed_boxes: [batch, boxes, 4].
        nmsed_scores: [batch, boxes].
        nmsed_classes: [batch, boxes], numbers as float32.
        valid_detections: [batch], how many there are.
    """

    nmsed_boxes: Image
    nmsed_scores: Image
    nmsed_classes: Image
    valid_detections: Image


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
) -> CombinedNonMaxSuppression:
    """Choose boxes by their scores, class by class, without those that overlap a better one of their class.

    Args:
        boxes: [batch, boxes, classes, 4], or with 1 instead of classes for boxes that are the same in all of them.
        scores: [batch, boxes, classes].
        max_output_size_per_class: how many of each class to choose at most.
        max_total_size: how many to choose at most of each image.
        iou_threshold: how far two chosen ones of a class may overlap, from 0 to 1.
        score_threshold: boxes up to this score are left out.
        pad_per_class: whether the result has no more places than all classes together can fill.
        clip_boxes: whether chosen boxes are cut to [0, 1].

    Raises:
        InvalidArgumentError: a shape or a number is wrong; the text is TensorFlow's.

    >>> found = combined_non_max_suppression([[[[0, 0, 1, 1]], [[0, 0, 1, 0.9]]]], [[[0.5, 0.2], [0.7, 0.1]]], 9, 3)
    >>> found.nmsed_classes.tolist(), found.valid_detections.tolist()
    ([[0.0, 1.0, 0.0]], [2])
    """
    corners, values = as_type(boxes, _SINGLE), as_type(scores, _SINGLE)
    each = scalar(max_output_size_per_class, _WHOLE, "max_size_per_class")
    size = scalar(max_total_size, _WHOLE, "max_total_size")
    overlap = scalar(iou_threshold, _SINGLE, "iou_threshold")
    least = scalar(score_threshold, _SINGLE, "score_threshold")
    _check(corners, values, each, size, overlap)
    places = min(int(size), int(each) * values.shape[2]) if pad_per_class else int(size)
    made = CombinedNonMaxSuppression(
        np.zeros((len(values), places, 4), np.float32),
        np.zeros((len(values), places), np.float32),
        np.zeros((len(values), places), np.float32),
        np.zeros(len(values), np.int32),
    )
    for image, (frames, marks) in enumerate(zip(corners, values, strict=True)):
        found = _best(frames, marks, int(each), overlap[()], least[()])[:places]
        made.valid_detections[image] = len(found)
        for place, (box, number) in enumerate(found):
            frame = frames[box, number % frames.shape[1]]
            made.nmsed_boxes[image, place] = frame.clip(0, 1) if clip_boxes else frame
            made.nmsed_scores[image, place] = marks[box, number]
            made.nmsed_classes[image, place] = number
    return made


def _best(boxes: Image, scores: Image, each: int, overlap: Any, least: Any) -> list[tuple[int, int]]:
    """The chosen boxes and their classes, the best first."""
    found: list[tuple[int, int]] = []
    for number in range(scores.shape[1]):
        overlaps = overlaps_of(boxes[:, number % boxes.shape[1]])
        found += [(int(box), number) for box in hard(overlaps, scores[:, number], each, overlap, least)]
    return sorted(found, key=lambda one: -scores[one])


def _check(boxes: Image, scores: Image, each: Image, size: Image, overlap: Image) -> None:
    if each <= 0:
        raise InvalidArgumentError("max_size_per_class must be positive")
    if size <= 0:
        raise InvalidArgumentError("max_total_size must be > 0")
    if not 0 <= overlap <= 1:
        raise InvalidArgumentError("iou_threshold must be in [0, 1]")
    if boxes.shape[:1] != scores.shape[:1]:
        raise InvalidArgumentError("boxes and scores must have same batch size")
    if boxes.ndim != 4:
        raise InvalidArgumentError(f"boxes must be 4-D{shown(boxes)}")
    if scores.ndim != 3:
        raise InvalidArgumentError(f"scores must be 3-D{shown(scores)}")
    if scores.shape[1] != boxes.shape[1]:
        raise InvalidArgumentError("scores has incompatible shape")
    if boxes.shape[2] not in {1, scores.shape[2]}:
        raise InvalidArgumentError("third dimension of boxes must be either 1 or num classes")
    if boxes.shape[3] != 4:
        raise InvalidArgumentError("boxes must have 4 columns")
