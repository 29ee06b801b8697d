#include "bindings/arrays/scalars.h"

#include <array>

namespace tfrkit {
namespace {

constexpr std::array kNames = {"bool",    "int8",    "uint8",     "int16",     "uint16",
                               "int32",   "uint32",  "int64",     "uint64",    "float16",
                               "float32", "float64", "complex64", "complex128"};
// A value of each of these types.
constexpr std::array<unsigned char, 16> kPattern = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0x3f,
                                                    0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x40};

// Whether the bytes of a known value are where they are thought to be.
bool holds_pattern(const nb::object& sample, std::size_t size) {
  const auto room = nb::cast<std::size_t>(sample.type().attr("__basicsize__"));
  return size <= kPattern.size() && room >= sizeof(PyObject) + size &&
         std::memcmp(Scalars::place(sample.ptr()), kPattern.data(), size) == 0;
}

// Returns the function that allocates instances, if a value made with it is the known one.
allocfunc find_allocator(PyTypeObject* type, const nb::object& sample, std::size_t size) {
  auto* const allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  if (allocate == nullptr) return nullptr;
  const auto made = nb::steal(allocate(type, 0));
  if (!made.is_valid()) throw nb::python_error();
  std::memcpy(Scalars::place(made.ptr()), kPattern.data(), size);
  return made.equal(sample) ? allocate : nullptr;
}

}  // namespace

const Scalars& Scalars::get() {
  // Never destroyed, as the interpreter may be gone by then. Importing may let another thread in;
  // then there is one more than needed.
  static const Scalars* only = nullptr;
  if (only == nullptr) only = new Scalars();
  return *only;
}

Scalars::Scalars() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::bytes pattern(kPattern.data(), kPattern.size());
  for (const char* name : kNames) {
    ScalarType kind;
    kind.dtype = numpy.attr("dtype")(name);
    kind.size = nb::cast<std::size_t>(kind.dtype.attr("itemsize"));
    const nb::object sample = numpy.attr("frombuffer")(pattern, kind.dtype, 1)[0];
    kind.type = nb::borrow(sample.type());
    const bool known = holds_pattern(sample, kind.size);
    const bool shared = std::strcmp(name, "bool") == 0;  // there are only two of them
    if (known && !shared) {
      auto* const type = reinterpret_cast<PyTypeObject*>(kind.type.ptr());
      kind.allocate = find_allocator(type, sample, kind.size);
    }
    if (known) known_.push_back(kind);
    if (std::strcmp(name, "int64") == 0) int64_ = kind;
    if (std::strcmp(name, "float32") == 0) float32_ = kind;
  }
}

const ScalarType* Scalars::find(const PyTypeObject* type) const noexcept {
  for (const ScalarType& kind : known_) {
    if (reinterpret_cast<const PyTypeObject*>(kind.type.ptr()) == type) return &kind;
  }
  return nullptr;
}

const ScalarType* Scalars::find_dtype(const PyObject* dtype) const noexcept {
  for (const ScalarType& kind : known_) {
    if (kind.dtype.ptr() == dtype) return &kind;  // numpy has one object for each
  }
  return nullptr;
}

}  // namespace tfrkit
