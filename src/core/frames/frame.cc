#include "core/frames/frame.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/crc32c/crc32c.h"

namespace tfrkit {
namespace {

// A payload is copied and summed in pieces that stay in the first-level cache. Measured with a
// payload of 64 MB: 5.2 GB/s, against 3.6 for one copy and then one sum, and 4 KB pieces are
// slower.
constexpr std::size_t kCopyBytes = 16384;

// Returns whether [offset, offset + length + behind) lies in `size` bytes.
bool in_range(std::int64_t offset, std::int64_t length, std::size_t behind,
              std::size_t size) noexcept {
  if (offset < 0 || length < 0) return false;
  const auto start = static_cast<std::uint64_t>(offset);
  const auto count = static_cast<std::uint64_t>(length);
  return start <= size && count <= size - start && behind <= size - start - count;
}

}  // namespace

FrameScan scan_frames(Bytes data, std::size_t start, const FrameChecks& checks,
                      std::span<std::int64_t> offsets, std::span<std::int64_t> lengths) noexcept {
  const auto extend = crc32c_best().extend;
  const std::uint64_t limit = std::min(checks.max_record_bytes, kMaxRecordBytes);
  FrameScan scan;
  scan.end = start;
  while (scan.end != data.size()) {
    const std::size_t left = data.size() - scan.end;
    scan.length = 0;
    if (left < kHeaderBytes) {
      scan.code = Code::kNeedMore;
      scan.need = kHeaderBytes;
      return scan;
    }
    const std::byte* const frame = data.data() + scan.end;
    scan.length = load_le<std::uint64_t>(frame);
    const auto stored = load_le<std::uint32_t>(frame + kLengthBytes);
    const std::uint32_t computed = crc32c_mask(extend(0, Bytes(frame, kLengthBytes)));
    if (stored != computed) {
      scan.code = Code::kBadLength;
      scan.stored = stored;
      scan.computed = computed;
      return scan;
    }
    if (scan.length > limit) {
      scan.code = Code::kTooLarge;
      return scan;
    }
    if (left < kFrameOverheadBytes || scan.length > left - kFrameOverheadBytes) {
      scan.code = Code::kNeedMore;
      scan.need = scan.length + kFrameOverheadBytes;
      return scan;
    }
    if (scan.count == offsets.size()) {
      scan.code = Code::kOutputFull;
      return scan;
    }
    const auto length = static_cast<std::size_t>(scan.length);
    if (checks.data_crc) {
      const std::byte* const payload = frame + kHeaderBytes;
      const auto footer = load_le<std::uint32_t>(payload + length);
      const std::uint32_t sum = crc32c_mask(extend(0, Bytes(payload, length)));
      if (footer != sum) {
        scan.code = Code::kBadData;
        scan.stored = footer;
        scan.computed = sum;
        return scan;
      }
    }
    offsets[scan.count] = static_cast<std::int64_t>(scan.end + kHeaderBytes);
    lengths[scan.count] = static_cast<std::int64_t>(length);
    ++scan.count;
    scan.end += length + kFrameOverheadBytes;
  }
  scan.length = 0;
  return scan;
}

FrameCheck check_frames(Bytes data, std::span<const std::int64_t> offsets,
                        std::span<const std::int64_t> lengths) noexcept {
  FrameCheck check;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    check.index = i;
    const std::int64_t offset = offsets[i];
    const std::int64_t length = lengths[i];
    if (!in_range(offset, length, kCrcBytes, data.size())) {
      check.code = Code::kOutOfRange;
      return check;
    }
    const Bytes payload =
        data.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
    const auto stored = load_le<std::uint32_t>(payload.data() + payload.size());
    const std::uint32_t computed = crc32c_mask(crc32c(payload));
    if (stored != computed) {
      check.code = Code::kBadData;
      check.stored = stored;
      check.computed = computed;
      return check;
    }
  }
  check.index = 0;
  return check;
}

Code check_frame(Bytes frame, bool data_crc) noexcept {
  if (frame.size() < kFrameOverheadBytes) return Code::kNeedMore;
  return check_frame_parts(frame.first(kHeaderBytes),
                           frame.subspan(kHeaderBytes, frame.size() - kFrameOverheadBytes),
                           frame.last(kCrcBytes), data_crc);
}

Code check_frame_parts(Bytes header, Bytes payload, Bytes footer, bool data_crc) noexcept {
  const auto length_crc = load_le<std::uint32_t>(header.data() + kLengthBytes);
  if (load_le<std::uint64_t>(header.data()) != payload.size() ||
      length_crc != crc32c_mask(crc32c(header.first(kLengthBytes)))) {
    return Code::kBadLength;
  }
  if (data_crc && load_le<std::uint32_t>(footer.data()) != crc32c_mask(crc32c(payload))) {
    return Code::kBadData;
  }
  return Code::kOk;
}

std::size_t write_frame(Bytes payload, std::span<std::byte> out) noexcept {
  std::byte* at = out.data();
  store_le<std::uint64_t>(at, payload.size());
  store_le<std::uint32_t>(at + kLengthBytes, crc32c_mask(crc32c(out.first(kLengthBytes))));
  at += kHeaderBytes;
  std::uint32_t crc = 0;
  while (!payload.empty()) {
    const std::size_t piece = std::min(payload.size(), kCopyBytes);
    std::memcpy(at, payload.data(), piece);
    crc = crc32c_extend(crc, Bytes(at, piece));
    at += piece;
    payload = payload.subspan(piece);
  }
  store_le<std::uint32_t>(at, crc32c_mask(crc));
  return static_cast<std::size_t>(at - out.data()) + kCrcBytes;
}

void write_frames(std::span<const Bytes> payloads, std::span<std::byte> out) noexcept {
  for (const Bytes payload : payloads) out = out.subspan(write_frame(payload, out));
}

std::size_t measure_block(Bytes data, std::span<const std::int64_t> offsets,
                          std::span<const std::int64_t> lengths, std::size_t& size_bytes) noexcept {
  constexpr std::size_t kLimit = std::numeric_limits<std::size_t>::max() / 2;
  size_bytes = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t length = lengths[i];
    if (!in_range(offsets[i], length, 0, data.size())) return i;
    const std::size_t frame = static_cast<std::size_t>(length) + kFrameOverheadBytes;
    // Payloads may overlap, so that the sum has no limit by itself.
    if (frame > kLimit - size_bytes) return i;
    size_bytes += frame;
  }
  return offsets.size();
}

Code fill_block(Bytes data, std::span<const std::int64_t> offsets,
                std::span<const std::int64_t> lengths, std::span<std::byte> out) noexcept {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t offset = offsets[i];
    const std::int64_t length = lengths[i];
    if (!in_range(offset, length, 0, data.size())) return Code::kOutOfRange;
    const auto size = static_cast<std::size_t>(length);
    if (out.size() < kFrameOverheadBytes || size > out.size() - kFrameOverheadBytes) {
      return Code::kOutOfRange;
    }
    out = out.subspan(write_frame(data.subspan(static_cast<std::size_t>(offset), size), out));
  }
  return out.empty() ? Code::kOk : Code::kOutOfRange;
}

}  // namespace tfrkit
