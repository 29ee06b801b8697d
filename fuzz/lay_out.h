// Data made of frames from the input of a fuzzer, which does not guess CRCs: the input is a list of
// instructions by which noise, headers and frames are laid out, then damaged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/frames/layout.h"
#include "core/frames/reference.h"

namespace tfrkit {

// Takes one byte off the front of `input` as a number; 0 if there is none.
inline std::size_t take(Bytes& input) {
  if (input.empty()) return 0;
  const auto value = std::to_integer<std::size_t>(input[0]);
  input = input.subspan(1);
  return value;
}

// Takes up to `count` bytes off the front of `input`.
inline Bytes take_bytes(Bytes& input, std::size_t count) {
  const Bytes taken = input.first(std::min(count, input.size()));
  input = input.subspan(taken.size());
  return taken;
}

// Returns the data that the instructions in `input` describe.
inline std::vector<std::byte> lay_out(Bytes input) {
  std::vector<std::byte> data;
  while (!input.empty()) {
    switch (take(input) % 4) {
      case 0: {
        const Bytes noise = take_bytes(input, take(input));
        data.insert(data.end(), noise.begin(), noise.end());
        break;
      }
      case 1: {  // a lone header with any length
        std::uint64_t length = 0;
        for (const std::byte byte : take_bytes(input, kLengthBytes)) {
          length = (length << 8) | std::to_integer<std::uint64_t>(byte);
        }
        reference::append_header(data, length);
        break;
      }
      case 2:
        reference::append_frame(data, take_bytes(input, take(input)));
        break;
      default: {  // damage
        const std::size_t back = take(input) + 1;
        const auto flip = static_cast<std::byte>(take(input));
        if (back <= data.size()) data[data.size() - back] ^= flip;
        break;
      }
    }
  }
  return data;
}

}  // namespace tfrkit
