#include <nanobind/nanobind.h>

#include "bind.h"

namespace tfrkit {

void bind_parse(nanobind::module_& /*module*/) {}

}  // namespace tfrkit
