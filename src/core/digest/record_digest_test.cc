#include "core/digest/record_digest.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/bytes/check.h"
#include "core/describe/test_messages.h"

namespace tfrkit {
namespace {

using namespace std::string_literals;
using namespace messages;

bool same(const std::string& one, const std::string& other) {
  RecordDigester digester({});
  const Digest first = digester.meaning_of(reference::as_bytes(one));
  const Digest second = digester.meaning_of(reference::as_bytes(other));
  return first.high == second.high && first.low == second.low;
}

KeyState key_of(const std::string& record, const std::vector<std::string>& keys, Digest& digest) {
  RecordDigester digester(keys);
  return digester.key_of(reference::as_bytes(record), digest);
}

TEST(order_of_entries_and_encoding_of_lists_do_not_count) {
  const std::string a = entry("a", ints({1, 2, 300}));
  const std::string b = entry("b", floats({0.5F, 2.0F}));
  const std::string c = entry("c", texts({"x", ""}));
  CHECK(same(example({a, b, c}), example({c, a, b})));
  CHECK(same(example({a, b}), example({a}) + example({b})));
  // Unpacked, in two parts, and with a field that is not known.
  const std::string unpacked = field(3, "\x08\x01\x08\x02"s + "\x08" + varint(300));
  CHECK(same(example({a}), example({entry("a", unpacked)})));
  CHECK(same(example({a}), example({entry("a", ints({1, 2}) + ints({300}))})));
  CHECK(same(example({a}), example({a}) + "\x18\x05"));
  CHECK(same(example({entry("a", ints({7}))}), example({entry("a", floats({1.0F}) + ints({7}))})));
  CHECK(same(example({a}), example({b, entry("a", ints({9})), a}) + ""s) == false);
  CHECK(same(example({a}), example({entry("a", ints({9})), a})));
}

TEST(other_values_kinds_names_and_numbers_of_values_count) {
  const std::vector<std::string> records = {
      example({}),
      example({entry("a", "")}),
      example({entry("a", ints({}))}),
      example({entry("a", floats({}))}),
      example({entry("a", ints({0}))}),
      example({entry("a", ints({0, 0}))}),
      example({entry("a", floats({0}))}),
      example({entry("a", floats({-0.0F}))}),
      example({entry("a", texts({""}))}),
      example({entry("a", texts({"", ""}))}),
      example({entry("a", texts({"ab", "c"}))}),
      example({entry("a", texts({"a", "bc"}))}),
      example({entry("b", ints({0}))}),
      example({entry("a", ints({1})), entry("b", ints({2}))}),
      example({entry("a", ints({2})), entry("b", ints({1}))}),
      sequence(example({}), "a", {}),
      sequence(example({}), "a", {ints({1})}),
      sequence(example({}), "a", {ints({1}), ints({2})}),
      sequence(example({}), "a", {ints({2}), ints({1})}),
      sequence(example({}), "a", {ints({1, 2})}),
      sequence(example({entry("a", ints({1}))}), "a", {ints({1})}),
      "no message"s,
      "no messagf"s,
  };
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (std::size_t j = 0; j < records.size(); ++j)
      CHECK(same(records[i], records[j]) == (i == j));
  }
}

TEST(every_byte_and_the_length_count) {
  std::vector<std::uint64_t> seen;
  for (std::size_t size = 0; size < 200; ++size) {
    std::string record(size, 'x');
    seen.push_back(digest_of(reference::as_bytes(record)).high);
    for (char& byte : record) {
      byte = 'y';
      seen.push_back(digest_of(reference::as_bytes(record)).high);
      byte = 'x';
    }
  }
  std::ranges::sort(seen);
  CHECK(std::ranges::adjacent_find(seen) == seen.end());
}

TEST(keys_are_single_numbers_or_byte_strings) {
  const std::string record = example({entry("id", ints({5})), entry("name", texts({"x"})),
                                      entry("f", floats({1.0F})), entry("two", ints({1, 2}))});
  Digest one;
  Digest other;
  CHECK(key_of(record, {"id"}, one) == KeyState::kFound);
  CHECK(key_of(example({entry("id", ints({5}))}), {"id"}, other) == KeyState::kFound);
  CHECK(one.high == other.high && one.low == other.low);
  CHECK(key_of(record, {"id", "name"}, other) == KeyState::kFound);
  CHECK(one.high != other.high);
  CHECK(key_of(record, {"name", "id"}, one) == KeyState::kFound);
  CHECK(one.high != other.high);
  CHECK(key_of(record, {"id", "other"}, one) == KeyState::kMissing);
  CHECK(key_of("no message"s, {"id"}, one) == KeyState::kMissing);
  CHECK(key_of(record, {"f"}, one) == KeyState::kFloats);
  CHECK(key_of(record, {"two"}, one) == KeyState::kNotOne);
  CHECK(key_of(example({entry("id", ints({}))}), {"id"}, one) == KeyState::kNotOne);
}

TEST(names_of_many_records_do_not_fill_the_table) {
  RecordDigester digester({});
  const std::string record = example({entry("last", ints({1}))});
  const Digest before = digester.meaning_of(reference::as_bytes(record));
  for (std::size_t i = 0; i <= kMaxKeys; ++i) {
    const std::string other = example({entry(std::to_string(i), ints({1}))});
    static_cast<void>(digester.meaning_of(reference::as_bytes(other)));
  }
  const Digest after = digester.meaning_of(reference::as_bytes(record));
  CHECK(before.high == after.high && before.low == after.low);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
