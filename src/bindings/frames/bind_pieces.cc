#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/frames/frame_pieces.h"
#include "core/frames/frame.h"

namespace tfrkit {
namespace {

constexpr std::int64_t kOverhead = kFrameOverheadBytes;
constexpr std::size_t kPlacesAhead = 8;

}  // namespace

FramePieces::FramePieces(const Int64Input& sizes, std::int64_t count)
    : count_(static_cast<std::size_t>(std::max<std::int64_t>(count, 1))) {
  if (count < 1) throw nb::value_error("expected at least 1 frame in a piece");
  const std::vector<std::int64_t> wanted(entries(sizes).begin(), entries(sizes).end());
  places_.reserve(wanted.size());
  for (std::size_t first = 0; first < wanted.size(); first += count_) {
    const std::size_t end = first + std::min(count_, wanted.size() - first);
    std::int64_t bytes = 0;
    for (std::size_t i = first; i < end; ++i) {
      if (wanted[i] < kOverhead || wanted[i] > std::numeric_limits<std::int64_t>::max() - bytes) {
        throw nb::value_error("expected sizes of frames");
      }
      bytes += wanted[i];
    }
    buffers_.push_back(nb::cast(Buffer(static_cast<std::size_t>(bytes)), nb::rv_policy::move));
    std::byte* start = nb::cast<const Buffer&>(buffers_.back()).bytes().data();
    for (std::size_t i = first; i < end; ++i) {
      places_.push_back({start, static_cast<std::size_t>(wanted[i])});
      start += wanted[i];
    }
  }
}

std::tuple<std::int64_t, int> FramePieces::fill(const InputBytes& data, const Int64Input& begins,
                                                const Int64Input& places, bool check) const {
  check_same_size("begins", begins.shape(0), "places", places.shape(0));
  const std::span<const std::int64_t> from = entries(begins);
  const std::span<const std::int64_t> wanted = entries(places);
  const Bytes source = data.bytes();
  const nb::gil_scoped_release released;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto failed = [i](Code code) {
      return std::tuple{static_cast<std::int64_t>(i), static_cast<int>(code)};
    };
    const std::int64_t place = wanted[i];
    const std::int64_t begin = from[i];
    if (i + kPlacesAhead < wanted.size()) prefetch(wanted[i + kPlacesAhead]);
    if (place < 0 || static_cast<std::uint64_t>(place) >= size()) return failed(Code::kOutOfRange);
    const std::span<std::byte> target = room(place, places_[static_cast<std::size_t>(place)].size);
    if (target.empty() || begin < 0 || static_cast<std::uint64_t>(begin) > source.size() ||
        target.size() > source.size() - static_cast<std::size_t>(begin)) {
      return failed(Code::kOutOfRange);
    }
    std::memcpy(target.data(), source.data() + begin, target.size());
    const Code code = check_frame(target, check);
    if (code != Code::kOk) return failed(code);
  }
  return {-1, static_cast<int>(Code::kOk)};
}

nb::list FramePieces::pieces() const {
  nb::list found;
  const Int64Batch batch(2 * size());
  for (std::size_t piece = 0; piece < buffers_.size(); ++piece) {
    const std::size_t first = piece * count_;
    const std::size_t some = std::min(count_, size() - first);
    const std::span<std::int64_t> offsets = batch.span(first, some);
    const std::span<std::int64_t> lengths = batch.span(size() + first, some);
    for (std::size_t i = 0; i < some; ++i) {
      const auto& [start, bytes] = places_[first + i];
      offsets[i] = start - places_[first].start + static_cast<std::int64_t>(kHeaderBytes);
      lengths[i] = static_cast<std::int64_t>(bytes) - kOverhead;
    }
    found.append(nb::make_tuple(buffers_[piece], batch.array(first, some),
                                batch.array(size() + first, some)));
  }
  return found;
}

void bind_pieces(nb::module_& module) {
  nb::class_<FramePieces>(
      module, "FramePieces",
      "Room for frames of these sizes in the order in which they will be used: every `count` in a\n"
      "Buffer of their own. Several threads may fill it, each its own places.")
      .def(nb::init<const Int64Input&, std::int64_t>(), nb::arg("sizes"), nb::arg("count"))
      .def("__len__", &FramePieces::size)
      .def("fill", &FramePieces::fill, nb::arg("data"), nb::arg("begins"), nb::arg("places"),
           nb::arg("check"),
           "Copy the frames that begin at begins[i] of `data` to their places. Return as\n"
           "read_frames does. `check` is for the CRC of payloads.")
      .def("pieces", &FramePieces::pieces,
           nb::sig("def pieces(self) -> list[tuple[Buffer, NDArray[numpy.int64], "
                   "NDArray[numpy.int64]]]"),
           "Return for every piece its buffer, offsets of the payloads there, and their lengths.");
}

}  // namespace tfrkit
