// Frames of a TFRecord file: find them in a block, check them, and write them.
//
// Works on bytes already in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"
#include "core/bytes/status.h"
#include "core/frames/layout.h"

namespace tfrkit {

// What is checked of a frame besides the CRC of its length, which always is.
struct FrameChecks {
  bool data_crc = true;
  std::uint64_t max_record_bytes = kMaxRecordBytes;
};

// How a scan ended. Fields that say nothing for `code` are 0.
struct FrameScan {
  Code code = Code::kOk;
  std::size_t count = 0;       // frames accepted
  std::size_t end = 0;         // position after the last accepted frame
  std::uint64_t need = 0;      // kNeedMore: bytes from `end` on without which nothing can be said
  std::uint64_t length = 0;    // what the frame at `end` claims, if its header is there
  std::uint32_t stored = 0;    // kBadLength, kBadData: the masked CRC in the frame
  std::uint32_t computed = 0;  // and the one it should have
};

// Walks the frames in `data` from `start` on and writes the position and the length of each payload
// to `offsets` and `lengths`, which have the same size.
//
// Order of the checks on one frame: header complete, CRC of the length, length within the limit,
// frame complete, room in the output (kOutputFull), CRC of the payload. On every code the first
// `count` entries of the outputs are valid, and a scan can resume at `end`. Precondition: start <=
// data.size().
[[nodiscard]] FrameScan scan_frames(Bytes data, std::size_t start, const FrameChecks& checks,
                                    std::span<std::int64_t> offsets,
                                    std::span<std::int64_t> lengths) noexcept;

// The first frame that failed a check, or kOk.
struct FrameCheck {
  Code code = Code::kOk;     // kOk, kBadData or kOutOfRange
  std::size_t index = 0;     // of the failed frame
  std::uint32_t stored = 0;  // kBadData: as in FrameScan
  std::uint32_t computed = 0;
};

// Checks the CRCs of payloads whose footers stand right after them in `data`. Stops at the first
// that is wrong, or that does not lie in `data` with its footer (kOutOfRange). Precondition:
// `offsets` and `lengths` have the same size.
[[nodiscard]] FrameCheck check_frames(Bytes data, std::span<const std::int64_t> offsets,
                                      std::span<const std::int64_t> lengths) noexcept;

// Checks one frame that should fill `frame` exactly: kBadLength if its header is of another length
// or has a wrong CRC, kBadData if the CRC of the payload is wrong (only if `data_crc`), kNeedMore
// if `frame` is too small for any.
[[nodiscard]] Code check_frame(Bytes frame, bool data_crc) noexcept;

// The same with the three parts of a frame in different places. Preconditions: `header` has
// kHeaderBytes, `footer` kCrcBytes.
[[nodiscard]] Code check_frame_parts(Bytes header, Bytes payload, Bytes footer,
                                     bool data_crc) noexcept;

// Writes the frame of `payload` to the front of `out` and returns its size. Precondition: `out` has
// room for payload.size() + kFrameOverheadBytes.
std::size_t write_frame(Bytes payload, std::span<std::byte> out) noexcept;

// Writes the frames of `payloads` one after the other. Precondition: `out` has exactly the size of
// all of them.
void write_frames(std::span<const Bytes> payloads, std::span<std::byte> out) noexcept;

// Adds up the sizes of the frames of the payloads at `offsets` in `data` into `size_bytes`. Returns
// the index of the first payload that does not lie in `data`, or offsets.size() if all do; then
// `size_bytes` is complete. Precondition: `offsets` and `lengths` have the same size.
[[nodiscard]] std::size_t measure_block(Bytes data, std::span<const std::int64_t> offsets,
                                        std::span<const std::int64_t> lengths,
                                        std::size_t& size_bytes) noexcept;

// Writes the frames of these payloads one after the other. kOutOfRange if a payload does not lie
// in `data`, or the frames do not fill `out` exactly; what was written is then of no use.
[[nodiscard]] Code fill_block(Bytes data, std::span<const std::int64_t> offsets,
                              std::span<const std::int64_t> lengths,
                              std::span<std::byte> out) noexcept;

}  // namespace tfrkit
