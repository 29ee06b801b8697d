#include <nanobind/nanobind.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/frames/record_inputs.h"
#include "bindings/parallel.h"
#include "core/bytes/varint.h"
#include "core/bytes/wire.h"
#include "core/examples/value_places.h"

namespace tfrkit {
namespace {

constexpr std::int64_t kNotFound = -1;

Int64Array count_values(nb::handle pieces, const nb::bytes& key, int threads) {
  const RecordInputs gathered(pieces);
  const auto records = gathered.records();
  const Bytes wanted = std::as_bytes(std::span(key.c_str(), key.size()));
  const Int64Batch counts(records.size());
  const auto out = counts.span(0, records.size());
  {
    const nb::gil_scoped_release released;
    parallel_for(records.size(), threads, [&](std::size_t i) noexcept {
      FoundValues found;
      const bool usual = find_values(records[i], {&wanted, 1}, {&found, 1});
      out[i] =
          usual && found.kind != Kind::kUnset ? static_cast<std::int64_t>(found.count) : kNotFound;
    });
  }
  return counts.array(0, records.size());
}

// A record in a file, of which only the beginnings of its map entries are read, and the entry that
// is wanted.
class FileRecord {
 public:
  FileRecord(int fd, std::int64_t start, std::int64_t size)
      : fd_(fd), at_(start), end_(start + size) {}

  // Returns how many values a key has, or kNotFound.
  [[nodiscard]] std::int64_t count(Bytes key) {
    std::int64_t length = 0;
    if (!read_head(length) || length != end_ - at_) return kNotFound;
    FoundValues found;
    while (at_ < end_) {
      if (!read_head(length) || length > end_ - at_) return kNotFound;
      Bytes name;
      if (!head_.expect(kEntryTag) || !head_.read_message(name)) return kNotFound;
      if (std::ranges::equal(name, key)) {
        if (length > kMostEntryBytes) return kNotFound;
        entry_.resize(static_cast<std::size_t>(length));
        if (read_at(entry_, at_) != entry_.size()) return kNotFound;
        if (!find_in_entry(entry_, {&key, 1}, {&found, 1})) return kNotFound;
      }
      at_ += length;
    }
    return found.kind == Kind::kUnset ? kNotFound : static_cast<std::int64_t>(found.count);
  }

 private:
  static constexpr std::uint8_t kEntryTag = delimited_tag(1);
  static constexpr std::size_t kHeadBytes = 512;  // a length, and a key with its own
  static constexpr std::int64_t kMostEntryBytes = 1 << 20;

  // Reads a tag and a length, moves behind them, and sets head_ to some of the bytes that follow.
  [[nodiscard]] bool read_head(std::int64_t& length) {
    const auto most = std::min(end_ - at_, static_cast<std::int64_t>(window_.size()));
    if (most <= 0) return false;
    const auto size = static_cast<std::size_t>(most);
    if (read_at(std::span(window_).first(size), at_) != size) return false;
    std::uint64_t value = 0;
    head_ = Wire(Bytes(window_).first(size));
    if (!head_.expect(kEntryTag) || !head_.read_varint(value) || value > kMaxLength) return false;
    at_ += static_cast<std::int64_t>(size - head_.left());
    length = static_cast<std::int64_t>(value);
    return true;
  }

  [[nodiscard]] std::size_t read_at(std::span<std::byte> out, std::int64_t at) const noexcept {
    std::size_t got = 0;
    while (got < out.size()) {
      const ssize_t count =
          pread(fd_, out.data() + got, out.size() - got, at + static_cast<std::int64_t>(got));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      got += static_cast<std::size_t>(count);
    }
    return got;
  }

  int fd_;
  std::int64_t at_;
  std::int64_t end_;
  std::array<std::byte, kHeadBytes> window_{};
  Wire head_;
  std::vector<std::byte> entry_;
};

Int64Array count_values_at(int fd, const Int64Input& offsets, const Int64Input& lengths,
                           const nb::bytes& key) {
  const std::vector<std::int64_t> starts(entries(offsets).begin(), entries(offsets).end());
  const std::vector<std::int64_t> sizes(entries(lengths).begin(), entries(lengths).end());
  check_same_size("offsets", starts.size(), "lengths", sizes.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] < 0 || sizes[i] < 0 ||
        sizes[i] > std::numeric_limits<std::int64_t>::max() - starts[i]) {
      throw nb::value_error("no record can have such an offset and length");
    }
  }
  const Bytes wanted = std::as_bytes(std::span(key.c_str(), key.size()));
  const Int64Batch counts(starts.size());
  {
    const nb::gil_scoped_release released;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      counts.span(i, 1)[0] = FileRecord(fd, starts[i], sizes[i]).count(wanted);
    }
  }
  return counts.array(0, starts.size());
}

// The values of a key for Python: (kind, first, second); see the binding.
nb::object values_of(const FoundValues& found, Bytes record) {
  const int kind = static_cast<int>(found.kind);
  const std::size_t count = found.count;
  if (found.kind == Kind::kBytes) {
    const Int64Batch places(2 * count);
    bool placed = false;
    {
      const nb::gil_scoped_release released;
      placed = place_strings(found.list, record.data(), places.span(0, count),
                             places.span(count, count));
    }
    if (!placed) throw nb::value_error("the record changed during the call");
    return nb::make_tuple(kind, places.array(0, count), places.array(count, count));
  }
  if (found.kind == Kind::kInt64) {
    const Int64Batch values(count);
    decode_varints(found.list, values.span(0, count));
    return nb::make_tuple(kind, values.array(0, count), count);
  }
  const auto offset = found.list.empty() ? 0 : found.list.data() - record.data();
  return nb::make_tuple(kind, offset, count);
}

nb::object find_values_of(nb::handle pieces, const nb::list& keys) {
  const RecordInputs gathered(pieces);
  if (gathered.records().size() != 1) throw nb::value_error("expected one record");
  const Bytes record = gathered.records()[0];
  std::vector<nb::bytes> kept;  // the list may change
  std::vector<Bytes> wanted;
  for (const nb::handle item : keys) {
    if (!PyBytes_Check(item.ptr())) raise_item_type("bytes", item, kept.size());
    kept.push_back(nb::borrow<nb::bytes>(item));
    wanted.push_back(std::as_bytes(std::span(kept.back().c_str(), kept.back().size())));
  }
  std::vector<FoundValues> found(wanted.size());
  bool usual = false;
  {
    const nb::gil_scoped_release released;
    usual = find_values(record, wanted, found);
  }
  if (!usual) return nb::none();
  nb::list values;
  for (const FoundValues& each : found) values.append(values_of(each, record));
  return values;
}

}  // namespace

void bind_value_places(nb::module_& module) {
  module.def("count_values", count_values, nb::arg("pieces"), nb::arg("key"),
             nb::arg("threads") = 0,
             "Count the values of a feature in each record without decoding them; -1 where it is\n"
             "absent, or the record not of the usual form.");
  module.def("count_values_at", count_values_at, nb::arg("fd"), nb::arg("offsets"),
             nb::arg("lengths"), nb::arg("key"),
             "The same for records in a file, of which only the beginnings of features are read.");
  module.def(
      "find_values", find_values_of, nb::arg("pieces"), nb::arg("keys"),
      nb::sig("def find_values(pieces: object, keys: list[bytes]) -> list[tuple[int, "
              "typing.Any, typing.Any]] | None"),
      "Find the values of features in one record, without copying byte strings and floats.\n"
      "\n"
      "For each key, which must differ, (kind, ...): bytes (1, offsets, lengths) and floats\n"
      "(2, offset, count), in bytes from the beginning of the record; (3, the int64, count);\n"
      "(0, 0, 0) if it is absent. None if the record is not of the usual form.");
}

}  // namespace tfrkit
