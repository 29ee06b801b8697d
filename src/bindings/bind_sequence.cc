#include <nanobind/nanobind.h>

#include "bind.h"

namespace tfrkit {

void bind_sequence(nanobind::module_& /*module*/) {}

}  // namespace tfrkit
