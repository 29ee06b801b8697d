#include "core/describe/key_table.h"

#include <span>

namespace tfrkit {
namespace {

[[nodiscard]] const std::byte* as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text)).data();
}

}  // namespace

std::uint32_t KeyTable::find_or_add(Bytes key, std::size_t place) {
  const std::string_view text = as_text(key);
  std::uint32_t slot = kNoSlot;
  std::string_view kept;
  if (const auto found = slots_.find(text); found != slots_.end()) {
    slot = found->second;
    kept = found->first;
  } else {
    if (keys_.size() >= max_keys_ || text.size() > kMaxKeyBytes - key_bytes_) {
      return kNoSlot;
    }
    slot = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(std::make_unique<std::string>(text));
    marks_.resize(keys_.size());
    key_bytes_ += text.size();
    kept = *keys_.back();
    slots_.emplace(kept, slot);
  }
  if (place >= order_.size() && place < kMaxKeys) order_.resize(place + 1);
  if (place < order_.size())
    order_[place] = {as_bytes(kept), static_cast<std::uint32_t>(kept.size()), slot};
  return slot;
}

void KeyTable::shrink(std::size_t size) {
  if (size == keys_.size()) return;
  order_.clear();
  while (keys_.size() > size) {
    key_bytes_ -= keys_.back()->size();
    slots_.erase(*keys_.back());
    keys_.pop_back();
  }
  marks_.resize(size);
}

}  // namespace tfrkit
