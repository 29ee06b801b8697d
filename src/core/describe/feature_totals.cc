#include "core/describe/feature_totals.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/bytes/wire.h"
#include "core/examples/map_entry.h"

namespace tfrkit {

// Some at a time: a list may be as long as a record, or have a single value.
class ValueFeed {
 public:
  explicit ValueFeed(Share share) noexcept : share_(share) {}

  [[nodiscard]] Share share() const noexcept { return share_; }

  // Says where the next values go; if `split`, only the share of them.
  void aim(KindTotals& totals, bool split) {
    if (&totals == totals_) return;
    flush();
    totals_ = &totals;
    split_ = split;
  }
  void number(std::uint64_t key) {
    keys_[count_++] = key;
    if (count_ == keys_.size()) flush();
  }
  // All of some packed floats that are finite.
  void floats(Bytes packed) {
    while (packed.size() >= sizeof(std::uint32_t)) {
      const std::size_t most =
          std::min(packed.size() / sizeof(std::uint32_t), keys_.size() - count_);
      const std::byte* at = packed.data();
      std::uint64_t* key = keys_.data() + count_;
      for (std::size_t i = 0; i < most; ++i, at += sizeof(std::uint32_t)) {
        const auto bits = load_le<std::uint32_t>(at);
        *key = float_key(bits);
        key += static_cast<std::size_t>(is_finite(bits));
      }
      count_ = static_cast<std::size_t>(key - keys_.data());
      packed = packed.subspan(most * sizeof(std::uint32_t));
      if (count_ == keys_.size()) flush();
    }
  }
  void string(Bytes value) {
    strings_[count_++] = value;
    if (count_ == strings_.size()) flush();
  }
  // Values that lie together already; those before them must be flushed.
  void add(std::span<const std::uint64_t> keys) {
    if (split_) {
      totals_->numbers->add_share(keys, share_);
    } else {
      totals_->numbers->add(keys);
    }
  }
  void add(std::span<const Bytes> strings) { totals_->strings->add(strings); }

  void flush() {
    if (count_ == 0) return;
    if (totals_->numbers) {
      add(std::span<const std::uint64_t>(keys_).first(count_));
    } else {
      add(std::span<const Bytes>(strings_).first(count_));
    }
    count_ = 0;
  }

 private:
  Share share_;
  bool split_ = false;
  KindTotals* totals_ = nullptr;
  std::size_t count_ = 0;
  std::array<std::uint64_t, 2048> keys_;
  std::array<Bytes, 64> strings_;
};

namespace {

// Calls visit(kind, list) for every list of a Feature that measure_feature has been through.
template <typename Visit>
void for_each_list(Bytes feature, const Visit& visit) {
  Wire wire(feature);
  std::uint32_t tag = 0;
  while (!wire.at_end() && wire.read_tag(tag)) {
    const std::uint32_t field = tag >> 3;
    Bytes list;
    if (field > index_of(Kind::kInt64) || tag != delimited_tag(field)) {
      if (!wire.skip_field(tag)) return;
    } else if (wire.read_message(list)) {
      visit(static_cast<Kind>(field), list);
    } else {
      return;
    }
  }
}

void feed_packed(Kind kind, Bytes packed, ValueFeed& feed) {
  if (kind == Kind::kFloat) {
    feed.floats(packed);
    return;
  }
  Wire wire(packed);
  std::uint64_t varint = 0;
  while (!wire.at_end() && wire.read_varint(varint)) feed.number(int64_key(varint));
}

// The values of a list, packed or not.
void feed_list(Kind kind, Bytes list, ValueFeed& feed) {
  Wire wire(list);
  std::uint32_t tag = 0;
  while (!wire.at_end() && wire.read_tag(tag)) {
    Bytes bytes;
    std::uint64_t varint = 0;
    if (tag == delimited_tag(1)) {
      if (!wire.read_message(bytes)) return;
      if (kind == Kind::kBytes) {
        feed.string(bytes);
      } else {
        feed_packed(kind, bytes, feed);
      }
    } else if (kind == Kind::kInt64 && tag == varint_tag(1)) {
      if (!wire.read_varint(varint)) return;
      feed.number(int64_key(varint));
    } else if (kind == Kind::kFloat && tag == fixed32_tag(1)) {
      if (!wire.read_bytes(sizeof(std::uint32_t), bytes)) return;
      feed.floats(bytes);
    } else if (!wire.skip_field(tag)) {
      return;
    }
  }
}

// Lists of a Feature, in the parts that `parts` visits, which count: the last ones of one kind.
struct LastLists {
  Kind kind = Kind::kUnset;
  std::size_t first = 0;
};

template <typename Parts>
[[nodiscard]] LastLists last_lists(const Parts& parts) {
  LastLists last;
  std::size_t number = 0;
  parts([&](Kind kind, Bytes) {
    if (kind != last.kind) last = {kind, number};
    ++number;
  });
  return last;
}

template <typename Parts>
void feed_last_lists(const LastLists& last, const Parts& parts, ValueFeed& feed) {
  std::size_t number = 0;
  parts([&](Kind kind, Bytes list) {
    if (number++ >= last.first) feed_list(kind, list, feed);
  });
}

// Returns the values of a map entry in its usual form: a key, and a Feature with one packed list of
// this kind. False if it has another.
[[nodiscard]] bool read_packed(Bytes entry, Kind kind, Bytes& packed) noexcept {
  Bytes inner;
  Wire wire(entry);
  if (!wire.expect(delimited_tag(1)) || !wire.read_message(inner)) return false;
  for (const unsigned field : {2U, static_cast<unsigned>(kind), 1U}) {
    if (!wire.expect(delimited_tag(field)) || !wire.read_message(inner) || !wire.at_end()) {
      return false;
    }
    wire = Wire(inner);
  }
  packed = inner;
  return true;
}

// The values of a map entry: its Features together are one.
void feed_entry(Kind kind, Bytes entry, ValueFeed& feed) {
  Bytes packed;
  if (kind != Kind::kBytes && read_packed(entry, kind, packed)) {
    feed_packed(kind, packed, feed);
    return;
  }
  const auto parts = [&](const auto& visit) {
    static_cast<void>(for_each_value(entry, [&](Bytes value) {
      for_each_list(value, visit);
      return true;
    }));
  };
  feed_last_lists(last_lists(parts), parts, feed);
}

}  // namespace

KindTotals::KindTotals(Kind kind, std::size_t tier) {
  const Limits& limits = kValueLimits[tier];
  if (kind == Kind::kBytes) {
    strings = std::make_unique<ByteStats>(limits, kLengthLimits[tier]);
  } else {
    const auto number = kind == Kind::kFloat ? NumberKind::kFloat : NumberKind::kInt64;
    numbers = std::make_unique<NumberStats>(number, limits);
  }
}

FeatureTotals::FeatureTotals(std::string key, std::size_t tier)
    : key_(std::move(key)),
      tier_(tier),
      counts_(NumberKind::kInt64, kLengthLimits[tier]),
      steps_(NumberKind::kInt64, kLengthLimits[tier]) {}

// A feature should have one kind: another one than the first gets less room.
KindTotals& FeatureTotals::make(Kind kind) {
  std::unique_ptr<KindTotals>& totals = kinds_[index_of(kind)];
  if (!totals) {
    const std::size_t tier = kind == first_kind_ ? tier_ : std::min(tier_ + 1, kTiers - 1);
    totals = std::make_unique<KindTotals>(kind, tier);
  }
  return *totals;
}

bool FeatureTotals::split(bool wanted) noexcept {
  for (std::size_t i = 0; i < kKinds; ++i) {
    const KindTotals* const totals = kinds_[i].get();
    split_[i] =
        wanted && totals != nullptr && totals->numbers && totals->numbers->sketches() != nullptr;
  }
  return std::ranges::find(split_, true) != split_.end();
}

void FeatureTotals::add(const FeatureColumn& column, OutlineBudget& budget, Share share) {
  if (share == Share::kMain) {
    outline_.merge(column.outline, budget);
    if (first_kind_ == Kind::kUnset) first_kind_ = column.first_kind;
    for (const auto& [count, times] : column.counts.all()) counts_.add(int64_key(count), times);
    for (const auto& [steps, times] : column.steps.all()) steps_.add(int64_key(steps), times);
  }
  ValueFeed feed(share);
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    if (column.kinds[index_of(kind)]) add_kind(kind, *column.kinds[index_of(kind)], feed);
  }
  for (const Bytes entry : column.entries) add_steps(entry, feed);
  feed.flush();
}

// Makes a feed ready for values of a kind; false if its share has nothing to do with them. Other
// shares than the main one only read what is here.
bool FeatureTotals::aim(Kind kind, ValueFeed& feed) {
  const bool split = split_[index_of(kind)];
  if (!split && feed.share() != Share::kMain) return false;
  feed.aim(split ? *kinds_[index_of(kind)] : make(kind), split);
  return true;
}

void FeatureTotals::add_kind(Kind kind, const KindColumn& column, ValueFeed& feed) {
  if (!aim(kind, feed)) return;
  std::size_t done = 0;
  const auto add_singles = [&](std::size_t until) {
    if (until == done) return;
    feed.flush();
    if (kind == Kind::kBytes) {
      feed.add(std::span(column.strings).subspan(done, until - done));
    } else {
      feed.add(std::span(column.keys).subspan(done, until - done));
    }
    done = until;
  };
  for (const KindColumn::List& list : column.lists) {
    add_singles(list.before);
    feed_entry(kind, list.entry, feed);
  }
  add_singles(column.keys.size() + column.strings.size());
}

// The values of all steps of a map entry with a FeatureList.
void FeatureTotals::add_steps(Bytes entry, ValueFeed& feed) {
  static_cast<void>(for_each_value(entry, [&](Bytes feature_list) {
    Wire wire(feature_list);
    std::uint32_t tag = 0;
    while (!wire.at_end() && wire.read_tag(tag)) {
      Bytes step;
      if (tag != delimited_tag(1)) {
        if (!wire.skip_field(tag)) return false;
        continue;
      }
      if (!wire.read_message(step)) return false;
      const auto parts = [&](const auto& visit) { for_each_list(step, visit); };
      const LastLists last = last_lists(parts);
      if (last.kind != Kind::kUnset && aim(last.kind, feed)) feed_last_lists(last, parts, feed);
    }
    return true;
  }));
}

void FeatureTotals::merge(const FeatureTotals& other, OutlineBudget& budget) {
  outline_.merge(other.outline_, budget);
  if (first_kind_ == Kind::kUnset) first_kind_ = other.first_kind_;
  counts_.merge(other.counts_);
  steps_.merge(other.steps_);
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    const KindTotals* const more = other.of(kind);
    if (more == nullptr) continue;
    KindTotals& totals = make(kind);
    if (totals.numbers) {
      totals.numbers->merge(*more->numbers);
    } else {
      totals.strings->merge(*more->strings);
    }
  }
}

}  // namespace tfrkit
