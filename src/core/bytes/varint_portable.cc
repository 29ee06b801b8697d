#include "core/bytes/varint_variants.h"

namespace tfrkit {
namespace {

struct Portable {
  static std::uint64_t ends(const std::byte* at) noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto word = load_le<std::uint64_t>(at + 8 * i);
      // Moves bit 7 of every byte together into the highest byte.
      bits |= ((((~word & kHighBits) >> 7) * 0x0102040810204080U) >> 56) << (8 * i);
    }
    return bits;
  }

  static std::uint64_t compress(std::uint64_t word, std::size_t size) noexcept {
    return compress_groups(word & (~kHighBits >> (64 - 8 * size)));
  }
};

void decode(Bytes run, std::span<std::int64_t> values) noexcept {
  varint_loop::decode<Portable>(run, values);
}

}  // namespace

constinit const VarintVariant kVarintPortable{"portable", decode};

}  // namespace tfrkit
