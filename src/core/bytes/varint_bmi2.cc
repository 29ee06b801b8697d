#include <immintrin.h>

#include "core/bytes/varint_variants.h"

namespace tfrkit {
namespace {

struct Bmi2 {
  static std::uint64_t ends(const std::byte* at) noexcept {
    return ~(high_bits(at) | (high_bits(at + 32) << 32));
  }

  static std::uint64_t compress(std::uint64_t word, std::size_t size) noexcept {
    return _pext_u64(word, ~kHighBits >> (64 - 8 * size));
  }

 private:
  static std::uint64_t high_bits(const std::byte* at) noexcept {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
  }
};

void decode(Bytes run, std::span<std::int64_t> values) noexcept {
  varint_loop::decode<Bmi2>(run, values);
}

}  // namespace

constinit const VarintVariant kVarintBmi2{"bmi2", decode};

}  // namespace tfrkit
