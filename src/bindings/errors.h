// Python exceptions for what kernels and ranges report.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "core/frames/index.h"

namespace tfrkit {

// Raises ValueError with what is wrong with an index of `size` bytes.
[[noreturn]] void raise_index_error(const IndexStatus& status, const IndexHeader& header,
                                    std::size_t size);

// Raises IndexError: entry `index` of the arrays named by `arrays` lies outside `size` bytes.
[[noreturn]] void raise_out_of_range(const char* arrays, std::size_t index, std::size_t size);

// Raises ValueError unless 0 <= start <= stop <= size.
void check_range(std::int64_t start, std::int64_t stop, std::size_t size);

// Raises ValueError unless both sizes are equal; the names are for the message.
void check_same_size(const char* name, std::size_t size, const char* other, std::size_t other_size);

// Raises TypeError: item `index` is of the wrong type.
[[noreturn]] void raise_item_type(const char* expected, nanobind::handle item, std::size_t index);

// Raises OSError from `error_number`, an errno.
[[noreturn]] void raise_os_error(int error_number);

}  // namespace tfrkit
