"""Descriptor sets from all that they may come as; what is hostile or not whole is refused with what is wrong."""

from __future__ import annotations

import random
import time

import pytest
from google.protobuf import descriptor_pb2, struct_pb2, timestamp_pb2

from tfrkit.errors import InvalidArgumentError
from tfrkit.parsing.payloads.descriptor_set import message_descriptor, read_descriptors
from tfrkit.stores.files import write_bytes


def made(**files):
    """A set of files: each with a message named after it, and the imports given."""
    found = descriptor_pb2.FileDescriptorSet()
    for name, imports in files.items():
        file = found.file.add(name=f"{name}.proto", package="pkg", syntax="proto3", dependency=imports)
        file.message_type.add(name=name.title()).field.add(name="id", number=1, type=5, label=1)
    return found


def refused(descriptors, name="pkg.Frame"):
    with pytest.raises(InvalidArgumentError) as error:
        message_descriptor(read_descriptors(descriptors), name)
    return str(error.value)


def test_a_set_comes_as_bytes_message_file_or_generated_code(tmp_path):
    files = made(frame=[])
    path = tmp_path / "frame.pb"
    path.write_bytes(files.SerializeToString())
    for source in (files, files.SerializeToString(), bytearray(files.SerializeToString()), path, str(path)):
        assert message_descriptor(read_descriptors(source), "pkg.Frame").full_name == "pkg.Frame"
    for source in (timestamp_pb2, timestamp_pb2.Timestamp):
        assert message_descriptor(read_descriptors(source), "google.protobuf.Timestamp").full_name
    with pytest.raises(TypeError, match=r"^expected a FileDescriptorSet .* but got int$"):
        read_descriptors(3)


def test_a_set_may_be_a_url(tmp_path):
    data = made(frame=[]).SerializeToString()
    for url in (f"file://{tmp_path}/frame.pb", "memory://sets/frame.pb"):
        write_bytes(url, data)
        assert read_descriptors(url) == data
    with pytest.raises(FileNotFoundError):
        read_descriptors("memory://sets/none.pb")
    with pytest.raises(
        InvalidArgumentError, match=r"^'memory://sets/frame\.proto' cannot be compiled where it is: copy"
    ):
        read_descriptors("memory://sets/frame.proto")


def test_a_file_that_is_far_too_large_is_not_read(tmp_path):
    path = tmp_path / "a.tfrecord"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InvalidArgumentError) as error:
        read_descriptors(path)
    assert str(error.value) == (
        f"{str(path)!r} has 1,099,511,627,776 bytes, and a descriptor set at most 268,435,456. "
        "Does the path name the records?"
    )


def test_files_may_come_in_any_order():
    files = made(frame=["lens.proto", "name.proto"], lens=["name.proto"], name=[])
    assert message_descriptor(files.SerializeToString(), "pkg.Frame").full_name == "pkg.Frame"


def test_files_of_protobuf_itself_may_be_missing():
    files = made(frame=["google/protobuf/timestamp.proto"])
    field = files.file[0].message_type[0].field.add(name="time", number=2, type=11, label=1)
    field.type_name = ".google.protobuf.Timestamp"
    assert message_descriptor(files.SerializeToString(), "pkg.Frame").fields_by_name["time"]


def test_other_files_may_not():
    assert refused(made(frame=["lens.proto"])) == (
        "the descriptor set has 'frame.proto' but not 'lens.proto', which that imports. "
        "Make it with protoc's option --include_imports."
    )
    assert "has 'frame.proto' but not 'google/protobuf/evil.proto'" in refused(
        made(frame=["google/protobuf/evil.proto"])
    )


@pytest.mark.parametrize("length", [1, 2, 3, 500])
def test_files_that_import_one_another_are_refused(length):
    names = [f"f{number}" for number in range(length)]
    files = made(**{name: [f"{names[at - 1]}.proto"] for at, name in enumerate(names)})
    assert "import one another" in refused(files)


def test_many_files_with_many_imports_take_no_time():
    names = [f"f{number}" for number in range(200)]
    files = made(**{name: [f"{other}.proto" for other in names[:at]] for at, name in enumerate(names)})
    start = time.monotonic()
    assert message_descriptor(files.SerializeToString(), "pkg.F199").full_name == "pkg.F199"
    assert time.monotonic() - start < 20


def test_a_message_that_is_not_there_names_those_that_are():
    assert refused(made(frame=[], lens=[]), "pkg.Fram") == (
        "No descriptor found for message type 'pkg.Fram'. Did you mean 'pkg.Frame'?"
    )
    assert refused(made(frame=[], lens=[]), "Frame").endswith("Did you mean 'pkg.Frame'?")
    assert refused(made(frame=[], lens=[]), "other.Zzz").endswith("There are 'pkg.Frame', 'pkg.Lens'.")
    assert refused(b"").endswith("There are none.")


def test_types_that_the_set_does_not_have_are_refused():
    files = made(frame=[])
    files.file[0].message_type[0].field.add(name="lens", number=2, type=11, label=1, type_name=".pkg.Lens")
    assert refused(files).startswith("the descriptors of 'frame.proto' are not valid: ")


def test_a_file_that_is_no_set_says_how_to_make_one(tmp_path):
    path = tmp_path / "frame.pb"
    for data in (b"hello", b"\xff" * 40, timestamp_pb2.Timestamp(seconds=3).SerializeToString()):
        path.write_bytes(data)
        with pytest.raises(InvalidArgumentError) as error:
            read_descriptors(path)
        assert str(error.value) == (
            f"{str(path)!r} are no serialised FileDescriptorSet. Make one with: "
            "protoc --include_imports --descriptor_set_out=FILE SOURCE.proto"
        )


def hostile_sets():
    """Sets that are cut, or in which bytes are others."""
    file = descriptor_pb2.FileDescriptorProto()
    struct_pb2.DESCRIPTOR.CopyToProto(file)
    whole = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    yield from (whole[:size] for size in range(0, len(whole), 7))
    noise = random.Random(3)
    for _ in range(600):
        changed = bytearray(whole)
        for _ in range(noise.choice([1, 1, 2, 8])):
            changed[noise.randrange(len(changed))] = noise.randrange(256)
        yield bytes(changed)


def test_any_bytes_make_a_type_or_a_clear_error():
    outcomes = set()
    for data in hostile_sets():
        try:
            message_descriptor(data, "google.protobuf.Struct")
            outcomes.add("found")
        except InvalidArgumentError:
            outcomes.add("refused")
    assert outcomes == {"found", "refused"}
