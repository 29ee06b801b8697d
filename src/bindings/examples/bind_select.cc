#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "core/examples/select.h"
#include "core/frames/layout.h"

namespace tfrkit {
namespace {

// The first record that cannot be done: (index, code, slot).
using Failure = std::tuple<std::size_t, int, std::uint32_t>;
using Selected = std::tuple<Buffer, Int64Array, Int64Array, std::optional<Failure>>;

Bytes bytes_of(nb::handle item, std::size_t index) {
  char* text = nullptr;
  Py_ssize_t size = 0;
  if (!PyBytes_Check(item.ptr())) raise_item_type("bytes", item, index);
  PyBytes_AsStringAndSize(item.ptr(), &text, &size);
  return std::as_bytes(std::span(text, static_cast<std::size_t>(size)));
}

// Rules from tuples (key, name or None, slot); the tuples must outlive them.
std::vector<SelectRule> make_rules(nb::handle tuples, std::size_t& slots) {
  std::vector<SelectRule> rules;
  for (const nb::handle item : tuples) {
    const auto tuple = nb::cast<nb::tuple>(item);
    if (tuple.size() != 3) throw nb::value_error("expected rules of three fields");
    SelectRule rule;
    rule.key = bytes_of(tuple[0], rules.size());
    rule.drop = tuple[1].is_none();
    if (!rule.drop) rule.name = bytes_of(tuple[1], rules.size());
    rule.slot = nb::cast<std::uint32_t>(tuple[2]);
    rules.push_back(rule);
  }
  for (const SelectRule& rule : rules) {
    if (rule.slot >= rules.size())
      throw nb::value_error("expected slots below the number of rules");
  }
  slots = rules.size();
  std::sort(rules.begin(), rules.end(), [](const SelectRule& left, const SelectRule& right) {
    return select_before(left.key, right.key);
  });
  return rules;
}

// Sizes of all records afterwards.
class Layout {
 public:
  Layout(Bytes data, std::span<const std::int64_t> offsets, std::span<const std::int64_t> lengths)
      : data_(data), starts_(offsets), sizes_(lengths), batch_(2 * offsets.size()) {}

  // Call without the GIL. Returns the first record that cannot be done, or their number.
  [[nodiscard]] std::size_t measure(const SelectRules& rules, std::span<SelectMark> marks) {
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      result_ = measure_selected(record(i), rules, marks, 2 * (i + 1));
      if (result_.code != SelectCode::kOk) return i;
      offsets()[i] = static_cast<std::int64_t>(total_ + kHeaderBytes);
      lengths()[i] = static_cast<std::int64_t>(result_.bytes);
      total_ += result_.bytes + kFrameOverheadBytes;
    }
    return starts_.size();
  }

  // Call without the GIL, after measure. `out` has total() bytes.
  [[nodiscard]] bool fill(const SelectRules& rules, std::span<std::byte> out) const {
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const auto begin = static_cast<std::size_t>(offsets()[i]) - kHeaderBytes;
      const auto size = static_cast<std::size_t>(lengths()[i]) + kFrameOverheadBytes;
      if (!fill_selected(record(i), rules, out.subspan(begin, size))) return false;
    }
    return true;
  }

  // Checks that all records lie in the data; returns the first that does not, or their number.
  [[nodiscard]] std::size_t check() const {
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const auto start = static_cast<std::uint64_t>(starts_[i]);
      const auto size = static_cast<std::uint64_t>(sizes_[i]);
      if (start > data_.size() || size > data_.size() - start) return i;
    }
    return starts_.size();
  }

  [[nodiscard]] const SelectSize& result() const noexcept { return result_; }
  [[nodiscard]] std::size_t total() const noexcept { return total_; }
  [[nodiscard]] const Int64Batch& batch() const noexcept { return batch_; }

 private:
  [[nodiscard]] Bytes record(std::size_t i) const {
    return data_.subspan(static_cast<std::size_t>(starts_[i]), static_cast<std::size_t>(sizes_[i]));
  }
  [[nodiscard]] std::span<std::int64_t> offsets() const { return batch_.span(0, starts_.size()); }
  [[nodiscard]] std::span<std::int64_t> lengths() const {
    return batch_.span(starts_.size(), starts_.size());
  }

  Bytes data_;
  std::span<const std::int64_t> starts_;
  std::span<const std::int64_t> sizes_;
  Int64Batch batch_;
  SelectSize result_;
  std::size_t total_ = 0;
};

Selected select_features(const InputBytes& data, const Int64Input& offsets,
                         const Int64Input& lengths, nb::handle tuples, bool keep_others) {
  // Copies, which no other code changes while the kernel reads what they point to.
  const std::vector<std::int64_t> starts(entries(offsets).begin(), entries(offsets).end());
  const std::vector<std::int64_t> sizes(entries(lengths).begin(), entries(lengths).end());
  check_same_size("offsets", starts.size(), "lengths", sizes.size());
  std::size_t slots = 0;
  const std::vector<SelectRule> sorted = make_rules(tuples, slots);
  const SelectRules rules{sorted, keep_others};
  std::vector<SelectMark> marks(slots);
  Layout layout(data.bytes(), starts, sizes);
  const std::size_t inside = layout.check();
  if (inside != starts.size()) {
    raise_out_of_range("offsets and lengths", inside, data.bytes().size());
  }
  std::size_t good = 0;
  {
    const nb::gil_scoped_release released;
    good = layout.measure(rules, marks);
  }
  std::optional<Failure> failure;
  if (good != starts.size()) {
    failure = Failure(good, static_cast<int>(layout.result().code), layout.result().slot);
  }
  Buffer buffer(failure.has_value() ? 0 : layout.total());
  bool filled = true;
  if (!failure.has_value()) {
    const nb::gil_scoped_release released;
    filled = layout.fill(rules, buffer.bytes());
  }
  if (!filled) throw nb::value_error("records changed during the call");
  const std::size_t count = failure.has_value() ? 0 : starts.size();
  return {std::move(buffer), layout.batch().array(0, count),
          layout.batch().array(starts.size(), count), failure};
}

}  // namespace

void bind_select(nb::module_& module) {
  module.attr("SELECT_MALFORMED") = static_cast<int>(SelectCode::kMalformed);
  module.attr("SELECT_CLASH") = static_cast<int>(SelectCode::kClash);
  module.def(
      "select_features", select_features, nb::arg("data"), nb::arg("offsets"), nb::arg("lengths"),
      nb::arg("rules"), nb::arg("keep_others"),
      nb::sig("def select_features(data: _Buffer, offsets: numpy.typing.NDArray[numpy.int64], "
              "lengths: numpy.typing.NDArray[numpy.int64], rules: "
              "collections.abc.Sequence[tuple[bytes, bytes | None, int]], keep_others: bool) -> "
              "tuple[Buffer, numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], "
              "tuple[int, int, int] | None]"),
      "Leave out features of Examples and SequenceExamples, or give them other names: (frames,\n"
      "offsets, lengths, None), or if a record cannot be done (..., (index, code, slot)).\n\n"
      "A rule is (key, new name or None to leave it out, slot); rules of one name have one slot.");
}

}  // namespace tfrkit
