// Frames of any size: decoding and measuring agree, and stay within the data.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/images/gif.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::size_t kOptions = 3;

void run(std::span<const std::uint8_t> input) {
  if (input.size() < kOptions) return;
  const GifSize size{input[0] + 1U, input[1] + 1U, input[2] % 2 != 0};
  const auto data = input.subspan(kOptions);
  const std::size_t position = std::min<std::size_t>(input[2] / 64, data.size());
  std::vector<std::uint8_t> pixels(size.width * size.height);
  const GifFrame frame = decode_gif_frame(data, position, size, pixels);
  const GifFrame measured = measure_gif_frame(data, position, size);
  REQUIRE(frame.end == measured.end);
  REQUIRE(frame.position == measured.position);
  REQUIRE(frame.position <= data.size());
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run({data, size});
  return 0;
}
