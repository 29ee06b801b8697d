#include <nanobind/nanobind.h>

#include "bind.h"

namespace tfrkit {

void bind_arrow(nanobind::module_& /*module*/) {}

}  // namespace tfrkit
