#include <nanobind/nanobind.h>

#include "bind.h"

namespace tfrkit {

void bind_summary(nanobind::module_& /*module*/) {}

}  // namespace tfrkit
