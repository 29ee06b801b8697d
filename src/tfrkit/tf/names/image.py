"""Images: TensorFlow's names in tf.image, and those of the codecs in tf.io.

`tfrkit.image` has the functions of `tf.image` under the same names; here is what TensorFlow has besides.
"""

from __future__ import annotations

from typing import Final

from tfrkit.image import MODULE_OF
from tfrkit.tf.entry import Absent, Entry, Raw

_SUPPRESSION: Final = Absent(
    "It judges the output of models, which tfrkit does not: use torchvision.ops.nms, or batched_nms for classes."
)
_MEASURES: Final = Absent(
    "It judges the output of models, which tfrkit does not: use scikit-image (skimage.metrics, skimage.filters)."
)


def _aliases(name: str, module: str) -> str:
    """Codecs have the same names in tf.io."""
    is_codec = module.startswith("codecs.") and not name.startswith("adjust_")
    return f"image.{name} io.{name}" if is_codec else f"image.{name}"


_SHARED: Final[dict[str, Entry]] = {
    _aliases(name, module): f"images.{module}:{name}" for name, module in MODULE_OF.items()
}
NAMES: Final[dict[str, Entry]] = _SHARED | {
    "image.ResizeMethod": Raw("images.resize.resize:ResizeMethod"),
    "image.extract_patches": "tf.ops.image.image_patches:extract_patches",
    "image.non_max_suppression image.non_max_suppression_overlaps": _SUPPRESSION,
    "image.non_max_suppression_with_scores image.non_max_suppression_padded": _SUPPRESSION,
    "image.combined_non_max_suppression": _SUPPRESSION,
    "image.psnr image.ssim image.ssim_multiscale": _MEASURES,
    "image.image_gradients image.sobel_edges image.total_variation": _MEASURES,
    "compat.v1.image.transpose_image": "images.flip:transpose",
    "compat.v1.random_crop": "images.random:random_crop",
    "compat.v1.image.extract_image_patches compat.v1.extract_image_patches": (
        "tf.ops.image.image_patches:extract_image_patches"
    ),
    "compat.v1.image.crop_and_resize": "tf.ops.image.image_v1:crop_and_resize",
    "compat.v1.image.draw_bounding_boxes": "tf.ops.image.image_v1:draw_bounding_boxes",
    "compat.v1.image.sample_distorted_bounding_box": "tf.ops.image.image_v1:sample_distorted_bounding_box",
    "compat.v1.image.ResizeMethod": Raw("tf.ops.image.resize_v1:ResizeMethodV1"),
    "compat.v1.image.resize compat.v1.image.resize_images": "tf.ops.image.resize_v1:resize_images",
    "compat.v1.image.resize_area": "tf.ops.image.resize_v1:resize_area",
    "compat.v1.image.resize_bicubic": "tf.ops.image.resize_v1:resize_bicubic",
    "compat.v1.image.resize_bilinear": "tf.ops.image.resize_v1:resize_bilinear",
    "compat.v1.image.resize_image_with_crop_or_pad": "images.resize.resize_fit:resize_with_crop_or_pad",
    "compat.v1.image.resize_image_with_pad": "tf.ops.image.resize_v1:resize_image_with_pad",
    "compat.v1.image.resize_nearest_neighbor": "tf.ops.image.resize_v1:resize_nearest_neighbor",
}
