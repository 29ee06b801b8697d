// PNG's five filters on one row, and their reverse.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tfrkit {

inline constexpr std::uint8_t kPngFilters = 5;

// Restores a row of `size` bytes from its filtered form. `above` is the restored row before it, all
// zeros for the first; a pixel has `step` bytes: 1, 2, 3, 4, 6 or 8. Returns false for an unknown
// filter. The rows must not overlap.
[[nodiscard]] bool unfilter_png_row(std::uint8_t filter, const std::uint8_t* filtered,
                                    const std::uint8_t* above, std::size_t size, std::size_t step,
                                    std::uint8_t* row) noexcept;

// Writes the filtered form of a row, and returns what the differences, taken as signed, add up to.
// Precondition: the filter is known.
std::uint64_t filter_png_row(std::uint8_t filter, const std::uint8_t* row,
                             const std::uint8_t* above, std::size_t size, std::size_t step,
                             std::uint8_t* filtered) noexcept;

}  // namespace tfrkit
