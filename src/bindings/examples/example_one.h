// One Example to a dict, for loops in Python: no array for a single number, no lookup of a name.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/scalars.h"
#include "bindings/examples/example_batch.h"
#include "core/bytes/bytes.h"
#include "core/examples/example.h"

namespace tfrkit {

// Bound to a plan, with its keys as Python strings. Use it with the GIL.
class OneExample {
 public:
  OneExample(const ExamplePlan& plan, const ArrayMaker& arrays, ScratchCache& cache);

  // Returns a dict in the order of the slots, or None with `failure` set. Numbers of count 1 are
  // numpy scalars, of other counts arrays; bytes are bytes, a list of them, or for a variable count
  // (data, offsets).
  [[nodiscard]] nb::object parse(Bytes record, Dialect dialect, ExampleFailure& failure);

 private:
  // Where one record goes; each vector has an entry for every slot.
  struct Row {
    std::vector<std::int64_t> int64s;
    std::vector<float> floats;
    std::vector<ExampleColumn> columns;
    std::vector<ListRef> lists;
  };

  [[nodiscard]] std::unique_ptr<Row> make_row() const;
  [[nodiscard]] nb::object make_dict(const Row& row, Bytes record,
                                     std::vector<Buffer>& arrays) const;
  [[nodiscard]] nb::object list_object(const ExampleSlot& slot, const ListRef& list,
                                       Bytes record) const;

  const ExamplePlan& plan_;
  const ArrayMaker& arrays_;
  ScratchCache& cache_;
  const Scalars& scalars_;
  std::vector<nb::object> keys_;
  nb::dict empty_;  // every key, with None
  std::vector<std::size_t> array_slots_;
  std::unique_ptr<Row> kept_;  // none while in use: a finalizer may call again
};

}  // namespace tfrkit
