// An index that is accepted obeys the rules, and encodes to the same bytes again. The input is
// tried as it is, and with the magic and the checksum put right.
#include <cstdint>
#include <vector>

#include "core/frames/index.h"
#include "core/frames/layout.h"
#include "core/frames/reference.h"
#include "require.h"

namespace tfrkit {
namespace {

void check_rules(const IndexHeader& header, const std::vector<std::int64_t>& frames,
                 const std::vector<std::int64_t>& member_file,
                 const std::vector<std::int64_t>& member_stream) {
  REQUIRE(header.compression <= 2);
  REQUIRE(header.compression == 2 || member_file.empty());
  REQUIRE(frames.front() == 0);
  for (std::size_t i = 1; i < frames.size(); ++i) REQUIRE(frames[i] - frames[i - 1] >= 16);
  const auto shard_bytes = static_cast<std::int64_t>(header.shard_bytes);
  REQUIRE(shard_bytes >= 0);
  REQUIRE(header.compression != 0 || frames.back() == shard_bytes);
  for (std::size_t i = 0; i < member_file.size(); ++i) {
    REQUIRE(member_file[i] < shard_bytes && member_stream[i] <= frames.back());
    if (i == 0) {
      REQUIRE(member_file[i] == 0 && member_stream[i] == 0);
    } else {
      REQUIRE(member_file[i] > member_file[i - 1]);
      REQUIRE(member_stream[i] > member_stream[i - 1]);
    }
  }
}

void check(Bytes data) {
  IndexHeader header;
  if (check_index(data, header).code != IndexCode::kOk) return;
  REQUIRE(measure_index(header.frames, header.members) == data.size());
  std::vector<std::int64_t> frames(header.frames + 1);
  std::vector<std::int64_t> member_file(header.members);
  std::vector<std::int64_t> member_stream(header.members);
  decode_index_unchecked(data, header, frames, member_file, member_stream);
  check_rules(header, frames, member_file, member_stream);
  std::vector<std::byte> again(data.size());
  const IndexStatus status =
      encode_index(header, std::span(frames).first(frames.size() - 1),
                   static_cast<std::uint64_t>(frames.back()), member_file, member_stream, again);
  REQUIRE(status.code == IndexCode::kOk);
  REQUIRE(std::equal(again.begin(), again.end(), data.begin(), data.end()));
}

void run(Bytes input) {
  check(input);
  if (input.size() < kMinIndexBytes) return;
  std::vector<std::byte> sealed(input.begin(), input.end());
  const Bytes magic = reference::as_bytes("TFRKIDX1");
  std::copy(magic.begin(), magic.end(), sealed.begin());
  const std::size_t body = sealed.size() - kCrcBytes;
  store_le(sealed.data() + body, reference::crc32c(Bytes(sealed).first(body)));
  check(sealed);
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
