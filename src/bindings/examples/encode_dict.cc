#include "bindings/examples/encode_dict.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/convert.h"
#include "core/bytes/status.h"
#include "core/encode/encode.h"

namespace tfrkit {

bool view_text(PyObject* object, Bytes& value) noexcept {
  Py_ssize_t size = 0;
  const char* text = nullptr;
  if (PyBytes_Check(object)) {
    char* data = nullptr;
    PyBytes_AsStringAndSize(object, &data, &size);
    text = data;
  } else if (PyUnicode_Check(object)) {
    text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) {
      PyErr_Clear();
      return false;
    }
  } else {
    return false;
  }
  value = std::as_bytes(std::span(text, static_cast<std::size_t>(size)));
  return true;
}

namespace {

// The kind that an object becomes; kUnset if that is not simple to say.
Kind kind_of(PyObject* object) noexcept {
  if (PyLong_Check(object)) return Kind::kInt64;
  if (PyFloat_Check(object)) return Kind::kFloat;
  if (PyBytes_Check(object) || PyUnicode_Check(object)) return Kind::kBytes;
  return Kind::kUnset;
}

// Reads an int that fits into int64.
bool read_int(PyObject* object, std::int64_t& value) noexcept {
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}

float read_float(PyObject* object) noexcept {
  return static_cast<float>(PyFloat_AsDouble(object));  // a float has no way to fail
}

// The values of one Example, feature by feature.
struct Values {
  std::vector<std::int64_t> ints;
  std::vector<float> floats;
  std::vector<Bytes> strings;
  std::vector<nb::object> owners;  // of the strings: a list may lose them while Python code runs

  void clear() noexcept {
    ints.clear();
    floats.clear();
    strings.clear();
    owners.clear();
  }
};

// Where the values of a feature are.
struct Found {
  Kind kind = Kind::kUnset;
  std::size_t first = 0;
  std::size_t count = 0;
};

// Adds one object of the given kind; false if it is of another, or does not fit.
bool add_object(PyObject* object, Kind kind, Values& values) {
  if (kind_of(object) != kind) return false;
  if (kind == Kind::kInt64) {
    std::int64_t value = 0;
    if (!read_int(object, value)) return false;
    values.ints.push_back(value);
  } else if (kind == Kind::kFloat) {
    values.floats.push_back(read_float(object));
  } else {
    Bytes value;
    if (!view_text(object, value)) return false;
    values.owners.push_back(nb::borrow(object));
    values.strings.push_back(value);
  }
  return true;
}

std::size_t size_of(const Values& values, Kind kind) noexcept {
  return kind == Kind::kInt64   ? values.ints.size()
         : kind == Kind::kFloat ? values.floats.size()
                                : values.strings.size();
}

// Adds the items of a list or tuple; false if one of them is unusual. Without items it has no kind.
bool add_items(PyObject* items, Values& values, Found& found) {
  const bool is_list = PyList_Check(items);
  const Py_ssize_t count = is_list ? PyList_Size(items) : PyTuple_Size(items);
  const auto item = [&](Py_ssize_t i) {
    return is_list ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
  };
  if (count == 0) return found = {}, true;
  found.kind = kind_of(item(0));
  if (found.kind == Kind::kUnset) return false;
  found.first = size_of(values, found.kind);
  found.count = static_cast<std::size_t>(count);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!add_object(item(i), found.kind, values)) return false;
  }
  return true;
}

template <typename Value, typename Out>
void add_array(const Py_buffer& view, std::size_t count, std::vector<Out>& out) {
  const std::size_t first = out.size();
  out.resize(first + count);
  const auto* const source = static_cast<const char*>(view.buf);
  for (std::size_t i = 0; i < count; ++i) {
    Value value;
    std::memcpy(&value, source + i * sizeof(Value), sizeof(Value));
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): a signed char is a number here, not a letter
    out[first + i] = static_cast<Out>(value);
  }
}

// Adds the numbers of a buffer of one of C's types in native order; false for any other.
// Precondition: it has no or one dimension.
bool add_buffer(const Py_buffer& view, Values& values, Found& found) {
  if (view.format == nullptr || std::strlen(view.format) != 1) return false;
  const std::size_t count = view.ndim == 0 ? 1 : static_cast<std::size_t>(view.shape[0]);
  const char type = *view.format;
  const bool is_float = type == 'f' || type == 'd';
  found = {is_float ? Kind::kFloat : Kind::kInt64,
           is_float ? values.floats.size() : values.ints.size(), count};
  switch (type) {
    case 'f':
      return add_array<float>(view, count, values.floats), true;
    case 'd':
      return add_array<double>(view, count, values.floats), true;
    case '?':
    case 'B':
      return add_array<unsigned char>(view, count, values.ints), true;
    case 'b':
      return add_array<std::int8_t>(view, count, values.ints), true;
    case 'h':
      return add_array<short>(view, count, values.ints), true;
    case 'H':
      return add_array<unsigned short>(view, count, values.ints), true;
    case 'i':
      return add_array<int>(view, count, values.ints), true;
    case 'I':
      return add_array<unsigned int>(view, count, values.ints), true;
    case 'l':
      return add_array<long>(view, count, values.ints), true;
    case 'q':
      return add_array<long long>(view, count, values.ints), true;
    default:
      return false;
  }
}

// Adds an array of numpy, of up to `max_ndim` dimensions; false if it is unusual.
bool add_numpy(PyObject* object, int max_ndim, Values& values, Found& found) {
  Py_buffer view{};
  if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT | PyBUF_ND) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool good = view.ndim <= max_ndim && add_buffer(view, values, found);
  PyBuffer_Release(&view);
  return good;
}

// Reads values that need none of Python's rules: numbers, strings, and lists, tuples and arrays of
// them.
class SimpleReader {
 public:
  SimpleReader() {
    const nb::module_ numpy = nb::module_::import_("numpy");
    array_ = numpy.attr("ndarray");
    scalar_ = numpy.attr("generic");
  }

  // Adds a value; false if it is unusual, and `values` may have some of it then.
  bool add(PyObject* value, Values& values, Found& found) const {
    found.kind = kind_of(value);
    if (found.kind != Kind::kUnset) {
      found.first = size_of(values, found.kind);
      found.count = 1;
      return add_object(value, found.kind, values);
    }
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
      return add_items(value, values, found);
    }
    if (reinterpret_cast<PyObject*>(Py_TYPE(value)) == array_.ptr()) {
      return add_numpy(value, 1, values, found);
    }
    // A date exports its bytes, as an array.
    return PyObject_IsInstance(value, scalar_.ptr()) == 1 && add_numpy(value, 0, values, found);
  }

 private:
  nb::object array_;
  nb::object scalar_;
};

// Makes Examples of dicts, one at a time, and remembers how the keys of the last one were sorted:
// dicts that are written one after the other mostly have the same keys in the same order.
class DictEncoder {
 public:
  explicit DictEncoder(nb::object fallback) : fallback_(std::move(fallback)) {}

  nb::object encode(const nb::dict& features) {
    // The fallback runs Python code, and so may other threads, or it may come here again.
    if (busy_) return std::make_unique<DictEncoder>(fallback_)->encode(features);
    busy_ = true;
    nb::object made;
    try {
      made = encode_alone(features);
    } catch (...) {
      release();
      throw;
    }
    release();
    return made;
  }

 private:
  void release() noexcept {
    values_.clear();
    kept_.clear();
    for (PyObject* object : items_) Py_DECREF(object);
    items_.clear();
    busy_ = false;
  }

  nb::object encode_alone(const nb::dict& features) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    // Conversions may run Python code, so everything is held before the first.
    while (PyDict_Next(features.ptr(), &position, &key, &value) != 0) {
      Py_INCREF(key);
      items_.push_back(key);
      Py_INCREF(value);
      items_.push_back(value);
    }
    if (!same_keys()) sort_keys();
    const std::size_t count = places_.size();
    for (std::size_t i = 0; i < count; ++i) {
      found_[places_[i]] = convert(items_[2 * i], items_[2 * i + 1]);
    }
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < count; ++i) set_column(columns_[i], found_[i]);
    const RowRange row{0, 1};
    const RowSizes sizes{&size, nullptr};
    for (std::size_t i = 0; i < count; ++i) {
      columns_[i].lists.bodies = &bodies_[i];
      measure_bodies(columns_[i], row);
    }
    measure_rows(columns_, {}, row, sizes);
    return written(sizes);
  }

  // Tells whether the keys are those of the dict before, in the same order.
  [[nodiscard]] bool same_keys() const {
    if (items_.size() != 2 * keys_.size()) return false;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      PyObject* const key = items_[2 * i];
      if (key == keys_[i].ptr()) continue;
      if (!PyUnicode_Check(key) || PyUnicode_Compare(key, keys_[i].ptr()) != 0) return false;
    }
    return true;
  }

  void sort_keys() {
    keys_.clear();
    places_.clear();
    columns_.clear();
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < items_.size(); i += 2) {
      Py_ssize_t size = 0;
      const char* const text = PyUnicode_AsUTF8AndSize(items_[i], &size);
      if (text == nullptr) {
        PyErr_Clear();
        (void)fallback_(nb::handle(items_[i]), nb::none());  // says what is wrong with the key
        throw nb::type_error("expected the name of a feature as str");
      }
      texts.emplace_back(text, static_cast<std::size_t>(size));
    }
    std::vector<std::size_t> order(texts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
    places_.resize(order.size());
    columns_.assign(order.size(), {});
    found_.assign(order.size(), {});
    bodies_.assign(order.size(), 0);
    for (std::size_t place = 0; place < order.size(); ++place) {
      places_[order[place]] = place;
      columns_[place].key = std::as_bytes(std::span(texts[order[place]]));
    }
    for (std::size_t i = 0; i < items_.size(); i += 2) keys_.push_back(nb::borrow(items_[i]));
  }

  Found convert(PyObject* key, PyObject* value) {
    Found found;
    if (!simple_.add(value, values_, found)) return convert_by_rule(key, value);
    return found.kind == Kind::kUnset ? add_feature({}) : found;
  }

  // Adds a whole Feature as it is on the wire; without bytes it has no kind.
  Found add_feature(Bytes feature) {
    values_.strings.push_back(feature);
    return {Kind::kUnset, values_.strings.size() - 1, 1};
  }

  // Asks Python, which knows all rules and all errors, for (kind, values).
  Found convert_by_rule(PyObject* key, PyObject* value) {
    kept_.push_back(fallback_(nb::handle(key), nb::handle(value)));
    const auto pair = nb::cast<nb::tuple>(kept_.back());
    Found found;
    found.kind = static_cast<Kind>(nb::cast<int>(pair[0]));
    const nb::object given = pair[1];
    if (found.kind == Kind::kInt64 || found.kind == Kind::kFloat) {
      Found array;
      if (!add_numpy(given.ptr(), 1, values_, array) || array.kind != found.kind) {
        throw nb::type_error("expected an array of int64 or float32");
      }
      return array;
    }
    found.first = values_.strings.size();
    if (found.kind == Kind::kUnset) {
      Bytes feature;
      if (!view_text(given.ptr(), feature)) throw nb::type_error("expected bytes");
      return add_feature(feature);  // kept_ holds it
    }
    found.kind = Kind::kBytes;
    Found items;
    if (!PyList_Check(given.ptr()) || !add_items(given.ptr(), values_, items) ||
        (items.count != 0 && items.kind != Kind::kBytes)) {
      throw nb::type_error("expected a list of bytes");
    }
    found.count = items.count;
    return found;
  }

  // Points the column to its values, which stay where they are from now on.
  void set_column(EncodeColumn& column, const Found& found) noexcept {
    ValueLists& lists = column.lists;
    const bool same = column.prepared && lists.kind == found.kind && lists.count == found.count;
    lists.kind = found.kind;
    lists.count = found.count;
    lists.ints = values_.ints.data() + (found.kind == Kind::kInt64 ? found.first : 0);
    lists.floats = values_.floats.data() + (found.kind == Kind::kFloat ? found.first : 0);
    const bool strings = found.kind == Kind::kBytes || found.kind == Kind::kUnset;
    lists.strings = values_.strings.data() + (strings ? found.first : 0);
    if (!same) prepare_column(column);
  }

  nb::object written(const RowSizes& sizes) {
    const std::uint64_t size = message_size(sizes, 0);
    if (size > kMaxMessageBytes) {
      throw nb::value_error("expected at most 2**31 - 1 bytes, protobuf's limit for a message");
    }
    const auto length = static_cast<std::size_t>(size);
    const bool small = length <= kScratchBytes;
    PyObject* const made = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(length));
    if (made == nullptr) throw nb::python_error();
    nb::object owner = nb::steal(made);
    const std::span target(PyBytes_AsString(made), length);
    Code code = Code::kOk;
    if (small) {
      code = fill_message(columns_, sizes, scratch_);
      std::memcpy(target.data(), scratch_.data(), length);
    } else {
      code = fill_message(columns_, sizes, std::as_writable_bytes(target));
    }
    if (code != Code::kOk) throw std::runtime_error("an Example has not the size it should have");
    return owner;
  }

  // Messages up to this size are written with room to spare, and copied.
  static constexpr std::size_t kScratchBytes = 4096;

  nb::object fallback_;
  SimpleReader simple_;
  bool busy_ = false;
  std::vector<nb::object> keys_;       // of the last dict, in its order
  std::vector<std::size_t> places_;    // of each among the sorted ones
  std::vector<EncodeColumn> columns_;  // sorted; keys are views of keys_
  std::vector<Found> found_;
  std::vector<std::uint64_t> bodies_;
  Values values_;
  std::vector<PyObject*> items_;  // key, value, key ... of the dict at hand
  std::vector<nb::object> kept_;  // what its strings lie in besides
  std::array<std::byte, kScratchBytes + kSlackBytes> scratch_{};
};

using FloatArray = nb::ndarray<nb::numpy, float, nb::ndim<1>>;
using MaskArray = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> make_array(std::vector<T> values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  const std::size_t size = owned->size();
  const nb::capsule owner(
      owned.get(), [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
  (void)owned.release();
  return {data, {size}, owner};
}

// See the docstring.
nb::tuple gather_items(const nb::list& items) {
  const auto count = static_cast<std::size_t>(PyList_Size(items.ptr()));
  Kind kind = Kind::kUnset;
  Values values;
  std::vector<std::uint8_t> present;
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* const item = PyList_GetItem(items.ptr(), static_cast<Py_ssize_t>(i));
    if (item == nullptr) throw nb::python_error();
    if (item == Py_None) {
      if (present.empty()) present.assign(count, 1);
      present[i] = 0;
    }
    const bool first = kind == Kind::kUnset && item != Py_None;
    if (first) {
      kind = kind_of(item);
      if (kind == Kind::kInt64) values.ints.resize(count);
      if (kind == Kind::kFloat) values.floats.resize(count);
    }
    if (item == Py_None) continue;
    bool good = kind != Kind::kUnset && kind_of(item) == kind;
    if (good && kind == Kind::kInt64) good = read_int(item, values.ints[i]);
    if (good && kind == Kind::kFloat) values.floats[i] = read_float(item);
    Bytes ignored;
    if (good && kind == Kind::kBytes) good = view_text(item, ignored);
    if (!good) return nb::make_tuple(0, nb::none(), nb::none(), i);
  }
  const nb::object mask =
      present.empty() ? nb::object(nb::none()) : make_array(std::move(present)).cast();
  nb::object array = nb::none();
  if (kind == Kind::kInt64) array = make_array(std::move(values.ints)).cast();
  if (kind == Kind::kFloat) array = make_array(std::move(values.floats)).cast();
  return nb::make_tuple(static_cast<int>(kind), array, mask, -1);
}

// See the docstring.
nb::tuple gather_lists(const nb::list& items) {
  const SimpleReader simple;
  const auto count = static_cast<std::size_t>(PyList_Size(items.ptr()));
  Values values;
  Kind kind =
      Kind::kUnset;  // of the first list with values, or until then of the first with a type
  bool full = false;
  std::vector<std::uint8_t> present(count, 1);
  std::vector<std::int64_t> splits(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* const item = PyList_GetItem(items.ptr(), static_cast<Py_ssize_t>(i));
    if (item == nullptr) throw nb::python_error();
    splits[i + 1] = splits[i];
    if (item == Py_None) {
      present[i] = 0;
      continue;
    }
    Found found;
    if (!simple.add(item, values, found))
      return nb::make_tuple(0, nb::none(), nb::none(), nb::none());
    if (kind == Kind::kUnset || (found.count != 0 && !full)) kind = found.kind;
    if (found.count == 0) continue;
    full = true;
    if (found.kind != kind) return nb::make_tuple(0, nb::none(), nb::none(), nb::none());
    splits[i + 1] += static_cast<std::int64_t>(found.count);
  }
  nb::object flat = nb::none();
  if (kind == Kind::kInt64) flat = make_array(std::move(values.ints)).cast();
  if (kind == Kind::kFloat) flat = make_array(std::move(values.floats)).cast();
  if (kind == Kind::kBytes) {
    nb::list strings;
    for (const nb::object& owner : values.owners) strings.append(owner);
    flat = std::move(strings);
  }
  const bool whole = std::find(present.begin(), present.end(), 0) == present.end();
  return nb::make_tuple(static_cast<int>(kind), flat, make_array(std::move(splits)),
                        whole ? nb::object(nb::none()) : make_array(std::move(present)).cast());
}

}  // namespace

void bind_encode_dict(nb::module_& module) {
  nb::class_<DictEncoder>(module, "DictEncoder",
                          "Makes serialised Examples of dicts, with the keys sorted bytewise.\n\n"
                          "Keeps what it learns of the keys from call to call.")
      .def(nb::init<nb::object>(), nb::arg("fallback"),
           nb::sig("def __init__(self, fallback: collections.abc.Callable[[object, object], "
                   "tuple[int, object]]) -> None"),
           "`fallback(key, value)` returns (kind, values) of what is unusual, or raises.")
      .def("encode", &DictEncoder::encode, nb::arg("features"),
           nb::sig("def encode(self, features: dict[str, object]) -> bytes"),
           "Make an Example of int, float, str, bytes, lists, tuples and arrays of them by name.");
  module.def("gather_items", gather_items, nb::arg("items"),
             nb::sig("def gather_items(items: list[object]) -> "
                     "tuple[int, numpy.typing.NDArray[typing.Any] | None, "
                     "numpy.typing.NDArray[numpy.uint8] | None, int]"),
             "Find the kind of a list with one number or string for each row: (kind, values, "
             "present, -1).\n\n"
             "None is an entry left out: `present` is 0 there. Values are None for strings, which "
             "are taken\n"
             "from the list. The last field is the place of the first item that is unusual, or of "
             "another\n"
             "kind than those before it.");
  module.def(
      "gather_lists", gather_lists, nb::arg("items"),
      nb::sig("def gather_lists(items: list[object]) -> "
              "tuple[int, typing.Any, numpy.typing.NDArray[numpy.int64] | None, "
              "numpy.typing.NDArray[numpy.uint8] | None]"),
      "Join a list with a number, string, list, tuple or array of them, or None, for each "
      "row:\n"
      "(kind, values, splits, present).\n\n"
      "Values are an int64 or float32 array, a list of bytes and str, or None if no row tells "
      "the kind. Splits are None if "
      "an item is\n"
      "unusual, or rows with values differ in kind; present is None if no row is.");
}

}  // namespace tfrkit
