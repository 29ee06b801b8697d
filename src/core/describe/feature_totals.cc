#include "core/describe/feature_totals.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/bytes/wire.h"
#include "core/examples/map_entry.h"

namespace tfrkit {
namespace {

// Values on their way from lists into the totals, some at a time: a list may be as long as a
// record.
class ValueFeed {
 public:
  explicit ValueFeed(KindTotals& totals) : totals_(totals) {}

  void number(std::uint64_t key) {
    keys_[count_++] = key;
    if (count_ == keys_.size()) flush();
  }
  void float_bits(std::uint32_t bits) {
    if (is_finite(bits)) number(float_key(bits));
  }
  void string(Bytes value) {
    strings_[count_++] = value;
    if (count_ == strings_.size()) flush();
  }

  void flush() {
    if (totals_.numbers) {
      totals_.numbers->add(std::span(keys_).first(count_));
    } else {
      totals_.strings->add(std::span(strings_).first(count_));
    }
    count_ = 0;
  }

 private:
  KindTotals& totals_;
  std::size_t count_ = 0;
  std::array<std::uint64_t, 256> keys_;
  std::array<Bytes, 64> strings_;
};

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
  Wire wire(packed);
  std::uint64_t varint = 0;
  std::uint32_t fixed = 0;
  if (kind == Kind::kInt64) {
    while (!wire.at_end() && wire.read_varint(varint)) feed.number(int64_key(varint));
  } else {
    while (wire.read_fixed32(fixed)) feed.float_bits(fixed);
  }
}

// The values of a list, packed or not.
void feed_list(Kind kind, Bytes list, ValueFeed& feed) {
  Wire wire(list);
  std::uint32_t tag = 0;
  while (!wire.at_end() && wire.read_tag(tag)) {
    Bytes bytes;
    std::uint64_t varint = 0;
    std::uint32_t fixed = 0;
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
      if (!wire.read_fixed32(fixed)) return;
      feed.float_bits(fixed);
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

void FeatureTotals::add(const FeatureColumn& column, OutlineBudget& budget) {
  outline_.merge(column.outline, budget);
  if (first_kind_ == Kind::kUnset) first_kind_ = column.first_kind;
  for (const auto& [count, times] : column.counts.all()) counts_.add(int64_key(count), times);
  for (const auto& [steps, times] : column.steps.all()) steps_.add(int64_key(steps), times);
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    if (column.kinds[index_of(kind)]) add_kind(kind, *column.kinds[index_of(kind)]);
  }
  for (const Bytes entry : column.entries) add_steps(entry);
}

void FeatureTotals::add_kind(Kind kind, const KindColumn& column) {
  KindTotals& totals = make(kind);
  std::size_t done = 0;
  const auto add_singles = [&](std::size_t until) {
    if (totals.numbers) {
      totals.numbers->add(std::span(column.keys).subspan(done, until - done));
    } else {
      totals.strings->add(std::span(column.strings).subspan(done, until - done));
    }
    done = until;
  };
  for (const KindColumn::List& list : column.lists) {
    add_singles(list.before);
    add_entry(list.entry, kind);
  }
  add_singles(column.keys.size() + column.strings.size());
}

// The values of a map entry: its Features together are one.
void FeatureTotals::add_entry(Bytes entry, Kind kind) {
  ValueFeed feed(make(kind));
  const auto parts = [&](const auto& visit) {
    static_cast<void>(for_each_value(entry, [&](Bytes value) {
      for_each_list(value, visit);
      return true;
    }));
  };
  feed_last_lists(last_lists(parts), parts, feed);
  feed.flush();
}

// The values of all steps of a map entry with a FeatureList.
void FeatureTotals::add_steps(Bytes entry) {
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
      if (last.kind == Kind::kUnset) continue;
      ValueFeed feed(make(last.kind));
      feed_last_lists(last, parts, feed);
      feed.flush();
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
