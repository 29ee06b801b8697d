"""decode_image in pipelines: pixels, order, batches, types, and what is known of the elements."""

from __future__ import annotations

import io
import threading
import time
import tracemalloc

import numpy as np
import pytest
from PIL import Image

import tfrkit as tfr
from tests.data.support.image_files import SPEC, image_record, jpeg, png, write_images
from tfrkit.data.batch.batch import FusedBatchNode
from tfrkit.data.engine.rewrites import optimise
from tfrkit.images.image_maker import ImageMaker


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return write_images(tmp_path_factory.mktemp("photos") / "photos.tfrecord", 23)


@pytest.fixture(scope="module")
def parsed(photos):
    return tfr.TFRecordDataset(photos).parse(SPEC)


def content(number):
    return tfr.parse_single_example(image_record(number), SPEC)["image"]


def decoded(number, channels=3):
    return tfr.image.decode_image(content(number), channels, expand_animations=False)


def resized(number, size, method="bilinear"):
    return tfr.image.resize(decoded(number), size, method)


def test_images_come_in_order_and_in_their_own_sizes(parsed):
    found = list(parsed.decode_image("image"))
    assert [int(each["label"]) for each in found] == list(range(23))
    for number, each in enumerate(found):
        assert each["image"].dtype == np.uint8
        np.testing.assert_array_equal(each["image"], decoded(number))


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area", "lanczos3"])
def test_a_size_is_that_of_resize(parsed, method):
    for number, each in enumerate(parsed.decode_image("image", size=(9, 12), method=method)):
        assert each["image"].dtype == np.float32
        np.testing.assert_array_equal(each["image"], resized(number, (9, 12), method))


@pytest.mark.parametrize("channels", [0, 1, 3])
def test_channels(parsed, channels):
    for number, each in enumerate(parsed.decode_image("image", channels=channels)):
        np.testing.assert_array_equal(each["image"], decoded(number, channels))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"dtype": "uint8"}, {"scaled": True}, {"channels": 1}])
def test_before_and_behind_a_batch_it_is_the_same(parsed, threads, options):
    limited = tfr.Options(threads=threads)
    before = parsed.decode_image("image", size=(8, 10), **options).batch(5).with_options(limited)
    behind = parsed.batch(5).decode_image("image", size=(8, 10), **options).with_options(limited)
    alone = list(parsed.decode_image("image", size=(8, 10), **options).with_options(limited))
    for first, second, begin in zip(before, behind, range(0, 23, 5), strict=True):
        rows = np.stack([each["image"] for each in alone[begin : begin + 5]])
        np.testing.assert_array_equal(first["image"], rows)
        np.testing.assert_array_equal(second["image"], rows)
        assert first["image"].dtype == second["image"].dtype == rows.dtype
        np.testing.assert_array_equal(first["label"], second["label"])


def test_a_batch_that_follows_is_decoded_into(parsed, monkeypatch):
    made = []
    original = ImageMaker.make_into
    monkeypatch.setattr(
        ImageMaker,
        "make_into",
        lambda self, content, out: made.append(out.base) or original(self, content, out),
    )
    batch = next(
        iter(parsed.decode_image("image", size=(8, 10)).batch(4).with_options(tfr.Options(threads=1)))
    )
    assert any(base is batch["image"].base or base is batch["image"] for base in made)


def test_uint8_rounds_to_the_nearest_and_halves_to_even_ones(parsed):
    for number, each in enumerate(parsed.decode_image("image", size=(9, 12), dtype="uint8")):
        exact = resized(number, (9, 12))
        np.testing.assert_array_equal(each["image"], np.clip(np.rint(exact), 0, 255).astype(np.uint8))


def test_a_type_without_a_size_keeps_the_numbers(parsed):
    for number, each in enumerate(parsed.decode_image("image", dtype="float32").take(4)):
        assert each["image"].dtype == np.float32
        np.testing.assert_array_equal(each["image"], decoded(number).astype(np.float32))


def test_unequal_sizes_do_not_make_a_batch(parsed):
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"^Cannot batch tensors with different shapes in comp"
    ):
        next(iter(parsed.decode_image("image").batch(5)))
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"^Cannot batch tensors with different shapes in comp"
    ):
        next(iter(parsed.batch(5).decode_image("image")))
    alike = parsed.filter(lambda each: each["label"] % 12 == 0)
    assert next(iter(alike.decode_image("image").batch(2)))["image"].shape == (2, 20, 30, 3)


def test_it_stands_behind_a_shuffle_a_map_and_before_another_batch(parsed):
    def shown(ds):
        return [(int(label), image.tobytes()) for batch in ds for label, image in zip(*batch, strict=True)]

    first = parsed.shuffle(7, seed=3).decode_image("image", size=(6, 6)).batch(4)
    second = parsed.decode_image("image", size=(6, 6)).shuffle(7, seed=3).batch(4)
    third = parsed.map(lambda each: each).shuffle(7, seed=3).decode_image("image", size=(6, 6)).batch(4)
    wanted = shown(first.map(lambda each: (each["label"], each["image"])))
    assert [label for label, _ in wanted] != list(range(23))
    for other in (second, third):
        assert shown(other.map(lambda each: (each["label"], each["image"]))) == wanted


def test_several_images_of_one_feature():
    contents = np.array([[jpeg(0), png(0)], [jpeg(12), png(12)]], object)
    ds = tfr.Dataset.from_tensor_slices({"image": contents}).decode_image("image", size=(5, 7))
    assert [each["image"].shape for each in ds] == [(2, 5, 7, 3), (2, 5, 7, 3)]
    assert next(iter(ds.batch(2)))["image"].shape == (2, 2, 5, 7, 3)


def test_the_first_frame_of_an_animation_counts():
    frames = [Image.new("RGB", (6, 4), color) for color in ("red", "blue")]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    ds = tfr.Dataset.from_tensors({"image": file.getvalue()}).decode_image("image")
    image = ds.get_single_element()["image"]
    assert image.shape == (4, 6, 3)
    assert image[0, 0].tolist() == [255, 0, 0] or image[0, 0].tolist() == [254, 0, 0]


@pytest.mark.parametrize(
    "options", [{"progressive": True}, {"subsampling": 0}, {"restart_marker_rows": 1}, {"quality": 1}]
)
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_unusual_files_are_decoded_as_decode_jpeg_does(options, mode):
    image = Image.fromarray((np.arange(60 * 80 * 3) % 251).astype(np.uint8).reshape(60, 80, 3)).convert(mode)
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    source = tfr.Dataset.from_tensors({"image": file.getvalue()})
    exact = tfr.image.decode_jpeg(file.getvalue(), 3)
    np.testing.assert_array_equal(source.decode_image("image").get_single_element()["image"], exact)
    found = source.decode_image("image", size=(20, 30)).get_single_element()["image"]
    np.testing.assert_array_equal(found, tfr.image.resize(exact, (20, 30)))


def test_what_is_known_of_the_elements(parsed):
    def spec(ds):
        found = ds.element_spec["image"]
        return found.shape, found.dtype.name

    assert spec(parsed.decode_image("image")) == ((None, None, 3), "uint8")
    assert spec(parsed.decode_image("image", channels=0)) == ((None, None, None), "uint8")
    assert spec(parsed.decode_image("image", size=[4, 5])) == ((4, 5, 3), "float32")
    assert spec(parsed.decode_image("image", size=(4, 5), dtype="uint8", channels=1)) == ((4, 5, 1), "uint8")
    assert spec(parsed.batch(2).decode_image("image", size=(4, 5))) == ((None, 4, 5, 3), "float32")
    assert spec(parsed.decode_image("image").resize("image", (4, 5))) == (
        (4, 5, 3),
        "float32",
    )
    assert spec(parsed.decode_image("image").normalize("image")) == ((None, None, 3), "float32")


def test_stages_round_a_batch_become_one(parsed):
    ds = parsed.decode_image("image", size=(4, 5)).normalize("image").batch(2)
    plan = optimise(ds.node)
    assert isinstance(plan, FusedBatchNode)
    assert plan.label == (
        "parse(2 features) + decode_image('image', size=(4, 5)) + normalize('image') + batch(2)"
    )


def test_normalize_is_the_same_apart_and_together(parsed):
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    together = parsed.decode_image("image", size=(6, 7)).normalize("image", mean, std).batch(4)
    apart = parsed.decode_image("image", size=(6, 7)).batch(4).normalize("image", mean, std)
    for number, (one, other) in enumerate(zip(together, apart, strict=True)):
        scaled = np.stack(
            [resized(4 * number + row, (6, 7)) for row in range(len(one["image"]))]
        ) / np.float32(255)
        np.testing.assert_array_equal(one["image"], (scaled - np.float32(mean)) / np.float32(std))
        np.testing.assert_array_equal(one["image"], other["image"])
    plain = parsed.decode_image("image", size=(6, 7)).normalize("image", scale=7).batch(4)
    exact = np.stack([resized(row, (6, 7)) for row in range(4)])
    np.testing.assert_array_equal(next(iter(plain))["image"], exact / np.float32(7))
    wrong = parsed.decode_image("image", size=(6, 7)).normalize("image", mean=[1, 2])
    with pytest.raises(ValueError, match="broadcast"):
        next(iter(wrong.batch(2)))


def test_resize_before_and_behind_a_batch(parsed):
    alike = parsed.filter(lambda each: each["label"] % 12 == 0).decode_image("image")
    one = list(alike.resize("image", (5, 6)).batch(2))
    other = list(alike.batch(2).resize("image", (5, 6)))
    np.testing.assert_array_equal(one[0]["image"], other[0]["image"])
    whole = alike.resize("image", (5, 6), dtype="uint8").batch(2)
    np.testing.assert_array_equal(next(iter(whole))["image"], np.rint(one[0]["image"]).astype(np.uint8))


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"channels": 2}, tfr.errors.InvalidArgumentError, "`channels` must be 0, 1, 3 or 4 but got 2"),
        ({"size": (0, 5)}, tfr.errors.InvalidArgumentError, "output dimensions must be positive"),
        ({"size": (5,)}, ValueError, "'size' must be a 1-D Tensor of 2 elements: new_height, new_width"),
        ({"size": (5.5, 2)}, ValueError, "'size' must be a 1-D int32 Tensor"),
        ({"size": (5, 2), "method": "foo"}, ValueError, "Resize method is not implemented: foo"),
        ({"dtype": "int64"}, ValueError, "expected dtype to be uint8 or float32 but got int64"),
        ({"scaled": True}, ValueError, "scaled=True decodes to about a size"),
        ({"on_corrupt": "ignore"}, ValueError, "expected on_corrupt to be one of"),
    ],
)
def test_wrong_arguments_are_refused_at_once(parsed, options, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        parsed.decode_image("image", **options)


def test_a_missing_feature_is_refused_at_once(parsed):
    for call in (lambda: parsed.decode_image("photo"), lambda: parsed.resize("photo", (2, 2))):
        with pytest.raises(
            tfr.errors.InvalidArgumentError, match=r"there is no feature 'photo'\. There are 'image'"
        ):
            call()
    with pytest.raises(tfr.errors.InvalidArgumentError, match="there is no feature 'photo'"):
        parsed.normalize("photo")
    with pytest.raises(TypeError, match="expected elements that are dicts of features"):
        tfr.Dataset.range(3).decode_image("image")


def test_what_is_no_image_is_named(parsed):
    with pytest.raises(TypeError, match="expected bytes under 'label' but got"):
        next(iter(parsed.decode_image("label")))
    with pytest.raises(
        TypeError, match=r"resize\('image', \(2, 2\)\): expected an array of numbers under 'image'"
    ):
        next(iter(parsed.resize("image", (2, 2))))
    with pytest.raises(TypeError, match=r"normalize\('image'\): expected an array of numbers under 'image'"):
        next(iter(parsed.normalize("image")))


def test_images_are_decoded_by_several_threads(parsed, monkeypatch):
    busy, most = set(), []
    original = ImageMaker.make

    def slow(self, content):
        busy.add(threading.get_ident())
        most.append(len(busy))
        time.sleep(0.003)
        busy.discard(threading.get_ident())
        return original(self, content)

    monkeypatch.setattr(ImageMaker, "make", slow)
    assert len(list(parsed.decode_image("image").with_options(tfr.Options(threads=3)))) == 23
    assert max(most) == 3


def test_no_more_is_decoded_ahead_than_there_are_threads(parsed, monkeypatch):
    made = []
    original = ImageMaker.make
    monkeypatch.setattr(ImageMaker, "make", lambda self, content: made.append(1) or original(self, content))
    iterator = iter(parsed.decode_image("image").with_options(tfr.Options(threads=2)))
    next(iterator)
    time.sleep(0.1)
    assert len(made) <= 3
    iterator.close()


def test_memory_is_that_of_a_few_batches(tmp_path):
    path = write_images(tmp_path / "many.tfrecord", 400)
    ds = tfr.TFRecordDataset(path).parse(SPEC).decode_image("image", size=(64, 64)).batch(8).prefetch(-1)
    batch_bytes = 8 * 64 * 64 * 3 * 4
    list(ds.take(4))
    tracemalloc.start()
    try:
        for _ in ds:
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * batch_bytes


def test_scaled_is_near_the_exact_way():
    y, x = np.mgrid[:300, :400]
    photo = np.stack([127 + 100 * np.sin(x / 40 + c) * np.cos(y / 50) for c in range(3)], -1).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(photo).save(file, "JPEG", quality=95)
    source = tfr.Dataset.from_tensors({"image": file.getvalue()})
    exact = source.decode_image("image", size=(60, 60)).get_single_element()["image"]
    near = source.decode_image("image", size=(60, 60), scaled=True).get_single_element()["image"]
    assert not np.array_equal(exact, near)
    assert np.abs(exact - near).max() < 8
    same = source.decode_image("image", size=(290, 390), scaled=True).get_single_element()["image"]
    np.testing.assert_array_equal(
        same, source.decode_image("image", size=(290, 390)).get_single_element()["image"]
    )
