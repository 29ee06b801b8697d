"""The statements about TensorFlow's image functions that are neither codecs nor resizing, and about its random numbers.

Data only; each is checked live by the tests marked with its id.
"""

from __future__ import annotations

SECTION_6_IMAGE: dict[str, str] = {
    "6 flips": "flip_left_right, flip_up_down, rot90 (any whole k, modulo 4) and transpose move the pixels of images and batches of every type.",
    "6 image shapes": "Images have 3 dimensions, batches 4, and nothing but the batch may be empty; each function has its own words for the refusal.",
    "6 central_crop": "central_crop leaves int((size - size * fraction) / 2) out on each side, computed in the type of the fraction; 1 gives any tensor back; other fractions are a ValueError.",
    "6 bounding boxes": "crop_to_bounding_box and pad_to_bounding_box check offsets and sizes in a fixed order, each with its own ValueError.",
    "6 rgb_to_grayscale": "rgb_to_grayscale is 0.2989 r + 0.587 g + 0.114 b, added in this order in float32 without fused multiplication, and converted back with the range of the type; images of integers and floats.",
    "6 grayscale_to_rgb": "grayscale_to_rgb repeats the one channel of a tensor of two or more dimensions.",
    "6 hsv": "rgb_to_hsv and hsv_to_rgb are bit-exact for every float type; integers are an InvalidArgumentError, other than three channels a FailedPreconditionError.",
    "6 yiq and yuv": "rgb_to_yiq, yiq_to_rgb, rgb_to_yuv and yuv_to_rgb are bit-exact in float32 (fused multiply-adds), float16 and bfloat16 where TensorFlow runs with AVX-512, and elsewhere, as in float64, within the error of its own variants: 6 roundings of the sum of the absolute products; integers are a TypeError.",
    "6 adjust_brightness": "adjust_brightness adds in float32 (float16 in float16) and saturates; delta may be an array.",
    "6 adjust_contrast": "adjust_contrast is (x - mean) * factor + mean with the mean of each channel, whose pixels are added by halves: bit-exact.",
    "6 adjust_saturation": "adjust_saturation is bit-exact.",
    "6 adjust_hue": "adjust_hue is bit-exact; delta must be in [-1, 1].",
    "6 colours of half": "TensorFlow has no kernel for contrast, saturation and hue of float16 on a CPU; tfrkit computes them in float32.",
    "6 changes of colours": "Changes of colours refuse other shapes, types and arguments with TensorFlow's errors.",
    "6 adjust_gamma": "adjust_gamma is exact for uint8 and uint16, and within 3e-7 of the largest value in float32, whose powers TensorFlow does not round correctly.",
    "6 convert_image_dtype": "convert_image_dtype scales between any two types of integers and floats: integer to float times 1/max in that float type, float to integer truncated from times (max + 0.5), integers by the quotient of their ranges.",
    "6 convert_image_dtype saturate": "saturate=True clips first; TensorFlow has no such clipping of uint32 and uint64, and spoils int64 to uint64; tfrkit clips these too.",
    "6 floats out of an integer's range": "Floats that do not fit a small integer type saturate in groups of 32 (float32), 16 (float64, float16) or 8 (bfloat16) elements and lose their high bits in the rest of the tensor; others become the smallest integer.",
    "6 per_image_standardization": "per_image_standardization is (x - mean) / max(stddev, 1/sqrt(n)) in float32, within 2e-6 of the largest value and mean / stddev together: the sums are TensorFlow's in float32, tfrkit's in float64.",
    "6 stateless numbers": "Stateless uniform numbers are Philox's of the scrambled seeds: floats from 23, 52, 10 or 7 bits, integers modulo the range or in full; split and fold_in are made of them.",
    "6 stateless arguments": "Shapes, seeds, bounds, types and algorithms that random operations refuse.",
    "6 numbers with state": "An operation with state draws from Philox(seed, seed2); calls with a seed of their own continue where the last of the same operation, types and seeds ended, 256 blocks for each number; the global seed begins all anew and gives seeds to calls without.",
    "6 normal numbers": "Normal numbers are Box and Muller's pairs, truncated ones are drawn in groups with a place of their own in the stream; within 2e-6 of the largest in float32 and 1e-15 in float64, since sines and logarithms are rounded differently.",
    "6 shuffled rows": "shuffle exchanges each row with one after it or itself, numbers of 32 bits modulo what is left; scalars and single rows draw a seed all the same.",
    "6 random images": "random_flip_*, random_crop, random_brightness, random_contrast, random_saturation and random_hue decide as TensorFlow does after the same set_seed and calls; operations with equal seeds share a stream.",
    "6 stateless random images": "stateless_random_* decide as TensorFlow does for every pair of seeds, bit for bit.",
    "6 random flips": "An image is flipped if a number is below 0.5; images of a batch if it rounds to 1, as a sum of products.",
    "6 random_crop": "random_crop takes int32 numbers modulo (size left + 1) as offsets, of tensors of any rank.",
    "6 random arguments": "Ranges that random changes refuse, with TensorFlow's texts.",
    "6 random operations in map": "In the function of a map every random operation has a stream of its own; those without a seed have their number in the function as the second one, with the global seed of when the dataset was made. An iterator begins all streams anew, a repeat does not.",
    "6 crop_and_resize": "crop_and_resize samples boxes of images bilinearly or by the nearest pixel in float32, turned round and beyond the image too: bit-exact.",
    "6 draw_bounding_boxes": "draw_bounding_boxes paints the four edges of each box that are inside, in given or ten default colours; boxes that are turned round or outside are left out.",
    "6 sample_distorted_bounding_box": "sample_distorted_bounding_box and its stateless form give the same boxes for the same seeds; those with state pass over one block for each attempt.",
    "6 random_jpeg_quality": "random_jpeg_quality and its stateless form draw an int32 quality, and encode and decode with it.",
    "6 extract_patches": "extract_patches lays the pixels of every window side by side, row by row; zeros round the image with SAME.",
    "6 arrays that are no tensors": "Images of rgb_to_hsv, hsv_to_rgb and draw_bounding_boxes that are no tensors become float32; a tensor as the size of resize must be of int32, an array need not.",
    "6 image functions of TensorFlow 1": "crop_and_resize, draw_bounding_boxes, sample_distorted_bounding_box (with both seeds) and extract_image_patches have the arguments of TensorFlow 1 in compat.v1.",
    "6 arguments of image functions": "Every function of tf.image, and of images in tf.io, has TensorFlow's arguments: names, order and defaults, also in compat.v1.",
    "6 tensors as arguments": "Numbers, sizes, shapes and seeds of image functions and random operations may be tensors, types TensorFlow's objects.",
    "6 generator": "tf.random.Generator has three words of state, of which a whole seed fills the counter first; every call passes over 256 blocks for each number; split and make_seeds draw keys.",
}
