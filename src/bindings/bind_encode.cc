#include <nanobind/nanobind.h>

#include "bind.h"

namespace tfrkit {

void bind_encode(nanobind::module_& /*module*/) {}

}  // namespace tfrkit
