#include "bindings/arrays/new_arrays.h"

#include <cstring>

#include "bindings/arrays/scalars.h"

namespace tfrkit {
namespace {

// Where functions are in the table of numpy's C interface, which numpy never moves.
constexpr std::size_t kGetVersion = 0;
constexpr std::size_t kNewFromDescr = 94;
constexpr unsigned kVersion1 = 0x01000009;
constexpr unsigned kVersion2 = 0x02000000;

// Returns the table, or nullptr if it is not where it is thought to be.
void* const* find_table() {
  for (const char* name : {"numpy._core._multiarray_umath", "numpy.core._multiarray_umath"}) {
    const auto module = nb::steal(PyImport_ImportModule(name));
    if (!module.is_valid()) {
      PyErr_Clear();
      continue;
    }
    const nb::object table = nb::getattr(module, "_ARRAY_API", nb::none());
    if (PyCapsule_IsValid(table.ptr(), nullptr) == 0) continue;
    return static_cast<void* const*>(PyCapsule_GetPointer(table.ptr(), nullptr));
  }
  return nullptr;
}

}  // namespace

const NewArrays& NewArrays::get() {
  // Never destroyed; see Scalars::get.
  static const NewArrays* only = nullptr;
  if (only == nullptr) only = new NewArrays();
  return *only;
}

NewArrays::NewArrays() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  ndarray_ = numpy.attr("ndarray");
  empty_ = numpy.attr("empty");
  void* const* const table = find_table();
  if (table == nullptr) return;
  const unsigned version = reinterpret_cast<unsigned (*)()>(table[kGetVersion])();
  if (version != kVersion1 && version != kVersion2) return;
  new_ = reinterpret_cast<NewFromDescr>(table[kNewFromDescr]);
}

nb::object NewArrays::make(PyObject* dtype, std::span<const Py_ssize_t> sizes,
                           std::span<const std::byte> bytes) const {
  nb::object made;
  if (new_ != nullptr) {
    Py_INCREF(dtype);  // numpy takes it
    made =
        nb::steal(new_(reinterpret_cast<PyTypeObject*>(ndarray_.ptr()), dtype,
                       static_cast<int>(sizes.size()), sizes.data(), nullptr, nullptr, 0, nullptr));
    if (!made.is_valid()) throw nb::python_error();
  } else {
    nb::list shape;
    for (const Py_ssize_t size : sizes) shape.append(size);
    made = empty_(nb::tuple(shape), nb::handle(dtype));
  }
  const ArrayFields* const fields = ArrayFinder::get().find(made.ptr());
  if (!bytes.empty()) std::memcpy(fields->data, bytes.data(), bytes.size());
  return made;
}

nb::object NewArrays::copy(nb::handle array, const ArrayFields& fields) const {
  const ScalarType* const kind = Scalars::get().find_dtype(fields.dtype);
  if (kind == nullptr || !fields.is_contiguous()) return array.attr("copy")();
  std::size_t size = kind->size;
  for (const Py_ssize_t count : fields.shape()) size *= static_cast<std::size_t>(count);
  return make(fields.dtype, fields.shape(), {fields.data, size});
}

}  // namespace tfrkit
