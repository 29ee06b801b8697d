// Copy runs of bytes that lie scattered in one or several buffers into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"

namespace tfrkit {

// Where the runs lie: run i is `lengths[i]` bytes from `starts[i]` on in the buffer `which[i]`, or
// in the first buffer if `which` is empty. All three are otherwise of one size.
struct Runs {
  std::span<const std::int64_t> which;
  std::span<const std::int64_t> starts;
  std::span<const std::int64_t> lengths;
};

// Adds up the lengths into `size` and checks every run. Returns the index of the first run that
// leaves its buffer, names no buffer or makes the sum overflow, or the number of runs if all are
// good.
[[nodiscard]] std::size_t measure_runs(std::span<const Bytes> buffers, const Runs& runs,
                                       std::size_t& size) noexcept;

// Copies the runs one after another to `target`. Checks again, as the arrays are not ours: returns
// false, with part of the target written, if a run is not within its buffer or what remains of the
// target.
[[nodiscard]] bool fill_runs(std::span<const Bytes> buffers, const Runs& runs,
                             std::span<std::byte> target) noexcept;

}  // namespace tfrkit
