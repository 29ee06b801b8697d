// ByteStats: many byte strings; which ones, how often, how long, and what they look like.
//
// A string is known by its digest; of the frequent ones the beginning is kept to be shown, in
// bounded memory. As in NumberStats, what comes out depends on the strings and their order alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/bytes/digest.h"
#include "core/describe/number_stats.h"
#include "core/describe/sketches/count_table.h"
#include "core/describe/sketches/distinct.h"
#include "core/images/image_header.h"

namespace tfrkit {

inline constexpr std::size_t kMaxWholeText = 250;  // a longer string is shown by its beginning
inline constexpr std::size_t kTextHead = 64;
inline constexpr std::uint32_t kNoText = 0xffffffff;

// A digest, and where its string is kept.
struct TextKey {
  std::uint64_t high = 0;
  std::uint32_t low = 0;
  std::uint32_t text = kNoText;
  [[nodiscard]] std::uint64_t hash() const noexcept { return high; }
  friend bool operator==(const TextKey& a, const TextKey& b) noexcept {
    return a.high == b.high && a.low == b.low;
  }
};

// The beginning of a string, which is all of it if it is `size` long.
struct Text {
  std::string_view head;
  std::uint64_t size = 0;
};

struct ImageStats {
  std::array<std::uint64_t, kImageFormats> formats{};
  std::uint64_t sized = 0;  // of how many the size is known, and between which it is
  std::uint32_t least_width = 0xffffffff;
  std::uint32_t greatest_width = 0;
  std::uint32_t least_height = 0xffffffff;
  std::uint32_t greatest_height = 0;

  void add(const ImageHeader& header) noexcept;
  void merge(const ImageStats& other) noexcept;
};

// Throws std::bad_alloc if there is no memory.
class ByteStats {
 public:
  ByteStats(const Limits& limits, const Limits& of_lengths)
      : limits_(limits), lengths_(NumberKind::kInt64, of_lengths) {}

  void add(std::span<const Bytes> values);
  void merge(const ByteStats& other);

  struct Sketches {
    Sketches(const Limits& limits) : distinct(limits.distinct_bits), frequent(limits.frequent) {}
    Distinct distinct;
    Frequent<TextKey> frequent;
  };

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t utf8() const noexcept { return utf8_; }
  [[nodiscard]] const NumberStats& lengths() const noexcept { return lengths_; }
  [[nodiscard]] const ImageStats& images() const noexcept { return images_; }
  // Returns nullptr as long as all is exact and in counts().
  [[nodiscard]] const Sketches* sketches() const noexcept { return sketches_.get(); }
  [[nodiscard]] const CountTable<TextKey>& counts() const noexcept { return counts_; }
  // Returns what is kept of a string; none, with size 0, if nothing is: of an empty one too.
  [[nodiscard]] Text text_of(const TextKey& key) const noexcept;

 private:
  using Entry = CountTable<TextKey>::Entry;

  void add_key(const TextKey& key, std::uint64_t times, const Text& text);
  void begin_sketches();
  void keep(Entry& entry, const Text& text);
  [[nodiscard]] std::uint32_t store(const Text& text);
  void make_room(std::size_t size);

  Limits limits_;
  std::uint64_t count_ = 0;
  std::uint64_t utf8_ = 0;
  ImageStats images_;
  NumberStats lengths_;
  CountTable<TextKey> counts_;
  std::unique_ptr<Sketches> sketches_;

  // Kept texts: a byte for the length, then the text; or kLong, the size and the beginning.
  std::vector<char> texts_;
  std::uint64_t worth_keeping_ = 1;  // a string that occurred so often is kept
};

}  // namespace tfrkit
