"""Where the cache folder is, what makes it, and how large it may become."""

from __future__ import annotations

import stat
import sys

import pytest

import tfrkit as tfr
from tfrkit.stores.cache.folder import cache_folder, cache_limit, make_cache_folder


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch, tmp_path):
    for name in ("TFRKIT_CACHE", "TFRKIT_CACHE_BYTES", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_the_variable_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "kept"))
    assert cache_folder() == str(tmp_path / "kept")
    monkeypatch.setenv("TFRKIT_CACHE", "~/kept")
    assert cache_folder() == str(tmp_path / "kept")


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has a folder of its own")
def test_the_platform_has_a_folder_for_caches(monkeypatch, tmp_path):
    assert cache_folder() == str(tmp_path / ".cache" / "tfrkit")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == str(tmp_path / "xdg" / "tfrkit")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == str(tmp_path / ".cache" / "tfrkit")


def test_macos_has_its_own_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == str(tmp_path / "Library" / "Caches" / "tfrkit")


def test_folders_are_made_on_demand_and_for_the_user_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "deep" / "kept"))
    assert not (tmp_path / "deep").exists()
    assert make_cache_folder("ranges", "a") == str(tmp_path / "deep" / "kept" / "ranges" / "a")
    for made in ("deep/kept", "deep/kept/ranges", "deep/kept/ranges/a"):
        assert stat.S_IMODE((tmp_path / made).stat().st_mode) == 0o700
    assert make_cache_folder() == cache_folder()


def test_a_file_in_the_place_of_the_folder_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "kept").write_bytes(b"")
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "kept"))
    with pytest.raises(OSError, match="kept"):
        make_cache_folder("ranges")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 10 << 30),
        ("1000", 1000),
        ("5K", 5 << 10),
        ("1.5m", 3 << 19),
        ("20 GiB", 20 << 30),
        ("1TB", 1 << 40),
    ],
)
def test_limit_has_units(monkeypatch, text, size):
    monkeypatch.setenv("TFRKIT_CACHE_BYTES", text)
    assert cache_limit() == size


@pytest.mark.parametrize("text", ["much", "-1", "1X", "1e9", "nan"])
def test_limit_that_is_no_size_is_refused(monkeypatch, text):
    monkeypatch.setenv("TFRKIT_CACHE_BYTES", text)
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"TFRKIT_CACHE_BYTES to be a size such as 500M"
    ):
        cache_limit()
