#include <nanobind/nanobind.h>

#include "bind.h"
#include "parallel.h"
#include "pieces.h"
#include "wire.h"

namespace tfrkit {

void bind_parse(nanobind::module_& /*module*/) {}

}  // namespace tfrkit
