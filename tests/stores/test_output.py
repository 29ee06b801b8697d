from __future__ import annotations

import io
import os
import stat

import pytest

from tfrkit.errors import AlreadyExistsError, FailedPreconditionError, NotFoundError, ResourceExhaustedError
from tfrkit.stores.output import (
    AtomicOutput,
    FileOutput,
    ObjectOutput,
    remove_temporary,
    sidecar_folder,
    write_whole,
)


def names(folder) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_file_output_is_in_the_file_when_write_returns(tmp_path):
    output = FileOutput(str(tmp_path / "a"))
    output.write(b"one")
    output.write(memoryview(b"two"))
    assert (tmp_path / "a").read_bytes() == b"onetwo"
    assert output.position == 6
    output.close()
    output.close()


def test_file_output_empties_the_file(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    FileOutput(str(tmp_path / "a")).close()
    assert (tmp_path / "a").read_bytes() == b""


def test_file_output_appends_at_a_position(tmp_path):
    (tmp_path / "a").write_bytes(b"keep, cut")
    output = FileOutput(str(tmp_path / "a"), append_at=4)
    output.write(b"!")
    output.close()
    assert (tmp_path / "a").read_bytes() == b"keep!"


def test_rollback_cuts_the_file_back(tmp_path):
    output = FileOutput(str(tmp_path / "a"))
    output.write(b"onetwo")
    output.rollback(3)
    output.write(b"X")
    output.close()
    assert (tmp_path / "a").read_bytes() == b"oneX"


def test_full_device_is_resource_exhausted():
    output = FileOutput("/dev/full")
    with pytest.raises(ResourceExhaustedError, match=r"^/dev/full; No space left on device$") as caught:
        output.write(b"x")
    assert isinstance(caught.value, OSError)
    assert (caught.value.errno, caught.value.path) == (28, "/dev/full")
    output.rollback(0)
    output.close()


def test_file_in_a_missing_folder_is_not_found(tmp_path):
    path = str(tmp_path / "missing" / "a")
    with pytest.raises(NotFoundError) as caught:
        FileOutput(path)
    assert str(caught.value) == f"{path}; No such file or directory"


def test_a_folder_cannot_be_written(tmp_path):
    with pytest.raises(FailedPreconditionError, match=r"Is a directory$"):
        FileOutput(str(tmp_path))


def test_atomic_output_appears_at_close(tmp_path):
    output = AtomicOutput(str(tmp_path / "a"))
    output.write(b"content")
    output.flush()
    assert names(tmp_path) == [f".tfrkit/{os.path.basename(output.temporary)}"]
    output.close()
    output.close()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"content"


def test_atomic_output_replaces_the_old_file_only_at_close(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    output = AtomicOutput(str(tmp_path / "a"))
    output.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    output.close()
    assert (tmp_path / "a").read_bytes() == b"new"


def test_discarded_atomic_output_leaves_nothing(tmp_path):
    output = AtomicOutput(str(tmp_path / "a"))
    output.write(b"content")
    output.discard()
    output.discard()
    assert list(tmp_path.iterdir()) == []


def test_discard_after_close_leaves_the_file(tmp_path):
    output = AtomicOutput(str(tmp_path / "a"))
    output.close()
    output.discard()
    assert names(tmp_path) == ["a"]


def test_discard_leaves_other_temporary_files_alone(tmp_path):
    first, second = AtomicOutput(str(tmp_path / "a")), AtomicOutput(str(tmp_path / "a"))
    first.discard()
    second.close()
    assert names(tmp_path) == ["a"]


def test_atomic_output_that_cannot_be_renamed_leaves_nothing(tmp_path):
    (tmp_path / "a").mkdir()
    output = AtomicOutput(str(tmp_path / "a"))
    with pytest.raises(FailedPreconditionError, match=r"a; Is a directory$"):
        output.close()
    assert names(tmp_path) == []


def test_atomic_output_makes_its_folder_again_if_another_takes_it_away(tmp_path, monkeypatch):
    made = []

    def makedirs(folder, exist_ok):
        made.append(folder)
        if len(made) == 1:
            raise FileExistsError(17, "File exists", folder)  # it was there a moment ago
        if len(made) > 2:
            os.mkdir(folder)

    monkeypatch.setattr("tfrkit.stores.output.os.makedirs", makedirs)
    write_whole(AtomicOutput(str(tmp_path / "a")), b"x")
    assert len(made) == 3
    assert os.listdir(tmp_path) == ["a"]


def test_file_in_the_place_of_the_sidecar_folder_is_an_error(tmp_path):
    (tmp_path / ".tfrkit").write_bytes(b"")
    with pytest.raises(AlreadyExistsError, match="File exists"):
        AtomicOutput(str(tmp_path / "a"))


def test_atomic_output_has_the_usual_mode(tmp_path):
    AtomicOutput(str(tmp_path / "a")).close()
    (tmp_path / "b").touch()
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"]
    assert modes[0] == modes[1]


def test_object_output_leaves_the_file_open():
    file = io.BytesIO()
    output = ObjectOutput(file)
    output.write(b"one")
    output.close()
    output.discard()
    output.rollback(0)
    assert (file.getvalue(), file.closed, output.position) == (b"one", False, 3)


def test_object_output_writes_all_to_a_file_that_takes_little():
    class Slow(io.RawIOBase):
        got = b""

        def writable(self) -> bool:
            return True

        def write(self, data) -> int:
            self.got += bytes(data[:2])
            return len(data[:2])

    file = Slow()
    ObjectOutput(file).write(b"seven b")
    assert file.got == b"seven b"


def test_object_output_turns_os_errors_into_ours():
    with (
        open("/dev/full", "wb", buffering=0) as file,
        pytest.raises(ResourceExhaustedError, match=r"^/dev/full; No space left on device$"),
    ):
        ObjectOutput(file).write(b"x")


@pytest.mark.parametrize(
    ("path", "folder"),
    [("a", ".tfrkit"), ("d/a", "d/.tfrkit"), ("/d/a", "/d/.tfrkit"), ("d/.tfrkit/a.idx", "d/.tfrkit")],
)
def test_sidecar_folder_is_beside_the_file(path, folder):
    assert sidecar_folder(path) == folder


def test_write_whole_leaves_only_the_file(tmp_path):
    write_whole(AtomicOutput(str(tmp_path / "a")), b"content")
    assert (tmp_path / "a").read_bytes() == b"content"
    assert names(tmp_path) == ["a"]


def test_remains_of_killed_processes_are_removed_for_one_file_only(tmp_path):
    mine = ["a[1].json.12-0123abcd.tmp", "a[1].json.99-ffffffff.tmp"]
    others = [
        "b.json.12-0123abcd.tmp",
        "a[1].json",
        "a[1].json.tmp",
        "a[1].json.x.12-0123abcd.tmp",
        "a1.json.12-0123abcd.tmp",
    ]
    (tmp_path / ".tfrkit").mkdir()
    for name in (*mine, *others):
        (tmp_path / ".tfrkit" / name).touch()
    remove_temporary(str(tmp_path / "a[1].json"))
    assert sorted(path.name for path in (tmp_path / ".tfrkit").iterdir()) == sorted(others)
