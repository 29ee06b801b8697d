#include "core/examples/select.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/bytes/wire.h"
#include "core/crc32c/crc32c.h"
#include "core/encode/encode.h"
#include "core/frames/layout.h"

namespace tfrkit {
namespace {

constexpr std::uint32_t kFirstTag = delimited_tag(1);
constexpr std::uint32_t kListsTag = delimited_tag(2);
constexpr std::size_t kInnerNesting = kMaxNesting - 3;  // of groups inside an entry

// Counts what would be written, and writes it if there is somewhere to write to.
class Sink {
 public:
  Sink() = default;
  explicit Sink(std::span<std::byte> out) noexcept : at_(out.data()), left_(out.size()) {}

  void put(Bytes bytes) noexcept {
    size_ += bytes.size();
    if (at_ == nullptr || bytes.empty()) return;
    if (bytes.size() > left_) {
      overflow_ = true;
      at_ = nullptr;
      return;
    }
    std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
    left_ -= bytes.size();
  }

  // Puts a tag of one byte and a length.
  void put_head(std::uint32_t tag, std::uint64_t length) noexcept {
    std::array<std::byte, 1 + kMaxVarintBytes> head{static_cast<std::byte>(tag)};
    const std::byte* const end = put_varint(head.data() + 1, length);
    put(Bytes(head.data(), static_cast<std::size_t>(end - head.data())));
  }

  // Counts bytes that are known to be as many.
  void skip(std::size_t bytes) noexcept { size_ += bytes; }

  [[nodiscard]] bool counts() const noexcept { return at_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool filled() const noexcept { return !overflow_ && left_ == 0; }

 private:
  std::byte* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t size_ = 0;
  bool overflow_ = false;
};

Bytes between(const std::byte* begin, const std::byte* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

bool same(Bytes left, Bytes right) noexcept {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
}

// One walk over a record.
class Walk {
 public:
  Walk(const SelectRules& rules, std::span<SelectMark> marks, std::uint64_t stamp) noexcept
      : rules_(rules), marks_(marks), stamp_(stamp) {}

  // Puts the record as it is afterwards.
  [[nodiscard]] bool record(Bytes bytes, Sink& sink) noexcept {
    Wire wire(bytes);
    while (!wire.at_end()) {
      const std::byte* const begin = wire.position();
      std::uint32_t tag = 0;
      Bytes body;
      if (!wire.read_tag(tag)) return false;
      if (tag != kFirstTag && tag != kListsTag) {
        if (!wire.skip_field(tag)) return false;
        sink.put(between(begin, wire.position()));
        continue;
      }
      if (!wire.read_message(body)) return false;
      Sink counted;
      bool changed = false;
      if (!entries(body, tag, counted, changed)) return false;
      if (!changed) {
        sink.put(between(begin, wire.position()));
        continue;
      }
      sink.put_head(tag, counted.size());
      if (sink.counts()) {
        sink.skip(counted.size());
      } else if (!entries(body, tag, sink, changed)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool clashed() const noexcept { return clashed_; }
  [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }

 private:
  // Puts the entries of a map that stay; sets `changed` if they are not the same bytes.
  [[nodiscard]] bool entries(Bytes body, std::uint32_t field, Sink& sink, bool& changed) noexcept {
    Wire wire(body);
    const std::byte* kept = wire.position();  // from here on everything stays and is not put yet
    while (!wire.at_end()) {
      const std::byte* const begin = wire.position();
      std::uint32_t tag = 0;
      Bytes entry;
      if (!wire.read_tag(tag)) return false;
      if (tag != kFirstTag) {
        if (!wire.skip_field(tag, kMaxNesting - 1)) return false;
        continue;
      }
      Bytes key;
      if (!wire.read_message(entry) || !find_key(entry, key)) return false;
      const SelectRule* const rule = find(key);
      const bool drop = rule == nullptr ? !rules_.keep_others : rule->drop;
      if (!drop && rule != nullptr && !mark(*rule, field)) return false;
      if (!drop && (rule == nullptr || same(rule->name, key))) continue;
      changed = true;
      sink.put(between(kept, begin));
      kept = wire.position();
      if (drop) continue;
      Sink counted;
      renamed(entry, rule->name, counted);
      sink.put_head(kFirstTag, counted.size());
      renamed(entry, rule->name, sink);
    }
    sink.put(between(kept, wire.position()));
    return true;
  }

  // Finds the key of an entry: the last one if there are several, "" if there is none.
  [[nodiscard]] static bool find_key(Bytes entry, Bytes& key) noexcept {
    Wire wire(entry);
    while (!wire.at_end()) {
      std::uint32_t tag = 0;
      if (!wire.read_tag(tag)) return false;
      if (tag == kFirstTag ? !wire.read_message(key) : !wire.skip_field(tag, kInnerNesting)) {
        return false;
      }
    }
    return true;
  }

  // Puts an entry, which find_key has walked, with another key.
  static void renamed(Bytes entry, Bytes name, Sink& sink) noexcept {
    sink.put_head(kFirstTag, name.size());
    sink.put(name);
    Wire wire(entry);
    while (!wire.at_end()) {
      const std::byte* const begin = wire.position();
      std::uint32_t tag = 0;
      if (!wire.read_tag(tag) || !wire.skip_field(tag, kInnerNesting)) return;
      if (tag != kFirstTag) sink.put(between(begin, wire.position()));
    }
  }

  [[nodiscard]] const SelectRule* find(Bytes key) const noexcept {
    const auto found = std::lower_bound(
        rules_.rules.begin(), rules_.rules.end(), key,
        [](const SelectRule& rule, Bytes other) { return select_before(rule.key, other); });
    return found != rules_.rules.end() && same(found->key, key) ? &*found : nullptr;
  }

  // Notes that a rule has written to its slot; false if another rule has, in this map.
  [[nodiscard]] bool mark(const SelectRule& rule, std::uint32_t field) noexcept {
    if (rule.slot >= marks_.size()) return true;
    const auto number = static_cast<std::uint32_t>(&rule - rules_.rules.data());
    const std::uint64_t stamp = stamp_ + (field == kListsTag ? 1 : 0);
    SelectMark& mark = marks_[rule.slot];
    if (mark.stamp != stamp) {
      mark = {stamp, number};
      return true;
    }
    if (mark.rule == number) return true;
    clashed_ = true;
    slot_ = rule.slot;
    return false;
  }

  const SelectRules& rules_;
  std::span<SelectMark> marks_;
  std::uint64_t stamp_;
  bool clashed_ = false;
  std::uint32_t slot_ = 0;
};

}  // namespace

bool select_before(Bytes left, Bytes right) noexcept {
  if (left.size() != right.size()) return left.size() < right.size();
  return !left.empty() && std::memcmp(left.data(), right.data(), left.size()) < 0;
}

SelectSize measure_selected(Bytes record, const SelectRules& rules, std::span<SelectMark> marks,
                            std::uint64_t stamp) noexcept {
  Walk walk(rules, marks, stamp);
  Sink counted;
  if (walk.record(record, counted)) return {SelectCode::kOk, counted.size(), 0};
  if (walk.clashed()) return {SelectCode::kClash, 0, walk.slot()};
  return {SelectCode::kMalformed, 0, 0};
}

bool fill_selected(Bytes record, const SelectRules& rules, std::span<std::byte> frame) noexcept {
  if (frame.size() < kFrameOverheadBytes) return false;
  const std::size_t size = frame.size() - kFrameOverheadBytes;
  const std::span<std::byte> payload = frame.subspan(kHeaderBytes, size);
  Walk walk(rules, {}, 0);
  Sink sink(payload);
  if (!walk.record(record, sink) || sink.size() != size || !sink.filled()) return false;
  const auto extend = crc32c_best().extend;
  std::byte* const at = frame.data();
  store_le<std::uint64_t>(at, size);
  store_le<std::uint32_t>(at + kLengthBytes, crc32c_mask(extend(0, Bytes(at, kLengthBytes))));
  store_le<std::uint32_t>(at + kHeaderBytes + size, crc32c_mask(extend(0, payload)));
  return true;
}

}  // namespace tfrkit
