// Frames that scan_frames accepts lie in the data, side by side, and hold by the slow code too;
// what it refuses, the slow code refuses.
#include <algorithm>
#include <vector>

#include "core/frames/frame.h"
#include "core/frames/reference.h"
#include "lay_out.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::size_t kCapacity = 8;

// Checks that the frame at scan.end is what scan.code says.
void check_stop(Bytes data, const FrameScan& scan, const FrameChecks& checks) {
  REQUIRE(scan.end <= data.size());
  const Bytes rest = data.subspan(scan.end);
  const std::uint64_t limit = std::min(checks.max_record_bytes, kMaxRecordBytes);
  if (rest.size() >= kHeaderBytes) REQUIRE(scan.length == load_le<std::uint64_t>(rest.data()));
  switch (scan.code) {
    case Code::kOk:
      REQUIRE(rest.empty());
      break;
    case Code::kNeedMore:
      REQUIRE(scan.need > rest.size() && !rest.empty());
      if (rest.size() >= kHeaderBytes) REQUIRE(reference::is_header(rest, 0));
      break;
    case Code::kBadLength:
      REQUIRE(!reference::is_header(rest, 0) && scan.stored != scan.computed);
      break;
    case Code::kBadData:
      REQUIRE(checks.data_crc && reference::is_header(rest, 0));
      REQUIRE(!reference::is_frame(rest, 0) && scan.stored != scan.computed);
      break;
    case Code::kTooLarge:
      REQUIRE(reference::is_header(rest, 0) && scan.length > limit);
      break;
    case Code::kOutputFull:
      REQUIRE(scan.count == kCapacity && reference::is_header(rest, 0));
      break;
    case Code::kOutOfRange:
      REQUIRE(false);
  }
}

void check_scan(Bytes data, const FrameChecks& checks) {
  std::vector<std::int64_t> offsets(kCapacity);
  std::vector<std::int64_t> lengths(kCapacity);
  FrameScan scan;
  std::size_t position = 0;
  do {
    scan = scan_frames(data, position, checks, offsets, lengths);
    REQUIRE(scan.count <= kCapacity);
    for (std::size_t i = 0; i < scan.count; ++i) {
      REQUIRE(offsets[i] == static_cast<std::int64_t>(position + kHeaderBytes));
      REQUIRE(lengths[i] >= 0);
      REQUIRE(reference::is_header(data, position));
      if (checks.data_crc) REQUIRE(reference::is_frame(data, position));
      position += static_cast<std::size_t>(lengths[i]) + kFrameOverheadBytes;
    }
    REQUIRE(position == scan.end);
    check_stop(data, scan, checks);
    const FrameCheck check = check_frames(data, std::span(offsets).first(scan.count),
                                          std::span(lengths).first(scan.count));
    REQUIRE(check.code == Code::kOk || (check.code == Code::kBadData && !checks.data_crc));
  } while (scan.code == Code::kOutputFull);
}

void run(Bytes input) {
  const FrameChecks checks{.data_crc = take(input) % 2 == 0,
                           .max_record_bytes = input.size() % 3 == 0 ? 100 : kMaxRecordBytes};
  check_scan(input, checks);
  check_scan(lay_out(input), checks);
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
