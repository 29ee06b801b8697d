#include "example_one.h"

#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "convert.h"

namespace tfrkit {
namespace {

bool is_scalar(const ExampleSlot& slot) noexcept { return slot.is_direct() && slot.count == 1; }

// Returns a list of the scalars in `array`, or nothing for an array without any.
nb::object scalars_of(const nb::object& array) {
  if (!array.is_valid()) return {};
  auto list = nb::steal(PySequence_List(array.ptr()));
  if (!list.is_valid()) throw nb::python_error();
  return list;
}

nb::object as_object(Bytes bytes) {
  auto object =
      nb::steal(PyBytes_FromStringAndSize(as_chars(bytes), static_cast<Py_ssize_t>(bytes.size())));
  if (!object.is_valid()) throw nb::python_error();
  return object;
}

// Takes the next value of a list of bytes.
Bytes next_value(const std::byte*& at) noexcept {
  ++at;  // the tag
  std::size_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = std::to_integer<std::size_t>(*at++);
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  const Bytes value(at, length);
  at += length;
  return value;
}

}  // namespace

OneExample::OneExample(const ExamplePlan& plan, const ArrayMaker& arrays, ScratchCache& cache)
    : plan_(plan), arrays_(arrays), cache_(cache) {
  for (const ExampleSlot& slot : plan.slots()) {
    const Bytes key(slot.key);
    PyObject* text =
        PyUnicode_DecodeUTF8(as_chars(key), static_cast<Py_ssize_t>(key.size()), "strict");
    if (text == nullptr) throw nb::python_error();
    PyUnicode_InternInPlace(&text);
    keys_.push_back(nb::steal(text));
  }
}

std::unique_ptr<OneExample::Row> OneExample::make_row() const {
  auto row = std::make_unique<Row>();
  const auto slots = plan_.slots();
  row->columns.resize(slots.size());
  row->lists.resize(slots.size());
  std::array<std::size_t, 4> counts{};
  for (const ExampleSlot& slot : slots) {
    if (is_scalar(slot)) ++counts[static_cast<std::size_t>(slot.kind)];
  }
  const std::size_t floats = counts[static_cast<std::size_t>(Kind::kFloat)];
  const std::size_t int64s = counts[static_cast<std::size_t>(Kind::kInt64)];
  Buffer float_memory(floats * sizeof(float));
  Buffer int64_memory(int64s * sizeof(std::int64_t));
  auto float_places = numbers_in<float>(float_memory, floats);
  auto int64_places = numbers_in<std::int64_t>(int64_memory, int64s);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].is_direct()) {
      row->columns[i].lists = &row->lists[i];
    } else if (is_scalar(slots[i]) && slots[i].kind == Kind::kFloat) {
      row->columns[i].floats = float_places.data();
      float_places = float_places.subspan(1);
    } else if (is_scalar(slots[i])) {
      row->columns[i].int64s = int64_places.data();
      int64_places = int64_places.subspan(1);
    }
  }
  if (floats != 0) {
    row->float_array = arrays_.own(std::move(float_memory), ArrayType::kFloat32, floats);
  }
  if (int64s != 0) {
    row->int64_array = arrays_.own(std::move(int64_memory), ArrayType::kInt64, int64s);
  }
  return row;
}

nb::object OneExample::parse(Bytes record, Dialect dialect, ExampleFailure& failure) {
  std::unique_ptr<Row> row = std::exchange(kept_, nullptr);
  if (row == nullptr) row = make_row();
  std::vector<Buffer> arrays;
  const auto slots = plan_.slots();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].is_direct() || is_scalar(slots[i])) continue;
    const auto count = static_cast<std::size_t>(slots[i].count);
    if (slots[i].kind == Kind::kFloat) {
      arrays.emplace_back(count * sizeof(float));
      row->columns[i].floats = numbers_in<float>(arrays.back(), count).data();
    } else {
      arrays.emplace_back(count * sizeof(std::int64_t));
      row->columns[i].int64s = numbers_in<std::int64_t>(arrays.back(), count).data();
    }
  }
  std::unique_ptr<ExampleScratch> scratch = cache_.take();
  failure = parse_examples(plan_, dialect, std::span(&record, 1), 0, 1, row->columns, *scratch);
  if (failure.code == ParseCode::kNoMemory) throw std::bad_alloc();
  nb::object result = nb::none();
  if (failure.code == ParseCode::kOk) result = make_dict(*row, arrays);
  cache_.give(std::move(scratch));
  kept_ = std::move(row);
  return result;
}

nb::object OneExample::make_dict(const Row& row, std::vector<Buffer>& arrays) const {
  const auto slots = plan_.slots();
  const nb::object floats = scalars_of(row.float_array);
  const nb::object int64s = scalars_of(row.int64_array);
  nb::dict result;
  Py_ssize_t next_float = 0;
  Py_ssize_t next_int64 = 0;
  auto next_array = arrays.begin();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const ExampleSlot& slot = slots[i];
    PyObject* value = nullptr;
    nb::object made;
    if (is_scalar(slot)) {
      value = slot.kind == Kind::kFloat ? PyList_GetItem(floats.ptr(), next_float++)
                                        : PyList_GetItem(int64s.ptr(), next_int64++);
    } else if (slot.is_direct()) {
      const ArrayType type = slot.kind == Kind::kFloat ? ArrayType::kFloat32 : ArrayType::kInt64;
      made = arrays_.own(std::move(*next_array++), type, static_cast<std::size_t>(slot.count));
    } else {
      made = list_object(slot, row.lists[i]);
    }
    if (value == nullptr) value = made.ptr();
    if (PyDict_SetItem(result.ptr(), keys_[i].ptr(), value) != 0) throw nb::python_error();
  }
  return result;
}

nb::object OneExample::list_object(const ExampleSlot& slot, const ListRef& list) const {
  if (slot.kind == Kind::kFloat) {
    Buffer memory(std::size_t{list.count} * sizeof(float));
    fill_float(std::span(&list, 1), numbers_in<float>(memory, list.count));
    return arrays_.own(std::move(memory), ArrayType::kFloat32, list.count);
  }
  if (slot.kind == Kind::kInt64) {
    Buffer memory(std::size_t{list.count} * sizeof(std::int64_t));
    fill_int64(std::span(&list, 1), numbers_in<std::int64_t>(memory, list.count));
    return arrays_.own(std::move(memory), ArrayType::kInt64, list.count);
  }
  if (slot.is_fixed()) {
    const std::byte* at = list.data;
    if (slot.count == 1) return as_object(next_value(at));
    nb::list values;
    for (std::uint32_t i = 0; i < list.count; ++i) values.append(as_object(next_value(at)));
    return values;
  }
  Buffer data(list.size);
  Buffer offsets((std::size_t{list.count} + 1) * sizeof(std::int64_t));
  const auto ends = numbers_in<std::int64_t>(offsets, std::size_t{list.count} + 1);
  ends[0] = 0;
  fill_bytes(std::span(&list, 1), 0, data.bytes(), ends.subspan(1));
  return nb::make_tuple(arrays_.own(std::move(data), ArrayType::kUint8, list.size),
                        arrays_.own(std::move(offsets), ArrayType::kInt64, ends.size()));
}

}  // namespace tfrkit
