"""Boxes in images: cut out and resized, or drawn."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError, OutOfRangeError
from tfrkit.images.image_value import Image, as_image
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.values.random_arguments import as_type

__all__ = ["crop_and_resize", "draw_bounding_boxes"]

_SINGLE: Final = np.dtype(np.float32)
_WHOLE: Final = np.dtype(np.int32)
_COLOURS: Final = (  # of boxes, in turn: yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia
    (1, 1, 0, 1),
    (0, 0, 1, 1),
    (1, 0, 0, 1),
    (0, 1, 0, 1),
    (0.5, 0, 0.5, 1),
    (0.5, 0.5, 0, 1),
    (0.5, 0, 0, 1),
    (0, 0, 0.5, 1),
    (0, 1, 1, 1),
    (1, 0, 1, 1),
)


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Image:
    """Cut boxes out of images, and resize all of them to one size.

    Corners of boxes are the middles of corner pixels. Boxes may reach out of their image, and be turned round.

    Args:
        image: [batch, height, width, channels].
        boxes: [boxes, 4] of (top, left, bottom, right) as parts of height - 1 and width - 1.
        box_indices: the image of each box.
        crop_size: height and width of the result.
        method: "bilinear" or "nearest".
        extrapolation_value: what is outside of images.

    Returns:
        [boxes, height, width, channels], of float32.

    Raises:
        InvalidArgumentError: a shape or the method is wrong; the text is TensorFlow's.
        OutOfRangeError: there is no image of an index.

    >>> crop_and_resize([[[[1], [2]], [[3], [4]]]], [[0, 0, 1, 1]], [0], [1, 3])[0].tolist()
    [[[2.0], [2.5], [3.0]]]
    """
    images, corners = as_image(image), as_type(boxes, _SINGLE)
    indices, sizes = as_type(box_indices, _WHOLE), as_type(crop_size, _WHOLE)
    _check_crops(images, corners, indices, sizes, method)
    height, width = sizes.tolist()
    made = np.full((len(corners), height, width, images.shape[3]), extrapolation_value, np.float32)
    for number, (top, left, bottom, right) in enumerate(corners):
        rows, inside_rows = _places(top, bottom, images.shape[1], height)
        columns, inside_columns = _places(left, right, images.shape[2], width)
        pixels = images[indices[number]].astype(np.float32)
        found = _nearest(pixels, rows, columns) if method == "nearest" else _between(pixels, rows, columns)
        made[number][np.ix_(inside_rows, inside_columns)] = found
    return made


def _check_crops(images: Image, boxes: Image, indices: Image, sizes: Image, method: str) -> None:
    if method not in {"bilinear", "nearest"}:
        raise InvalidArgumentError(
            f'Value for attr \'method\' of "{method}" is not in the list of allowed values: "bilinear", "nearest"'
        )
    if images.ndim != 4:
        raise InvalidArgumentError(f"input image must be 4-D{_shown(images)}")
    if not images.shape[1] or not images.shape[2]:
        raise InvalidArgumentError(f"image dimensions must be positive, got shape {_shown(images)}")
    if boxes.ndim != 2:
        raise InvalidArgumentError(f"boxes must be 2-D, got: {_shown(boxes)}")
    if boxes.shape[1] != 4:
        raise InvalidArgumentError(f"boxes must have 4 columns, y1, x1, y2 and x2: got shape {_shown(boxes)}")
    if indices.shape != (len(boxes),):
        raise InvalidArgumentError(
            f"box_index has incompatible shape {_shown(indices)}: expected [{len(boxes)}], one for each box"
        )
    if sizes.ndim != 1:
        raise InvalidArgumentError(f"crop_size must be 1-D{_shown(sizes)}")
    if sizes.shape != (2,):
        raise InvalidArgumentError(f"crop_size must have two elements{_shown(sizes)}")
    if sizes.min() <= 0:
        raise InvalidArgumentError(f"crop dimensions must be positive, got crop_size {sizes.tolist()}")
    for index in indices.tolist():
        if not 0 <= index < len(images):
            raise OutOfRangeError(
                f"box_index has values outside [0, batch_size): got {index}, the batch has {len(images)}"
            )


def _shown(array: Image) -> str:
    return f"[{','.join(map(str, array.shape))}]"


def _places(first: Any, last: Any, size: int, count: int) -> tuple[Image, Image]:
    """Where the rows or columns of a crop lie in the image, those within it; and which of them do."""
    end = np.float32(size - 1)
    if count > 1:
        step = (last - first) * end / np.float32(count - 1)
        places = first * end + np.arange(count, dtype=np.float32) * step
    else:
        places = np.array([0.5 * float(first + last) * float(end)]).astype(np.float32)
    inside = (places >= 0) & (places <= end)
    return places[inside], np.flatnonzero(inside)


def _between(pixels: Image, rows: Image, columns: Image) -> Image:
    top, bottom = np.floor(rows).astype(np.int64), np.ceil(rows).astype(np.int64)
    left, right = np.floor(columns).astype(np.int64), np.ceil(columns).astype(np.int64)
    down = (rows - top.astype(np.float32))[:, np.newaxis, np.newaxis]
    across = (columns - left.astype(np.float32))[:, np.newaxis]
    upper, lower = (
        row[:, left] + (row[:, right] - row[:, left]) * across for row in (pixels[top], pixels[bottom])
    )
    made: Image = upper + (lower - upper) * down
    return made


def _nearest(pixels: Image, rows: Image, columns: Image) -> Image:
    near = [np.floor(places.astype(np.float64) + 0.5).astype(np.int64) for places in (rows, columns)]
    made: Image = pixels[np.ix_(*near)]
    return made


def draw_bounding_boxes(images: Any, boxes: Any, colors: Any) -> Image:
    """Draw the edges of boxes, one pixel wide.

    Args:
        images: [batch, height, width, channels] with 1, 3 or 4 channels, of float32 or float16.
        boxes: [batch, boxes, 4] of (top, left, bottom, right) as parts of height - 1 and width - 1.
        colors: [colours, channels], used in turn; None for ten colours.

    Raises:
        InvalidArgumentError: a shape or type is wrong; the text is TensorFlow's.

    >>> draw_bounding_boxes(np.zeros((1, 3, 3, 1), np.float32), [[[0, 0, 1, 1]]], None)[0, :, :, 0].tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    """
    pixels, corners = as_image(images), as_type(boxes, _SINGLE)
    if dtype_name(pixels.dtype) not in {"float16", "float32"}:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {op_name(dtype_name(pixels.dtype))} is not in the list of allowed values: "
            "float, half"
        )
    _check_drawing(pixels, corners)
    table = _colours(colors, pixels.shape[3]).astype(pixels.dtype)
    made = pixels.copy()
    for canvas, frames in zip(made, corners, strict=True):
        for number, frame in enumerate(frames):
            _draw(canvas, frame, table[number % len(table)])
    return made


def _check_drawing(images: Image, boxes: Image) -> None:
    if images.ndim != 4:
        raise InvalidArgumentError(f"The rank of the images should be 4, got shape {_shown(images)}")
    if boxes.ndim != 3:
        raise InvalidArgumentError(f"The rank of the boxes tensor should be 3, got shape {_shown(boxes)}")
    if len(images) != len(boxes):
        raise InvalidArgumentError(
            f"The batch sizes should be the same: {len(images)} images, boxes of {len(boxes)}"
        )
    if images.shape[3] not in {1, 3, 4}:
        raise InvalidArgumentError(
            f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got {images.shape[3]}"
        )
    if boxes.shape[2] != 4:
        raise InvalidArgumentError(
            f"The size of the third dimension of the box must be 4. Received: {boxes.shape[2]}"
        )


def _colours(colors: Any, channels: int) -> Image:
    if colors is not None:
        table = as_type(colors, _SINGLE)
        if table.ndim != 2:
            raise InvalidArgumentError(f"colors must be a 2-D matrix{_shown(table)}")
        if table.shape[1] < channels:
            raise InvalidArgumentError(
                f"colors must have equal or more channels than the image provided: {_shown(table)}"
            )
        if table.size:
            return table[:, :channels]
    table = np.array(_COLOURS, np.float32)[:, :channels]
    return np.ones_like(table) if channels == 1 else table


def _draw(canvas: Image, frame: Image, colour: Image) -> None:
    height, width = canvas.shape[:2]
    with np.errstate(all="ignore"):
        edges = frame * np.array([height - 1, width - 1] * 2, np.float32)
    if not np.isfinite(edges).all():
        return
    top, left, bottom, right = (int(edge) for edge in edges)
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return  # turned round, or outside
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            canvas[row, columns] = colour
    for column in (left, right):
        if 0 <= column < width:
            canvas[rows, column] = colour
