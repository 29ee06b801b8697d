#include "core/messages/proto_plan.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tfrkit {
namespace {

constexpr std::uint32_t kTableNumbers = 1024;  // field numbers below are looked up in one step

bool is_index(std::int32_t index, std::size_t size) noexcept {
  return index == kNoIndex || (index >= 0 && static_cast<std::size_t>(index) < size);
}

bool holds_fields(ProtoKind kind) noexcept { return is_bytes(kind); }

}  // namespace

const char* ProtoPlan::check(std::span<const ProtoField> fields, std::span<const ProtoSlot> slots,
                             std::size_t nodes) {
  if (nodes == 0) return "expected a node for the record";
  std::vector<std::size_t> depths(nodes, 0);
  std::vector<bool> used(slots.size());
  std::set<std::pair<std::uint32_t, std::uint32_t>> numbers;
  std::size_t known = 1;  // nodes come in the order of the fields that hold them
  for (const ProtoSlot& slot : slots) {
    if (slot.node >= nodes) return "expected the node of a slot to exist";
  }
  for (const ProtoField& field : fields) {
    if (field.node >= known) return "expected a field after the one that holds its message";
    if (field.number == 0 || field.number > kMaxFieldNumber) return "expected a field number";
    if (!numbers.emplace(field.node, field.number).second) return "expected every number once";
    if (!is_index(field.slot, slots.size()) || !is_index(field.oneof, slots.size())) {
      return "expected the slot of a field to exist";
    }
    if (field.slot != kNoIndex) {
      const auto slot = static_cast<std::size_t>(field.slot);
      if (slots[slot].node != field.node || slots[slot].repeated != field.repeated ||
          width_of(slots[slot].kind) != width_of(field.kind) || used[slot]) {
        return "expected a slot of its own for the field";
      }
      used[slot] = true;
    }
    if (field.oneof != kNoIndex) {
      const ProtoSlot& slot = slots[static_cast<std::size_t>(field.oneof)];
      const bool fits = slot.node == field.node && slot.kind == ProtoKind::kVarint32;
      if (!fits || slot.repeated || field.repeated) return "expected a slot for the oneof";
    }
    if (field.child == kNoIndex) continue;
    const bool next = static_cast<std::size_t>(field.child) == known && known < nodes;
    if (!next || !holds_fields(field.kind)) return "expected the next node for a message";
    depths[known] = depths[field.node] + 1;
    if (depths[known++] >= kMaxProtoDepth) return "expected at most 100 messages in one another";
  }
  return known == nodes ? nullptr : "expected a field for every node";
}

ProtoPlan::ProtoPlan(std::vector<ProtoField> fields, std::vector<ProtoSlot> slots,
                     std::size_t nodes)
    : fields_(std::move(fields)), slots_(std::move(slots)), nodes_(nodes) {
  make_scopes();
  make_tables();
  make_below();
}

void ProtoPlan::make_scopes() {
  scopes_.emplace_back();
  for (const ProtoField& field : fields_) {
    if (field.child == kNoIndex) continue;
    const std::uint32_t outer = nodes_[field.node].scope;
    std::uint32_t& scope = nodes_[static_cast<std::size_t>(field.child)].scope;
    scope = outer;
    if (!field.repeated) continue;
    scope = static_cast<std::uint32_t>(scopes_.size());
    scopes_[outer].scopes.push_back(scope);
    scopes_.emplace_back().parent = static_cast<std::int32_t>(outer);
  }
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    Scope& scope = scopes_[scope_of_slot(slot)];
    (slots_[slot].repeated ? scope.lists : scope.singles)
        .push_back(static_cast<std::uint32_t>(slot));
  }
}

void ProtoPlan::make_tables() {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::uint32_t number = fields_[i].number;
    Node& node = nodes_[fields_[i].node];
    if (number >= kTableNumbers) {
      node.sorted.push_back({number, static_cast<std::int32_t>(i)});
      continue;
    }
    if (number >= node.by_number.size()) node.by_number.resize(number + 1, kNoIndex);
    node.by_number[number] = static_cast<std::int32_t>(i);
  }
  for (Node& node : nodes_) std::ranges::sort(node.sorted, {}, &Entry::number);
}

// From the last field to the first, so that what is below a child's fields is known.
void ProtoPlan::make_below() {
  below_.resize(fields_.size());
  std::vector<Below> of_node(nodes_.size());
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    of_node[slots_[slot].node].slots.push_back(static_cast<std::uint32_t>(slot));
  }
  for (std::size_t i = fields_.size(); i-- > 0;) {
    const ProtoField& field = fields_[i];
    Below& below = below_[i];
    if (field.slot != kNoIndex) below.slots.push_back(static_cast<std::uint32_t>(field.slot));
    if (field.child == kNoIndex) continue;
    const auto child = static_cast<std::size_t>(field.child);
    Below& outer = of_node[field.node];
    if (field.repeated) {
      below.scopes.push_back(nodes_[child].scope);
      outer.scopes.push_back(nodes_[child].scope);
      continue;
    }
    const Below& inner = of_node[child];
    below.slots.insert(below.slots.end(), inner.slots.begin(), inner.slots.end());
    below.scopes.insert(below.scopes.end(), inner.scopes.begin(), inner.scopes.end());
    outer.slots.insert(outer.slots.end(), inner.slots.begin(), inner.slots.end());
    outer.scopes.insert(outer.scopes.end(), inner.scopes.begin(), inner.scopes.end());
  }
}

std::int32_t ProtoPlan::search(const Node& node, std::uint32_t number) noexcept {
  const auto found = std::ranges::lower_bound(node.sorted, number, {}, &Entry::number);
  return found == node.sorted.end() || found->number != number ? kNoIndex : found->field;
}

}  // namespace tfrkit
