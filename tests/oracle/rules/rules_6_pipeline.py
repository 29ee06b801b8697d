"""The statements about images in pipelines.

Data only. Each entry is checked live against TensorFlow by the tests marked with its id.
"""

from __future__ import annotations

SECTION_6_PIPELINE: dict[str, str] = {
    "6 decode_image in pipelines": "Dataset.decode_image gives the bits of a map with decode_image and resize, for JPEG, PNG, BMP and the first frame of a GIF, with every method of resize, before and after batch.",
    "6 broken images in pipelines": "A broken image fails with the text that the map fails with, and iteration continues after it; a batch that it is in is lost.",
    "6 photo pipelines": "The seed's pipeline of photos (parse_single_example, decode_jpeg, resize, / 255, cast and stack, shuffle, repeat, batch, prefetch) gives the same bits in the same order through tfrkit.tf.",
}
