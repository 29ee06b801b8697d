#include "core/digest/record_digest.h"

#include <algorithm>
#include <bit>

#include "core/bytes/wire.h"
#include "core/examples/map_entry.h"

namespace tfrkit {
namespace {

// Mixes words one after the other; their order counts.
class Mixer {
 public:
  void add(std::uint64_t first, std::uint64_t second = 0) noexcept {
    one_ = fold_product(first ^ one_, second ^ 0x6a09e667f3bcc909U);
    two_ = fold_product(second ^ two_, first ^ 0xbb67ae8584caa73bU);
    ++count_;
  }
  void add(const Digest& digest) noexcept { add(digest.high, digest.low); }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] Digest digest() const noexcept {
    const std::uint64_t one = one_ + count_;
    return {mix_bits(one ^ std::rotl(two_, 32)), static_cast<std::uint32_t>(mix_bits(two_ + one))};
  }

 private:
  std::uint64_t one_ = 0x243f6a8885a308d3U;
  std::uint64_t two_ = 0xb7e151628aed2a6bU;
  std::uint64_t count_ = 0;
};

// The values of one Feature, in order.
struct FeatureMixer {
  Kind kind = Kind::kUnset;
  Mixer values;

  void add(Bytes value) noexcept { values.add(digest_of(value)); }
  void add_bits(std::uint64_t bits) noexcept { values.add(bits); }
  [[nodiscard]] Digest digest() const noexcept {
    Mixer all;
    all.add(static_cast<std::uint64_t>(kind), values.count());
    all.add(values.digest());
    return all.digest();
  }
};

// Adds a list that measure_feature has been through.
void add_list(Bytes list, FeatureMixer& mixer) noexcept {
  Wire wire(list);
  std::uint32_t tag = 0;
  while (!wire.at_end() && wire.read_tag(tag)) {
    Bytes bytes;
    std::uint64_t bits = 0;
    std::uint32_t fixed = 0;
    if (tag == delimited_tag(1)) {
      if (!wire.read_message(bytes)) return;
      Wire packed(bytes);
      if (mixer.kind == Kind::kBytes) {
        mixer.add(bytes);
      } else if (mixer.kind == Kind::kInt64) {
        while (!packed.at_end() && packed.read_varint(bits)) mixer.add_bits(bits);
      } else {
        while (packed.read_fixed32(fixed)) mixer.add_bits(fixed);
      }
    } else if (mixer.kind == Kind::kInt64 && tag == varint_tag(1)) {
      if (!wire.read_varint(bits)) return;
      mixer.add_bits(bits);
    } else if (mixer.kind == Kind::kFloat && tag == fixed32_tag(1)) {
      if (!wire.read_fixed32(fixed)) return;
      mixer.add_bits(fixed);
    } else if (!wire.skip_field(tag)) {
      return;
    }
  }
}

// Adds a Feature that measure_feature has been through: a list of another kind begins anew.
void add_feature(Bytes feature, FeatureMixer& mixer) noexcept {
  Wire wire(feature);
  std::uint32_t tag = 0;
  while (!wire.at_end() && wire.read_tag(tag)) {
    const std::uint32_t field = tag >> 3;
    Bytes list;
    if (field > index_of(Kind::kInt64) || tag != delimited_tag(field)) {
      if (!wire.skip_field(tag)) return;
      continue;
    }
    if (!wire.read_message(list)) return;
    if (const auto kind = static_cast<Kind>(field); kind != mixer.kind) mixer = {kind, {}};
    add_list(list, mixer);
  }
}

[[nodiscard]] Digest feature_digest(const FoundFeature& found) {
  FeatureMixer mixer;
  if (found.values == kNoSlot) {
    mixer.kind = found.kind;
    if (found.kind == Kind::kBytes) {
      mixer.add({found.data, static_cast<std::size_t>(found.bits)});
    } else {
      mixer.add_bits(found.bits);
    }
    return mixer.digest();
  }
  static_cast<void>(for_each_value(found.entry, [&](Bytes value) {
    add_feature(value, mixer);
    return true;
  }));
  return mixer.digest();
}

[[nodiscard]] Digest list_digest(const FoundList& found) {
  Mixer steps;
  static_cast<void>(for_each_value(found.entry, [&](Bytes feature_list) {
    Wire wire(feature_list);
    std::uint32_t tag = 0;
    Bytes step;
    while (!wire.at_end() && wire.read_tag(tag)) {
      if (tag != delimited_tag(1)) {
        if (!wire.skip_field(tag)) return false;
        continue;
      }
      if (!wire.read_message(step)) return false;
      FeatureMixer mixer;
      add_feature(step, mixer);
      steps.add(mixer.digest());
    }
    return true;
  }));
  return steps.digest();
}

// A sum, so that the order of what is added does not count.
class UnorderedSum {
 public:
  void add(const std::string& key, bool is_list, const Digest& value) noexcept {
    Mixer named;
    named.add(digest_of(std::as_bytes(std::span(key))));
    named.add(value);
    named.add(is_list ? 1 : 0);
    const Digest digest = named.digest();
    high_ += digest.high;
    low_ += digest.low;
    ++count_;
  }
  [[nodiscard]] Digest digest() const noexcept {
    Mixer all;
    all.add(high_, low_);
    all.add(count_);
    return all.digest();
  }

 private:
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

RecordDigester::RecordDigester(std::span<const std::string> keys) : keys_(keys) {}

bool RecordDigester::read(Bytes record) {
  if (!reader_) {
    reader_ = std::make_unique<RecordReader>();
    for (const std::string& key : keys_) reader_->expect(std::as_bytes(std::span(key)));
  }
  if (reader_->read(record) == RecordKind::kOther) return false;
  if (reader_->passed_over() == 0) return true;
  reader_ = std::make_unique<RecordReader>();  // the names of other records have filled the table
  return reader_->read(record) != RecordKind::kOther && reader_->passed_over() == 0;
}

Digest RecordDigester::meaning_of(Bytes record) {
  if (!read(record)) return digest_of(record);
  UnorderedSum sum;
  for (const FoundFeature& found : reader_->found_features()) {
    sum.add(reader_->features().key(found.slot), false, feature_digest(found));
  }
  for (const FoundList& found : reader_->found_lists()) {
    sum.add(reader_->lists().key(found.slot), true, list_digest(found));
  }
  return sum.digest();
}

KeyState RecordDigester::key_of(Bytes record, Digest& digest) {
  if (!read(record)) return KeyState::kMissing;
  Mixer all;
  const auto features = reader_->found_features();
  for (const std::string& key : keys_) {
    const auto found = std::ranges::find_if(features, [&](const FoundFeature& feature) {
      return reader_->features().key(feature.slot) == key;
    });
    if (found == features.end()) return KeyState::kMissing;
    const bool single = found->values == kNoSlot;
    const Kind kind = single ? found->kind : reader_->found_values(found->values).kind;
    if (kind == Kind::kFloat) return KeyState::kFloats;
    if (!single && reader_->found_values(found->values).count != 1) return KeyState::kNotOne;
    all.add(feature_digest(*found));
  }
  digest = all.digest();
  return KeyState::kFound;
}

}  // namespace tfrkit
