#include "bindings/examples/example_one.h"

#include <cstring>
#include <span>
#include <utility>

#include "bindings/arrays/convert.h"

namespace tfrkit {
namespace {

bool is_scalar(const ExampleSlot& slot) noexcept { return slot.is_direct() && slot.count == 1; }

nb::object as_object(Bytes bytes) {
  auto object =
      nb::steal(PyBytes_FromStringAndSize(as_chars(bytes), static_cast<Py_ssize_t>(bytes.size())));
  if (!object.is_valid()) throw nb::python_error();
  return object;
}

}  // namespace

OneExample::OneExample(const ExamplePlan& plan, const ArrayMaker& arrays, ScratchCache& cache)
    : plan_(plan), arrays_(arrays), cache_(cache), scalars_(Scalars::get()) {
  for (const ExampleSlot& slot : plan.slots()) {
    const Bytes key(slot.key);
    PyObject* text =
        PyUnicode_DecodeUTF8(as_chars(key), static_cast<Py_ssize_t>(key.size()), "strict");
    if (text == nullptr) throw nb::python_error();
    PyUnicode_InternInPlace(&text);
    keys_.push_back(nb::steal(text));
    empty_[keys_.back()] = nb::none();
  }
  for (std::size_t i = 0; i < plan.slots().size(); ++i) {
    const ExampleSlot& slot = plan.slots()[i];
    if (slot.is_direct() && !is_scalar(slot)) array_slots_.push_back(i);
  }
}

std::unique_ptr<OneExample::Row> OneExample::make_row() const {
  const auto slots = plan_.slots();
  auto row = std::make_unique<Row>();
  row->columns.resize(slots.size());
  row->lists.resize(slots.size());
  row->int64s.resize(slots.size());
  row->floats.resize(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].is_direct()) {
      row->columns[i].lists = &row->lists[i];
    } else if (is_scalar(slots[i]) && slots[i].kind == Kind::kFloat) {
      row->columns[i].floats = &row->floats[i];
    } else if (is_scalar(slots[i])) {
      row->columns[i].int64s = &row->int64s[i];
    }
  }
  return row;
}

nb::object OneExample::parse(Bytes record, Dialect dialect, ExampleFailure& failure) {
  std::unique_ptr<Row> row = std::exchange(kept_, nullptr);
  if (row == nullptr) row = make_row();
  std::vector<Buffer> arrays;
  const auto slots = plan_.slots();
  for (const std::size_t i : array_slots_) {
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
  if (failure.code == ParseCode::kOk) result = make_dict(*row, record, arrays);
  cache_.give(std::move(scratch));
  kept_ = std::move(row);
  return result;
}

nb::object OneExample::make_dict(const Row& row, Bytes record, std::vector<Buffer>& arrays) const {
  const auto slots = plan_.slots();
  // A copy has room for all keys, so that it need not grow.
  auto result = nb::steal(PyDict_Copy(empty_.ptr()));
  if (!result.is_valid()) throw nb::python_error();
  auto next_array = arrays.begin();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const ExampleSlot& slot = slots[i];
    const bool is_float = slot.kind == Kind::kFloat;
    nb::object value;
    if (is_scalar(slot)) {
      value = nb::steal(is_float ? scalars_.make(row.floats[i]) : scalars_.make(row.int64s[i]));
    } else if (slot.is_direct()) {
      const ArrayType type = is_float ? ArrayType::kFloat32 : ArrayType::kInt64;
      value = arrays_.own(std::move(*next_array++), type, static_cast<std::size_t>(slot.count));
    } else {
      value = list_object(slot, row.lists[i], record);
    }
    if (PyDict_SetItem(result.ptr(), keys_[i].ptr(), value.ptr()) != 0) throw nb::python_error();
  }
  return result;
}

nb::object OneExample::list_object(const ExampleSlot& slot, const ListRef& list,
                                   Bytes record) const {
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
    BytesValues found(list, record);
    if (slot.count == 1) return as_object(found.next());
    nb::list values;
    for (std::uint32_t i = 0; i < list.count; ++i) values.append(as_object(found.next()));
    return values;
  }
  Buffer data(list.size);
  Buffer offsets((std::size_t{list.count} + 1) * sizeof(std::int64_t));
  const auto ends = numbers_in<std::int64_t>(offsets, std::size_t{list.count} + 1);
  ends[0] = 0;
  fill_bytes(std::span(&list, 1), std::span(&record, 1), 0, data.bytes(), ends.subspan(1));
  return nb::make_tuple(arrays_.own(std::move(data), ArrayType::kUint8, list.size),
                        arrays_.own(std::move(offsets), ArrayType::kInt64, ends.size()));
}

}  // namespace tfrkit
