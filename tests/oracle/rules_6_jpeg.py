"""The statements about TensorFlow's JPEG functions. Data only; each is checked live by the tests marked with its id."""

from __future__ import annotations

SECTION_6_JPEG: dict[str, str] = {
    "6 decode_jpeg pixels": "decode_jpeg gives the same pixels for gray and colour, every subsampling, baseline and progressive files, restart markers, odd sizes and one pixel; EXIF's orientation is ignored.",
    "6 decode_jpeg options": "channels, ratio, fancy_upscaling and dct_method give the same pixels in every combination.",
}
