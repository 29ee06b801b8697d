#include "bindings/arrays/arrays.h"

#include <array>

namespace tfrkit {

ArrayMaker::ArrayMaker() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  ndarray_ = numpy.attr("ndarray");
  uint8_ = numpy.attr("dtype")("uint8");
  int64_ = numpy.attr("dtype")("int64");
  float32_ = numpy.attr("dtype")("float32");
}

nb::object ArrayMaker::view(const nb::object& buffer, ArrayType type, std::size_t count,
                            std::size_t offset) const {
  const nb::object& dtype = type == ArrayType::kUint8   ? uint8_
                            : type == ArrayType::kInt64 ? int64_
                                                        : float32_;
  return view(buffer, dtype, nb::steal(PyLong_FromSize_t(count)), offset);
}

nb::object ArrayMaker::view(const nb::object& buffer, const nb::object& dtype,
                            const nb::object& shape, std::size_t offset) const {
  const auto start = nb::steal(PyLong_FromSize_t(offset));
  const std::array<PyObject*, 4> arguments{shape.ptr(), dtype.ptr(), buffer.ptr(), start.ptr()};
  auto array =
      nb::steal(PyObject_Vectorcall(ndarray_.ptr(), arguments.data(), arguments.size(), nullptr));
  if (!array.is_valid()) throw nb::python_error();
  return array;
}

}  // namespace tfrkit
