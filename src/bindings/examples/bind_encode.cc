#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/examples/encode_dict.h"
#include "bindings/parallel.h"
#include "core/bytes/status.h"
#include "core/encode/encode.h"
#include "core/frames/layout.h"

namespace tfrkit {
namespace {

using FloatInput = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Int32Input = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MaskInput = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Rows that one thread takes at a time.
constexpr std::size_t kChunkRows = 1024;

// As many strings as it was made for. Their memory is pooled: malloc would return it to the system
// after each batch, which costs more than to fill it.
class PooledStrings {
 public:
  explicit PooledStrings(std::size_t most) : buffer_(most * sizeof(Bytes)) {}

  // Precondition: there are fewer than `most`.
  void add(Bytes value) noexcept { std::construct_at(place() + count_++, value); }

  [[nodiscard]] const Bytes* data() const noexcept { return place(); }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  [[nodiscard]] Bytes* place() const noexcept {
    return reinterpret_cast<Bytes*>(buffer_.bytes().data());
  }

  Buffer buffer_;
  std::size_t count_ = 0;
};

// What a column keeps alive while the kernel works on it.
struct ColumnOwners {
  std::vector<nb::object> objects;
  std::vector<Int64Input> ints;
  std::vector<FloatInput> floats;
  std::vector<MaskInput> masks;
  std::vector<std::unique_ptr<InputBytes>> exports;
  std::vector<PooledStrings> strings;
  std::vector<std::unique_ptr<std::vector<std::int64_t>>> splits;
  std::vector<std::unique_ptr<std::uint64_t[]>> bodies;
};

[[noreturn]] void raise_column(const EncodeColumn& column, const char* what) {
  const std::string key(as_chars(column.key), column.key.size());
  throw nb::value_error(("column '" + key + "': " + what).c_str());
}

// The columns of one side of the messages, from tuples
// (key, kind, values, splits, count, present, steps).
class Columns {
 public:
  Columns(nb::handle tuples, std::size_t rows) : rows_(rows) {
    for (const nb::handle item : tuples) add(nb::cast<nb::tuple>(item));
    for (EncodeColumn& column : columns_) prepare_column(column);
  }

  [[nodiscard]] std::span<const EncodeColumn> columns() const noexcept { return columns_; }

 private:
  void add(const nb::tuple& tuple) {
    if (tuple.size() != 7) throw nb::value_error("expected columns of seven fields");
    EncodeColumn column;
    column.key = hold_text(tuple[0]);
    column.lists.kind = static_cast<Kind>(nb::cast<int>(tuple[1]));
    const std::size_t values = hold_values(column, tuple[2]);
    column.lists.count = nb::cast<std::size_t>(tuple[4]);
    if (!tuple[5].is_none()) {
      owners_.masks.push_back(nb::cast<MaskInput>(tuple[5]));
      if (owners_.masks.back().shape(0) != rows_) raise_column(column, "a mask of another length");
      column.present = owners_.masks.back().data();
    }
    std::size_t lists = rows_;
    if (!tuple[6].is_none()) column.steps = hold_splits(column, tuple[6], rows_, lists);
    std::size_t end = 0;
    if (!tuple[3].is_none()) {
      column.lists.splits = hold_splits(column, tuple[3], lists, end);
    } else if (__builtin_mul_overflow(lists, column.lists.count, &end)) {
      raise_column(column, "too many values");
    }
    if (end > values) raise_column(column, "fewer values than its rows have");
    if (column.lists.kind == Kind::kUnset &&
        (column.lists.splits != nullptr || column.lists.count != 1)) {
      raise_column(column, "no kind, but lists of values");
    }
    if (needs_bodies(column.lists)) {
      owners_.bodies.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(lists));
      column.lists.bodies = owners_.bodies.back().get();
    }
    columns_.push_back(column);
  }

  Bytes hold_text(nb::handle text) {
    owners_.objects.push_back(nb::borrow(text));
    Py_ssize_t size = 0;
    const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (utf8 == nullptr) throw nb::python_error();
    return std::as_bytes(std::span(utf8, static_cast<std::size_t>(size)));
  }

  // Returns how many values there are.
  std::size_t hold_values(EncodeColumn& column, nb::handle values) {
    switch (column.lists.kind) {
      case Kind::kInt64:
        owners_.ints.push_back(nb::cast<Int64Input>(values));
        column.lists.ints = owners_.ints.back().data();
        return owners_.ints.back().shape(0);
      case Kind::kFloat:
        owners_.floats.push_back(nb::cast<FloatInput>(values));
        column.lists.floats = owners_.floats.back().data();
        return owners_.floats.back().shape(0);
      case Kind::kUnset:  // whole features, each a string
      case Kind::kBytes:
        if (PyTuple_Check(values.ptr())) {
          hold_buffer(column, nb::borrow<nb::tuple>(values));
        } else {
          hold_objects(values);
        }
        column.lists.strings = owners_.strings.back().data();
        return owners_.strings.back().size();
      default:
        raise_column(column, "no such kind");
    }
  }

  // Keeps the strings of (data, offsets), or of (data, offsets, indices) those that the indices
  // say.
  void hold_buffer(const EncodeColumn& column, const nb::tuple& parts) {
    auto data = std::make_unique<InputBytes>();
    if (!data->hold(parts[0])) raise_column(column, "data without contiguous memory");
    const Bytes bytes = data->bytes();
    owners_.exports.push_back(std::move(data));
    const auto array = nb::cast<Int64Input>(parts[1]);
    const auto offsets = entries(array);
    if (offsets.empty()) raise_column(column, "no offsets");
    PooledStrings strings(offsets.size() - 1);
    const auto limit = static_cast<std::int64_t>(bytes.size());
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      const std::int64_t start = offsets[i];
      const std::int64_t stop = offsets[i + 1];
      if (start < 0 || stop < start || stop > limit) {
        raise_out_of_range("offsets", i, bytes.size());
      }
      strings.add(
          bytes.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(stop - start)));
    }
    owners_.strings.push_back(parts.size() == 2 ? std::move(strings)
                                                : chosen(column, strings, parts[2]));
  }

  // Returns the strings that stand for the indices of a dictionary.
  static PooledStrings chosen(const EncodeColumn& column, const PooledStrings& words,
                              nb::handle indices) {
    const auto array = nb::cast<Int32Input>(indices);
    PooledStrings strings(array.shape(0));
    for (const std::int32_t number : std::span(array.data(), array.shape(0))) {
      const auto index = static_cast<std::uint32_t>(number);  // a negative one is a large one
      if (index >= words.size()) raise_column(column, "an index outside of its dictionary");
      strings.add(words.data()[index]);
    }
    return strings;
  }

  // Keeps the strings of a list of bytes, str and None, which stands for an entry left out.
  void hold_objects(nb::handle items) {
    PyObject* const tuple = PySequence_Tuple(items.ptr());
    if (tuple == nullptr) throw nb::python_error();
    owners_.objects.push_back(nb::steal(tuple));
    const Py_ssize_t count = PyTuple_Size(tuple);
    PooledStrings strings(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* const item = PyTuple_GetItem(tuple, i);
      Bytes value;
      if (item != Py_None && !view_text(item, value)) {
        raise_item_type("bytes or str", item, static_cast<std::size_t>(i));
      }
      strings.add(value);
    }
    owners_.strings.push_back(std::move(strings));
  }

  // Keeps an array of count + 1 ascending entries from 0 or more on; sets `end` to the last.
  const std::int64_t* hold_splits(const EncodeColumn& column, nb::handle splits, std::size_t count,
                                  std::size_t& end) {
    // A copy, which no other code changes while the kernel reads what it points to.
    const auto array = nb::cast<Int64Input>(splits);
    const auto given = entries(array);
    owners_.splits.push_back(
        std::make_unique<std::vector<std::int64_t>>(given.begin(), given.end()));
    const std::vector<std::int64_t>& places = *owners_.splits.back();
    if (places.size() != count + 1 || places[0] < 0) raise_column(column, "splits do not fit");
    for (std::size_t i = 0; i < count; ++i) {
      if (places[i + 1] < places[i]) raise_column(column, "splits do not ascend");
    }
    end = static_cast<std::size_t>(places[count]);
    return places.data();
  }

  std::size_t rows_;
  ColumnOwners owners_;
  std::vector<EncodeColumn> columns_;
};

// The sizes of all rows, and from which byte on each is written.
class Layout {
 public:
  Layout(const Columns& features, const Columns* lists, std::size_t rows)
      : features_(features), lists_(lists), rows_(rows), batch_(2 * rows) {
    memory_ = std::make_unique_for_overwrite<std::uint64_t[]>(lists == nullptr ? rows : 2 * rows);
    sizes_.features = memory_.get();
    sizes_.lists = lists == nullptr ? nullptr : memory_.get() + rows;
  }

  // Call without the GIL. Returns the first row that is too large for a message, or the number of
  // rows.
  [[nodiscard]] std::size_t measure(int threads) {
    parallel_for(chunks(), threads, [this](std::size_t chunk) noexcept {
      const RowRange rows = range(chunk);
      for (const EncodeColumn& column : features_.columns()) measure_bodies(column, rows);
      for (const EncodeColumn& column : list_columns()) measure_bodies(column, rows);
      measure_rows(features_.columns(), list_columns(), rows, sizes_);
    });
    const auto offsets = batch_.span(0, rows_);
    const auto lengths = batch_.span(rows_, rows_);
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::uint64_t size = message_size(sizes_, row);
      if (size > kMaxMessageBytes) return row;
      offsets[row] = static_cast<std::int64_t>(total_ + kHeaderBytes);
      lengths[row] = static_cast<std::int64_t>(size);
      total_ += static_cast<std::size_t>(size) + kFrameOverheadBytes;
    }
    return rows_;
  }

  // Call without the GIL, after measure. `out` has total() bytes. Returns false if values have
  // changed since.
  [[nodiscard]] bool fill(int threads, std::span<std::byte> out) const {
    const auto offsets = batch_.span(0, rows_);
    std::atomic<bool> good = true;
    parallel_for(chunks(), threads, [&](std::size_t chunk) noexcept {
      const RowRange rows = range(chunk);
      const std::size_t begin = static_cast<std::size_t>(offsets[rows.begin]) - kHeaderBytes;
      const std::size_t end =
          rows.end == rows_ ? total_ : static_cast<std::size_t>(offsets[rows.end]) - kHeaderBytes;
      const Code code = fill_frames(features_.columns(), list_columns(), rows, sizes_,
                                    out.subspan(begin, end - begin));
      if (code != Code::kOk) good = false;
    });
    return good;
  }

  [[nodiscard]] std::size_t total() const noexcept { return total_; }
  [[nodiscard]] Int64Array offsets() const { return batch_.array(0, rows_); }
  [[nodiscard]] Int64Array lengths() const { return batch_.array(rows_, rows_); }

 private:
  [[nodiscard]] std::size_t chunks() const noexcept {
    return (rows_ + kChunkRows - 1) / kChunkRows;
  }
  [[nodiscard]] RowRange range(std::size_t chunk) const noexcept {
    return {chunk * kChunkRows, std::min(rows_, (chunk + 1) * kChunkRows)};
  }
  [[nodiscard]] std::span<const EncodeColumn> list_columns() const noexcept {
    return lists_ == nullptr ? std::span<const EncodeColumn>() : lists_->columns();
  }

  const Columns& features_;
  const Columns* lists_;
  std::size_t rows_;
  Int64Batch batch_;
  std::unique_ptr<std::uint64_t[]> memory_;
  RowSizes sizes_;
  std::size_t total_ = 0;
};

std::tuple<Buffer, Int64Array, Int64Array> encode_columns(std::size_t rows, nb::handle features,
                                                          nb::handle lists, int threads) {
  const Columns columns(features, rows);
  std::unique_ptr<Columns> list_columns;
  if (!lists.is_none()) list_columns = std::make_unique<Columns>(lists, rows);
  Layout layout(columns, list_columns.get(), rows);
  std::size_t good = 0;
  {
    const nb::gil_scoped_release released;
    good = layout.measure(threads);
  }
  if (good != rows) {
    throw nb::value_error(("row " + std::to_string(good) +
                           ": expected at most 2**31 - 1 bytes, protobuf's limit for a message")
                              .c_str());
  }
  Buffer buffer(layout.total());
  bool filled = false;
  {
    const nb::gil_scoped_release released;
    filled = layout.fill(threads, buffer.bytes());
  }
  if (!filled) throw nb::value_error("values changed during the call");
  return {std::move(buffer), layout.offsets(), layout.lengths()};
}

}  // namespace

void bind_encode(nb::module_& module) {
  module.def(
      "encode_columns", encode_columns, nb::arg("rows"), nb::arg("features"),
      nb::arg("lists").none(), nb::arg("threads") = 0,
      nb::sig(
          "def encode_columns(rows: int, features: collections.abc.Sequence[tuple[object, ...]],"
          " lists: collections.abc.Sequence[tuple[object, ...]] | None, threads: int = 0) -> "
          "tuple[Buffer, numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
      "Write Examples, or with `lists` SequenceExamples, in frames: (buffer, offsets, lengths).\n\n"
      "A column is (key, kind, values, splits or None, count, present or None, steps or None); "
      "keys\n"
      "are written in the order given. Values are int64 or float32 arrays, (data, offsets), the\n"
      "same with int32 indices of which string each row has, or a list of bytes, str and None.");
  bind_encode_dict(module);
}

}  // namespace tfrkit
