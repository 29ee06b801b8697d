// One Example from a Python dict, and columns from Python lists: values that are objects.
#pragma once

#include <nanobind/nanobind.h>

#include "core/bytes/bytes.h"

namespace tfrkit {

// Sets `value` to the bytes of a bytes or (as UTF-8) str object, which must outlive them. Returns
// false, without a Python error, for anything else and for str that is no Unicode.
[[nodiscard]] bool view_text(PyObject* object, Bytes& value) noexcept;

void bind_encode_dict(nanobind::module_& module);

}  // namespace tfrkit
