// What a feature holds, and by whose rules it is read: numbers that the kernels share with Python.
#pragma once

#include <cstdint>

namespace tfrkit {

// The kind of a Feature: the number of the field in its oneof, 0 if none is set.
enum class Kind : std::uint8_t { kUnset = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };

// How bytes are understood: as protobuf does, or as TensorFlow's parsers of a batch or of one do.
enum class Dialect : std::uint8_t { kProtobuf = 0, kTensorflowBatch = 1, kTensorflowSingle = 2 };

// A count of values: any number.
inline constexpr std::int64_t kVariable = -1;

}  // namespace tfrkit
