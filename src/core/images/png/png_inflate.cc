#include "core/images/png/png_inflate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tfrkit {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr unsigned kMostBits = 15;  // of a code
constexpr std::size_t kLiterals = 288;
constexpr std::size_t kDistances = 30;
constexpr std::size_t kDistanceWords = 32;  // of the fixed code: two mean nothing
constexpr std::size_t kLengths = 19;
constexpr unsigned kEndOfBlock = 256;
constexpr std::size_t kChecksumBytes = 4;

struct Range {
  std::uint16_t first;
  std::uint16_t extra;  // bits
};

constexpr std::array<Range, 29> kCopyLengths{
    {{3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
     {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
     {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}}};
constexpr std::array<Range, kDistances> kCopyDistances{
    {{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
     {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
     {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
     {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
     {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}}};
constexpr std::array<std::uint8_t, kLengths> kOrder{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                    11, 4,  12, 3, 13, 2, 14, 1, 15};

// Bits of the stream, lowest first. Those after its end are zeros that nobody may take.
class BitReader {
 public:
  explicit BitReader(std::span<const std::uint8_t> bytes) noexcept
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Has 56 bits at least, or all that are left.
  void refill() noexcept {
    if (end_ - at_ >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at_, sizeof(word));
      bits_ |= word << count_;
      at_ += (63 - count_) >> 3;
      count_ |= 56;
      return;
    }
    for (; count_ <= 56 && at_ != end_; count_ += 8) bits_ |= std::uint64_t{*at_++} << count_;
  }

  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }

  // Drops bits; false if they are not there.
  [[nodiscard]] bool drop(unsigned count) noexcept {
    if (count > count_) return false;
    bits_ >>= count;
    count_ -= count;
    return true;
  }

  [[nodiscard]] bool take(unsigned count, unsigned& value) noexcept {
    value = static_cast<unsigned>(bits_ & ((std::uint64_t{1} << count) - 1));
    return drop(count);
  }

  // Drops the rest of a byte, and returns the bytes that are left.
  std::span<const std::uint8_t> rest() noexcept {
    at_ -= count_ / 8;
    bits_ = 0;
    count_ = 0;
    return {at_, end_};
  }

  void skip(std::size_t bytes) noexcept { at_ += bytes; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::uint64_t bits_ = 0;
  unsigned count_ = 0;
};

// A Huffman code: short words by a table, long ones bit by bit.
template <unsigned kBits, std::size_t kSymbols>
class PrefixCode {
 public:
  // Takes the lengths of the words, 0 for those that do not occur. Returns false for lengths that
  // are no complete code; distances may have one word or none.
  [[nodiscard]] bool build(std::span<const std::uint8_t> lengths, bool may_lack) noexcept {
    counts_.fill(0);
    for (const std::uint8_t length : lengths) ++counts_[length];
    counts_[0] = 0;
    int left = 1;
    std::array<std::uint16_t, kMostBits + 2> starts{};
    for (unsigned length = 1; length <= kMostBits; ++length) {
      left = 2 * left - counts_[length];
      if (left < 0) return false;
      starts[length + 1] = static_cast<std::uint16_t>(starts[length] + counts_[length]);
    }
    const std::size_t words = starts[kMostBits + 1];
    if (left > 0 && !(may_lack && words == counts_[1] && words <= 1)) return false;
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      if (lengths[symbol] != 0) {
        sorted_[starts[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
      }
    }
    fill(lengths, words);
    return true;
  }

  // Reads a symbol; false if there is none.
  [[nodiscard]] bool next(BitReader& in, unsigned& symbol) const noexcept {
    const unsigned entry = table_[in.bits() & (table_.size() - 1)];
    symbol = entry >> 4;
    return entry != 0 ? in.drop(entry & 15) : next_long(in, symbol);
  }

 private:
  // Words come in ascending order; bits of each are reversed, as the stream has them.
  void fill(std::span<const std::uint8_t> lengths, std::size_t words) noexcept {
    table_.fill(0);
    std::size_t word = 0;
    for (std::size_t i = 0; i < words; ++i) {
      const std::size_t symbol = sorted_[i];
      const unsigned length = lengths[symbol];
      if (length > kBits) return;
      const auto entry = static_cast<std::uint16_t>(symbol << 4 | length);
      for (std::size_t j = word; j < table_.size(); j += std::size_t{1} << length)
        table_[j] = entry;
      std::size_t bit = std::size_t{1} << (length - 1);
      while ((word & bit) != 0) bit >>= 1;
      word = bit != 0 ? (word & (bit - 1)) | bit : 0;
    }
  }

  [[nodiscard]] bool next_long(BitReader& in, unsigned& symbol) const noexcept {
    int word = 0;
    int first = 0;
    int before = 0;
    for (unsigned length = 1; length <= kMostBits; ++length) {
      word = 2 * word + static_cast<int>(in.bits() >> (length - 1) & 1);
      first *= 2;
      const int count = counts_[length];
      if (word - first < count) {
        symbol = sorted_[static_cast<std::size_t>(before + word - first)];
        return in.drop(length);
      }
      first += count;
      before += count;
    }
    return false;
  }

  std::array<std::uint16_t, std::size_t{1} << kBits> table_{};  // symbol << 4 | length
  std::array<std::uint16_t, kMostBits + 1> counts_{};           // words of each length
  std::array<std::uint16_t, kSymbols> sorted_{};                // by length, then by symbol
};

struct BlockCodes {
  PrefixCode<9, kLiterals> literals;
  PrefixCode<8, kDistanceWords> distances;
};

std::uint32_t adler32(std::span<const std::uint8_t> bytes) noexcept {
  constexpr std::uint32_t kModulus = 65521;
  constexpr std::size_t kRun = 5536;  // that no sum overflows in
  constexpr std::uint32_t kStep = 16;
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  while (!bytes.empty()) {
    const auto run = bytes.first(std::min(kRun, bytes.size()));
    std::size_t i = 0;
    for (; i + kStep <= run.size(); i += kStep) {
      std::uint32_t sum = 0;
      std::uint32_t weighted = 0;
      for (std::uint32_t j = 0; j < kStep; ++j) {
        sum += run[i + j];
        weighted += (kStep - j) * run[i + j];
      }
      high += kStep * low + weighted;
      low += sum;
    }
    for (; i < run.size(); ++i) {
      low += run[i];
      high += low;
    }
    low %= kModulus;
    high %= kModulus;
    bytes = bytes.subspan(run.size());
  }
  return high << 16 | low;
}

class Inflater {
 public:
  Inflater(std::span<const std::uint8_t> deflated, std::size_t window, std::uint8_t* out,
           std::size_t size) noexcept
      : in_(deflated), window_(window), begin_(out), at_(out), end_(out + size) {}

  [[nodiscard]] bool run() noexcept {
    unsigned is_last = 0;
    while (is_last == 0) {
      unsigned kind = 0;
      in_.refill();
      if (!in_.take(1, is_last) || !in_.take(2, kind)) return false;
      const bool good = kind == 0   ? stored()
                        : kind == 1 ? coded(fixed_codes())
                        : kind == 2 ? read_codes() && coded(codes_)
                                    : false;
      if (!good) return false;
    }
    const auto rest = in_.rest();
    if (at_ != end_ || rest.size() != kChecksumBytes) return false;
    std::uint32_t expected = 0;
    for (const std::uint8_t byte : rest) expected = expected << 8 | byte;
    return expected == adler32({begin_, end_});
  }

 private:
  static const BlockCodes& fixed_codes() noexcept {
    static const BlockCodes codes = [] {
      BlockCodes made;
      std::array<std::uint8_t, kLiterals> lengths{};
      std::fill_n(lengths.begin(), 144, std::uint8_t{8});
      std::fill_n(lengths.begin() + 144, 112, std::uint8_t{9});
      std::fill_n(lengths.begin() + 256, 24, std::uint8_t{7});
      std::fill_n(lengths.begin() + 280, 8, std::uint8_t{8});
      (void)made.literals.build(lengths, false);
      std::array<std::uint8_t, kDistanceWords> distances{};
      distances.fill(5);
      (void)made.distances.build(distances, false);
      return made;
    }();
    return codes;
  }

  [[nodiscard]] bool stored() noexcept {
    const auto rest = in_.rest();
    if (rest.size() < 4) return false;
    const std::size_t size = rest[0] | std::size_t{rest[1]} << 8;
    const std::size_t inverse = rest[2] | std::size_t{rest[3]} << 8;
    if ((size ^ inverse) != 0xffff || rest.size() - 4 < size || room() < size) return false;
    std::memcpy(at_, rest.data() + 4, size);
    at_ += size;
    in_.skip(4 + size);
    return true;
  }

  [[nodiscard]] bool read_codes() noexcept {
    unsigned literals = 0;
    unsigned distances = 0;
    unsigned lengths = 0;
    if (!in_.take(5, literals) || !in_.take(5, distances) || !in_.take(4, lengths)) return false;
    literals += 257;
    distances += 1;
    if (literals > 286 || distances > kDistances) return false;
    std::array<std::uint8_t, kLengths> first{};
    for (unsigned i = 0; i < lengths + 4; ++i) {
      unsigned length = 0;
      in_.refill();
      if (!in_.take(3, length)) return false;
      first[kOrder[i]] = static_cast<std::uint8_t>(length);
    }
    PrefixCode<7, kLengths> code;
    std::array<std::uint8_t, kLiterals + kDistances> all{};
    if (!code.build(first, false) ||
        !read_lengths(code, std::span(all).first(literals + distances))) {
      return false;
    }
    const std::span<const std::uint8_t> found(all);
    return all[kEndOfBlock] != 0 && codes_.literals.build(found.first(literals), false) &&
           codes_.distances.build(found.subspan(literals, distances), true);
  }

  [[nodiscard]] bool read_lengths(const PrefixCode<7, kLengths>& code,
                                  std::span<std::uint8_t> lengths) noexcept {
    std::size_t i = 0;
    while (i < lengths.size()) {
      unsigned symbol = 0;
      in_.refill();
      if (!code.next(in_, symbol)) return false;
      if (symbol < 16) {
        lengths[i++] = static_cast<std::uint8_t>(symbol);
        continue;
      }
      if (symbol == 16 && i == 0) return false;
      unsigned more = 0;
      if (!in_.take(symbol == 16 ? 2 : symbol == 17 ? 3 : 7, more)) return false;
      more += symbol == 18 ? 11 : 3;
      if (more > lengths.size() - i) return false;
      std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(i), more,
                  symbol == 16 ? lengths[i - 1] : std::uint8_t{0});
      i += more;
    }
    return true;
  }

  [[nodiscard]] bool coded(const BlockCodes& codes) noexcept {
    for (;;) {
      unsigned symbol = 0;
      in_.refill();
      if (!codes.literals.next(in_, symbol)) return false;
      if (symbol < kEndOfBlock) {
        if (at_ == end_) return false;
        *at_++ = static_cast<std::uint8_t>(symbol);
      } else if (symbol == kEndOfBlock) {
        return true;
      } else if (!copy(codes, symbol - kEndOfBlock - 1)) {
        return false;
      }
    }
  }

  [[nodiscard]] bool copy(const BlockCodes& codes, unsigned number) noexcept {
    unsigned more = 0;
    unsigned symbol = 0;
    if (number >= kCopyLengths.size() || !in_.take(kCopyLengths[number].extra, more)) return false;
    const std::size_t length = std::size_t{kCopyLengths[number].first} + more;
    if (!codes.distances.next(in_, symbol) || symbol >= kDistances ||
        !in_.take(kCopyDistances[symbol].extra, more)) {
      return false;
    }
    const std::size_t distance = std::size_t{kCopyDistances[symbol].first} + more;
    if (distance > window_ || distance > static_cast<std::size_t>(at_ - begin_) ||
        length > room()) {
      return false;
    }
    const std::uint8_t* from = at_ - distance;
    std::uint8_t* to = at_;
    at_ += length;
    if (distance == 1) {
      std::memset(to, *from, length);
    } else if (distance >= 8) {
      for (; to < at_; to += 8, from += 8) std::memcpy(to, from, 8);  // into the slack at most
    } else {
      while (to != at_) *to++ = *from++;
    }
    return true;
  }

  [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  BitReader in_;
  std::size_t window_;
  std::uint8_t* begin_;
  std::uint8_t* at_;
  std::uint8_t* end_;
  BlockCodes codes_;
};

}  // namespace

bool inflate_zlib(std::span<const std::uint8_t> stream, std::size_t size,
                  std::span<std::uint8_t> room) noexcept {
  constexpr std::size_t kHead = 2;
  constexpr unsigned kDeflate = 8;
  constexpr unsigned kDictionary = 0x20;
  if (stream.size() < kHead + kChecksumBytes || room.size() < kInflateSlack ||
      room.size() - kInflateSlack < size) {
    return false;
  }
  const unsigned first = stream[0];
  const unsigned second = stream[1];
  if ((first << 8 | second) % 31 != 0 || (first & 15) != kDeflate || first >> 4 > 7 ||
      (second & kDictionary) != 0) {
    return false;
  }
  return Inflater(stream.subspan(kHead), std::size_t{256} << (first >> 4), room.data(), size).run();
}

}  // namespace tfrkit
