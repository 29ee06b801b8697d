#include "core/describe/byte_stats.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/bytes/utf8.h"

namespace tfrkit {
namespace {

constexpr unsigned char kLong = 255;
static_assert(kMaxWholeText < kLong && kTextHead <= kMaxWholeText);

[[nodiscard]] Text beginning_of(Bytes value) noexcept {
  const std::size_t kept = value.size() <= kMaxWholeText ? value.size() : kTextHead;
  return {as_text(value.first(kept)), value.size()};
}

[[nodiscard]] std::size_t stored_size(const Text& text) noexcept {
  return 1 + (text.size > kMaxWholeText ? sizeof(text.size) : 0) + text.head.size();
}

// Reads what ByteStats::store has written.
[[nodiscard]] Text read_text(const char* at) noexcept {
  const auto length = static_cast<unsigned char>(*at);
  if (length != kLong) return {{at + 1, length}, length};
  std::uint64_t size = 0;
  std::memcpy(&size, at + 1, sizeof(size));
  return {{at + 1 + sizeof(size), kTextHead}, size};
}

}  // namespace

void ImageStats::add(const ImageHeader& header) noexcept {
  ++formats[static_cast<std::size_t>(header.format)];
  if (!header.has_size) return;
  ++sized;
  least_width = std::min(least_width, header.width);
  greatest_width = std::max(greatest_width, header.width);
  least_height = std::min(least_height, header.height);
  greatest_height = std::max(greatest_height, header.height);
}

void ImageStats::merge(const ImageStats& other) noexcept {
  for (std::size_t i = 0; i < formats.size(); ++i) formats[i] += other.formats[i];
  sized += other.sized;
  least_width = std::min(least_width, other.least_width);
  greatest_width = std::max(greatest_width, other.greatest_width);
  least_height = std::min(least_height, other.least_height);
  greatest_height = std::max(greatest_height, other.greatest_height);
}

void ByteStats::add(std::span<const Bytes> values) {
  constexpr std::size_t kAtOnce = 16;
  std::array<TextKey, kAtOnce> keys;
  while (!values.empty()) {
    const auto some = values.first(std::min(kAtOnce, values.size()));
    for (std::size_t i = 0; i < some.size(); ++i) {
      const Digest digest = digest_of(some[i]);
      keys[i] = {digest.high, digest.low, kNoText};
      if (!sketches_) counts_.fetch(digest.high);
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      ++count_;
      utf8_ += static_cast<std::uint64_t>(is_utf8(some[i]));
      images_.add(read_image_header(some[i]));
      lengths_.add(int64_key(some[i].size()), 1);
      add_key(keys[i], 1, beginning_of(some[i]));
    }
    values = values.subspan(some.size());
  }
}

void ByteStats::add_key(const TextKey& key, std::uint64_t times, const Text& text) {
  if (sketches_) {
    sketches_->distinct.add(key.high);
    if (Entry* const entry = sketches_->frequent.add(key, key.high, times)) keep(*entry, text);
    return;
  }
  keep(counts_.add(key, key.high, times), text);
  if (counts_.size() > limits_.exact) begin_sketches();
}

void ByteStats::begin_sketches() {
  sketches_ = std::make_unique<Sketches>(limits_);
  counts_.for_each([this](const auto& entry) {
    sketches_->distinct.add(entry.key.high);
    sketches_->frequent.add(entry.key, entry.key.high, entry.count);
  });
  counts_.clear();
}

// Keeps a string that occurred often enough. If there is no room, those that occurred less often
// are forgotten; each comes back when it has occurred as often as the others.
void ByteStats::keep(Entry& entry, const Text& text) {
  if (entry.key.text != kNoText || entry.count < worth_keeping_ || text.size == 0) return;
  const std::size_t size = stored_size(text);
  if (texts_.size() + size > limits_.text_bytes) {
    make_room(size);
    if (entry.count < worth_keeping_) return;
  }
  entry.key.text = store(text);
}

std::uint32_t ByteStats::store(const Text& text) {
  const auto at = static_cast<std::uint32_t>(texts_.size());
  if (const std::size_t needed = at + stored_size(text); needed > texts_.capacity()) {
    texts_.reserve(std::max(needed, std::min(2 * texts_.capacity(), limits_.text_bytes)));
  }
  if (text.size > kMaxWholeText) {
    texts_.push_back(static_cast<char>(kLong));
    std::array<char, sizeof(text.size)> size;
    std::memcpy(size.data(), &text.size, sizeof(text.size));
    texts_.insert(texts_.end(), size.begin(), size.end());
  } else {
    texts_.push_back(static_cast<char>(text.size));
  }
  texts_.insert(texts_.end(), text.head.begin(), text.head.end());
  return at;
}

Text ByteStats::text_of(const TextKey& key) const noexcept {
  return key.text == kNoText ? Text{} : read_text(texts_.data() + key.text);
}

void ByteStats::make_room(std::size_t size) {
  auto& table = sketches_ ? sketches_->frequent.table() : counts_;
  std::vector<char> before;
  do {
    worth_keeping_ *= 2;
    before = std::exchange(texts_, {});
    table.change_each([&](Entry& entry) {
      if (entry.key.text == kNoText) return;
      const Text text = read_text(before.data() + entry.key.text);
      entry.key.text = entry.count < worth_keeping_ ? kNoText : store(text);
    });
  } while (texts_.size() + size > limits_.text_bytes / 2 && !texts_.empty());
}

void ByteStats::merge(const ByteStats& other) {
  count_ += other.count_;
  utf8_ += other.utf8_;
  images_.merge(other.images_);
  lengths_.merge(other.lengths_);
  const auto add_all = [&](const CountTable<TextKey>& table) {
    table.for_each([&](const Entry& entry) {
      const TextKey key{entry.key.high, entry.key.low, kNoText};
      add_key(key, entry.count, other.text_of(entry.key));
    });
  };
  if (!other.sketches_) {
    add_all(other.counts_);
    return;
  }
  if (!sketches_) begin_sketches();
  sketches_->distinct.merge(other.sketches_->distinct);
  add_all(other.sketches_->frequent.table());
  sketches_->frequent.add_error(other.sketches_->frequent.error());
}

}  // namespace tfrkit
