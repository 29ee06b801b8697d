#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "core/images/resize.h"

namespace tfrkit {
namespace {

// Images, height, width, channels.
using Shape = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
using Size = std::tuple<std::size_t, std::size_t>;
// Numbers of PixelType, ResizeMethod, Centers; antialias.
using How = std::tuple<int, int, int, bool>;
// Number of After, factor.
using Last = std::tuple<int, float>;

// Returns the bytes of memory that the machine has, as far as it says so.
std::size_t physical_memory() noexcept {
  static const std::size_t size = []() noexcept {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || bytes <= 0) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes);
  }();
  return size;
}

ResizeTask make_task(const Shape& shape, const Size& size, const How& how) {
  const auto [type, method, centers, antialias] = how;
  if (type < 0 || type >= kPixelTypes || method < 0 || method >= kResizeMethods || centers < 0 ||
      centers >= kCenters) {
    throw nb::value_error("expected numbers of a type, a method and a placement");
  }
  ResizeTask task{};
  task.type = static_cast<PixelType>(type);
  task.method = static_cast<ResizeMethod>(method);
  task.centers = static_cast<Centers>(centers);
  task.antialias = antialias;
  std::tie(task.images, task.height, task.width, task.channels) = shape;
  std::tie(task.out_height, task.out_width) = size;
  return task;
}

// Measures; a task for which there cannot be enough memory is refused before any is touched, since
// the system hands out more than it has.
ResizeSizes measure(const ResizeTask& task, Bytes input) {
  ResizeSizes sizes;
  const Code code = measure_resize(task, sizes);
  if (code == Code::kOutOfRange) throw nb::value_error("expected sides and channels above 0");
  const std::size_t limit = physical_memory();
  if (code != Code::kOk || sizes.output_bytes > limit || sizes.indices > limit / 4 ||
      sizes.floats > limit / 4 || sizes.output_bytes + 4 * (sizes.indices + sizes.floats) > limit) {
    throw std::bad_alloc();
  }
  check_same_size("images", input.size(), "shape", sizes.input_bytes);
  return sizes;
}

// What takes some 20 us keeps the GIL: to get it back beside threads that decode costs as much
// (benchmarks/images_seed.py).
constexpr std::size_t kBriefBytes = 131'072;

void run(const ResizeTask& task, const ResizeSizes& sizes, Bytes input,
         std::span<std::byte> output) {
  const Buffer memory(4 * (sizes.indices + sizes.floats));
  const ResizeScratch scratch{numbers_in<std::uint32_t>(memory, sizes.indices),
                              numbers_in<float>(memory, sizes.floats, 4 * sizes.indices)};
  Code code = Code::kOk;
  {
    std::optional<nb::gil_scoped_release> released;
    if (output.size() > kBriefBytes) released.emplace();
    if (task.method == ResizeMethod::kNearest) {
      code = resize_nearest(task, input, scratch, output);
    } else {
      const std::span<float> floats{reinterpret_cast<float*>(output.data()),
                                    output.size() / sizeof(float)};
      code = resize_images(task, input, scratch, floats);
    }
  }
  if (code != Code::kOk) throw nb::value_error("the sizes of images and target do not fit");
}

Buffer resize(const InputBytes& images, const Shape& shape, const Size& size, const How& how) {
  const ResizeTask task = make_task(shape, size, how);
  const ResizeSizes sizes = measure(task, images.bytes());
  Buffer target(sizes.output_bytes);
  run(task, sizes, images.bytes(), target.bytes());
  return target;
}

void resize_into(const InputBytes& images, const Shape& shape, const Size& size, const How& how,
                 const Last& last, nb::handle target) {
  ResizeTask task = make_task(shape, size, how);
  if (std::get<0>(last) < 0 || std::get<0>(last) > 2) throw nb::value_error("expected 0, 1 or 2");
  task.after = static_cast<After>(std::get<0>(last));
  task.factor = std::get<1>(last);
  const ResizeSizes sizes = measure(task, images.bytes());
  const OutputBytes output(target);
  check_same_size("target", output.bytes().size(), "size", sizes.output_bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(output.bytes().data());
  if (task.method != ResizeMethod::kNearest && address % sizeof(float) != 0) {
    throw nb::value_error("expected a target that is aligned");
  }
  run(task, sizes, images.bytes(), output.bytes());
}

}  // namespace

void bind_resize(nb::module_& module) {
  module.def(
      "resize", resize, nb::arg("images"), nb::arg("shape"), nb::arg("size"), nb::arg("how"),
      "Resize images of (count, height, width, channels) to (height, width).\n\n"
      "`how` has the numbers of type, method and placement of core/images/resize.h, and whether\n"
      "filters are spread. Raises MemoryError for sizes that memory cannot hold.");
  module.def(
      "resize_into", resize_into, nb::arg("images"), nb::arg("shape"), nb::arg("size"),
      nb::arg("how"), nb::arg("last"), nb::arg("target"),
      nb::sig("def resize_into(images: typing_extensions.Buffer, shape: tuple[int, int, int, "
              "int], size: tuple[int, int], how: tuple[int, int, int, bool], last: "
              "tuple[int, float], target: typing_extensions.Buffer) -> None"),
      "Do the same into writable memory, and at last nothing (0), or multiply (1) or\n"
      "divide (2) every number by a factor.");
}

}  // namespace tfrkit
