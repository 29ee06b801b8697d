#include "core/shuffle/philox.h"

#include <algorithm>

namespace tfrkit {
namespace {

constexpr int kRounds = 10;
constexpr std::uint64_t kMultiplier0 = 0xD2511F53U;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57U;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;  // what the two halves of the key grow by each round
constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;

constexpr std::uint32_t low(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t high(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

PhiloxBlock philox_block(const PhiloxBlock& counter, std::uint64_t key) noexcept {
  PhiloxBlock words = counter;
  std::uint32_t key0 = low(key);
  std::uint32_t key1 = high(key);
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * words[0];
    const std::uint64_t product1 = kMultiplier1 * words[2];
    words = {high(product1) ^ words[1] ^ key0, low(product1), high(product0) ^ words[3] ^ key1,
             low(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return words;
}

PhiloxBlock Philox::at(std::uint64_t block) const noexcept {
  return philox_block({low(block), high(block), low(high_), high(high_)}, key_);
}

void Philox::fill(std::span<std::uint32_t> target) noexcept {
  while (used_ != numbers_.size() && !target.empty()) {
    target[0] = numbers_[used_++];
    target = target.subspan(1);
  }
  // Blocks do not hang on each other, so the compiler may keep several of them under way.
  const std::size_t blocks = target.size() / 4;
  for (std::size_t i = 0; i < blocks; ++i) {
    std::ranges::copy(at(block_ + i), target.begin() + static_cast<std::ptrdiff_t>(4 * i));
  }
  block_ += blocks;
  for (std::uint32_t& number : target.subspan(4 * blocks)) number = next();
}

void Philox::skip(std::uint64_t count) noexcept {
  const std::uint64_t left = numbers_.size() - used_;
  if (count <= left) {
    used_ += static_cast<std::size_t>(count);
    return;
  }
  count -= left;
  block_ += count / 4;
  used_ = numbers_.size();
  for (count %= 4; count != 0; --count) (void)next();
}

}  // namespace tfrkit
