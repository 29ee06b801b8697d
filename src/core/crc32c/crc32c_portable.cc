// CRC-32C by tables, eight bytes a step ("slicing by 8"), for any CPU.
#include <array>

#include "core/crc32c/crc32c_math.h"
#include "core/crc32c/crc32c_variants.h"
#include "core/frames/layout.h"

namespace tfrkit {
namespace {

constexpr std::size_t kWordBytes = 8;

// Table k holds the register after byte b and then k zero bytes.
consteval std::array<ByteTable, kWordBytes> make_tables() {
  std::array<ByteTable, kWordBytes> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t state = byte;
    for (int bit = 0; bit < 8; ++bit) state = times_x(state);
    tables[0][byte] = state;
  }
  for (std::size_t k = 1; k < kWordBytes; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr std::array<ByteTable, kWordBytes> kTables = make_tables();

std::uint32_t extend_word(std::uint32_t state, std::uint64_t word) noexcept {
  word ^= state;
  std::uint32_t next = 0;
  for (std::size_t k = 0; k < kWordBytes; ++k) {
    next ^= kTables[kWordBytes - 1 - k][(word >> (8 * k)) & 0xff];
  }
  return next;
}

std::uint32_t extend(std::uint32_t crc, Bytes data) noexcept {
  std::uint32_t state = ~crc;
  const std::byte* at = data.data();
  std::size_t left = data.size();
  for (; left >= kWordBytes; left -= kWordBytes, at += kWordBytes) {
    state = extend_word(state, load_le<std::uint64_t>(at));
  }
  for (; left > 0; --left, ++at) {
    state = (state >> 8) ^ kTables[0][(state ^ std::to_integer<std::uint32_t>(*at)) & 0xff];
  }
  return ~state;
}

std::size_t find_header(Bytes data) noexcept {
  const std::byte* const bytes = data.data();
  for (std::size_t at = 0; data.size() - at >= kHeaderBytes; ++at) {
    const std::uint32_t crc = ~extend_word(~0U, load_le<std::uint64_t>(bytes + at));
    if (crc32c_mask(crc) == load_le<std::uint32_t>(bytes + at + kWordBytes)) return at;
  }
  return data.size();
}

}  // namespace

constexpr Crc32cVariant kCrc32cPortable{"portable", extend, find_header};

}  // namespace tfrkit
