"""The statements about TensorFlow's image formats but JPEG. Data only; each is checked live by the tests marked with it."""

from __future__ import annotations

SECTION_6_CODECS: dict[str, str] = {
    # PNG
    "6 decode_png types": "decode_png gives the same for every colour type, depth, filter, interlaced or not, with channels 0, 1, 3 and 4 as uint8 and uint16: 16 bits become 8 by their upper half, 8 become 16 times 257, and alpha that is added to samples of fewer than 8 bits is their largest number (1, 3 or 15), not 255.",
    "6 decode_png transparency": "tRNS becomes alpha with channels=4, and with channels=0 only in palettes; one of a wrong size is ignored.",
    "6 decode_png gray": "Gray of colours is (9797 R + 19234 G + 3737 B) / 32768, cut off in 8 bits and rounded in 16. If gAMA or sRGB says that the image is not linear, it is made in linear light; colours themselves are never changed by gamma.",
    "6 decode_png sRGB profile": "An ICC profile that libpng knows for sRGB counts as an sRGB chunk, whatever its checksum.",
    "6 decode_png chunks": "Chunks that are damaged, missing, repeated, out of place or unknown are errors or ignored as in libpng: `Invalid PNG. Failed to initialize decoder.` before the pixels begin, `Invalid PNG data, size N` after.",
    "6 decode_png header": "Sides of more than 1,000,000 are refused, 2^29 pixels are `PNG size too large for int: W by H`.",
    "6 decode_png pixels": "Deflate streams that are damaged, too short, or without their end are errors; superfluous data is not.",
    "6 decode_png truncated": "A file that is cut anywhere is an error, also in its last four bytes.",
    "6 decode_png damaged": "Files with random damage give the same image or the same error.",
    "6 decode_png files": "Files that Pillow and others wrote give the same.",
    "6 decode_png arguments": "channels may be None, 0, 1, 3 or 4, dtype uint8 or uint16; contents is one string.",
    "6 encode_png lossless": "Each decodes what the other encodes, 8 and 16 bits, 1 to 4 channels, at every level.",
    "6 encode_png batches": "Dimensions before the last three are a batch, and the result has them as its shape.",
    "6 encode_png errors": "Other ranks, types, channels and levels are InvalidArgumentError; an image without pixels, or with a side of more than 1,000,000, is InternalError `PNG encoding failed at the following flattened batch indices: 0`.",
    # BMP
    "6 decode_bmp pixels": "decode_bmp gives images of 8 bits as one channel, of 24 and 32 as RGB and RGBA, bottom-up and top-down; palettes are not looked at, added alpha is 255.",
    "6 decode_bmp errors": "The header is taken by its numbers, and the size of the file must fit exactly; the texts are the same.",
    # GIF
    "6 decode_gif frames": "Still images, and frames of animations without disposal, give the same if the first covers the canvas; what is transparent shows the frame before, or black.",
    "6 decode_gif animations": "Other frames are put together by Pillow, in the size of the canvas and with disposal; TensorFlow gives them the size of the largest frame and does not look at disposal. First frames that cover the canvas are the same.",
    "6 decode_gif codes": "LZW codes of every size, and tables that are full, give the same.",
    "6 decode_gif damaged": "Damage is `Invalid GIF data (size N), ...`; TensorFlow returns the frames before the first damage if there are any.",
    "6 decode_gif files": "Still images and first frames that Pillow wrote give the same.",
    # any format
    "6 decode_image formats": "decode_image gives the same for JPEG, PNG, GIF, BMP and WebP: uint16 is the value times 256 (PNG: 257), float32 the value times float32(1/255) (PNG: 16 bits times float32(1/65535)); GIF and WebP have four dimensions unless expand_animations is False; WebP has uint8 only.",
    "6 decode_image other types": "Other types are converted from uint16 by convert_image_dtype.",
    "6 decode_image arguments": "expand_animations must be a bool, dtype a type, contents one string.",
    "6 codec names": "decode_png, decode_gif, decode_bmp, decode_webp, decode_image and encode_png are in tf.io, tf.image and the same of compat.v1.",
    "6 decoders sniff": "Every decoder looks at the first bytes: decode_png, decode_gif, decode_jpeg and decode_webp decode PNG, JPEG and WebP, the first three GIF too (decode_png and decode_jpeg one frame only); BMP only decode_bmp and decode_image.",
    "6 decode_webp pixels": "WebP images, lossy and lossless, with and without alpha, give the same pixels; channels must be what the image has.",
    "6 decode_webp animated": "Animations with alpha give the same frames.",
    "6 decode_webp damaged": "A file that is cut anywhere is the same error.",
    "6 decode_webp without alpha": "TensorFlow writes beyond its memory for animations without alpha; tfrkit gives RGB, which is the shape that it allocates.",
    "6 JPEG XL": "TensorFlow decodes JPEG XL; tfrkit raises UnimplementedError.",
}
