// AVX2, without fused multiplications, which would round differently.
#include <immintrin.h>

#include "core/images/resize_loops.h"

namespace tfrkit {
namespace {

struct Avx2 {};
using Loops = resize_loops::Loops<Avx2>;

constexpr std::size_t kGroup = 8;  // output pixels made together

__m128i load_8(const std::byte* at) noexcept {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
}

__m256i pair(__m128i low, __m128i high) noexcept { return _mm256_set_m128i(high, low); }

// Returns from + (to - from) * lerp of bytes widened to 32 bits.
__m256 mixed(__m256i from, __m256i to, const float* lerp) noexcept {
  const __m256 start = _mm256_cvtepi32_ps(from);
  const __m256 change = _mm256_sub_ps(_mm256_cvtepi32_ps(to), start);
  return _mm256_add_ps(start, _mm256_mul_ps(change, _mm256_loadu_ps(lerp)));
}

// A shuffle that takes bytes a, b, c, d of a lane, each to 32 bits.
constexpr long long widen(int a, int b) noexcept {
  const auto first = static_cast<unsigned long long>(a) | 0x80808000ULL;
  const auto second = static_cast<unsigned long long>(b) | 0x80808000ULL;
  return static_cast<long long>(first | (second << 32));
}

__m256i lanes(const std::array<int, 4>& low, const std::array<int, 4>& high, int move) noexcept {
  return _mm256_setr_epi64x(
      widen(low[0] + move, low[1] + move), widen(low[2] + move, low[3] + move),
      widen(high[0] + move, high[1] + move), widen(high[2] + move, high[3] + move));
}

// Makes eight pixels of three channels. The eight bytes at `lower` hold the pixel and, from byte 3
// on, its right neighbour; each lane of four numbers comes from two pixels at bytes 0 and 8.
void lerp_3(const std::byte* row, const std::uint32_t* lower, const float* lerp,
            float* target) noexcept {
  constexpr std::array<int, 4> kFirst{0, 1, 2, 8};
  constexpr std::array<int, 4> kSecond{1, 2, 8, 9};
  constexpr std::array<int, 4> kThird{2, 8, 9, 10};
  __m128i bytes[kGroup];
  for (std::size_t i = 0; i < kGroup; ++i) bytes[i] = load_8(row + lower[i]);
  const auto both = [&](std::size_t i) noexcept {
    return _mm_unpacklo_epi64(bytes[i], bytes[i + 1]);
  };
  const auto make = [&](__m256i source, const std::array<int, 4>& low,
                        const std::array<int, 4>& high, std::size_t at) noexcept {
    const __m256i from = _mm256_shuffle_epi8(source, lanes(low, high, 0));
    const __m256i to = _mm256_shuffle_epi8(source, lanes(low, high, 3));
    _mm256_storeu_ps(target + at, mixed(from, to, lerp + at));
  };
  make(pair(both(0), both(1)), kFirst, kSecond, 0);
  make(pair(both(2), both(4)), kThird, kFirst, 8);
  make(pair(both(5), both(6)), kSecond, kThird, 16);
}

// Makes eight pixels of four channels; their right neighbours follow them.
void lerp_4(const std::byte* row, const std::uint32_t* lower, const float* lerp,
            float* target) noexcept {
  for (std::size_t i = 0; i < kGroup; i += 2) {
    const __m128i one = load_8(row + lower[i]);
    const __m128i two = load_8(row + lower[i + 1]);
    const __m256i from = _mm256_cvtepu8_epi32(_mm_unpacklo_epi32(one, two));
    const __m256i to = _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(_mm_unpacklo_epi32(one, two), one));
    _mm256_storeu_ps(target + 4 * i, mixed(from, to, lerp + 4 * i));
  }
}

// Makes eight pixels of one channel; their right neighbours follow them.
void lerp_1(const std::byte* row, const std::uint32_t* lower, const float* lerp,
            float* target) noexcept {
  std::array<std::uint16_t, kGroup> pairs;
  for (std::size_t i = 0; i < kGroup; ++i) pairs[i] = load_le<std::uint16_t>(row + lower[i]);
  const __m256i both = _mm256_cvtepu16_epi32(_mm_setr_epi16(
      static_cast<short>(pairs[0]), static_cast<short>(pairs[1]), static_cast<short>(pairs[2]),
      static_cast<short>(pairs[3]), static_cast<short>(pairs[4]), static_cast<short>(pairs[5]),
      static_cast<short>(pairs[6]), static_cast<short>(pairs[7])));
  const __m256i from = _mm256_and_si256(both, _mm256_set1_epi32(0xff));
  _mm256_storeu_ps(target, mixed(from, _mm256_srli_epi32(both, 8), lerp));
}

// Goes through a row in groups; the last one may begin among pixels that are made already.
template <std::size_t kChannels, typename Make>
void in_groups(const std::byte* row, const LerpColumns& columns, float* target,
               const Make& make) noexcept {
  const std::size_t count = columns.table.lower.size();
  for (std::size_t x = 0; x < count; x += kGroup) {
    const std::size_t start = std::min(x, count - kGroup);
    make(row, columns.table.lower.data() + start, columns.spread.data() + start * kChannels,
         target + start * kChannels);
  }
}

// A row of 224 pixels of three channels takes 0.12 us, and 0.59 with the portable loop (the whole:
// benchmarks/resize.py). Reads up to eight bytes from the start of a pixel, which at the end of the
// last row of all are not there.
void lerp_bytes(Bytes row, const LerpColumns& columns, std::span<float> target) noexcept {
  const std::size_t readable = std::size_t{columns.table.lower.back()} + 8;
  if (columns.table.lower.size() < kGroup || readable > row.size()) {
    return Loops::lerp<std::uint8_t>(row, columns, target);
  }
  switch (columns.channels) {
    case 1:
      return in_groups<1>(row.data(), columns, target.data(), lerp_1);
    case 3:
      return in_groups<3>(row.data(), columns, target.data(), lerp_3);
    case 4:
      return in_groups<4>(row.data(), columns, target.data(), lerp_4);
    default:
      return Loops::lerp<std::uint8_t>(row, columns, target);
  }
}

constexpr ResizeVariant make_variant() noexcept {
  ResizeVariant variant = Loops::variant("avx2");
  variant.pixels[static_cast<std::size_t>(PixelType::kUint8)].lerp = lerp_bytes;
  return variant;
}

}  // namespace

constinit const ResizeVariant kResizeAvx2 = make_variant();

}  // namespace tfrkit
