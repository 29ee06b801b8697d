#include "core/encode/encode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"
#include "core/frames/frame.h"
#include "core/frames/layout.h"
#include "core/frames/reference.h"

namespace tfrkit {
namespace {

using ByteVector = std::vector<std::byte>;

// A plain encoder, written for nothing but to be right.
std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

std::string field(unsigned number, const std::string& content) {
  return varint((number << 3) | 2) + varint(content.size()) + content;
}

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Values of a column, in memory of their own.
struct Source {
  // NOLINTBEGIN(readability-redundant-member-init): each may be left out without a warning
  std::string key{};
  Kind kind = Kind::kInt64;
  std::vector<std::int64_t> ints{};
  std::vector<float> floats{};
  std::vector<std::string> texts{};
  std::vector<std::int64_t> splits{};
  std::size_t count = 1;
  std::vector<std::uint8_t> present{};
  std::vector<std::int64_t> steps{};
  std::vector<Bytes> strings{};
  std::vector<std::uint64_t> bodies{};
  // NOLINTEND(readability-redundant-member-init)

  // The Feature of list i as it should be.
  [[nodiscard]] std::string feature(std::size_t i) const {
    const std::size_t first = splits.empty() ? i * count : static_cast<std::size_t>(splits[i]);
    const std::size_t end =
        splits.empty() ? first + count : static_cast<std::size_t>(splits[i + 1]);
    if (kind == Kind::kUnset) return texts[first];
    std::string body;
    for (std::size_t k = first; k < end; ++k) {
      if (kind == Kind::kInt64) body += varint(static_cast<std::uint64_t>(ints[k]));
      if (kind == Kind::kBytes) body += field(1, texts[k]);
      if (kind == Kind::kFloat) {
        const auto bits = std::bit_cast<std::uint32_t>(floats[k]);
        for (unsigned shift = 0; shift < 32; shift += 8) {
          body.push_back(static_cast<char>(bits >> shift));
        }
      }
    }
    if (kind != Kind::kBytes && first != end) body = field(1, body);
    return field(static_cast<unsigned>(kind), body);
  }

  [[nodiscard]] std::string entry(std::size_t row) const {
    if (!present.empty() && present[row] == 0) return "";
    std::string value;
    if (steps.empty()) {
      value = feature(row);
    } else {
      for (auto i = static_cast<std::size_t>(steps[row]);
           i < static_cast<std::size_t>(steps[row + 1]); ++i) {
        value += field(1, feature(i));
      }
    }
    return field(1, field(1, key) + field(2, value));
  }

  EncodeColumn column() {
    strings.clear();
    for (const std::string& text : texts) strings.push_back(bytes_of(text));
    bodies.assign(std::max(ints.size() + texts.size(), splits.size()) + 8, 0);
    EncodeColumn made;
    made.key = bytes_of(key);
    made.lists = {kind,
                  ints.data(),
                  floats.data(),
                  strings.data(),
                  splits.empty() ? nullptr : splits.data(),
                  count,
                  bodies.data()};
    made.present = present.empty() ? nullptr : present.data();
    made.steps = steps.empty() ? nullptr : steps.data();
    prepare_column(made);
    return made;
  }
};

// Everything that is measured and written of some columns, in chunks of rows.
struct Encoded {
  Code code = Code::kOk;
  std::vector<std::string> messages;
};

std::vector<EncodeColumn> columns_of(std::vector<Source>& sources) {
  std::vector<EncodeColumn> columns;
  columns.reserve(sources.size());
  for (Source& source : sources) columns.push_back(source.column());
  return columns;
}

Encoded encode(std::vector<Source>& features, std::vector<Source>& lists, std::size_t rows,
               std::size_t chunk, bool sequence) {
  const std::vector<EncodeColumn> columns = columns_of(features);
  const std::vector<EncodeColumn> list_columns = columns_of(lists);
  std::vector<std::uint64_t> memory(2 * rows, 77);
  const RowSizes sizes{memory.data(), sequence ? memory.data() + rows : nullptr};
  Encoded encoded;
  for (std::size_t begin = 0; begin < rows; begin += chunk) {
    const RowRange range{begin, std::min(rows, begin + chunk)};
    for (const EncodeColumn& column : columns) measure_bodies(column, range);
    for (const EncodeColumn& column : list_columns) measure_bodies(column, range);
    measure_rows(columns, list_columns, range, sizes);
    std::size_t total = 0;
    for (std::size_t row = range.begin; row < range.end; ++row) {
      total += static_cast<std::size_t>(message_size(sizes, row)) + kFrameOverheadBytes;
    }
    ByteVector out(total);  // exactly: the sanitizer sees a byte too many
    const Code code = fill_frames(columns, list_columns, range, sizes, out);
    if (code != Code::kOk) encoded.code = code;
    std::vector<std::int64_t> offsets(rows);
    std::vector<std::int64_t> lengths(rows);
    const FrameScan scan = scan_frames(out, 0, {}, offsets, lengths);
    CHECK(scan.code == Code::kOk);
    CHECK_EQ(scan.count, range.end - range.begin);
    for (std::size_t i = 0; i < scan.count; ++i) {
      const Bytes message = Bytes(out).subspan(static_cast<std::size_t>(offsets[i]),
                                               static_cast<std::size_t>(lengths[i]));
      std::string text(message.size(), '\0');
      std::memcpy(text.data(), message.data(), message.size());
      encoded.messages.push_back(text);
    }
  }
  return encoded;
}

std::string expected_message(const std::vector<Source>& features, const std::vector<Source>& lists,
                             std::size_t row) {
  std::string context;
  std::string steps;
  for (const Source& source : features) context += source.entry(row);
  for (const Source& source : lists) steps += source.entry(row);
  return (context.empty() ? "" : field(1, context)) + (steps.empty() ? "" : field(2, steps));
}

// Compares with the plain encoder, for several sizes of chunks.
void check_all(std::vector<Source> features, std::vector<Source> lists, std::size_t rows) {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, rows}) {
    const Encoded encoded = encode(features, lists, rows, chunk, !lists.empty());
    CHECK(encoded.code == Code::kOk);
    CHECK_EQ(encoded.messages.size(), rows);
    for (std::size_t row = 0; row < encoded.messages.size(); ++row) {
      CHECK(encoded.messages[row] == expected_message(features, lists, row));
    }
  }
}

const std::vector<std::int64_t> kEdges = [] {
  std::vector<std::int64_t> edges{0, -1, std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::max()};
  for (unsigned bit = 0; bit < 63; ++bit) {
    edges.push_back(std::int64_t{1} << bit);
    edges.push_back((std::int64_t{1} << bit) - 1);
    edges.push_back(-(std::int64_t{1} << bit));
  }
  return edges;
}();

TEST(golden_bytes_of_an_example) {
  std::vector<Source> features{{.key = "a", .ints = {1}}};
  std::vector<Source> none;
  const Encoded encoded = encode(features, none, 1, 1, false);
  CHECK(encoded.messages.at(0) ==
        std::string("\x0a\x0c\x0a\x0a\x0a\x01\x61\x12\x05\x1a\x03\x0a\x01\x01", 14));
}

TEST(varint_sizes_are_those_of_varints) {
  for (const std::int64_t value : kEdges) {
    const auto bits = static_cast<std::uint64_t>(value);
    CHECK_EQ(varint_size(bits), varint(bits).size());
  }
}

TEST(single_integers_of_every_size) {
  for (const std::size_t key :
       {0U, 1U, 11U, 12U, 13U, 27U, 53U, 54U, 55U, 109U, 127U, 128U, 300U}) {
    check_all({{.key = std::string(key, 'k'), .ints = kEdges}}, {}, kEdges.size());
  }
}

TEST(floats_of_every_count) {
  for (const std::size_t key : {0U, 5U, 41U, 42U, 43U, 54U, 55U, 200U}) {
    for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 30U, 31U, 32U, 5000U}) {
      check_all({{.key = std::string(key, 'k'),
                  .kind = Kind::kFloat,
                  .floats = std::vector<float>(3 * count, 1.5F),
                  .count = count}},
                {}, 3);
    }
  }
}

TEST(empty_lists_of_each_kind) {
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    check_all({{.key = "a", .kind = kind, .splits = {0, 0, 0}}}, {}, 2);
    check_all({{.key = "a", .kind = kind, .count = 0}}, {}, 2);
  }
}

TEST(strings_of_every_length) {
  std::vector<std::string> texts;
  texts.reserve(300);
  for (std::size_t size = 0; size < 300; ++size) texts.emplace_back(size, 'x');
  const std::size_t rows = texts.size();
  for (const std::size_t key : {0U, 1U, 11U, 27U, 53U, 54U, 55U, 109U, 127U, 128U, 300U}) {
    check_all({{.key = std::string(key, 'k'), .kind = Kind::kBytes, .texts = texts}}, {}, rows);
  }
  std::vector<std::uint8_t> present(rows, 1);
  for (std::size_t row = 0; row < rows; row += 3) present[row] = 0;
  check_all({{.key = "s", .kind = Kind::kBytes, .texts = texts, .present = present}}, {}, rows);
  check_all({{.key = "s", .kind = Kind::kBytes, .texts = texts, .count = 2}}, {}, rows / 2);
}

TEST(whole_features_are_written_as_they_are) {
  check_all(
      {{.key = "u", .kind = Kind::kUnset, .texts = {"", field(3, ""), std::string(200, 'q')}}}, {},
      3);
}

TEST(rows_without_a_feature) {
  check_all({{.key = "a", .ints = {1, 2, 3}, .present = {1, 0, 0}},
             {.key = "b", .kind = Kind::kFloat, .floats = {1, 2, 3}, .present = {0, 1, 0}},
             {.key = "c", .kind = Kind::kBytes, .texts = {"", "x", ""}, .present = {1, 1, 0}}},
            {}, 3);
}

TEST(feature_lists_of_one_value_and_of_many) {
  check_all(
      {{.key = "user", .ints = {7, 8, 9}}},
      {{.key = "ids", .ints = {1, -2, 300, 4}, .steps = {0, 3, 3, 4}},
       {.key = "lists",
        .ints = {1, 2, 3, 400},
        .splits = {0, 2, 2, 3, 4},
        .present = {1, 1, 0},
        .steps = {0, 2, 4, 4}},
       {.key = "text", .kind = Kind::kBytes, .texts = {"a", "", "ccc"}, .steps = {0, 0, 1, 3}},
       {.key = "xy",
        .kind = Kind::kFloat,
        .floats = {1, 2, 3, 4, 5, 6},
        .count = 2,
        .steps = {0, 1, 2, 3}}},
      3);
}

TEST(random_columns_agree_with_the_plain_encoder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t rows = 1 + random() % 9;
    std::vector<Source> features;
    for (std::size_t column = 0; column < 1 + random() % 6; ++column) {
      Source source{.key = std::string(random() % 70, static_cast<char>('a' + column)),
                    .kind = static_cast<Kind>(1 + random() % 3)};
      std::size_t values = 0;
      if (random() % 2 == 0) {
        source.splits = {0};
        for (std::size_t row = 0; row < rows; ++row) {
          source.splits.push_back(source.splits.back() + static_cast<std::int64_t>(random() % 40));
        }
        values = static_cast<std::size_t>(source.splits.back());
      } else {
        source.count = 1 + random() % 3;
        values = rows * source.count;
      }
      for (std::size_t i = 0; i < values; ++i) {
        const std::uint64_t bits = random() >> (random() % 64);
        if (source.kind == Kind::kInt64) source.ints.push_back(static_cast<std::int64_t>(bits));
        if (source.kind == Kind::kFloat) source.floats.push_back(static_cast<float>(bits));
        if (source.kind == Kind::kBytes) source.texts.emplace_back(bits % 50, 'y');
      }
      if (random() % 3 == 0) {
        for (std::size_t row = 0; row < rows; ++row) {
          source.present.push_back(static_cast<std::uint8_t>(random() % 2));
        }
      }
      features.push_back(source);
    }
    check_all(features, {}, rows);
  }
}

TEST(values_that_grow_after_measuring_stay_in_the_output) {
  for (const std::size_t count : {1U, 4U}) {
    Source source{.key = "a", .ints = std::vector<std::int64_t>(3 * count, 1), .count = count};
    std::array columns{source.column()};
    std::array<std::uint64_t, 3> memory{};
    const RowSizes sizes{memory.data(), nullptr};
    measure_bodies(columns[0], {0, 3});
    measure_rows(columns, {}, {0, 3}, sizes);
    std::size_t total = 0;
    for (std::size_t row = 0; row < 3; ++row) {
      total += static_cast<std::size_t>(message_size(sizes, row)) + kFrameOverheadBytes;
    }
    for (const std::size_t changed : {std::size_t{0}, 3 * count - 1}) {
      source.ints.assign(3 * count, 1);
      source.ints[changed] = -1;
      ByteVector out(total);
      CHECK(fill_frames(columns, {}, {0, 3}, sizes, out) == Code::kOutOfRange);
    }
  }
}

TEST(a_message_alone_is_the_same_with_and_without_slack) {
  Source source{.key = "key", .ints = {300}};
  const std::array columns{source.column()};
  std::uint64_t size = 0;
  const RowSizes sizes{&size, nullptr};
  measure_rows(columns, {}, {0, 1}, sizes);
  const auto length = static_cast<std::size_t>(message_size(sizes, 0));
  ByteVector exact(length);
  ByteVector loose(length + kSlackBytes);
  CHECK(fill_message(columns, sizes, exact) == Code::kOk);
  CHECK(fill_message(columns, sizes, loose) == Code::kOk);
  loose.resize(length);
  CHECK(exact == loose);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
