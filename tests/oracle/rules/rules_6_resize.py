"""The statements about tf.image.resize and its kin.

Data only. Each entry is checked live against TensorFlow by the tests marked with its id.
"""

from __future__ import annotations

SECTION_6_RESIZE: dict[str, str] = {
    "6 resize numbers": "resize gives the same bits for every method, type, number of channels and size, up, down and the same size, with antialias and without; NaN and infinities included.",
    "6 resize subnormal": "Arithmetic takes numbers below the smallest normal float32 for 0; what only copies keeps them.",
    "6 resize photos": "The same on photographs.",
    "6 resize type": "The result is float32, except that nearest keeps the type of the images.",
    "6 resize size": "The size is a pair of integers: in an array numbers of any type, which are cut; in a list integers and bools only, modulo 2**32.",
    "6 resize size errors": "ValueError `'size' must be a 1-D int32 Tensor`, or `'size' must be a 1-D Tensor of 2 elements: new_height, new_width`, or `Dimension -2 must be >= 0`; 0 and -1 are an InvalidArgumentError `output dimensions must be positive`.",
    "6 resize images": "Images are 3-D or 4-D, else ValueError `'images' must have either 3 or 4 dimensions.`; lists are converted.",
    "6 resize empty": "A batch of none is good; no channels are `image must have at least one channel`, no height or width `input image must be of non-zero size`, in an order that depends on the method.",
    "6 resize types": "Other types are `Value for attr 'T' of bool is not in the list of allowed values: ...`.",
    "6 resize method": "An unknown method is a ValueError `Resize method is not implemented: foo`; antialias must be a bool where it matters.",
    "6 resize preserve_aspect_ratio": "With preserve_aspect_ratio the factor is the smaller one, in float32, and both sides are rounded half to even.",
    "6 resize too large": "A size that memory cannot hold is a ResourceExhaustedError `OOM when allocating tensor with shape[...]`, one beyond int64 an InvalidArgumentError `Encountered overflow when multiplying`.",
    "6 resize v1": "compat.v1.image.resize (resize_images) takes methods 0 to 3 or their names and align_corners; images that have the size already are given back as they are, whatever the method.",
    "6 resize v1 parts": "compat.v1.image.resize_bilinear, resize_nearest_neighbor, resize_bicubic and resize_area take batches, with align_corners and (but for area) half_pixel_centers, not both.",
    "6 resize v1 errors": "Of these parts, in this order: attributes that are no bool, a size that is no tensor of int32, other types, `If half_pixel_centers is True, align_corners must be False.`, `input must be 4-dimensional[3,4,1]`, empty images, `shape_t must be 1-dimensional[1,2]`, `shape_t must have two elements[3]`, `output dimensions must be positive`.",
    "6 resize_with_crop_or_pad": "resize_with_crop_or_pad cuts and pads in the middle, of any type; of an odd number the smaller half goes first.",
    "6 resize_with_pad": "resize_with_pad resizes by the larger ratio in float32, rounds down, and puts zeros round the image; TensorFlow 1's uses its own resizing.",
    "6 resize fit errors": "Both refuse sizes that are not positive, `target_width must be > 0.` first, other ranks, empty images and fractions.",
    "6 resize_v1 in a map": "In a map compat.v1.image.resize to the image's own size gives the image itself only if its size is known when the graph is made, which that of decoded images is not, nor any with preserve_aspect_ratio; resize_image_with_pad always resizes there.",
}
