#include "core/bytes/pad.h"

#include <algorithm>
#include <cstring>

namespace tfrkit {
namespace {

void fill(std::span<std::byte> target, Bytes filler) noexcept {
  if (target.empty()) return;
  if (std::all_of(filler.begin(), filler.end(), [](std::byte b) { return b == std::byte{0}; })) {
    std::memset(target.data(), 0, target.size());
    return;
  }
  for (std::size_t at = 0; at < target.size(); at += filler.size()) {
    std::memcpy(target.data() + at, filler.data(), filler.size());
  }
}

}  // namespace

bool pad_rows(const Rows& rows, std::size_t first, std::size_t width, Bytes filler,
              std::span<std::byte> target) noexcept {
  const std::size_t row_bytes = width * rows.item_bytes;
  if (row_bytes == 0) return true;
  const std::size_t items = rows.values.size() / rows.item_bytes;
  for (std::size_t row = first; !target.empty(); ++row) {
    const std::int64_t start = rows.splits[row];
    const std::int64_t stop = rows.splits[row + 1];
    if (start < 0 || stop < start || static_cast<std::uint64_t>(stop) > items) return false;
    const std::size_t kept = std::min(static_cast<std::size_t>(stop - start), width);
    const std::size_t size = kept * rows.item_bytes;
    if (size != 0) {
      const std::size_t offset = static_cast<std::size_t>(start) * rows.item_bytes;
      std::memcpy(target.data(), rows.values.data() + offset, size);
    }
    fill(target.subspan(size, row_bytes - size), filler);
    target = target.subspan(row_bytes);
  }
  return true;
}

}  // namespace tfrkit
