// Zlib streams and PNG files as they come: inflating and decoding stay within their memory.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/images/png/png_file.h"
#include "core/images/png/png_inflate.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::size_t kOptions = 2;
constexpr std::uint8_t kMark = 171;

void run(Octets input) {
  if (input.size() < kOptions) return;
  const Octets data = input.subspan(kOptions);
  const std::size_t size = input[0] + 256U * (input[1] % 64U);
  std::vector<std::uint8_t> room(size + kInflateSlack);
  (void)inflate_zlib(data, size, room);
  constexpr int kChannels[] = {1, 3, 4};
  const std::uint32_t height = input[0] % 32U + 1;
  const std::uint32_t width = input[1] % 32U + 1;
  const int channels = kChannels[input[1] % 3];
  std::vector<std::uint8_t> pixels(
      std::size_t{height} * width * static_cast<std::size_t>(channels) + 1, kMark);
  PngFileDecoder decoder(height, width, channels);
  (void)decoder.decode(data, std::span(pixels).first(pixels.size() - 1));
  REQUIRE(pixels.back() == kMark);
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run({data, size});
  return 0;
}
