// Frames straight from a file descriptor, at any position.
#include <fcntl.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/frames/frame_pieces.h"
#include "core/frames/frame.h"

namespace tfrkit {
namespace {

// Bytes got, or -1 with the reason in `error_number`.
struct ReadResult {
  std::int64_t got = 0;
  int error_number = 0;
};

// Drops `count` bytes from the front of `parts`.
void advance(std::span<iovec>& parts, std::size_t count) noexcept {
  while (!parts.empty() && count >= parts.front().iov_len) {
    count -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (!parts.empty()) {
    parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + count;
    parts.front().iov_len -= count;
  }
}

// Fills `parts` from file position `offset` on; stops early only at the end of the file.
ReadResult read_parts(int fd, std::int64_t offset, std::span<iovec> parts) noexcept {
  ReadResult result;
  while (!parts.empty()) {
    const ssize_t count =
        preadv(fd, parts.data(), static_cast<int>(parts.size()), offset + result.got);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {-1, errno};
    if (count == 0) break;
    result.got += count;
    advance(parts, static_cast<std::size_t>(count));
  }
  return result;
}

void check_position(std::int64_t offset, std::int64_t length) {
  constexpr std::int64_t kOverhead = kFrameOverheadBytes;
  if (offset >= 0 && length >= 0 &&
      length <= std::numeric_limits<std::int64_t>::max() - kOverhead - offset) {
    return;
  }
  throw nb::value_error(("no frame can have offset " + std::to_string(offset) + " and length " +
                         std::to_string(length))
                            .c_str());
}

constexpr std::size_t kScratchBytes = 65536;

// Reads a frame of up to kScratchBytes that is in the page cache, without waiting and hence without
// giving up the GIL: 1.7 times as fast as read_slowly (benchmarks/random_access.py). Returns an
// invalid object where that cannot be done.
nb::object read_at_once(int fd, std::int64_t offset, std::size_t size, bool check) {
#ifdef RWF_NOWAIT
  static thread_local std::array<std::byte, kScratchBytes> scratch;
  const iovec part{scratch.data(), size};
  if (preadv2(fd, &part, 1, offset, RWF_NOWAIT) != static_cast<ssize_t>(size)) return {};
  const Bytes frame = Bytes(scratch).first(size);
  const Code code = check_frame(frame, check);
  if (code != Code::kOk) return nb::int_(static_cast<int>(code));
  const Bytes payload = frame.subspan(kHeaderBytes, size - kFrameOverheadBytes);
  nb::object record = nb::steal(
      PyBytes_FromStringAndSize(as_chars(payload), static_cast<Py_ssize_t>(payload.size())));
  if (!record.is_valid()) throw nb::python_error();
  return record;
#else
  (void)fd, (void)offset, (void)size, (void)check;
  return {};
#endif
}

nb::object read_slowly(int fd, std::int64_t offset, std::int64_t length, bool check) {
  nb::object record = nb::steal(PyBytes_FromStringAndSize(nullptr, length));
  if (!record.is_valid()) throw nb::python_error();
  const std::span<char> payload(PyBytes_AsString(record.ptr()), static_cast<std::size_t>(length));
  std::array<std::byte, kHeaderBytes> header;
  std::array<std::byte, kCrcBytes> footer;
  std::array<iovec, 3> parts{{{header.data(), header.size()},
                              {payload.data(), payload.size()},
                              {footer.data(), footer.size()}}};
  ReadResult result;
  Code code = Code::kNeedMore;
  {
    const nb::gil_scoped_release released;
    result = read_parts(fd, offset, parts);
    if (result.got == length + static_cast<std::int64_t>(kFrameOverheadBytes)) {
      code = check_frame_parts(header, std::as_bytes(payload), footer, check);
    }
  }
  if (result.got < 0) raise_os_error(result.error_number);
  if (code != Code::kOk) return nb::int_(static_cast<int>(code));
  return record;
}

nb::object read_frame(int fd, std::int64_t offset, std::int64_t length, bool check) {
  check_position(offset, length);
  const std::size_t size = static_cast<std::size_t>(length) + kFrameOverheadBytes;
  if (size <= kScratchBytes) {
    nb::object record = read_at_once(fd, offset, size, check);
    if (record.is_valid()) return record;
  }
  return read_slowly(fd, offset, length, check);
}

// One failed frame, or -1.
struct Failure {
  std::int64_t index = -1;
  Code code = Code::kOk;
  int error_number = 0;
};

// The arguments of read_frames and read_pieces. Python may change the arrays while they are in use
// without the GIL, so that every entry is read once and checked when it is used.
struct ReadPlan {
  int fd;
  std::span<const std::int64_t> frames;
  std::span<const std::int64_t> lengths;
  std::span<const std::int64_t> outs;
  std::span<std::byte> buffer;
  bool check;
  const FramePieces* pieces = nullptr;  // if so, `outs` are places there

  // Returns where a frame goes; nothing if it is out of range.
  [[nodiscard]] std::span<std::byte> room(std::int64_t place, std::int64_t length) const noexcept {
    if (length < 0) return {};
    return pieces->room(place, static_cast<std::size_t>(length) + kFrameOverheadBytes);
  }
};

// A run of frames that lie side by side in the file and in the buffer.
struct Run {
  std::int64_t file = 0;
  std::int64_t out = 0;
  std::int64_t size = 0;
  std::size_t count = 0;
};

// Returns the longest run from frame `first` on; its count is 0 if that frame is out of range.
Run find_run(const ReadPlan& plan, std::size_t first) noexcept {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kOverhead = kFrameOverheadBytes;
  const auto room = static_cast<std::int64_t>(plan.buffer.size());
  Run run{plan.frames[first], plan.outs[first], 0, 0};
  if (plan.pieces != nullptr) {
    const std::span<std::byte> target = plan.room(run.out, plan.lengths[first]);
    run.size = static_cast<std::int64_t>(target.size());
    run.count = target.empty() || run.file < 0 || run.size > kMax - run.file ? 0 : 1;
    return run;
  }
  if (run.file < 0 || run.out < 0 || run.out > room) return run;
  for (std::size_t i = first; i < plan.frames.size(); ++i) {
    const std::int64_t file = plan.frames[i];
    const std::int64_t out = plan.outs[i];
    const std::int64_t length = plan.lengths[i];
    if (file != run.file + run.size || out != run.out + run.size) break;
    const std::int64_t left = room - out;
    if (length < 0 || left < kOverhead || length > left - kOverhead) break;
    if (length + kOverhead > kMax - file) break;
    run.size += length + kOverhead;
    ++run.count;
  }
  return run;
}

// Reads a run into its place if it is in the page cache. Returns the bytes got.
std::size_t read_cached(int fd, const Run& run, std::span<std::byte> target) noexcept {
#ifdef RWF_NOWAIT
  const iovec part{target.data(), target.size()};
  return static_cast<std::size_t>(
      std::max<ssize_t>(0, preadv2(fd, &part, 1, run.file, RWF_NOWAIT)));
#else
  (void)fd, (void)run, (void)target;
  return 0;
#endif
}

// Lets the system read all runs from frame `first` on, without waiting for them.
void ask_for_runs(const ReadPlan& plan, std::size_t first) noexcept {
#ifdef POSIX_FADV_WILLNEED
  while (first < plan.frames.size()) {
    const Run run = find_run(plan, first);
    if (run.count == 0) return;
    posix_fadvise(plan.fd, run.file, run.size, POSIX_FADV_WILLNEED);
    first += run.count;
  }
#else
  (void)plan, (void)first;
#endif
}

// Reads a run and checks its frames. The first that has to come from the disk sets `asked`, and
// lets the system fetch all that follow at once.
Failure read_run(const ReadPlan& plan, const Run& run, std::size_t first, bool& asked) noexcept {
  const std::span<std::byte> target =
      plan.pieces != nullptr ? plan.pieces->room(run.out, static_cast<std::size_t>(run.size))
                             : plan.buffer.subspan(static_cast<std::size_t>(run.out),
                                                   static_cast<std::size_t>(run.size));
  if (target.empty()) return {static_cast<std::int64_t>(first), Code::kOutOfRange, 0};
  const std::size_t there = asked ? 0 : read_cached(plan.fd, run, target);
  if (there < target.size() && !asked && first + run.count < plan.frames.size()) {
    ask_for_runs(plan, first);
    asked = true;
  }
  iovec part{target.data() + there, target.size() - there};
  ReadResult result{static_cast<std::int64_t>(there), 0};
  if (there < target.size()) {
    result = read_parts(plan.fd, run.file + result.got, {&part, 1});
    if (result.got >= 0) result.got += static_cast<std::int64_t>(there);
  }
  const auto index = [first](std::size_t i) { return static_cast<std::int64_t>(first + i); };
  if (result.got < 0) return {index(0), Code::kOk, result.error_number};
  Bytes left = Bytes(target).first(static_cast<std::size_t>(result.got));
  for (std::size_t i = 0; i < run.count; ++i) {
    const auto length = static_cast<std::uint64_t>(plan.lengths[first + i]);
    if (left.size() < kFrameOverheadBytes || length > left.size() - kFrameOverheadBytes) {
      return {index(i), Code::kNeedMore, 0};
    }
    const std::size_t size = static_cast<std::size_t>(length) + kFrameOverheadBytes;
    const Code code = check_frame(left.first(size), plan.check);
    if (code != Code::kOk) return {index(i), code, 0};
    left = left.subspan(size);
  }
  return {};
}

Failure read_all(const ReadPlan& plan) noexcept {
  bool asked = false;
  for (std::size_t first = 0; first < plan.frames.size();) {
    const Run run = find_run(plan, first);
    if (run.count == 0) return {static_cast<std::int64_t>(first), Code::kOutOfRange, 0};
    const Failure failure = read_run(plan, run, first, asked);
    if (failure.index >= 0) return failure;
    first += run.count;
  }
  return {};
}

// `size`: of what the frames go to, for the message.
std::tuple<std::int64_t, int> read_plan(const ReadPlan& plan, std::size_t size) {
  check_same_size("frames", plan.frames.size(), "lengths", plan.lengths.size());
  check_same_size("frames", plan.frames.size(), "outs", plan.outs.size());
  Failure failure;
  {
    const nb::gil_scoped_release released;
    failure = read_all(plan);
  }
  if (failure.error_number != 0) raise_os_error(failure.error_number);
  if (failure.code == Code::kOutOfRange) {
    raise_out_of_range("frames, lengths and outs", static_cast<std::size_t>(failure.index), size);
  }
  return {failure.index, static_cast<int>(failure.code)};
}

std::tuple<std::int64_t, int> read_frames(int fd, const Int64Input& frames,
                                          const Int64Input& lengths, const Buffer& buffer,
                                          const Int64Input& outs, bool check) {
  return read_plan(
      {fd, entries(frames), entries(lengths), entries(outs), buffer.bytes(), check, nullptr},
      buffer.size());
}

std::tuple<std::int64_t, int> read_pieces(int fd, const Int64Input& frames,
                                          const Int64Input& lengths, const FramePieces& pieces,
                                          const Int64Input& places, bool check) {
  return read_plan({fd, entries(frames), entries(lengths), entries(places), {}, check, &pieces},
                   pieces.size());
}

}  // namespace

void bind_read(nb::module_& module) {
  module.def(
      "read_frame", read_frame, nb::arg("fd"), nb::arg("offset"), nb::arg("length"),
      nb::arg("check"),
      nb::sig("def read_frame(fd: int, offset: int, length: int, check: bool) -> bytes | int"),
      "Read the payload of the frame at `offset`; NEED_MORE, BAD_LENGTH or BAD_DATA if it is\n"
      "cut, has another length, or is damaged. `check` is for the CRC of the payload.");
  module.def("read_frames", read_frames, nb::arg("fd"), nb::arg("frames"), nb::arg("lengths"),
             nb::arg("buffer"), nb::arg("outs"), nb::arg("check"),
             "Read whole frames into `buffer`: frame i from file position frames[i] to\n"
             "buffer[outs[i]:]. Return (index of the first that failed or -1, code).");
  module.def("read_pieces", read_pieces, nb::arg("fd"), nb::arg("frames"), nb::arg("lengths"),
             nb::arg("pieces"), nb::arg("places"), nb::arg("check"),
             "The same into FramePieces: frame i to its place places[i].");
}

}  // namespace tfrkit
