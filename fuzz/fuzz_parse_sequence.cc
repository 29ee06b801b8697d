// Any bytes as SequenceExamples, for any plan: a record is parsed or has a fault, never both; what
// is parsed is whole, and is the same after the record was rewritten into canonical form.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "core/sequences/sequence.h"
#include "core/sequences/sequence_canonical.h"
#include "core/sequences/sequence_parse.h"
#include "lay_out.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::array<std::int64_t, 5> kCounts{kVariable, 1, 2, 4, 0};

Kind take_kind(Bytes& input) { return static_cast<Kind>(take(input) % 3 + 1); }

ContextSlot take_context(Bytes& input, const char* key) {
  ContextSlot slot{key, take_kind(input), kCounts[take(input) % kCounts.size()], false, {}};
  if (slot.count > 0 && take(input) % 4 == 0) {
    const auto count = static_cast<std::size_t>(slot.count);
    ListValues values;
    if (slot.kind == Kind::kInt64) values.ints.resize(count, 7);
    if (slot.kind == Kind::kFloat) values.floats.resize(count, 7);
    if (slot.kind == Kind::kBytes) values.strings.resize(count);
    append_feature(slot.fallback, slot.kind, values);
    slot.has_fallback = true;
  }
  return slot;
}

ListSlot take_list(Bytes& input, const char* key) {
  return {key, take_kind(input), kCounts[take(input) % kCounts.size()], take(input) % 2 == 0};
}

// Checks that splits begin at 0, never fall, and end at `total`.
void check_splits(const std::vector<std::int64_t>& splits, std::size_t total) {
  REQUIRE(splits.front() == 0 && splits.back() == static_cast<std::int64_t>(total));
  REQUIRE(std::is_sorted(splits.begin(), splits.end()));
}

void check_column(Kind kind, std::int64_t count, bool list, const ParsedColumn& column) {
  const std::size_t strings = column.offsets.empty() ? 0 : column.offsets.size() - 1;
  const std::size_t values = column.ints.size() + column.floats.size() + strings;
  if (kind == Kind::kBytes) check_splits(column.offsets, column.data.size());
  if (list) {
    check_splits(column.rows, column.inner.size() - 1);
    if (count != kVariable) {
      REQUIRE(values == (column.inner.size() - 1) * static_cast<std::size_t>(count));
    } else {
      check_splits(column.inner, values);
    }
  } else if (count != kVariable) {
    REQUIRE(values == (column.rows.size() - 1) * static_cast<std::size_t>(count));
  } else {
    check_splits(column.rows, values);
  }
}

void check_columns(const SequencePlan& plan, const ParsedSequences& parsed) {
  const std::size_t context = plan.context().size();
  for (std::size_t i = 0; i < context; ++i) {
    check_column(plan.context()[i].kind, plan.context()[i].count, false, parsed.columns[i]);
  }
  for (std::size_t i = 0; i < plan.lists().size(); ++i) {
    check_column(plan.lists()[i].kind, plan.lists()[i].count, true, parsed.columns[context + i]);
  }
}

bool is_same(const ParsedSequences& parsed, const ParsedSequences& again) {
  if (parsed.columns.size() != again.columns.size()) return false;
  for (std::size_t i = 0; i < parsed.columns.size(); ++i) {
    const ParsedColumn& a = parsed.columns[i];
    const ParsedColumn& b = again.columns[i];
    const bool bits = std::equal(
        a.floats.begin(), a.floats.end(), b.floats.begin(), b.floats.end(),
        [](float x, float y) { return std::bit_cast<unsigned>(x) == std::bit_cast<unsigned>(y); });
    if (!bits || a.ints != b.ints || a.data != b.data || a.offsets != b.offsets ||
        a.inner != b.inner || a.rows != b.rows) {
      return false;
    }
  }
  return true;
}

void check_dialect(const SequencePlan& plan, Dialect dialect, std::span<const Bytes> records) {
  const ParsedSequences parsed = parse_sequences(plan, dialect, records);
  const SequenceFault fault = diagnose_sequences(plan, dialect, records);
  REQUIRE(parsed.good == (fault.code == SequenceCode::kOk));
  REQUIRE(fault.row < static_cast<std::int64_t>(records.size()));
  if (!parsed.good) return;
  check_columns(plan, parsed);
  std::vector<std::vector<std::byte>> rewritten(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    REQUIRE(rewrite_sequence(plan, dialect, records[i], rewritten[i]));
  }
  const std::vector<Bytes> spans(rewritten.begin(), rewritten.end());
  REQUIRE(is_same(parsed, parse_sequences(plan, dialect, spans)));
}

void run(Bytes input) {
  std::vector<ContextSlot> context{take_context(input, "a"), take_context(input, "bb")};
  std::vector<ListSlot> lists{take_list(input, "t"), take_list(input, "a")};
  const SequencePlan plan(std::move(context), std::move(lists));
  const std::size_t first = std::min(take(input) * 8, input.size());
  // Copies of the exact size, so that the sanitizer sees a read past their end.
  const std::vector<std::byte> one(input.begin(), input.begin() + static_cast<int>(first));
  const std::vector<std::byte> two(input.begin() + static_cast<int>(first), input.end());
  const std::array<Bytes, 3> records{one, two, one};
  for (const Dialect dialect : {Dialect::kProtobuf, Dialect::kTensorflowBatch}) {
    check_dialect(plan, dialect, records);
    check_dialect(plan, dialect, std::span(records).first(1));
    check_dialect(plan, dialect, std::span(records).subspan(1, 1));
  }
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
