// Rows of different lengths into a table whose rows are all as wide as the longest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"

namespace tfrkit {

// Row i has the items [splits[i], splits[i + 1]) of `values`, `item_bytes` each.
struct Rows {
  Bytes values;
  std::span<const std::int64_t> splits;
  std::size_t item_bytes;

  [[nodiscard]] std::size_t count() const noexcept {
    return splits.empty() ? 0 : splits.size() - 1;
  }
};

// Writes the rows [first, first + targets) of `rows` to `target`, each as `width` items: what does
// not fit is left out, what is missing is `filler`, one item. Returns false, with part of the
// target written, if a row is not within the values. Preconditions: the rows exist, filler has
// item_bytes, and the target has room for exactly these rows.
[[nodiscard]] bool pad_rows(const Rows& rows, std::size_t first, std::size_t width, Bytes filler,
                            std::span<std::byte> target) noexcept;

}  // namespace tfrkit
