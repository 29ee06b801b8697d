#include "core/bytes/gather.h"

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Measures and fills; what came out, or "bad run N".
std::string gather(const std::vector<std::string_view>& texts, std::vector<std::int64_t> which,
                   std::vector<std::int64_t> starts, std::vector<std::int64_t> lengths) {
  std::vector<Bytes> buffers;
  buffers.reserve(texts.size());
  for (const std::string_view text : texts) buffers.push_back(bytes_of(text));
  const Runs runs{which, starts, lengths};
  std::size_t size = 0;
  const std::size_t good = measure_runs(buffers, runs, size);
  std::string target(size, '\0');
  const bool filled = fill_runs(buffers, runs, std::as_writable_bytes(std::span(target)));
  CHECK_EQ(filled, good == starts.size());
  return good == starts.size() ? target : "bad run " + std::to_string(good);
}

TEST(runs_of_one_buffer_are_joined_in_order) {
  CHECK(gather({"hello world"}, {}, {6, 0, 3, 11}, {5, 2, 0, 0}) == "worldhe");
}

TEST(runs_of_several_buffers_are_joined_in_order) {
  CHECK(gather({"abc", "", "xyz"}, {2, 0, 1, 2}, {0, 1, 0, 2}, {2, 2, 0, 1}) == "xybcz");
}

TEST(no_runs_are_nothing) {
  CHECK(gather({"abc"}, {}, {}, {}).empty());
  CHECK(gather({}, {}, {}, {}).empty());
}

TEST(a_run_outside_its_buffer_is_named) {
  CHECK(gather({"abc"}, {}, {0, 1}, {3, 3}) == "bad run 1");
  CHECK(gather({"abc"}, {}, {4}, {0}) == "bad run 0");
  CHECK(gather({"abc"}, {}, {-1}, {1}) == "bad run 0");
  CHECK(gather({"abc"}, {}, {0}, {-1}) == "bad run 0");
  CHECK(gather({"abc"}, {}, {kMax}, {kMax}) == "bad run 0");
  CHECK(gather({"abc"}, {}, {1}, {kMax}) == "bad run 0");
}

TEST(a_buffer_that_is_not_there_is_named) {
  CHECK(gather({"abc"}, {0, 1}, {0, 0}, {1, 1}) == "bad run 1");
  CHECK(gather({"abc"}, {-1}, {0}, {1}) == "bad run 0");
  CHECK(gather({}, {}, {0}, {0}) == "bad run 0");
}

TEST(a_target_that_is_too_small_is_left_alone_from_there_on) {
  const std::array<Bytes, 1> buffers{bytes_of("abcdef")};
  const std::array<std::int64_t, 2> starts{0, 2};
  const std::array<std::int64_t, 2> lengths{2, 2};
  std::string target = "....";
  const auto small = std::as_writable_bytes(std::span(target)).first(3);
  CHECK(!fill_runs(buffers, Runs{{}, starts, lengths}, small));
  CHECK(target == "ab..");
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
