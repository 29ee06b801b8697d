#include "core/images/resize_loops.h"

namespace tfrkit {
namespace {

struct Portable {};

}  // namespace

constinit const ResizeVariant kResizePortable = resize_loops::Loops<Portable>::variant("portable");

}  // namespace tfrkit
