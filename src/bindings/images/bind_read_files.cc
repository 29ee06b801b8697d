// Many small files into one buffer, in one call.
#include <fcntl.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"

namespace tfrkit {
namespace {

using Room = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What there is to say about a file that was read.
struct FileRead {
  std::int64_t got = 0;
  std::int64_t size = 0;
  std::int64_t time_ns = 0;
  int error_number = 0;
};

std::int64_t modified_ns(const struct stat& status) noexcept {
#ifdef __APPLE__
  const timespec& time = status.st_mtimespec;
#else
  const timespec& time = status.st_mtim;
#endif
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time.tv_sec) * kSecond +
                                   static_cast<std::uint64_t>(time.tv_nsec));
}

// Reads an open file until `expected` bytes are there, or it ends; `room` has one byte more, which
// is filled if the file has grown. Its size and time are asked for after that, so that what is
// written meanwhile counts too.
FileRead read_open(int fd, std::span<std::uint8_t> room, std::int64_t expected) noexcept {
  FileRead read;
  while (read.got < expected) {
    const auto left = room.subspan(static_cast<std::size_t>(read.got));
    const ssize_t count = ::read(fd, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      read.error_number = errno;
      return read;
    }
    if (count == 0) break;
    read.got += count;
  }
  struct stat status{};
  if (fstat(fd, &status) != 0) {
    read.error_number = errno;
    return read;
  }
  read.size = status.st_size;
  read.time_ns = modified_ns(status);
  return read;
}

// Nothing waits for a writer: what has become a pipe since it was listed is not what it was.
FileRead read_file(const char* path, std::span<std::uint8_t> room, std::int64_t expected) noexcept {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  int fd = -1;
  do {
    fd = open(path, kFlags);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return {0, 0, 0, errno};
  const FileRead read = read_open(fd, room, expected);
  close(fd);
  return read;
}

std::tuple<Int64Array, Int64Array, Int64Array, Int64Array> read_files(const nb::list& paths,
                                                                      const Int64Input& sizes,
                                                                      const Room& room,
                                                                      std::size_t begin) {
  const std::size_t count = paths.size();
  check_same_size("paths", count, "sizes", sizes.shape(0));
  const std::vector<std::int64_t> expected(sizes.data(), sizes.data() + count);
  std::vector<nb::bytes> names;  // held: the list may change while they are used
  for (const nb::handle path : paths) {
    names.push_back(nb::cast<nb::bytes>(path));
    if (std::strlen(names.back().c_str()) != names.back().size()) {
      throw nb::value_error("embedded null byte");
    }
  }
  const std::span<std::uint8_t> memory(room.data(), room.shape(0));
  std::size_t left = memory.size() < begin ? 0 : memory.size() - begin;
  for (std::size_t i = 0; i < count; ++i) {
    if (expected[i] < 0 || static_cast<std::size_t>(expected[i]) >= left) {
      raise_out_of_range("begin and sizes", i, memory.size());
    }
    left -= static_cast<std::size_t>(expected[i]);
  }
  const Int64Batch batch(4 * count);
  {
    const nb::gil_scoped_release released;
    std::size_t at = begin;
    for (std::size_t i = 0; i < count; ++i) {
      const auto size = static_cast<std::size_t>(expected[i]);
      // The byte behind a file belongs to the next one, which is read after it.
      const FileRead read = read_file(names[i].c_str(), memory.subspan(at, size + 1), expected[i]);
      batch.span(0, count)[i] = read.got;
      batch.span(count, count)[i] = read.size;
      batch.span(2 * count, count)[i] = read.time_ns;
      batch.span(3 * count, count)[i] = read.error_number;
      at += size;
    }
  }
  return {batch.array(0, count), batch.array(count, count), batch.array(2 * count, count),
          batch.array(3 * count, count)};
}

}  // namespace

void bind_read_files(nb::module_& module) {
  module.def(
      "read_files", read_files, nb::arg("paths"), nb::arg("sizes"), nb::arg("room"),
      nb::arg("begin"),
      nb::sig("def read_files(paths: list[bytes], sizes: typing.Any, room: typing.Any, "
              "begin: int) -> tuple[typing.Any, typing.Any, typing.Any, typing.Any]"),
      "Read files of these sizes into `room`, one after the other from `begin` on; at the\n"
      "end there must be room for one more byte. Return for each file: bytes got (one more\n"
      "than its size if it has grown), size and time of the last change in nanoseconds after\n"
      "reading, and an error number or 0. What lies where a file failed is undefined.");
}

}  // namespace tfrkit
