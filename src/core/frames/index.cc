#include "core/frames/index.h"

#include <cassert>
#include <limits>

#include "core/crc32c/crc32c.h"
#include "core/frames/layout.h"

namespace tfrkit {
namespace {

constexpr std::uint64_t kMagic = 0x315844494B524654;  // "TFRKIDX1"
constexpr std::size_t kEntryBytes = 8;
constexpr std::size_t kMemberBytes = 16;
constexpr std::uint64_t kMaxPosition = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kNone = 0;
constexpr std::uint32_t kGzip = 2;

IndexStatus check_frame_starts(const std::byte* entries, const IndexHeader& header,
                               std::uint64_t& stream_end) noexcept {
  auto before = load_le<std::uint64_t>(entries);
  if (before != 0) return {IndexCode::kFirstFrame, 0};
  for (std::uint64_t i = 1; i <= header.frames; ++i) {
    const auto start = load_le<std::uint64_t>(entries + i * kEntryBytes);
    // `before` is at most kMaxPosition, so that the sum cannot wrap.
    if (start < before + kFrameOverheadBytes || start > kMaxPosition) {
      return {IndexCode::kFrameOrder, i};
    }
    before = start;
  }
  stream_end = before;
  if (header.compression == kNone && before != header.shard_bytes) {
    return {IndexCode::kStreamEnd, 0};
  }
  return {};
}

IndexStatus check_members(const std::byte* entries, const IndexHeader& header,
                          std::uint64_t stream_end) noexcept {
  std::uint64_t file_before = 0;
  std::uint64_t stream_before = 0;
  for (std::uint64_t i = 0; i < header.members; ++i) {
    const std::byte* const entry = entries + i * kMemberBytes;
    const auto file = load_le<std::uint64_t>(entry);
    const auto stream = load_le<std::uint64_t>(entry + kEntryBytes);
    if (i == 0 && (file != 0 || stream != 0)) return {IndexCode::kMemberRange, i};
    if (i > 0 && (file <= file_before || stream <= stream_before)) {
      return {IndexCode::kMemberOrder, i};
    }
    if (file >= header.shard_bytes || stream > stream_end) return {IndexCode::kMemberRange, i};
    file_before = file;
    stream_before = stream;
  }
  return {};
}

}  // namespace

std::uint64_t measure_index(std::uint64_t frames, std::uint64_t members) noexcept {
  // Each part is limited to a quarter of the range, so that no step can wrap.
  constexpr std::uint64_t kQuarter = kMaxPosition / 4;
  if (frames > kQuarter / kEntryBytes || members > kQuarter / kMemberBytes) return 0;
  return kMinIndexBytes + frames * kEntryBytes + members * kMemberBytes;
}

IndexStatus check_index(Bytes data, IndexHeader& header) noexcept {
  if (data.size() < kMinIndexBytes) return {IndexCode::kTooShort, 0};
  const std::byte* const bytes = data.data();
  if (load_le<std::uint64_t>(bytes) != kMagic) return {IndexCode::kMagic, 0};
  header.compression = load_le<std::uint32_t>(bytes + 8);
  header.tail_crc = load_le<std::uint32_t>(bytes + 12);
  header.shard_bytes = load_le<std::uint64_t>(bytes + 16);
  header.frames = load_le<std::uint64_t>(bytes + 24);
  header.members = load_le<std::uint64_t>(bytes + 32);
  if (measure_index(header.frames, header.members) != data.size()) return {IndexCode::kSize, 0};
  const std::size_t body = data.size() - kCrcBytes;
  if (load_le<std::uint32_t>(bytes + body) != crc32c(data.first(body))) {
    return {IndexCode::kChecksum, 0};
  }
  if (header.compression > kGzip) return {IndexCode::kCompression, 0};
  if (header.shard_bytes > kMaxPosition) return {IndexCode::kShardBytes, 0};
  if (header.compression != kGzip && header.members != 0) return {IndexCode::kMembers, 0};
  const std::byte* const entries = bytes + kIndexHeaderBytes;
  std::uint64_t stream_end = 0;
  const IndexStatus frames = check_frame_starts(entries, header, stream_end);
  if (frames.code != IndexCode::kOk) return frames;
  return check_members(entries + (header.frames + 1) * kEntryBytes, header, stream_end);
}

void decode_index_unchecked(Bytes data, const IndexHeader& header, std::span<std::int64_t> frames,
                            std::span<std::int64_t> member_file,
                            std::span<std::int64_t> member_stream) noexcept {
  assert(data.size() == measure_index(header.frames, header.members));
  assert(frames.size() == header.frames + 1);
  assert(member_file.size() == header.members && member_stream.size() == header.members);
  const std::byte* at = data.data() + kIndexHeaderBytes;
  for (std::int64_t& frame : frames) {
    frame = static_cast<std::int64_t>(load_le<std::uint64_t>(at));
    at += kEntryBytes;
  }
  for (std::size_t i = 0; i < header.members; ++i, at += kMemberBytes) {
    member_file[i] = static_cast<std::int64_t>(load_le<std::uint64_t>(at));
    member_stream[i] = static_cast<std::int64_t>(load_le<std::uint64_t>(at + kEntryBytes));
  }
}

IndexStatus encode_index(const IndexHeader& header, std::span<const std::int64_t> frames,
                         std::uint64_t stream_bytes, std::span<const std::int64_t> member_file,
                         std::span<const std::int64_t> member_stream,
                         std::span<std::byte> out) noexcept {
  store_le<std::uint64_t>(out.data(), kMagic);
  store_le<std::uint32_t>(out.data() + 8, header.compression);
  store_le<std::uint32_t>(out.data() + 12, header.tail_crc);
  store_le<std::uint64_t>(out.data() + 16, header.shard_bytes);
  store_le<std::uint64_t>(out.data() + 24, header.frames);
  store_le<std::uint64_t>(out.data() + 32, header.members);
  std::byte* at = out.data() + kIndexHeaderBytes;
  for (const std::int64_t frame : frames) {
    store_le<std::uint64_t>(at, static_cast<std::uint64_t>(frame));
    at += kEntryBytes;
  }
  store_le<std::uint64_t>(at, stream_bytes);
  at += kEntryBytes;
  for (std::size_t i = 0; i < member_file.size(); ++i, at += kMemberBytes) {
    store_le<std::uint64_t>(at, static_cast<std::uint64_t>(member_file[i]));
    store_le<std::uint64_t>(at + kEntryBytes, static_cast<std::uint64_t>(member_stream[i]));
  }
  store_le<std::uint32_t>(at, crc32c(out.first(out.size() - kCrcBytes)));
  IndexHeader checked;
  return check_index(out, checked);
}

}  // namespace tfrkit
