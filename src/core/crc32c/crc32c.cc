// The dispatcher: which implementation of CRC-32C runs on this CPU.
#include "core/crc32c/crc32c.h"

#include <array>

#include "core/crc32c/crc32c_math.h"
#include "core/crc32c/crc32c_variants.h"

#if defined(TFRKIT_HAVE_ARM64) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace tfrkit {
namespace {

constexpr std::size_t kMaxVariants = 2;
constexpr std::size_t kNibbles = 16;  // of a 64-bit count

struct Choice {
  std::array<const Crc32cVariant*, kMaxVariants> variants{};
  std::size_t count = 0;
};

Choice choose() noexcept {
  Choice choice;
#if defined(TFRKIT_HAVE_SSE42)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("pclmul") != 0) {
    choice.variants[choice.count++] = &kCrc32cSse42;
  }
#endif
#if defined(TFRKIT_HAVE_ARM64) && defined(__linux__)
  constexpr unsigned long kHwcapCrc32 = 1UL << 7;  // HWCAP_CRC32 of the kernel's ABI
  if ((getauxval(AT_HWCAP) & kHwcapCrc32) != 0) choice.variants[choice.count++] = &kCrc32cArm64;
#elif defined(TFRKIT_HAVE_ARM64)
  choice.variants[choice.count++] = &kCrc32cArm64;  // every arm64 Mac has the instructions
#endif
  choice.variants[choice.count++] = &kCrc32cPortable;
  return choice;
}

// Set when the library is loaded, never after: the kernels pay a load for it and no lock.
const Choice kChoice = choose();

// Entry [k][v] is x^(8 * v * 16^k).
consteval std::array<std::array<std::uint32_t, 16>, kNibbles> make_powers() {
  std::array<std::array<std::uint32_t, 16>, kNibbles> powers{};
  std::uint32_t step = power_of_x(8);
  for (auto& row : powers) {
    row[0] = kPolynomialOne;
    for (std::size_t v = 1; v < row.size(); ++v) row[v] = times(row[v - 1], step);
    step = times(row[15], step);
  }
  return powers;
}

constexpr std::array<std::array<std::uint32_t, 16>, kNibbles> kPowers = make_powers();

}  // namespace

std::span<const Crc32cVariant* const> crc32c_variants() noexcept {
  return std::span(kChoice.variants).first(kChoice.count);
}

const Crc32cVariant& crc32c_best() noexcept { return *kChoice.variants[0]; }

std::uint32_t crc32c_extend(std::uint32_t crc, Bytes data) noexcept {
  return kChoice.variants[0]->extend(crc, data);
}

std::uint32_t crc32c_shift(std::uint32_t state, std::uint64_t n_bytes) noexcept {
  for (std::size_t k = 0; n_bytes != 0; ++k, n_bytes >>= 4) {
    const std::size_t nibble = n_bytes & 15;
    if (nibble != 0) state = times(state, kPowers[k][nibble]);
  }
  return state;
}

}  // namespace tfrkit
