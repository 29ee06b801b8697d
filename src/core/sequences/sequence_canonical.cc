#include "core/sequences/sequence_canonical.h"

#include "core/bytes/wire.h"

namespace tfrkit {
namespace {

void append_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

}  // namespace

void append_field(std::vector<std::byte>& out, std::uint8_t tag, Bytes bytes) {
  out.push_back(static_cast<std::byte>(tag));
  append_varint(out, bytes.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_feature(std::vector<std::byte>& out, Kind kind, const ListValues& values) {
  if (kind == Kind::kUnset) return;
  std::vector<std::byte> list;
  if (kind == Kind::kBytes) {
    for (const Bytes string : values.strings) append_field(list, delimited_tag(1), string);
  } else if (values.size() != 0) {
    std::vector<std::byte> run;
    for (const std::uint64_t value : values.ints) append_varint(run, value);
    for (const std::uint32_t bits : values.floats) {
      run.resize(run.size() + sizeof(bits));
      store_le(run.data() + run.size() - sizeof(bits), bits);
    }
    append_field(list, delimited_tag(1), run);
  }
  append_field(out, delimited_tag(static_cast<unsigned>(kind)), list);
}

void append_entry(std::vector<std::byte>& out, bool list, std::string_view key, Bytes value) {
  std::vector<std::byte> entry;
  append_field(entry, delimited_tag(1), std::as_bytes(std::span(key)));
  append_field(entry, delimited_tag(2), value);
  std::vector<std::byte> map;
  append_field(map, delimited_tag(1), entry);
  append_field(out, delimited_tag(list ? 2 : 1), map);
}

bool rewrite_sequence(const SequencePlan& plan, Dialect dialect, Bytes record,
                      std::vector<std::byte>& out) {
  return dialect == Dialect::kProtobuf ? rewrite_protobuf(plan, record, out)
                                       : rewrite_tensorflow(plan, record, out);
}

SequenceFault diagnose_sequences(const SequencePlan& plan, Dialect dialect,
                                 std::span<const Bytes> records) {
  return dialect == Dialect::kProtobuf ? diagnose_protobuf(plan, records)
                                       : diagnose_tensorflow(plan, records);
}

}  // namespace tfrkit
