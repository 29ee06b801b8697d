#include "core/frames/resync.h"

#include <algorithm>

#include "core/crc32c/crc32c.h"

namespace tfrkit {
namespace {

// CRCs of any part of the data in constant time each, after one pass over the data in all.
class PrefixCrcs {
 public:
  PrefixCrcs(Bytes data, std::span<std::uint32_t> checkpoints) noexcept
      : data_(data), checkpoints_(checkpoints) {}

  // Returns the CRC of data[first, last).
  [[nodiscard]] std::uint32_t crc(std::size_t first, std::size_t last) noexcept {
    // Registers are linear: the one after `last` less the one after `first` moved there. The CRC's
    // initial value is one more term that moves with it.
    const std::uint32_t moved = crc32c_shift(state_at(first) ^ ~0U, last - first);
    return ~(state_at(last) ^ moved);
  }

  [[nodiscard]] std::uint64_t summed_bytes() const noexcept { return summed_bytes_; }

 private:
  // Returns the register, 0 at the start, after data[0, position).
  std::uint32_t state_at(std::size_t position) noexcept {
    const std::size_t index = position / kCheckpointBytes;
    for (; known_ <= index; ++known_) {
      checkpoints_[known_] = known_ == 0 ? 0
                                         : run(checkpoints_[known_ - 1],
                                               (known_ - 1) * kCheckpointBytes, kCheckpointBytes);
    }
    const std::size_t base = index * kCheckpointBytes;
    return run(checkpoints_[index], base, position - base);
  }

  std::uint32_t run(std::uint32_t state, std::size_t position, std::size_t size) noexcept {
    summed_bytes_ += size;
    return ~crc32c_extend(~state, data_.subspan(position, size));
  }

  Bytes data_;
  std::span<std::uint32_t> checkpoints_;
  std::size_t known_ = 0;  // checkpoints filled so far
  std::uint64_t summed_bytes_ = 0;
};

}  // namespace

FoundFrame find_frame(Bytes data, std::size_t start, bool at_eof, std::uint64_t max_record_bytes,
                      std::span<std::uint32_t> checkpoints) noexcept {
  const auto find_header = crc32c_best().find_header;
  const std::uint64_t limit = std::min(max_record_bytes, kMaxRecordBytes);
  const Bytes window = data.subspan(start);
  PrefixCrcs prefixes(window, checkpoints);
  std::uint64_t direct_bytes = 0;
  FoundFrame found;
  for (std::size_t at = 0;; ++at) {
    found.summed_bytes = direct_bytes + prefixes.summed_bytes();
    at += find_header(window.subspan(at));
    found.position = start + at;
    if (at == window.size()) break;
    const auto claimed = load_le<std::uint64_t>(window.data() + at);
    if (claimed > limit) continue;
    const std::size_t left = window.size() - at;
    if (left < kFrameOverheadBytes || claimed > left - kFrameOverheadBytes) {
      if (at_eof) continue;
      found.code = Code::kNeedMore;
      found.need = claimed + kFrameOverheadBytes;
      return found;
    }
    const auto length = static_cast<std::size_t>(claimed);
    const std::size_t first = at + kHeaderBytes;
    std::uint32_t crc = 0;
    if (length <= window.size() - direct_bytes) {
      crc = crc32c(window.subspan(first, length));
      direct_bytes += length;
    } else {
      crc = prefixes.crc(first, first + length);
    }
    if (load_le<std::uint32_t>(window.data() + first + length) == crc32c_mask(crc)) {
      found.code = Code::kOk;
      found.summed_bytes = direct_bytes + prefixes.summed_bytes();
      return found;
    }
  }
  // The last 11 bytes may be the front of a header.
  if (!at_eof) found.position = data.size() - std::min(window.size(), kHeaderBytes - 1);
  return found;
}

}  // namespace tfrkit
