"""decode_jpeg, decode_and_crop_jpeg, extract_jpeg_shape and is_jpeg, with TensorFlow's arguments and errors.

How JPEG data becomes pixels is in `jpeg_decode`, how pixels become JPEG data in `jpeg_encode`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.codecs.file_kinds import looks_like
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.foreign_image import decode_foreign
from tfrkit.images.codecs.image_format import JPEG_MAGIC, image_bytes
from tfrkit.images.codecs.jpeg.jpeg_crop import decode_jpeg_part
from tfrkit.images.codecs.jpeg.jpeg_decode import Pixels, decode_jpeg_data
from tfrkit.images.codecs.jpeg.jpeg_header import Frame, read_frame
from tfrkit.images.codecs.jpeg.jpeg_options import JpegOptions, jpeg_options
from tfrkit.model.tensor_types import tensor_type
from tfrkit.values.strings import as_strings
from tfrkit.values.to_array import to_array

__all__ = ["decode_and_crop_jpeg", "decode_jpeg", "extract_jpeg_shape", "is_jpeg"]


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
) -> Pixels:
    """Decode a JPEG image to the same pixels as TensorFlow.

    Args:
        contents: the file, one string. As in TensorFlow, PNG, GIF and WebP are decoded too.
        channels: 0 as stored, 1 gray, 3 colour.
        ratio: decode at 1/1, 1/2, 1/4 or 1/8 of the size, which is quicker.
        fancy_upscaling: smooth the colours of neighbouring pixels that share one sample.
        try_recover_truncated: decode what is there of a file that is cut, instead of raising; the codec fills the rest.
        acceptable_fraction: ignored; a file that is cut raises, however many of its rows are there.
        dct_method: "INTEGER_FAST" (the default) or "INTEGER_ACCURATE".

    Returns:
        Pixels of shape (height, width, channels), uint8.

    Raises:
        InvalidArgumentError: the data is damaged or not an image, or an argument is wrong.
        UnimplementedError: TensorFlow decodes it, and the codec cannot.
        MissingExtraError: the extra `images` is not installed.
    """
    options = jpeg_options(
        channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method
    )
    data = image_bytes(contents)
    if data[:3] != JPEG_MAGIC:
        return decode_foreign("DecodeJpeg", data, options.channels)
    return decode_jpeg_data(bytes(data), _without_alpha(options))


def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
) -> Pixels:
    """Decode a part of a JPEG image.

    The pixels are those of the whole image, except for a column at each side: there TensorFlow does not smooth colours
    with pixels outside the part.

    Args:
        contents: the file, one string.
        crop_window: top, left, height and width of the part; in pixels at this ratio.
        channels: see `decode_jpeg` for this and the other arguments.
        ratio: of the size.
        fancy_upscaling: smooth colours.
        try_recover_truncated: decode a file that is cut.
        acceptable_fraction: ignored.
        dct_method: the transform.

    Raises:
        InvalidArgumentError: the window is not within the image; else as `decode_jpeg`.
    """
    options = jpeg_options(
        channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method
    )
    window = _int32(crop_window)
    data = image_bytes(contents)
    if data[:3] != JPEG_MAGIC:
        return decode_foreign("DecodeAndCropJpeg", data, options.channels)
    options = _without_alpha(options)
    shape = ",".join(map(str, window.shape))
    if window.ndim != 1:
        raise InvalidArgumentError(f"crop_window must be 1-D, got shape [{shape}]")
    if len(window) != 4:
        raise InvalidArgumentError(f"crop_size must have four elements [{shape}]: y, x, height, width")
    top, left, height, width = window.tolist()
    return decode_jpeg_part(bytes(data), options, (top, left, height, width))


def extract_jpeg_shape(contents: Any, output_type: Any = "int32") -> npt.NDArray[Any]:
    """Read the size of a JPEG image and decode nothing.

    Args:
        contents: the file, one string; it must be whole up to the first scan.
        output_type: int32 or int64.

    Returns:
        Height, width and number of components.

    Raises:
        InvalidArgumentError: it is not a JPEG file that TensorFlow decodes.
    """
    wanted = tensor_type(output_type if output_type is not None else "int32", "output_type")
    if wanted.op_name not in ("int32", "int64"):
        raise InvalidArgumentError(
            f"Value for attr 'output_type' of {wanted.op_name} is not in the list of allowed values: int32, int64"
        )
    column = as_strings(contents)
    if column.shape != ():
        raise InvalidArgumentError(f"contents must be scalar, got shape [{','.join(map(str, column.shape))}]")
    data = bytes(column.reshape((1,))[0])
    frame = read_frame(data) if data[:2] == JPEG_MAGIC[:2] else None
    if frame is None or not frame.decodable or frame.scan[0] < 0 or not frame.height * frame.width:
        raise InvalidArgumentError(f"Invalid JPEG data, size {len(data)}: {_why_invalid(data, frame)}")
    return np.array([frame.height, frame.width, frame.channels], wanted.numpy())


def _why_invalid(data: bytes, frame: Frame | None) -> str:
    if data[:2] != JPEG_MAGIC[:2]:
        return f"it looks like {looks_like(data[:1024], len(data))}"
    if frame is not None and not frame.decodable:
        return f"its coding (marker 0xff{frame.marker:02x}, {frame.precision} bits) is not one that TensorFlow decodes"
    return "it is cut or damaged before its pixels begin"


def is_jpeg(contents: Any) -> Any:
    r"""Say whether strings begin like JPEG files.

    Args:
        contents: one string, or any number of them.

    Returns:
        A bool, or an array of bools of the same shape.

    >>> is_jpeg([b"\xff\xd8\xff\xe0", b"GIF8"]).tolist()
    [True, False]
    """
    column = as_strings(contents)
    begin = np.array([entry[:3] == JPEG_MAGIC for entry in column.reshape((-1,))], bool)
    return begin.reshape(column.shape)[()]


def _without_alpha(options: JpegOptions) -> JpegOptions:
    if options.channels == 4:
        raise InvalidArgumentError("JPEG does not support 4 channels: pass channels=0, 1 or 3")
    return options


def _int32(values: Any) -> npt.NDArray[np.int32]:
    """Make whole numbers of a window; those that do not fit wrap round, as in TensorFlow."""
    array = to_array(values)
    if not hasattr(values, "__array__") and array.dtype.kind not in "bi" and array.size:
        raise TypeError(f"Cannot convert {values!r:.100} to EagerTensor of dtype int32")
    return array.astype(np.int32)
