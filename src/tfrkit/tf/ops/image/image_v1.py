"""Functions of images with the arguments that they have in TensorFlow 1."""

from __future__ import annotations

from typing import Any

from tfrkit.images.boxes import crop_and_resize as crop_boxes
from tfrkit.images.boxes import draw_bounding_boxes as draw_boxes
from tfrkit.images.image_value import Image
from tfrkit.images.sample_boxes import sample
from tfrkit.values.random_arguments import op_seed
from tfrkit.values.seeds import Operation
from tfrkit.values.stateful import note

__all__ = ["crop_and_resize", "draw_bounding_boxes", "sample_distorted_bounding_box"]


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    *,
    box_indices: Any = None,
) -> Image:
    """Cut boxes out of images, and resize all of them to one size; see `tfrkit.images.boxes`.

    Args:
        image: as there.
        boxes: as there.
        box_ind: another name of `box_indices`.
        crop_size: as there.
        method: as there.
        extrapolation_value: as there.
        box_indices: as there.

    Raises:
        ValueError: both names of one argument are used, or none.
    """
    if box_ind is not None and box_indices is not None:
        raise ValueError("Cannot specify both 'box_ind' and 'box_indices'.")
    indices = box_indices if box_ind is None else box_ind
    return crop_boxes(image, boxes, indices, crop_size, method, extrapolation_value)


def draw_bounding_boxes(images: Any, boxes: Any, *, colors: Any = None) -> Image:
    """Draw the edges of boxes, one pixel wide; see `tfrkit.images.boxes`.

    Args:
        images: as there.
        boxes: as there.
        colors: as there.
    """
    return draw_boxes(images, boxes, colors)


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any = None,
    seed2: Any = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
) -> Any:
    """Sample a box for a crop; see `tfrkit.images.sample_boxes`. The global seed does not count.

    Args:
        image_size: as there.
        bounding_boxes: as there.
        seed: the first seed of this operation.
        seed2: the second; both None or 0 for random ones.
        min_object_covered: as there.
        aspect_ratio_range: as there.
        area_range: as there.
        max_attempts: as there.
        use_image_if_no_bounding_boxes: as there.

    Returns:
        A named tuple: `begin` and `size` for slicing, and `bboxes` [1, 1, 4].
    """
    note()
    seeds = op_seed(seed) or 0, op_seed(seed2) or 0
    return sample(
        Operation(None, seeds) if any(seeds) else None,
        image_size,
        bounding_boxes,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )
