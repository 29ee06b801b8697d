"""gfile on object stores: what differs from local files, as TensorFlow has it for gs://."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tfrkit import tf
from tfrkit.stores import files
from tfrkit.stores.object_config import configure_store

gfile = tf.io.gfile


def test_file_is_there_when_it_is_closed(remote_folder):
    file = gfile.GFile(f"{remote_folder}/a", "w")
    file.write("text")
    file.flush()
    assert not gfile.exists(f"{remote_folder}/a")
    file.close()
    assert gfile.GFile(f"{remote_folder}/a").read() == "text"


def test_file_that_is_not_closed_is_let_go(remote_folder):
    file = gfile.GFile(f"{remote_folder}/a", "wb")
    file.write(b"x" * 100)
    del file
    assert gfile.stat(f"{remote_folder}/a").length == 100


def test_file_that_is_open_when_the_program_ends(s3_server, s3_bucket, unique_prefix):
    program = f"""
from tfrkit import tf
file = tf.io.gfile.GFile("s3://{s3_bucket}/{unique_prefix}a", "w")
file.write("text")
"""
    environment = {**os.environ, **s3_server.environment()}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert files.read_bytes(f"s3://{s3_bucket}/{unique_prefix}a") == b"text"


def test_large_file_is_read_in_any_order(s3_folder):
    data = os.urandom(20_000_000)
    files.write_bytes(f"{s3_folder}/a", data)
    assert tf.io.read_file(f"{s3_folder}/a").numpy() == data
    with gfile.GFile(f"{s3_folder}/a", "rb") as file:
        assert file.read() == data
        file.seek(19_999_990)
        assert file.read(100) == data[-10:]
        file.seek(-5, 2)
        assert file.tell() == 19_999_995
        file.seek(7)
        assert b"".join(iter(lambda: file.read(1_234_567), b"")) == data[7:]
    gfile.copy(f"{s3_folder}/a", f"{s3_folder}/b")
    assert files.read_bytes(f"{s3_folder}/b") == data


def test_reading_a_little_asks_for_little(s3_server, s3_bucket, s3_folder, fault_proxy):
    files.write_bytes(f"{s3_folder}/a", (b"x" * 99 + b"\n") * 200_000)
    proxy = fault_proxy(s3_server.port)
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    with gfile.GFile(f"{s3_folder}/a") as file:
        assert file.readline() == "x" * 99 + "\n"
        file.seek(10_000_000)
        assert file.readline() == "x" * 99 + "\n"
    assert len(proxy.requests()) <= 3
    assert sum(1 for _ in gfile.GFile(f"{s3_folder}/a")) == 200_000
    assert len(proxy.requests()) <= 12


def test_append_is_refused_with_the_reason(remote_folder):
    files.write_bytes(f"{remote_folder}/a", b"x")
    for mode in ("a", "a+", "ab"):
        with pytest.raises(tf.errors.UnimplementedError, match=r"cannot append to one\. Write another file"):
            gfile.GFile(f"{remote_folder}/a", mode).write("y")
    assert files.read_bytes(f"{remote_folder}/a") == b"x"


def test_folder_is_there_as_long_as_a_name_begins_with_it(remote_folder):
    gfile.mkdir(f"{remote_folder}/new")
    gfile.makedirs(f"{remote_folder}/new/inner")
    assert not gfile.exists(f"{remote_folder}/new")
    tf.io.write_file(f"{remote_folder}/new/inner/a", "x")
    assert gfile.isdir(f"{remote_folder}/new")
    assert gfile.stat(f"{remote_folder}/new").is_directory
    assert gfile.glob(f"{remote_folder}/*") == []
    assert gfile.glob(f"{remote_folder}/*/inn*/[!b]") == [f"{remote_folder}/new/inner/a"]
    gfile.remove(f"{remote_folder}/new/inner/a")
    assert not gfile.exists(f"{remote_folder}/new")


def test_names_with_signs_are_taken_as_they_are(remote_folder):
    names = ["a b", "ü", "p%20q", "q?x=1#y", "p+q&r"]
    for name in names:
        tf.io.write_file(f"{remote_folder}/{name}", name)
    assert sorted(gfile.listdir(remote_folder)) == sorted(names)
    assert sorted(gfile.glob(f"{remote_folder}/*")) == sorted(f"{remote_folder}/{name}" for name in names)
    assert [gfile.GFile(f"{remote_folder}/{name}").read() for name in names] == names
    assert gfile.glob(f"{remote_folder}/q\\?*") == [f"{remote_folder}/q?x=1#y"]


def test_renaming_into_another_store_is_refused(remote_folder, tmp_path):
    (tmp_path / "a").write_text("x")
    with pytest.raises(tf.errors.UnimplementedError, match=r"Renaming .* not implemented"):
        gfile.rename(str(tmp_path / "a"), f"{remote_folder}/a")
    gfile.copy(str(tmp_path / "a"), f"{remote_folder}/a")
    gfile.copy(f"{remote_folder}/a", str(tmp_path / "b"))
    assert (tmp_path / "b").read_text() == "x"


def test_folders_of_google_end_with_a_slash(google_server):
    bucket = google_server.bucket()
    configure_store(f"gs://{bucket}", **google_server.options())
    for name in ("top/a", "top/sub/b"):
        google_server.put(bucket, name, b"x")
    assert sorted(gfile.listdir(f"gs://{bucket}/top")) == ["a", "sub/"]
    assert list(gfile.walk(f"gs://{bucket}/top")) == [
        (f"gs://{bucket}/top", ["sub/"], ["a"]),
        (f"gs://{bucket}/top/sub/", [], ["b"]),
    ]


def test_web_server_lists_nothing_and_takes_nothing(http_server):
    http_server.files["a"] = b"text"
    url = f"{http_server.url}/a"
    assert gfile.exists(url)
    assert not gfile.exists(f"{url}b")
    assert not gfile.isdir(http_server.url)
    assert gfile.GFile(url).read() == "text"
    assert gfile.glob(url) == [url]
    assert gfile.glob(f"{url}?sig=1") == [f"{url}?sig=1"]
    with pytest.raises(tf.errors.UnimplementedError, match="web servers are read only"):
        tf.io.write_file(url, "x")


def test_registered_schemes_are_those_of_the_stores():
    assert {"", "file", "gs", "s3", "memory"} <= set(gfile.get_registered_schemes())


def test_server_without_ranges_is_read_in_order(http_server):
    http_server.files["a"] = data = os.urandom(30_000)
    http_server.manners.ranges = False
    url = f"{http_server.url}/a"
    assert gfile.stat(url).length == 30_000
    assert tf.io.read_file(url).numpy() == data
    assert b"".join(each.numpy() for each in tf.data.FixedLengthRecordDataset(url, 100)) == data
    file = gfile.GFile(url, "rb")
    assert file.read(10) == data[:10]
    with pytest.raises(tf.errors.FailedPreconditionError, match="can only be read in order"):
        file.seek(5)
