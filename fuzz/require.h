// What the fuzz targets share: a check that no build option turns off, and their input as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "core/bytes/bytes.h"

namespace tfrkit {

// Ends the process, which libFuzzer reports with the input, unless `holds`.
inline void require(bool holds, const char* text) {
  if (holds) return;
  std::fputs(text, stderr);
  std::fputs("\n", stderr);
  std::abort();
}

// Returns the input of a fuzz target as bytes.
inline Bytes as_input(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

}  // namespace tfrkit

#define REQUIRE(condition) ::tfrkit::require((condition), "expected " #condition)
