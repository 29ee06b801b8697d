// The codes with which kernels say how they ended.
#pragma once

#include <cstdint>

namespace tfrkit {

// The first five are part of the Python module under the same numbers.
enum class Code : std::uint8_t {
  kOk = 0,          // reached the end of the input exactly
  kNeedMore = 1,    // the input ends inside a frame
  kBadLength = 2,   // the CRC of the length is wrong
  kBadData = 3,     // the CRC of the payload is wrong
  kTooLarge = 4,    // the length is genuine but over the limit
  kOutputFull = 5,  // the caller's output has no room for the next item; grow it and resume
  kOutOfRange = 6,  // an offset or a length given by the caller points outside the data
};

}  // namespace tfrkit
