#include "core/bytes/varint.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/bytes/varint_variants.h"
#include "core/bytes/wire.h"

namespace tfrkit {

bool has_fast_pext() noexcept {
#ifdef __x86_64__
  __builtin_cpu_init();
  // The first two Zens have the instruction, but take 18 cycles for it.
  return __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_is("amdfam17h") == 0;
#else
  return false;
#endif
}

namespace {

struct Choice {
  std::array<const VarintVariant*, 2> variants{};
  std::size_t count = 0;
};

Choice choose() noexcept {
  Choice choice;
#ifdef TFRKIT_HAVE_BMI2
  if (has_fast_pext() && __builtin_cpu_supports("avx2") != 0) {
    choice.variants[choice.count++] = &kVarintBmi2;
  }
#endif
  choice.variants[choice.count++] = &kVarintPortable;
  return choice;
}

const Choice kChoice = choose();

constexpr std::uint64_t kOnes = 0x0101010101010101U;
constexpr std::size_t kWordsPerSum = 255;  // that many ones fit in a byte

// Tells whether no varint of `run` has more than 10 bytes.
bool none_too_long(Bytes run) noexcept {
  constexpr std::size_t kMaxContinuation = kMaxVarintBytes - 1;
  std::size_t open = 0;  // continuation bytes side by side up to here
  const std::byte* at = run.data();
  for (std::size_t words = run.size() / 8; words != 0; --words, at += 8) {
    const std::uint64_t ends = ~load_le<std::uint64_t>(at) & kHighBits;
    if (ends == 0) {
      open += 8;
      if (open > kMaxContinuation) return false;
      continue;
    }
    if (open + static_cast<std::size_t>(std::countr_zero(ends)) / 8 > kMaxContinuation)
      return false;
    open = static_cast<std::size_t>(std::countl_zero(ends)) / 8;
  }
  for (const std::byte byte : run.last(run.size() % 8)) {
    open = std::to_integer<unsigned>(byte) < 0x80 ? 0 : open + 1;
    if (open > kMaxContinuation) return false;
  }
  return true;
}

}  // namespace

std::span<const VarintVariant* const> varint_variants() noexcept {
  return std::span(kChoice.variants).first(kChoice.count);
}

VarintRun count_varints(Bytes run) noexcept {
  const std::byte* at = run.data();
  std::size_t words = run.size() / 8;
  std::size_t ends = 0;
  std::uint64_t long_ones = 0;  // not 0 if a word has 4 continuation bytes side by side
  while (words != 0) {
    const std::size_t some = std::min(words, kWordsPerSum);
    std::uint64_t sums = 0;
    for (std::size_t i = 0; i < some; ++i) {
      const auto word = load_le<std::uint64_t>(at + 8 * i);
      sums += (~word >> 7) & kOnes;
      // Ten continuation bytes side by side, a varint that is too long, always form such a word.
      const std::uint64_t pairs = word & (word >> 8) & kHighBits;
      long_ones |= pairs & (pairs >> 16);
    }
    // Adds the eight sums of a byte each in two steps, as they do not fit in a byte.
    const std::uint64_t wide = (sums & 0x00ff00ff00ff00ffU) + ((sums >> 8) & 0x00ff00ff00ff00ffU);
    ends += (wide * 0x0001000100010001U) >> 48;
    at += 8 * some;
    words -= some;
  }
  for (const std::byte byte : run.last(run.size() % 8)) {
    ends += static_cast<std::size_t>(std::to_integer<unsigned>(byte) < 0x80);
  }
  const bool ended = run.empty() || std::to_integer<unsigned>(run.back()) < 0x80;
  return {ends, ended && (long_ones == 0 || none_too_long(run))};
}

void decode_varints(Bytes run, std::span<std::int64_t> values) noexcept {
  kChoice.variants[0]->decode(run, values);
}

}  // namespace tfrkit
