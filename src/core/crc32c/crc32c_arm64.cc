// CRC-32C by the crc32c instructions of ARMv8.
//
// As on x86 three streams hide the latency of the instruction. Their registers are joined by
// tables, for two fixed stream lengths, since carry-less multiplication is an extension of its own.
#include <arm_acle.h>

#include <array>

#include "core/crc32c/crc32c_math.h"
#include "core/crc32c/crc32c_variants.h"
#include "core/frames/layout.h"

namespace tfrkit {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kLongBytes = 2048;  // per stream
constexpr std::size_t kShortBytes = 128;

constexpr std::array<ByteTable, 4> kLongShift = make_shift_tables(kLongBytes);
constexpr std::array<ByteTable, 4> kShortShift = make_shift_tables(kShortBytes);

std::uint32_t shift(const std::array<ByteTable, 4>& tables, std::uint32_t state) noexcept {
  return tables[0][state & 0xff] ^ tables[1][(state >> 8) & 0xff] ^
         tables[2][(state >> 16) & 0xff] ^ tables[3][state >> 24];
}

// Runs 3 * kBytes bytes at `at` into `state`.
template <std::size_t kBytes>
std::uint32_t extend_streams(std::uint32_t state, const std::byte* at,
                             const std::array<ByteTable, 4>& tables) noexcept {
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  for (std::size_t i = 0; i < kBytes; i += kWordBytes) {
    state = __crc32cd(state, load_le<std::uint64_t>(at + i));
    b = __crc32cd(b, load_le<std::uint64_t>(at + kBytes + i));
    c = __crc32cd(c, load_le<std::uint64_t>(at + 2 * kBytes + i));
  }
  return shift(tables, shift(tables, state) ^ b) ^ c;
}

std::uint32_t extend(std::uint32_t crc, Bytes data) noexcept {
  std::uint32_t state = ~crc;
  const std::byte* at = data.data();
  std::size_t left = data.size();
  for (; left >= 3 * kLongBytes; left -= 3 * kLongBytes, at += 3 * kLongBytes) {
    state = extend_streams<kLongBytes>(state, at, kLongShift);
  }
  for (; left >= 3 * kShortBytes; left -= 3 * kShortBytes, at += 3 * kShortBytes) {
    state = extend_streams<kShortBytes>(state, at, kShortShift);
  }
  for (; left >= kWordBytes; left -= kWordBytes, at += kWordBytes) {
    state = __crc32cd(state, load_le<std::uint64_t>(at));
  }
  for (; left > 0; --left, ++at) state = __crc32cb(state, std::to_integer<std::uint8_t>(*at));
  return ~state;
}

std::size_t find_header(Bytes data) noexcept {
  const std::byte* const bytes = data.data();
  for (std::size_t at = 0; data.size() - at >= kHeaderBytes; ++at) {
    const std::uint32_t crc = ~__crc32cd(~0U, load_le<std::uint64_t>(bytes + at));
    if (crc32c_mask(crc) == load_le<std::uint32_t>(bytes + at + kWordBytes)) return at;
  }
  return data.size();
}

}  // namespace

constexpr Crc32cVariant kCrc32cArm64{"arm64", extend, find_header};

}  // namespace tfrkit
