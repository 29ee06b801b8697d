// Frames out of a mapped file. Every byte is copied before it is checked, for the file may change.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/frames/frame_pieces.h"
#include "bindings/frames/sigbus_guard.h"
#include "core/frames/frame.h"

namespace tfrkit {
namespace {

constexpr std::size_t kWithGilBytes = 65536;  // for more the GIL is released
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kAroundBytes = 65536;  // that the system maps round a page which it must
constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kResidentSamples = 8;  // of frames, to see whether they are in memory

// How far ahead of the copy the positions and the frames are fetched, and how much of a frame: the
// rest of it the processor finds by itself. Random records of 650 bytes in a loop of C++ over a
// map of 650 MB: about 200 ns each with this, 650 without. Other distances made no clear
// difference.
constexpr std::size_t kFramesAhead = 4;
constexpr std::size_t kPositionsAhead = 2 * kFramesAhead;
constexpr std::size_t kBytesAhead = 1024;

// Frames are copied until there are that many bytes, and then checked in the second-level cache:
// copies that do not wait for checks overlap. In the same loop 150 ns, where one by one took 200.
constexpr std::size_t kGroupBytes = 262144;

// Where a frame lies in the map.
struct Place {
  std::size_t start = 0;
  std::size_t size = 0;  // 0: not in the map as a whole
};

// Asks for the bytes of a frame. Inlined by force: GCC drops calls of functions that only prefetch.
[[gnu::always_inline]] inline void prefetch(const std::byte* start, std::size_t size) noexcept {
  for (std::size_t at = 0; at < std::min(size, kBytesAhead); at += kLineBytes) {
    __builtin_prefetch(start + at);
  }
}

struct Checks {
  bool payload = true;   // its CRC
  bool settled = false;  // no other code cuts the file
};

// Checks a copy of a frame. What is left of a page after the end of a file reads as zeros, and
// without `check` no CRC would notice: a payload with a footer that ends in one is summed up too.
// If that is wrong a read by position must find out whether the file was cut.
Code check_copy(Bytes header, Bytes payload, Bytes footer, Checks checks) noexcept {
  const bool doubtful = !checks.settled && footer.back() == std::byte{0};
  const Code code = check_frame_parts(header, payload, footer, checks.payload || doubtful);
  return code == Code::kBadData && !checks.payload ? Code::kNeedMore : code;
}

// Where take puts frames side by side: outs, offsets of the payloads, their lengths, bytes in all.
using Layout = std::tuple<Int64Array, Int64Array, Int64Array, std::int64_t>;

class FrameMap {
 public:
  FrameMap(int fd, Int64Input frames, bool check, bool settled)
      : frames_(std::move(frames)), checks_{check, settled} {
    const std::span<const std::int64_t> starts = entries(frames_);
    if (starts.empty()) throw nb::value_error("expected the start of a frame, or the end");
    struct stat status{};
    if (fstat(fd, &status) != 0) raise_os_error(errno);
    const std::int64_t size = std::min<std::int64_t>(status.st_size, starts.back());
    if (size <= 0) raise_os_error(EINVAL);
    touched_.resize(static_cast<std::size_t>(size) / kPageBytes / 8 + 1);
    install_guard();
    void* const memory =
        mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) raise_os_error(errno);
    map_ = {static_cast<const std::byte*>(memory), static_cast<std::size_t>(size)};
    madvise(memory, map_.size(), MADV_RANDOM);
  }
  FrameMap(const FrameMap&) = delete;
  FrameMap(FrameMap&&) = delete;
  FrameMap& operator=(const FrameMap&) = delete;
  FrameMap& operator=(FrameMap&&) = delete;
  ~FrameMap() { munmap(const_cast<std::byte*>(map_.data()), map_.size()); }

  nb::object get(nb::handle index);
  [[nodiscard]] std::optional<Layout> lay_out(const Int64Input& numbers) const;
  std::tuple<std::int64_t, int> take(const Int64Input& numbers, const Buffer& buffer,
                                     const Int64Input& outs);
  std::tuple<std::int64_t, int> sweep(const Int64Input& numbers, const FramePieces& pieces,
                                      const Int64Input& places);
  void let_go() const noexcept { drop({0, map_.size()}); }

  friend class FilesPlan;

 private:
  // One failed frame, or -1.
  struct Failure {
    std::int64_t index = -1;
    Code code = Code::kOk;
  };

  // The arguments of take, and of sweep.
  struct TakePlan {
    std::span<const std::int64_t> numbers;
    std::span<const std::int64_t> outs;  // places of the pieces, if there are such
    std::span<std::byte> buffer;
    const FramePieces* pieces = nullptr;
  };

  // The end of a group of copied frames, and why it ended.
  struct Group {
    std::size_t end = 0;
    Code code = Code::kOk;
  };

  // Python may change the positions at any time: each is read once, and checked.
  [[nodiscard]] Place place(std::int64_t number) const noexcept {
    if (!is_number(number)) return {};
    const std::int64_t start = frames_.data()[number];
    const std::int64_t end = frames_.data()[number + 1];
    const auto limit = static_cast<std::int64_t>(map_.size());
    constexpr std::int64_t kOverhead = kFrameOverheadBytes;
    if (start < 0 || end > limit || end < kOverhead || start > end - kOverhead) return {};
    return {static_cast<std::size_t>(start), static_cast<std::size_t>(end - start)};
  }

  // Returns where in the buffer the frame is to go; nothing if it is no frame or there is no room.
  [[nodiscard]] static std::span<std::byte> room(const TakePlan& plan, std::size_t index,
                                                 Place place) noexcept {
    const std::int64_t out = plan.outs[index];
    if (plan.pieces != nullptr) return plan.pieces->room(out, place.size);
    if (out < 0 || static_cast<std::uint64_t>(out) > plan.buffer.size()) return {};
    const std::span<std::byte> rest = plan.buffer.subspan(static_cast<std::size_t>(out));
    return place.size <= rest.size() ? rest.first(place.size) : std::span<std::byte>();
  }
  [[nodiscard]] std::size_t count() const noexcept { return frames_.shape(0) - 1; }
  [[nodiscard]] bool is_number(std::int64_t number) const noexcept {
    return number >= 0 && static_cast<std::uint64_t>(number) < count();
  }

  bool touch(Place place) noexcept;
  [[nodiscard]] bool is_resident(Place place) const noexcept;
  void ask_for(Place place) const noexcept;
  void drop(Place stretch) const noexcept;
  [[nodiscard]] Code copy(Place place, std::byte* payload) const noexcept;
  [[nodiscard]] Group copy_group(const TakePlan& plan, std::size_t first) const noexcept;
  [[nodiscard]] Code check_at(const TakePlan& plan, std::size_t index) const noexcept;
  [[nodiscard]] Failure take_all(const TakePlan& plan) const noexcept;

  Int64Input frames_;
  Checks checks_;
  Bytes map_;
  std::vector<std::uint8_t> touched_;  // a bit for every page; with the GIL only
};

// Tells whether all pages of a frame were asked for before; notes that they now are. Others may
// have to come from the disk.
bool FrameMap::touch(Place place) noexcept {
  bool all = true;
  const std::size_t last = (place.start + place.size - 1) / kPageBytes;
  for (std::size_t page = place.start / kPageBytes; page <= last; ++page) {
    const auto bit = static_cast<std::uint8_t>(1U << (page % 8));
    if ((touched_[page / 8] & bit) == 0) all = false;
    touched_[page / 8] |= bit;
  }
  return all;
}

// Returns the page that a byte of the map lies in, and the bytes up to the end of a frame.
std::pair<std::byte*, std::size_t> pages_of(Bytes map, Place place) noexcept {
  const std::size_t before = place.start % kPageBytes;
  return {const_cast<std::byte*>(map.data()) + (place.start - before), before + place.size};
}

// Tells whether the first page of a frame is in memory, as far as the system says.
bool FrameMap::is_resident(Place place) const noexcept {
  unsigned char resident = 1;
  return mincore(pages_of(map_, place).first, 1, &resident) != 0 || (resident & 1U) != 0;
}

// Lets the system read the pages of a frame, without waiting for them.
void FrameMap::ask_for(Place place) const noexcept {
  const auto [start, size] = pages_of(map_, place);
  madvise(start, size, MADV_WILLNEED);
}

// Copies the payload of a frame, and checks the frame.
Code FrameMap::copy(Place place, std::byte* payload) const noexcept {
  const Bytes frame = map_.subspan(place.start, place.size);
  const std::size_t length = place.size - kFrameOverheadBytes;
  std::array<std::byte, kHeaderBytes> header;
  std::array<std::byte, kCrcBytes> footer;
  const bool whole = run_guarded(frame, [&]() noexcept {
    std::memcpy(header.data(), frame.data(), kHeaderBytes);
    std::memcpy(payload, frame.data() + kHeaderBytes, length);
    std::memcpy(footer.data(), frame.data() + kHeaderBytes + length, kCrcBytes);
  });
  if (!whole) return Code::kNeedMore;
  return check_copy(header, Bytes(payload, length), footer, checks_);
}

nb::object FrameMap::get(nb::handle index) {
  if (!PyLong_Check(index.ptr())) return nb::int_(static_cast<int>(Code::kOutOfRange));
  int overflow = 0;
  const std::int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0 || !is_number(number)) return nb::int_(static_cast<int>(Code::kOutOfRange));
  const Place place = this->place(number);
  if (place.size == 0) return nb::int_(static_cast<int>(Code::kNeedMore));
  const std::size_t length = place.size - kFrameOverheadBytes;
  prefetch(map_.data() + place.start, place.size);
  nb::object record =
      nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(length)));
  if (!record.is_valid()) throw nb::python_error();
  auto* const payload = reinterpret_cast<std::byte*>(PyBytes_AsString(record.ptr()));
  Code code = Code::kOk;
  if (place.size <= kWithGilBytes && touch(place)) {
    keep_guard();
    code = copy(place, payload);
  } else {
    install_guard();
    const nb::gil_scoped_release released;
    code = copy(place, payload);
  }
  if (code != Code::kOk) return nb::int_(static_cast<int>(code));
  return record;
}

// Lays frames side by side. A pass of its own that fetches the positions ahead takes 6 ns a frame,
// where numpy takes 40.
std::optional<Layout> FrameMap::lay_out(const Int64Input& numbers) const {
  const std::span<const std::int64_t> wanted = entries(numbers);
  const std::size_t count = wanted.size();
  const Int64Batch batch(3 * count);
  const std::span<std::int64_t> outs = batch.span(0, count);
  const std::span<std::int64_t> offsets = batch.span(count, count);
  const std::span<std::int64_t> lengths = batch.span(2 * count, count);
  std::int64_t size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kPositionsAhead < count && is_number(wanted[i + kPositionsAhead])) {
      __builtin_prefetch(frames_.data() + wanted[i + kPositionsAhead]);
    }
    const auto bytes = static_cast<std::int64_t>(place(wanted[i]).size);
    if (bytes == 0 || bytes > std::numeric_limits<std::int64_t>::max() - size) return std::nullopt;
    outs[i] = size;
    offsets[i] = size + static_cast<std::int64_t>(kHeaderBytes);
    lengths[i] = bytes - static_cast<std::int64_t>(kFrameOverheadBytes);
    size += bytes;
  }
  return Layout{batch.array(0, count), batch.array(count, count), batch.array(2 * count, count),
                size};
}

// Copies the frames from number `first` of the plan on, until there are enough to check, or one
// cannot be had.
FrameMap::Group FrameMap::copy_group(const TakePlan& plan, std::size_t first) const noexcept {
  volatile std::size_t at = first;
  volatile Code code = Code::kOk;
  const bool whole = run_guarded(map_, [&]() noexcept {
    const std::span<const std::int64_t> numbers = plan.numbers;
    std::size_t done = 0;
    for (std::size_t i = first; i < numbers.size() && done < kGroupBytes; ++i) {
      if (i + kPositionsAhead < numbers.size() && is_number(numbers[i + kPositionsAhead])) {
        __builtin_prefetch(frames_.data() + numbers[i + kPositionsAhead]);
        if (plan.pieces != nullptr) plan.pieces->prefetch(plan.outs[i + kPositionsAhead]);
      }
      if (i + kFramesAhead < numbers.size()) {
        const Place ahead = place(numbers[i + kFramesAhead]);
        prefetch(map_.data() + ahead.start, ahead.size);
      }
      const Place frame = place(numbers[i]);
      const std::span<std::byte> target = room(plan, i, frame);
      if (target.empty()) {
        code = is_number(numbers[i]) && frame.size == 0 ? Code::kNeedMore : Code::kOutOfRange;
        return;
      }
      std::memcpy(target.data(), map_.data() + frame.start, target.size());
      done += target.size();
      at = i + 1;
    }
  });
  return {at, whole ? code : Code::kNeedMore};
}

// Checks the copy of frame `index` of the plan.
Code FrameMap::check_at(const TakePlan& plan, std::size_t index) const noexcept {
  const Bytes frame = room(plan, index, place(plan.numbers[index]));
  if (frame.empty()) return Code::kOutOfRange;  // the plan was changed
  return check_copy(frame.first(kHeaderBytes),
                    frame.subspan(kHeaderBytes, frame.size() - kFrameOverheadBytes),
                    frame.last(kCrcBytes), checks_);
}

FrameMap::Failure FrameMap::take_all(const TakePlan& plan) const noexcept {
  for (std::size_t first = 0; first < plan.numbers.size();) {
    const Group group = copy_group(plan, first);
    for (std::size_t i = first; i < group.end; ++i) {
      const Code code = check_at(plan, i);
      if (code != Code::kOk) return {static_cast<std::int64_t>(i), code};
    }
    if (group.code != Code::kOk) return {static_cast<std::int64_t>(group.end), group.code};
    first = group.end;
  }
  return {};
}

std::tuple<std::int64_t, int> FrameMap::take(const Int64Input& numbers, const Buffer& buffer,
                                             const Int64Input& outs) {
  check_same_size("numbers", numbers.shape(0), "outs", outs.shape(0));
  install_guard();
  Failure failure;
  {
    const nb::gil_scoped_release released;
    failure = take_all({entries(numbers), entries(outs), buffer.bytes()});
  }
  if (failure.code == Code::kOutOfRange) {
    raise_out_of_range("numbers and outs", static_cast<std::size_t>(failure.index), buffer.size());
  }
  return {failure.index, static_cast<int>(failure.code)};
}

// Unmaps the pages of a stretch, and those that the system has mapped round it.
void FrameMap::drop(Place stretch) const noexcept {
  const std::size_t ahead = std::bit_cast<std::uintptr_t>(map_.data()) % kAroundBytes;
  const std::size_t start = (stretch.start + ahead) / kAroundBytes * kAroundBytes;
  const std::size_t end = (stretch.start + stretch.size + ahead + kAroundBytes - 1) / kAroundBytes;
  const std::size_t first = start < ahead ? 0 : start - ahead;
  madvise(const_cast<std::byte*>(map_.data()) + first,
          std::min(end * kAroundBytes - ahead, map_.size()) - first, MADV_DONTNEED);
}

// Reads the frames of one stretch of the file, in ascending order, and unmaps its pages: of a pass
// over all of a file no more than a stretch for each thread stays resident. The system keeps them
// for others. What is dense is read as a whole if it has to come from the disk.
std::tuple<std::int64_t, int> FrameMap::sweep(const Int64Input& numbers, const FramePieces& pieces,
                                              const Int64Input& places) {
  check_same_size("numbers", numbers.shape(0), "places", places.shape(0));
  const TakePlan plan{entries(numbers), entries(places), {}, &pieces};
  install_guard();
  Failure failure;
  {
    const nb::gil_scoped_release released;
    Place stretch;
    if (!plan.numbers.empty()) {
      const Place first = place(plan.numbers.front());
      const Place last = place(plan.numbers.back());
      if (last.start >= first.start) stretch = {first.start, last.start + last.size - first.start};
    }
    const std::size_t step = plan.numbers.size() / kResidentSamples + 1;
    for (std::size_t i = 0; i < plan.numbers.size() && stretch.size != 0; i += step) {
      const Place sample = place(plan.numbers[i]);
      if (sample.size == 0 || is_resident(sample)) continue;
      ask_for(stretch);
      break;
    }
    failure = take_all(plan);
    if (stretch.size != 0) drop(stretch);
  }
  if (failure.code == Code::kOutOfRange) {
    raise_out_of_range("numbers and places", static_cast<std::size_t>(failure.index),
                       pieces.size());
  }
  return {failure.index, static_cast<int>(failure.code)};
}

// Frames of several maps side by side: which of each map, and where each goes.
class FilesPlan {
 public:
  // Precondition: `starts` ascends, with one entry more than there are maps.
  FilesPlan(std::span<FrameMap* const> maps, std::span<const std::int64_t> starts,
            std::span<const std::int64_t> wanted)
      : maps_(maps),
        starts_(starts),
        wanted_(wanted),
        files_(wanted.size()),
        ends_(maps.size() + 1),
        places_(wanted.size()),
        numbers_(wanted.size()),
        outs_(wanted.size()) {}

  // Fills in where the payloads go, and their lengths. Returns the bytes in all, or -1 if one of
  // the numbers has no frame in its map.
  std::int64_t lay_out(std::span<std::int64_t> offsets, std::span<std::int64_t> lengths) noexcept;

  // Notes which frames were never asked for. With the GIL.
  void touch() noexcept;

  // Copies the frames. Returns which of the wanted ones cannot be had, or -1.
  [[nodiscard]] std::int64_t take(std::span<std::byte> buffer) const noexcept;

 private:
  void read_ahead() const noexcept;

  std::span<FrameMap* const> maps_;
  std::span<const std::int64_t> starts_;
  std::span<const std::int64_t> wanted_;
  std::vector<std::size_t> files_;     // of each wanted frame
  std::vector<std::size_t> ends_;      // where the frames of each map end in the lists below
  std::vector<std::size_t> places_;    // of each frame of a map among the wanted ones
  std::vector<std::int64_t> numbers_;  // of each frame in its map
  std::vector<std::int64_t> outs_;
  std::vector<std::pair<const FrameMap*, Place>> new_;  // that were never asked for
};

void FilesPlan::touch() noexcept {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    FrameMap& map = *maps_[files_[i]];
    const Place place = map.place(wanted_[i] - starts_[files_[i]]);
    if (place.size != 0 && !map.touch(place)) new_.emplace_back(&map, place);
  }
}

// If some of the frames may have to come from the disk, lets the system read all of these at once:
// 1,024 frames of 650 bytes that are nowhere in memory take 14 ms instead of 60. Whether they are
// is asked of a few, since asking for all takes as long as copying them.
void FilesPlan::read_ahead() const noexcept {
  const std::size_t step = new_.size() / kResidentSamples + 1;
  for (std::size_t i = 0; i < new_.size(); i += step) {
    if (new_[i].first->is_resident(new_[i].second)) continue;
    for (const auto& [map, place] : new_) map->ask_for(place);
    return;
  }
}

std::int64_t FilesPlan::lay_out(std::span<std::int64_t> offsets,
                                std::span<std::int64_t> lengths) noexcept {
  const auto after = [&](std::int64_t number) {
    return static_cast<std::size_t>(std::ranges::upper_bound(starts_, number) - starts_.begin());
  };
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const std::size_t file = after(wanted_[i]);
    if (file == 0 || file > maps_.size() || maps_[file - 1] == nullptr) return -1;
    const FrameMap& map = *maps_[file - 1];
    const std::int64_t number = wanted_[i] - starts_[file - 1];
    if (!map.is_number(number)) return -1;
    __builtin_prefetch(map.frames_.data() + number);
    files_[i] = file - 1;
    ++ends_[file];
  }
  for (std::size_t file = 0; file < maps_.size(); ++file) ends_[file + 1] += ends_[file];
  std::int64_t size = 0;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const std::size_t file = files_[i];
    const std::int64_t number = wanted_[i] - starts_[file];
    const auto bytes = static_cast<std::int64_t>(maps_[file]->place(number).size);
    if (bytes == 0 || bytes > std::numeric_limits<std::int64_t>::max() - size) return -1;
    const std::size_t at = ends_[file]++;
    places_[at] = i;
    numbers_[at] = number;
    outs_[at] = size;
    offsets[i] = size + static_cast<std::int64_t>(kHeaderBytes);
    lengths[i] = bytes - static_cast<std::int64_t>(kFrameOverheadBytes);
    size += bytes;
  }
  return size;
}

std::int64_t FilesPlan::take(std::span<std::byte> buffer) const noexcept {
  read_ahead();
  std::size_t begin = 0;
  for (std::size_t file = 0; file < maps_.size(); ++file) {
    const std::size_t count = ends_[file] - begin;
    if (count == 0) continue;
    const FrameMap::Failure failure =
        maps_[file]->take_all({std::span(numbers_).subspan(begin, count),
                               std::span(outs_).subspan(begin, count), buffer});
    if (failure.code != Code::kOk) {
      return static_cast<std::int64_t>(places_[begin + static_cast<std::size_t>(failure.index)]);
    }
    begin = ends_[file];
  }
  return -1;
}

// What take_mapped returns: the buffer, offsets of the payloads, their lengths, and which failed.
using Taken = std::tuple<nb::object, Int64Array, Int64Array, std::int64_t>;

std::optional<Taken> take_mapped(const nb::list& maps, const Int64Input& starts,
                                 const Int64Input& numbers) {
  check_same_size("starts", starts.shape(0), "maps and the end", maps.size() + 1);
  std::vector<FrameMap*> found;
  for (const nb::handle map : maps) {
    found.push_back(map.is_none() ? nullptr : &nb::cast<FrameMap&>(map));
  }
  const std::vector<std::int64_t> bounds(entries(starts).begin(), entries(starts).end());
  const std::vector<std::int64_t> wanted(entries(numbers).begin(), entries(numbers).end());
  if (!std::ranges::is_sorted(bounds)) throw nb::value_error("expected starts that ascend");
  const std::size_t count = wanted.size();
  const Int64Batch batch(2 * count);
  FilesPlan plan(found, bounds, wanted);
  const std::int64_t size = plan.lay_out(batch.span(0, count), batch.span(count, count));
  if (size < 0) return std::nullopt;
  plan.touch();
  const nb::object owner = nb::cast(
      Buffer(static_cast<std::size_t>(std::max<std::int64_t>(size, 1))), nb::rv_policy::move);
  const std::span<std::byte> bytes = nb::cast<const Buffer&>(owner).bytes();
  install_guard();
  std::int64_t bad = -1;
  {
    const nb::gil_scoped_release released;
    bad = plan.take(bytes);
  }
  return Taken{owner, batch.array(0, count), batch.array(count, count), bad};
}

}  // namespace

void bind_map(nb::module_& module) {
  nb::class_<FrameMap>(
      module, "FrameMap",
      "The frames of a mapped file, which may change or shrink at any time. Frame i\n"
      "is at frames[i] and ends at frames[i + 1]. `check` is for the CRC of payloads; `settled`\n"
      "says that no other code changes the file, so that there is nothing to ask it for.")
      .def(nb::init<int, Int64Input, bool, bool>(), nb::arg("fd"), nb::arg("frames"),
           nb::arg("check"), nb::arg("settled") = false)
      .def("get", &FrameMap::get, nb::arg("index").none(),
           nb::sig("def get(self, index: object) -> bytes | int"),
           "Copy the payload of a frame; a code if `index` is not the number of one, or as\n"
           "read_frame. NEED_MORE also says: ask read_frame.")
      .def("lay_out", &FrameMap::lay_out, nb::arg("numbers"),
           "Plan a take of frames side by side: outs, offsets of the payloads, their lengths, and\n"
           "the bytes in all; None if one of them is not in the map.")
      .def("take", &FrameMap::take, nb::arg("numbers"), nb::arg("buffer"), nb::arg("outs"),
           "Copy whole frames: the one with numbers[i] to buffer[outs[i]:]. Return as read_frames\n"
           "does; NEED_MORE also says: ask read_frames.")
      .def("sweep", &FrameMap::sweep, nb::arg("numbers"), nb::arg("pieces"), nb::arg("places"),
           "Copy whole frames of ascending numbers to their places, and let go of the pages from\n"
           "the first to the last. Return as take does.")
      .def("let_go", &FrameMap::let_go,
           "Let go of all pages: they do not count as this process's memory any more. They are\n"
           "mapped again when they are asked for.");
  module.def(
      "take_mapped", take_mapped, nb::arg("maps"), nb::arg("starts"), nb::arg("numbers"),
      nb::sig("def take_mapped(maps: list[FrameMap | None], starts: NDArray[numpy.int64], "
              "numbers: NDArray[numpy.int64]) -> tuple[Buffer, NDArray[numpy.int64], "
              "NDArray[numpy.int64], int] | None"),
      "Copy frames of several maps side by side; those of map i have the numbers from\n"
      "starts[i] on. Return the buffer, offsets of the payloads, their lengths, and the first\n"
      "that cannot be had this way, or -1; None if the map of one is missing.");
}

}  // namespace tfrkit
