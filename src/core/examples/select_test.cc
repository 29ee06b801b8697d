#include "core/examples/select.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/check.h"
#include "core/frames/frame.h"
#include "core/frames/layout.h"

namespace tfrkit {
namespace {

using namespace std::string_literals;
using Rule = std::pair<std::string, std::optional<std::string>>;

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// A field of wire type 2.
std::string field(int number, const std::string& body) {
  return std::string(1, static_cast<char>((number << 3) | 2)) +
         std::string(1, static_cast<char>(body.size())) + body;
}

std::string entry(const std::string& key, const std::string& value) {
  return field(1, field(1, key) + field(2, value));
}

// What becomes of a record: "malformed", "clash" or the record; checks that the frame holds it.
std::string select(const std::string& record, const std::vector<Rule>& given, bool keep_others) {
  std::vector<SelectRule> rules;
  std::vector<std::string> names;
  names.reserve(given.size());
  for (const Rule& rule : given) names.push_back(rule.second.value_or(""));
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto slot =
        static_cast<std::uint32_t>(std::ranges::find(names, names[i]) - names.begin());
    rules.push_back({bytes_of(given[i].first), bytes_of(names[i]), !given[i].second, slot});
  }
  std::ranges::sort(rules, [](const SelectRule& left, const SelectRule& right) {
    return select_before(left.key, right.key);
  });
  std::vector<SelectMark> marks(rules.size());
  const SelectRules all{rules, keep_others};
  const SelectSize size = measure_selected(bytes_of(record), all, marks, 2);
  if (size.code == SelectCode::kMalformed) return "malformed";
  if (size.code == SelectCode::kClash) return "clash";
  std::string frame(size.bytes + kFrameOverheadBytes, '\0');
  CHECK(fill_selected(bytes_of(record), all, std::as_writable_bytes(std::span(frame))));
  CHECK(check_frame(bytes_of(frame), true) == Code::kOk);
  std::string larger(frame.size() + 1, '\0');
  CHECK(!fill_selected(bytes_of(record), all, std::as_writable_bytes(std::span(larger))));
  if (size.bytes > 0) {
    std::string smaller(frame.size() - 1, '\0');
    CHECK(!fill_selected(bytes_of(record), all, std::as_writable_bytes(std::span(smaller))));
  }
  return frame.substr(kHeaderBytes, size.bytes);
}

const std::string kA = entry("a", "\x1a\x03\x0a\x01\x05"s);
const std::string kB = entry("bb", "");
const std::string kC = entry("", "x");

TEST(without_rules_a_record_stays_as_it_is) {
  const std::string record = field(1, kA + kB + kC);
  CHECK(select(record, {}, true) == record);
}

TEST(keys_are_left_out) {
  CHECK(select(field(1, kA + kB + kC), {{"bb", std::nullopt}}, true) == field(1, kA + kC));
  CHECK(select(field(1, kA + kB + kC), {{"a", "a"}, {"", ""}}, false) == field(1, kA + kC));
  CHECK(select(field(1, kA), {{"a", std::nullopt}}, true) == field(1, ""));
}

TEST(a_key_gets_another_name) {
  const std::string record = field(1, entry("a", "v") + kB);
  CHECK(select(record, {{"a", "new"}}, true) == field(1, entry("new", "v") + kB));
}

TEST(names_can_be_exchanged) {
  const std::string record = field(1, entry("a", "1") + entry("b", "2"));
  const std::string expected = field(1, entry("b", "1") + entry("a", "2"));
  CHECK(select(record, {{"a", "b"}, {"b", "a"}}, true) == expected);
}

TEST(two_keys_of_one_name_clash) {
  const std::string record = field(1, entry("a", "1") + entry("b", "2"));
  CHECK(select(record, {{"a", "b"}, {"b", "b"}}, true) == "clash");
  CHECK(select(field(1, kA) + field(1, entry("b", "2")), {{"a", "b"}, {"b", "b"}}, true) ==
        "clash");
}

TEST(features_and_feature_lists_do_not_clash) {
  const std::string record = field(1, entry("a", "1")) + field(2, entry("b", "2"));
  const std::string expected = field(1, entry("b", "1")) + field(2, entry("b", "2"));
  CHECK(select(record, {{"a", "b"}, {"b", "b"}}, true) == expected);
}

TEST(a_key_that_comes_twice_stays_twice) {
  const std::string record = field(1, kA + kB + kA);
  CHECK(select(record, {{"a", "a"}}, false) == field(1, kA + kA));
}

TEST(feature_lists_are_selected_too) {
  const std::string record = field(1, kA) + field(2, kA + kB);
  CHECK(select(record, {{"a", std::nullopt}}, true) == field(1, "") + field(2, kB));
}

TEST(unknown_fields_stay) {
  const std::string top = "\x18\x07"s;                // field 3, a varint
  const std::string inner = "\x15\x01\x02\x03\x04"s;  // field 2, four bytes
  const std::string record = top + field(1, inner + kA + kB) + field(9, "zz");
  CHECK(select(record, {{"a", std::nullopt}}, true) == top + field(1, inner + kB) + field(9, "zz"));
  const std::string odd = field(1, field(1, "\x18\x07"s + field(2, "v") + field(1, "a")));
  const std::string renamed = field(1, field(1, field(1, "z") + "\x18\x07"s + field(2, "v")));
  CHECK(select(odd, {{"a", "z"}}, true) == renamed);
}

TEST(the_last_key_of_an_entry_counts) {
  const std::string record = field(1, field(1, field(1, "x") + field(2, "v") + field(1, "a")));
  CHECK(select(record, {{"x", std::nullopt}}, true) == record);
  CHECK(select(record, {{"a", std::nullopt}}, true) == field(1, ""));
}

TEST(every_cut_of_a_record_is_malformed_or_at_a_field) {
  const std::string record = field(1, kA + kB) + field(2, kB);
  for (std::size_t size = 0; size < record.size(); ++size) {
    const std::string cut = record.substr(0, size);
    const bool whole = size == 0 || size == field(1, kA + kB).size();
    CHECK((select(cut, {{"a", std::nullopt}}, true) != "malformed") == whole);
  }
}

TEST(what_is_no_map_is_malformed) {
  CHECK(select(field(1, "\xff"), {}, true) == "malformed");
  CHECK(select(field(1, field(1, "\x0a\x7f")), {}, true) == "malformed");
  CHECK(select("\x07"s, {}, true) == "malformed");
  CHECK(select("", {{"a", std::nullopt}}, true).empty());
}

TEST(a_length_that_claims_too_much_is_malformed) {
  CHECK(select("\x0a\xff\xff\xff\xff\x7f"s, {}, true) == "malformed");
  CHECK(select(field(1, "\x0a\xff\xff\xff\xff\x07"s), {}, true) == "malformed");
}

TEST(a_longer_name_needs_longer_lengths) {
  const std::string name(100, 'n');
  const std::string record = field(1, entry("a", std::string(60, 'v')));
  const std::string out = select(record, {{"a", name}}, true);
  CHECK_EQ(out.size(), record.size() + 99 + 2);  // two lengths need a second byte
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
