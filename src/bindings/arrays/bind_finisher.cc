#include <nanobind/nanobind.h>

#include <utility>

#include "bindings/bind.h"

namespace nb = nanobind;

namespace tfrkit {
namespace {

// A `__del__` in which Ctrl-C is not lost. Python reports what one raises and goes on, and it looks
// for signals where a function begins: before any `try` in it. So the function is called from here.
class Finisher {
 public:
  explicit Finisher(nb::callable finish) : finish_(std::move(finish)) {}

  [[nodiscard]] nb::object bound(const nb::object& self, const nb::handle& owner) const {
    if (owner.is_none()) return self;
    return nb::module_::import_("types").attr("MethodType")(self, owner);
  }

  // Calls it again after an interruption, which then comes where it can be handled.
  void call(const nb::handle& owner) const {
    try {
      finish_(owner);
      return;
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    }
    finish_(owner);
    PyErr_SetInterrupt();
  }

 private:
  nb::callable finish_;
};

}  // namespace

void bind_finisher(nb::module_& module) {
  nb::class_<Finisher>(module, "Finisher", "A `__del__` in which Ctrl-C is not lost.")
      .def(nb::init<nb::callable>(), nb::arg("finish"))
      .def(
          "__get__",
          [](const nb::object& self, const nb::object& owner, const nb::object& /*type*/) {
            return nb::cast<const Finisher&>(self).bound(self, owner);
          },
          nb::arg("owner").none(), nb::arg("type") = nb::none())
      .def("__call__", &Finisher::call, nb::arg("owner"));
}

}  // namespace tfrkit
