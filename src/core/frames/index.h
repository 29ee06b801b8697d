// The index of a shard as bytes: where its frames start, and its gzip members.
//
// Version 1, all integers little-endian:
//   0   8        magic "TFRKIDX1"
//   8   4        compression: 0 none, 1 ZLIB, 2 GZIP
//   12  4        tail_crc: CRC-32C of the last min(65536, shard_bytes) bytes of the shard
//   16  8        shard_bytes: size of the shard
//   24  8        n: number of frames
//   32  8        m: number of gzip members, 0 unless compression is 2
//   40  8*(n+1)  start of each frame in the uncompressed stream, then the stream's end
//   ..  16*m     of each member: start in the shard, start in the uncompressed stream
//   ..  4        CRC-32C of everything before
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"

namespace tfrkit {

inline constexpr std::size_t kIndexHeaderBytes = 40;
inline constexpr std::size_t kMinIndexBytes = kIndexHeaderBytes + 8 + 4;  // no frame, no member

enum class IndexCode : std::uint8_t {
  kOk,
  kTooShort,     // smaller than kMinIndexBytes
  kMagic,        // does not start with the magic
  kSize,         // the size is not the one that the counts ask for
  kChecksum,     // the last four bytes are not the CRC of the rest
  kCompression,  // none of 0, 1, 2
  kShardBytes,   // over 2^63 - 1
  kFirstFrame,   // the first frame does not start at 0
  kFrameOrder,   // a frame starts less than 16 bytes after the one before
  kStreamEnd,    // not compressed, but the stream does not end where the shard does
  kMembers,      // members in a shard that is not GZIP
  kMemberOrder,  // a member does not start after the one before
  kMemberRange,  // the first member is not at 0, or one starts after the end
};

// What went wrong first, and the number of the frame or member where, for the codes that have one.
struct IndexStatus {
  IndexCode code = IndexCode::kOk;
  std::uint64_t entry = 0;
};

// The fixed part of an index.
struct IndexHeader {
  std::uint32_t compression = 0;
  std::uint32_t tail_crc = 0;
  std::uint64_t shard_bytes = 0;
  std::uint64_t frames = 0;
  std::uint64_t members = 0;
};

// Returns the size of an index, or 0 if it would not fit in 63 bits.
[[nodiscard]] std::uint64_t measure_index(std::uint64_t frames, std::uint64_t members) noexcept;

// Checks every rule of the format on `data` and fills `header`. If the result is not kOk, `header`
// is of no use. Reads nothing and believes no count before it has compared the sizes.
[[nodiscard]] IndexStatus check_index(Bytes data, IndexHeader& header) noexcept;

// Copies the entries of an index. Preconditions: check_index accepted `data` and set `header`;
// `frames` has header.frames + 1 entries, the others header.members.
void decode_index_unchecked(Bytes data, const IndexHeader& header, std::span<std::int64_t> frames,
                            std::span<std::int64_t> member_file,
                            std::span<std::int64_t> member_stream) noexcept;

// Writes an index to `out` and checks it; if the result is not kOk, `out` is of no use.
// Preconditions: `frames` has header.frames entries, the starts without the stream's end, which is
// `stream_bytes`; the members' spans have header.members; `out` has measure_index() bytes.
[[nodiscard]] IndexStatus encode_index(const IndexHeader& header,
                                       std::span<const std::int64_t> frames,
                                       std::uint64_t stream_bytes,
                                       std::span<const std::int64_t> member_file,
                                       std::span<const std::int64_t> member_stream,
                                       std::span<std::byte> out) noexcept;

}  // namespace tfrkit
