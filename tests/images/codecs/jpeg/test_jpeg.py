"""JPEG functions by themselves: what they refuse and why, limits, threads, memory."""

from __future__ import annotations

import struct
import sys
import threading
import tracemalloc

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.jpeg_files import jpeg
from tests.oracle.support.jpeg_writer import Layout, write
from tfrkit.images.codecs.jpeg.jpeg_header import Frame, read_frame
from tfrkit.images.codecs.jpeg.jpeg_ratio import enlarged, reduced, spread


def claiming(contents: bytes, height: int, width: int) -> bytes:
    """The file with another size in its header."""
    at = contents.index(b"\xff\xc0") + 5
    return contents[:at] + struct.pack(">HH", height, width) + contents[at + 4 :]


def test_pixels_of_a_gray_block():
    contents = tfr.image.encode_jpeg(np.full((8, 8, 1), 77, np.uint8))
    assert np.array_equal(tfr.image.decode_jpeg(contents), np.full((8, 8, 1), 77))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda data: np.array(data, object)])
def test_kinds_of_contents(kind):
    contents = jpeg(9, 7)
    assert np.array_equal(tfr.image.decode_jpeg(kind(contents)), tfr.image.decode_jpeg(contents))


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (jpeg(9, 7)[:30], "The file ends before it says the size of the image."),
        (jpeg(9, 7)[:-30], r"The file is cut \(.*\). try_recover_truncated=True decodes what is there of it"),
        (
            write(Layout(9, 7, precision=12)),
            r"The coding \(marker 0xffc0, 12 bits\) is not one that TensorFlow decodes",
        ),
        (write(Layout(9, 7, ((1, 1), (1, 1)))), "An image of 2 components cannot be decoded to 2 channels"),
        (
            claiming(jpeg(9, 7), 65_500, 65_500),
            "says that it has 65500 x 65500 pixels of 3 components; the limit is",
        ),
        (claiming(jpeg(9, 7), 0, 8), "The image says that it has 0 x 8 pixels"),
    ],
    ids=["header", "cut", "12 bits", "components", "claim", "empty"],
)
def test_errors_say_why(contents, reason):
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=f"Invalid JPEG data or crop window. .*{reason}"
    ):
        tfr.image.decode_jpeg(contents)


def test_window_outside_is_named():
    with pytest.raises(ValueError, match=r"The crop window \[0, 0, 10, 7\] is not within 9 x 7 pixels."):
        tfr.image.decode_and_crop_jpeg(jpeg(9, 7), [0, 0, 10, 7])
    with pytest.raises(ValueError, match=r"The crop window \[2147483647, 0, 2147483647, 1\] is not within"):
        tfr.image.decode_and_crop_jpeg(jpeg(9, 7), [2**31 - 1, 0, 2**31 - 1, 1])


@pytest.mark.parametrize("height", [65_500, 5_000])
def test_claimed_sizes_take_no_memory(height):
    tfr.image.decode_jpeg(jpeg(8, 8))
    contents = claiming(jpeg(8, 8), height, 20_000)[:-4]
    tracemalloc.start()
    try:
        with pytest.raises(tfr.errors.InvalidArgumentError):
            tfr.image.decode_jpeg(contents)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("progressive", [False, True])
def test_cut_file_is_recovered_on_request_only(progressive):
    contents = jpeg(120, 33, progressive=progressive)
    cut = contents[: len(contents) * 2 // 3]
    for options in ({}, {"acceptable_fraction": 0.1}):
        with pytest.raises(tfr.errors.InvalidArgumentError, match=r"The file is cut \(Premature end of JPEG"):
            tfr.image.decode_jpeg(cut, **options)
    found, whole = tfr.image.decode_jpeg(cut, try_recover_truncated=True), tfr.image.decode_jpeg(contents)
    assert found.shape == whole.shape
    assert progressive or np.array_equal(found[:32], whole[:32])
    part = tfr.image.decode_and_crop_jpeg(cut, [0, 0, 20, 20], try_recover_truncated=True)
    assert part.shape == (20, 20, 3)


def test_damage_that_is_decoded_is_logged(caplog):
    contents = jpeg(40, 33)
    at = contents.index(b"\xff\xda") + 60
    found = tfr.image.decode_jpeg(contents[:at] + b"\xff\xd9" + contents[at:])
    assert found.shape == (40, 33, 3)
    (record,) = caplog.records
    assert record.getMessage() == (
        "Damaged JPEG data, some pixels may be wrong. "
        "The codec says: Corrupt JPEG data: premature end of data segment."
    )


def test_what_the_codec_cannot_do_is_refused():
    odd = write(Layout(40, 33, ((2, 2), (2, 1), (1, 1))))
    with pytest.raises(
        NotImplementedError, match=r"samplings \[\(2, 2\), \(2, 1\), \(1, 1\)\] with this dct_method"
    ):
        tfr.image.decode_jpeg(odd)
    assert tfr.image.decode_jpeg(odd, dct_method="INTEGER_ACCURATE").shape == (40, 33, 3)


def test_threads_decode_the_same():
    files = [jpeg(60, 70, seed=seed, progressive=seed % 2 == 0) for seed in range(8)]
    expected = [tfr.image.decode_jpeg(file) for file in files]
    wrong: list[int] = []

    def work() -> None:
        for _ in range(10):
            for number, file in enumerate(files):
                if not np.array_equal(tfr.image.decode_jpeg(file), expected[number]):
                    wrong.append(number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_result_is_an_array_of_its_own():
    file = jpeg(20, 30)
    first, second = tfr.image.decode_jpeg(file), tfr.image.decode_jpeg(file)
    first[:] = 0
    assert second.any()
    part = tfr.image.decode_and_crop_jpeg(file, [0, 0, 3, 3])
    assert part.flags.owndata
    assert sys.getsizeof(part) < 300


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(
        ImportError, match=r"encode_jpeg needs the package pillow.*pip install 'tfrkit\[images\]'"
    ):
        tfr.image.encode_jpeg(np.zeros((3, 3, 1), np.uint8))


def test_encoded_noise_of_any_size_comes_back():
    noise = np.random.default_rng(0).integers(0, 256, (400, 300, 3), np.uint8)
    file = tfr.image.encode_jpeg(noise, quality=100, progressive=True, chroma_downsampling=False)
    assert np.abs(tfr.image.decode_jpeg(file, dct_method="INTEGER_ACCURATE").astype(int) - noise).mean() < 2


class TestFrame:
    def test_of_a_file(self):
        frame = read_frame(write(Layout(33, 65, ((2, 1), (1, 1), (1, 1)), restart=3)))
        assert frame is not None
        assert (frame.height, frame.width, frame.channels, frame.precision) == (33, 65, 3, 8)
        assert [(part.id, part.across, part.down) for part in frame.components] == [
            (1, 2, 1),
            (2, 1, 1),
            (3, 1, 1),
        ]
        assert (frame.has_end, frame.largest) == (True, (2, 1))

    @pytest.mark.parametrize(
        "data", [b"", b"\xff\xd8\xff", b"\xff\xd8\xff\xda" + bytes(20), bytes(100)], ids=str
    )
    def test_of_none(self, data):
        assert read_frame(data) is None

    def test_colours(self):
        def made(**options: object) -> Frame:
            frame = read_frame(write(Layout(8, 8, ((1, 1),) * 3, **options)))  # type: ignore[arg-type]
            assert frame is not None
            return frame

        adobe = b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0"
        assert made(before=adobe + b"\0").stored_rgb
        assert not made(before=adobe + b"\1").stored_rgb
        assert made(names=tuple(b"RGB")).stored_rgb
        assert made().adobe_transform is None


class TestRatio:
    @pytest.mark.parametrize("ratio", [2, 4, 8])
    def test_enlarged_size_has_one_ratio(self, ratio):
        for height in range(1, 20):
            for width in range(1, 20):
                frame = read_frame(write(Layout(height, width, ((2, 1), (1, 1), (1, 1)), density=0)))
                assert frame is not None
                data, *size = enlarged(frame, ratio)
                fitting = [
                    eighths
                    for eighths in range(1, 17)
                    if [-(-side * eighths // 8) for side in size] == [reduced(side, ratio) for side in size]
                ]
                assert fitting == [8 // ratio]
                assert (data == frame.data) == (size == [height, width])

    def test_spread(self):
        frame = read_frame(write(Layout(9, 9, ((4, 2), (1, 1), (2, 2)))))
        assert frame is not None
        assert spread(frame, 1) == [(1, 1), (4, 2), (2, 1)]
        assert spread(frame, 2) == [(1, 1), (2, 1), (2, 1)]
