"""tf.io.gfile: the same calls through TensorFlow and through tfrkit.tf, each on a folder of its own."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.oracle.support.oracle import Failure
from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule


@pytest.fixture
def folder(tmp_path):
    """A function that gives the path of a fresh folder, always the same one."""
    top = tmp_path / "top"

    def make():
        shutil.rmtree(top, ignore_errors=True)
        (top / "sub" / "deep").mkdir(parents=True)
        (top / "a.txt").write_text("line1\nline2\nlast")
        (top / "b.txt").write_text("")
        (top / ".dot").write_text("x")
        (top / "sub" / "c.txt").write_bytes(b"a\r\nb\rc\n\n\xc3\xa9")
        os.symlink(top / "a.txt", top / "link")
        return str(top)

    return make


def listed(found):
    return sorted(found)


@tf_rule("6 gfile.questions")
def test_questions(folder):
    top = folder()
    for name in ("", "/no", "/a.txt", "/link", "/sub"):
        same(lambda tf: tf.io.gfile.exists(top + name))
        same(lambda tf: tf.io.gfile.isdir(top + name))
        same(lambda tf: tf.compat.v1.gfile.Exists(top + name))
        same(lambda tf: tf.compat.v1.gfile.IsDirectory(dirname=top + name))
        same(lambda tf: tf.io.gfile.stat(top + name).is_directory)
    for name in ("/a.txt", "/link"):
        same(lambda tf: (tf.io.gfile.stat(top + name).length, tf.io.gfile.stat(top + name).mtime_nsec))
    fails(lambda tf: tf.io.gfile.exists(1), "TypeError")
    fails(lambda tf: tf.io.gfile.stat(top + "/no"), "NotFoundError", "No such file or directory")


@tf_rule("6 gfile.names")
def test_names(folder):
    top = folder()
    same(lambda tf: listed(tf.io.gfile.listdir(top)))
    same(lambda tf: listed(tf.compat.v1.gfile.ListDirectory(top)))
    for pattern in ("/*", "/*.txt", "/no*", "/**", "/s*/*", "/[ab].txt"):
        same(lambda tf: listed(tf.io.gfile.glob(top + pattern)))
        same(lambda tf: listed(tf.compat.v1.gfile.Glob(top + pattern)))
    same(lambda tf: listed(tf.io.gfile.glob([top + "/*.txt", top + "/sub/*"])))
    for down in (True, False):
        same(lambda tf: [(path, *map(listed, parts)) for path, *parts in tf.io.gfile.walk(top, topdown=down)])
        same(lambda tf: [path for path, *_ in tf.compat.v1.gfile.Walk(top + "/sub", in_order=down)])
    same(lambda tf: list(tf.io.gfile.walk(top + "/no")))
    for parts in (("a", "b", "c"), ("a", "/b"), ("a/", "b"), ("a",), ("",)):
        same(lambda tf: tf.io.gfile.join(*parts))
    for name in ("/no", "/a.txt"):
        fails(lambda tf: tf.io.gfile.listdir(top + name), "NotFoundError", "Could not find directory")


CHANGES = [
    lambda f, top: f.mkdir(top),
    lambda f, top: f.mkdir(top + "/x/y"),
    lambda f, top: f.mkdir(top + "/new"),
    lambda f, top: f.mkdir(top + "/a.txt"),
    lambda f, top: f.makedirs(top + "/m/n/o"),
    lambda f, top: f.makedirs(top + "/sub/deep"),
    lambda f, top: f.makedirs(top + "/a.txt/x"),
    lambda f, top: f.makedirs(top + "/a.txt"),
    lambda f, top: f.remove(top + "/a.txt"),
    lambda f, top: f.remove(top + "/no"),
    lambda f, top: f.remove(top + "/sub"),
    lambda f, top: f.rmtree(top + "/sub"),
    lambda f, top: f.rmtree(top + "/no"),
    lambda f, top: f.rmtree(top + "/a.txt"),
    lambda f, top: f.rename(top + "/a.txt", top + "/c.txt"),
    lambda f, top: f.rename(top + "/no", top + "/c.txt"),
    lambda f, top: f.rename(top + "/a.txt", top + "/b.txt"),
    lambda f, top: f.rename(top + "/a.txt", top + "/b.txt", overwrite=True),
    lambda f, top: f.rename(top + "/sub", top + "/sub2"),
    lambda f, top: f.copy(top + "/a.txt", top + "/c.txt"),
    lambda f, top: f.copy(top + "/a.txt", top + "/b.txt"),
    lambda f, top: f.copy(top + "/a.txt", top + "/b.txt", overwrite=True),
    lambda f, top: f.copy(top + "/no", top + "/c.txt"),
    lambda f, top: f.copy(top + "/a.txt", top + "/no/c.txt"),
]


@tf_rule("6 gfile.changes")
@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_changes(folder, number):
    def change(tf):
        top = folder()
        try:
            CHANGES[number](tf.io.gfile, top)
            failure = None
        except Exception as error:
            failure = type(error).__name__, error.message
        tree = [(path, sorted(names), sorted(files)) for path, names, files in os.walk(top)]
        return failure, sorted(tree)

    same(change)


@tf_rule("6 gfile.v1")
def test_names_of_tensorflow_1(folder):
    def change(tf):
        top, gfile = folder(), tf.compat.v1.gfile
        gfile.MkDir(dirname=top + "/v")
        gfile.MakeDirs(top + "/v/w/x")
        gfile.Copy(oldpath=top + "/a.txt", newpath=top + "/v/a")
        gfile.Rename(oldname=top + "/v/a", newname=top + "/v/b")
        gfile.Remove(filename=top + "/b.txt")
        gfile.DeleteRecursively(top + "/v/w")
        text = [gfile.Open(top + "/a.txt").read(), gfile.FastGFile(top + "/a.txt", "rb").read()]
        return sorted((path, sorted(names), sorted(files)) for path, names, files in os.walk(top)), text

    same(change)


READS = [
    lambda file: file.read(),
    lambda file: file.read(3),
    lambda file: file.read(-1),
    lambda file: file.read(0),
    lambda file: file.readline(),
    lambda file: file.readlines(),
    list,
    lambda file: file.size(),
    lambda file: (
        file.read(2),
        file.tell(),
        file.seek(1),
        file.read(2),
        file.seek(0, 2),
        file.read(),
        file.tell(),
    ),
    lambda file: (file.seek(2, 1), file.read(2)),
    lambda file: file.seek(-1),
    lambda file: (file.seek(-2, 2), file.read()),
    lambda file: file.seek(100),
    lambda file: file.seek(0, 5),
    lambda file: file.seek(),
    lambda file: (file.seek(offset=3), file.tell()),
    lambda file: (file.mode, file.seekable()),
    lambda file: file.write("x"),
    lambda file: (next(file), file.close(), file.read()),
    lambda file: file.flush(),
]


@tf_rule("6 gfile.read")
@pytest.mark.parametrize("name", ["/a.txt", "/b.txt", "/sub/c.txt", "/no", "/sub"])
def test_reading(folder, name):
    path = folder() + name
    for mode in ("r", "rb", "r+"):
        for read in READS[:1] if name == "/sub" else READS[:-3] if mode == "r+" else READS:

            def use(tf):
                with tf.io.gfile.GFile(path, mode) as file:
                    return read(file)

            same(use)


@tf_rule("6 gfile.write")
@pytest.mark.parametrize("mode", ["w", "wb", "a", "w+", "a+", "ab"])
def test_writing(folder, mode):
    def use(tf):
        path = folder() + "/a.txt"
        with tf.io.gfile.GFile(path, mode) as file:
            file.write("é")
            file.write(b"\xff")
            file.flush()
            size = file.size()
        with tf.io.gfile.GFile(path, mode) as file:
            pass
        with open(path, "rb") as file:
            return size, file.read()

    same(use)
    for path in ("/no/a.txt", "/sub"):

        def wrong(tf):
            with tf.io.gfile.GFile(folder() + path, mode) as file:
                file.write("x")

        assert isinstance(same(wrong), Failure)


@tf_rule("6 gfile.write")
def test_wrong_use(folder):
    top = folder()
    fails(lambda tf: tf.io.gfile.GFile(top + "/a.txt", "x"), "InvalidArgumentError", "mode is not")
    fails(
        lambda tf: tf.io.gfile.GFile(top + "/new.txt", "w").read(),
        "PermissionDeniedError",
        "open for reading",
    )
    fails(
        lambda tf: tf.io.gfile.GFile(top + "/new.txt", "w").write(5),
        "TypeError",
        "Expected binary or unicode",
    )
