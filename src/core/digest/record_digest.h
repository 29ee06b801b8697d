// RecordDigest: 96 bits that stand for a record: for its bytes, or for what they mean.
//
// Two records mean the same if protobuf reads the same features with the same values from them:
// the order of map entries, packed or not, lists in several parts and unknown fields do not count.
// What is neither an Example nor a SequenceExample means its bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/bytes/digest.h"
#include "core/describe/record_reader.h"

namespace tfrkit {

// What a record has for its key. The numbers are part of the Python module.
enum class KeyState : std::uint8_t {
  kFound = 0,
  kMissing = 1,  // a feature is not there
  kNotOne = 2,   // a feature has no value, or several
  kFloats = 3,   // a feature is of floats
};

// Digests records one by one. Throws std::bad_alloc if there is no memory.
class RecordDigester {
 public:
  // `keys` are the features whose values together identify a record; none if it has no key.
  explicit RecordDigester(std::span<const std::string> keys);

  // Returns what stands for the meaning of the record.
  [[nodiscard]] Digest meaning_of(Bytes record);
  // Reads the key of the record; fills `digest` if it is found.
  [[nodiscard]] KeyState key_of(Bytes record, Digest& digest);

 private:
  // Reads the record; false if it is not an Example or SequenceExample, or not all keys fit.
  [[nodiscard]] bool read(Bytes record);

  std::span<const std::string> keys_;
  std::unique_ptr<RecordReader> reader_;  // made for the first record that is read
};

}  // namespace tfrkit
