// What is asked of serialized messages of one type: a tree of fields, and where their values go.
//
// Knows no descriptors: the caller has looked up numbers, kinds and defaults. A node is a message
// on the way to the fields that are asked for, node 0 the record itself. A scope is what a value
// can be counted by: the record, or an occurrence of a repeated message. A slot takes the values of
// a field in every entry of its scope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/bytes/bytes.h"

namespace tfrkit {

inline constexpr std::int32_t kNoIndex = -1;
inline constexpr std::size_t kMaxProtoDepth = 100;  // messages in messages, as in protobuf
inline constexpr std::uint32_t kMaxFieldNumber = (1U << 29) - 1;

// How a value stands on the wire. Signs and floats are the caller's: the bits are the same.
enum class ProtoKind : std::uint8_t {
  kBool = 0,
  kVarint32 = 1,  // int32, uint32, enums: the low 32 bits
  kVarint64 = 2,
  kZigzag32 = 3,
  kZigzag64 = 4,
  kFixed32 = 5,
  kFixed64 = 6,
  kBytes = 7,  // strings, bytes, messages
  kGroup = 8,
};
inline constexpr int kProtoKinds = 9;

// Tells whether values are bytes, which a slot holds as a reference (a `Bytes`) to them.
[[nodiscard]] constexpr bool is_bytes(ProtoKind kind) noexcept { return kind >= ProtoKind::kBytes; }

// Returns the bytes that a value takes in a slot.
[[nodiscard]] constexpr std::size_t width_of(ProtoKind kind) noexcept {
  if (is_bytes(kind)) return sizeof(Bytes);
  if (kind == ProtoKind::kBool) return 1;
  const bool is_long =
      kind == ProtoKind::kVarint64 || kind == ProtoKind::kZigzag64 || kind == ProtoKind::kFixed64;
  return is_long ? 8 : 4;
}

// A field that is asked for, on the way to one, or of the same oneof as one.
struct ProtoField {
  std::uint32_t node = 0;  // the message that it is a field of
  std::uint32_t number = 0;
  ProtoKind kind = ProtoKind::kVarint64;
  bool repeated = false;
  bool packable = false;          // a run of values in one field is read too
  bool utf8 = false;              // bytes that are not UTF-8 are a fault
  bool merged = false;            // the bytes of all occurrences are joined; else the last counts
  bool closed = false;            // an enum whose other numbers are unknown fields
  std::int32_t slot = kNoIndex;   // where its values go
  std::int32_t child = kNoIndex;  // the node of its fields
  std::int32_t oneof = kNoIndex;  // the slot with the number of the member that is set
  // NOLINTNEXTLINE(readability-redundant-member-init): may be left out without a warning
  std::vector<std::int32_t> enum_numbers{};  // of a closed enum, ascending
};

// Where the values of a field go. A singular one has a value in every entry of its scope.
struct ProtoSlot {
  std::uint32_t node = 0;
  ProtoKind kind = ProtoKind::kVarint64;
  bool repeated = false;
  std::uint64_t default_bits = 0;
  // NOLINTNEXTLINE(readability-redundant-member-init): may be left out without a warning
  std::vector<std::byte> default_bytes{};  // of bytes
};

// What is worked out once for all batches. Immutable, so any number of threads may use it.
class ProtoPlan {
 public:
  // What is wrong with fields and slots; nullptr: nothing. Precondition of the constructor.
  [[nodiscard]] static const char* check(std::span<const ProtoField> fields,
                                         std::span<const ProtoSlot> slots, std::size_t nodes);

  // Throws std::bad_alloc.
  ProtoPlan(std::vector<ProtoField> fields, std::vector<ProtoSlot> slots, std::size_t nodes);

  struct Scope {
    std::int32_t parent = kNoIndex;
    std::vector<std::uint32_t> singles;  // slots with a value in every entry
    std::vector<std::uint32_t> lists;    // slots with any number of them
    std::vector<std::uint32_t> scopes;   // those of repeated messages in it
  };
  // What is forgotten when another member of a oneof is set: all values below a field.
  struct Below {
    std::vector<std::uint32_t> slots;
    std::vector<std::uint32_t> scopes;
  };

  [[nodiscard]] std::span<const ProtoField> fields() const noexcept { return fields_; }
  [[nodiscard]] std::span<const ProtoSlot> slots() const noexcept { return slots_; }
  [[nodiscard]] std::span<const Scope> scopes() const noexcept { return scopes_; }
  [[nodiscard]] const Below& below(std::size_t field) const noexcept { return below_[field]; }
  [[nodiscard]] std::uint32_t scope_of_node(std::size_t node) const noexcept {
    return nodes_[node].scope;
  }
  [[nodiscard]] std::uint32_t scope_of_slot(std::size_t slot) const noexcept {
    return nodes_[slots_[slot].node].scope;
  }

  // Returns the index of a field of a node by its number, or kNoIndex.
  [[nodiscard]] std::int32_t find(std::size_t node, std::uint32_t number) const noexcept {
    const Node& there = nodes_[node];
    if (number < there.by_number.size()) return there.by_number[number];
    return there.sorted.empty() ? kNoIndex : search(there, number);
  }

 private:
  struct Entry {
    std::uint32_t number;
    std::int32_t field;
  };
  struct Node {
    std::uint32_t scope = 0;
    std::vector<std::int32_t> by_number;  // of small numbers
    std::vector<Entry> sorted;            // of the others
  };

  [[nodiscard]] static std::int32_t search(const Node& node, std::uint32_t number) noexcept;
  void make_scopes();
  void make_tables();
  void make_below();

  std::vector<ProtoField> fields_;
  std::vector<ProtoSlot> slots_;
  std::vector<Node> nodes_;
  std::vector<Scope> scopes_;
  std::vector<Below> below_;
};

}  // namespace tfrkit
