// find_frame returns the same as trying every position, on small inputs, for every way to call it.
#include <cstdint>
#include <vector>

#include "core/frames/reference.h"
#include "core/frames/resync.h"
#include "lay_out.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::size_t kMaxBytes = 4096;  // the slow model is quadratic

void compare(Bytes data, std::size_t start, bool at_eof, std::uint64_t limit) {
  if (data.size() > kMaxBytes || start > data.size()) return;
  std::vector<std::uint32_t> checkpoints(measure_checkpoints(data.size() - start));
  const FoundFrame found = find_frame(data, start, at_eof, limit, checkpoints);
  const FoundFrame expected = reference::find_frame(data, start, at_eof, limit);
  REQUIRE(found.code == expected.code);
  REQUIRE(found.position == expected.position);
  REQUIRE(found.need == expected.need);
  if (found.code == Code::kOk) REQUIRE(reference::is_frame(data, found.position));
}

void run(Bytes input) {
  const std::size_t start = take(input);
  const std::uint64_t limit = take(input) % 2 == 0 ? kMaxRecordBytes + 1 : 64;
  const std::vector<std::byte> data = lay_out(input);
  for (const bool at_eof : {false, true}) {
    compare(input, start, at_eof, limit);
    compare(data, start, at_eof, limit);
    compare(data, 0, at_eof, limit);
  }
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
