// CRC-32C by the crc32 instruction of SSE4.2 and carry-less multiplication (PCLMULQDQ).
//
// The instruction takes one word per cycle but answers after three, so three streams run side by
// side: data are cut into three equal parts, and their registers are joined by multiplying with
// powers of x. The parts may have any number of words, so that one round does a whole small record.
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "core/crc32c/crc32c_math.h"
#include "core/crc32c/crc32c_variants.h"
#include "core/frames/layout.h"

namespace tfrkit {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kMaxWords = 256;    // per stream and round
constexpr std::size_t kStreamsFrom = 72;  // bytes, by measurement; below, joining does not pay

// For a stream that is followed by one stream of w words (near) or by two (far).
struct JoinFactors {
  std::uint64_t near;
  std::uint64_t far;
};

// crc32(0, clmul(a, k)) is a * k * x^33: 32 from the instruction, and one since the product of two
// reflected words stands one bit low. Hence the powers less 33.
consteval std::array<JoinFactors, kMaxWords + 1> make_factors() {
  std::array<JoinFactors, kMaxWords + 1> factors{};
  const std::uint32_t word = power_of_x(64);
  std::uint32_t near = power_of_x(64 - 33);
  std::uint32_t far = power_of_x(128 - 33);
  for (std::size_t words = 1; words <= kMaxWords; ++words) {
    factors[words] = {near, far};
    near = times(near, word);
    far = times(times(far, word), word);
  }
  return factors;
}

constexpr std::array<JoinFactors, kMaxWords + 1> kFactors = make_factors();

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(a)),
                                               _mm_cvtsi64_si128(static_cast<long long>(b)), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

// Runs 3 * words words at `at` into `state`.
std::uint64_t extend_streams(std::uint64_t state, const std::byte* at, std::size_t words) noexcept {
  const std::size_t last = (words - 1) * kWordBytes;
  const std::byte* const second = at + words * kWordBytes;
  const std::byte* const third = second + words * kWordBytes;
  std::uint64_t a = state;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  for (std::size_t i = 0; i < last; i += kWordBytes) {
    a = _mm_crc32_u64(a, load_le<std::uint64_t>(at + i));
    b = _mm_crc32_u64(b, load_le<std::uint64_t>(second + i));
    c = _mm_crc32_u64(c, load_le<std::uint64_t>(third + i));
  }
  a = _mm_crc32_u64(a, load_le<std::uint64_t>(at + last));
  b = _mm_crc32_u64(b, load_le<std::uint64_t>(second + last));
  // The products ride on the last word of the third stream: its step multiplies by the missing
  // x^32.
  const std::uint64_t joined = multiply(a, kFactors[words].far) ^ multiply(b, kFactors[words].near);
  return _mm_crc32_u64(c, load_le<std::uint64_t>(third + last) ^ joined);
}

std::uint32_t extend(std::uint32_t crc, Bytes data) noexcept {
  std::uint64_t state = ~crc;
  const std::byte* at = data.data();
  std::size_t left = data.size();
  while (left >= kStreamsFrom) {
    const std::size_t words = std::min(left / (3 * kWordBytes), kMaxWords);
    state = extend_streams(state, at, words);
    at += 3 * words * kWordBytes;
    left -= 3 * words * kWordBytes;
  }
  for (; left >= kWordBytes; left -= kWordBytes, at += kWordBytes) {
    state = _mm_crc32_u64(state, load_le<std::uint64_t>(at));
  }
  auto narrow = static_cast<std::uint32_t>(state);
  if ((left & 4) != 0) {
    narrow = _mm_crc32_u32(narrow, load_le<std::uint32_t>(at));
    at += 4;
  }
  if ((left & 2) != 0) {
    narrow = _mm_crc32_u16(narrow, load_le<std::uint16_t>(at));
    at += 2;
  }
  if ((left & 1) != 0) narrow = _mm_crc32_u8(narrow, std::to_integer<std::uint8_t>(*at));
  return ~narrow;
}

std::size_t find_header(Bytes data) noexcept {
  const std::byte* const bytes = data.data();
  for (std::size_t at = 0; data.size() - at >= kHeaderBytes; ++at) {
    const auto state = _mm_crc32_u64(0xffffffffU, load_le<std::uint64_t>(bytes + at));
    const auto stored = load_le<std::uint32_t>(bytes + at + kWordBytes);
    if (crc32c_mask(~static_cast<std::uint32_t>(state)) == stored) return at;
  }
  return data.size();
}

}  // namespace

constexpr Crc32cVariant kCrc32cSse42{"sse42", extend, find_header};

}  // namespace tfrkit
