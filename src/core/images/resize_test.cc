#include "core/images/resize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/bytes/check.h"
#include "core/bytes/flush_denormals.h"
#include "core/images/resize_rows.h"

namespace tfrkit {
namespace {

ResizeTask make_task(PixelType type, ResizeMethod method, std::array<std::size_t, 4> shape,
                     std::size_t out_height, std::size_t out_width) {
  ResizeTask task{};
  task.type = type;
  task.method = method;
  task.centers = method == ResizeMethod::kArea ? Centers::kCorner : Centers::kHalfPixel;
  task.images = shape[0];
  task.height = shape[1];
  task.width = shape[2];
  task.channels = shape[3];
  task.out_height = out_height;
  task.out_width = out_width;
  return task;
}

// Memory of the measured size, and no more, so that the sanitizer sees a step outside.
struct Memory {
  explicit Memory(const ResizeTask& task) {
    code = measure_resize(task, sizes);
    if (code != Code::kOk) return;
    input.resize(sizes.input_bytes);
    indices.resize(sizes.indices);
    floats.resize(sizes.floats);
    output.resize(sizes.output_bytes / sizeof(float));
    bytes.resize(sizes.output_bytes);
  }
  [[nodiscard]] ResizeScratch scratch() { return {indices, floats}; }

  Code code;
  ResizeSizes sizes;
  std::vector<std::byte> input;
  std::vector<std::uint32_t> indices;
  std::vector<float> floats;
  std::vector<float> output;
  std::vector<std::byte> bytes;
};

std::vector<float> resize_bytes(const ResizeTask& task, const std::vector<int>& pixels) {
  Memory memory(task);
  CHECK_EQ(memory.input.size(), pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    memory.input[i] = static_cast<std::byte>(pixels[i]);
  }
  CHECK(resize_images(task, memory.input, memory.scratch(), memory.output) == Code::kOk);
  return memory.output;
}

TEST(bilinear_mixes_the_four_neighbours) {
  const auto task = make_task(PixelType::kUint8, ResizeMethod::kBilinear, {1, 2, 2, 1}, 2, 4);
  CHECK(resize_bytes(task, {0, 10, 20, 30}) ==
        (std::vector<float>{0, 2.5, 7.5, 10, 20, 22.5, 27.5, 30}));
}

TEST(the_same_size_is_a_cast) {
  const auto task = make_task(PixelType::kUint8, ResizeMethod::kBilinear, {1, 1, 3, 2}, 1, 3);
  CHECK(resize_bytes(task, {1, 2, 3, 4, 5, 255}) == (std::vector<float>{1, 2, 3, 4, 5, 255}));
}

TEST(area_is_the_mean) {
  const auto task = make_task(PixelType::kUint8, ResizeMethod::kArea, {2, 2, 2, 1}, 1, 1);
  CHECK(resize_bytes(task, {0, 10, 20, 30, 4, 4, 4, 4}) == (std::vector<float>{15, 4}));
}

TEST(a_factor_is_applied_at_last) {
  auto task = make_task(PixelType::kUint8, ResizeMethod::kBilinear, {1, 1, 1, 1}, 1, 2);
  task.after = After::kDivide;
  task.factor = 255.0F;
  CHECK(resize_bytes(task, {51}) == (std::vector<float>{51.0F / 255.0F, 51.0F / 255.0F}));
  task.after = After::kMultiply;
  CHECK(resize_bytes(task, {2}) == (std::vector<float>{510, 510}));
}

TEST(nearest_copies_pixels_of_any_size) {
  for (std::size_t channels = 1; channels < 20; ++channels) {
    const auto task =
        make_task(PixelType::kUint8, ResizeMethod::kNearest, {1, 1, 2, channels}, 2, 1);
    Memory memory(task);
    for (std::size_t i = 0; i < 2 * channels; ++i) memory.input[i] = static_cast<std::byte>(i);
    CHECK(resize_nearest(task, memory.input, memory.scratch(), memory.bytes) == Code::kOk);
    for (std::size_t i = 0; i < 2 * channels; ++i) {
      CHECK_EQ(std::to_integer<std::size_t>(memory.bytes[i]), channels + i % channels);
    }
  }
}

TEST(every_task_stays_in_its_memory) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t limit) { return 1 + random() % limit; };
  for (int i = 0; i < 3000; ++i) {
    auto task = make_task(static_cast<PixelType>(random() % kPixelTypes),
                          static_cast<ResizeMethod>(random() % kResizeMethods),
                          {below(3), below(14), below(14), below(5)}, below(30), below(30));
    task.centers = static_cast<Centers>(random() % kCenters);
    task.antialias = random() % 2 == 0;
    Memory memory(task);
    CHECK(memory.code == Code::kOk);
    for (std::byte& byte : memory.input) byte = static_cast<std::byte>(random());
    if (task.method == ResizeMethod::kNearest) {
      CHECK(resize_nearest(task, memory.input, memory.scratch(), memory.bytes) == Code::kOk);
    } else {
      CHECK(resize_images(task, memory.input, memory.scratch(), memory.output) == Code::kOk);
    }
  }
}

TEST(subnormal_numbers_are_zero_while_resizing) {
  const auto task = make_task(PixelType::kFloat32, ResizeMethod::kBilinear, {1, 1, 2, 1}, 1, 3);
  Memory memory(task);
  const std::array<float, 2> pixels{1e-39F, 1e-39F};
  std::memcpy(memory.input.data(), pixels.data(), sizeof(pixels));
  CHECK(resize_images(task, memory.input, memory.scratch(), memory.output) == Code::kOk);
  CHECK(memory.output == (std::vector<float>{0.0F, 0.0F, 0.0F}));
  const volatile float tiny = 1e-39F;
  CHECK(tiny * 1.0F != 0.0F);
}

TEST(an_empty_batch_is_nothing) {
  const auto task = make_task(PixelType::kFloat64, ResizeMethod::kLanczos3, {0, 3, 3, 1}, 2, 2);
  Memory memory(task);
  CHECK_EQ(memory.output.size(), 0U);
  CHECK(resize_images(task, memory.input, memory.scratch(), memory.output) == Code::kOk);
}

TEST(impossible_sizes_are_refused) {
  ResizeSizes sizes;
  for (const std::size_t side : {std::size_t{0}, kMaxSide + 1, ~std::size_t{0}}) {
    const Code expected = side == 0 ? Code::kOutOfRange : Code::kTooLarge;
    for (int method = 0; method < kResizeMethods; ++method) {
      const auto number = static_cast<ResizeMethod>(method);
      for (std::size_t k = 1; k < 4; ++k) {
        std::array<std::size_t, 4> shape{1, 2, 2, 1};
        shape[k] = side;
        CHECK(measure_resize(make_task(PixelType::kUint8, number, shape, 2, 2), sizes) == expected);
      }
      const auto tall = make_task(PixelType::kUint8, number, {1, 2, 2, 1}, side, 2);
      CHECK(measure_resize(tall, sizes) == expected);
      const auto wide = make_task(PixelType::kUint8, number, {1, 2, 2, 1}, 2, side);
      CHECK(measure_resize(wide, sizes) == expected);
    }
  }
}

TEST(products_that_overflow_are_refused) {
  ResizeSizes sizes;
  for (int method = 0; method < kResizeMethods; ++method) {
    const auto number = static_cast<ResizeMethod>(method);
    const auto large = make_task(PixelType::kFloat64, number, {4, 1, 1, 1}, kMaxSide, kMaxSide);
    CHECK(measure_resize(large, sizes) == Code::kTooLarge);
    const auto many = make_task(PixelType::kUint8, number, {~std::size_t{0}, 1, 1, 1}, 1, 1);
    CHECK(measure_resize(many, sizes) == Code::kTooLarge);
    const auto deep = make_task(PixelType::kUint8, number, {1, 1, 2, kMaxSide}, 1, 1);
    CHECK(measure_resize(deep, sizes) == Code::kTooLarge);
  }
}

TEST(memory_of_another_size_is_refused) {
  const auto task = make_task(PixelType::kUint8, ResizeMethod::kBilinear, {1, 3, 3, 1}, 2, 2);
  Memory memory(task);
  const std::span<std::byte> input(memory.input);
  const std::span<float> output(memory.output);
  CHECK(resize_images(task, input.first(8), memory.scratch(), output) == Code::kOutOfRange);
  CHECK(resize_images(task, input, memory.scratch(), output.first(3)) == Code::kOutOfRange);
  CHECK(resize_images(task, input, {}, output) == Code::kOutOfRange);
  CHECK(resize_nearest(task, input, memory.scratch(), memory.bytes) == Code::kOutOfRange);
}

// Rows of every type with tables that point anywhere into them: all variants return the same bits.
struct RowCase {
  RowCase(std::mt19937& random, std::size_t channels, std::size_t pixels, std::size_t made)
      : row(pixels * channels * sizeof(double)), target(made * channels) {
    for (std::byte& byte : row) byte = static_cast<std::byte>(random());
    std::uniform_real_distribution<float> part(0.0F, 1.0F);
    std::size_t last = 0;
    for (std::size_t x = 0; x < made; ++x) {
      last = std::min(pixels - 1, last + random() % 3);
      const std::size_t next = std::min(pixels - 1, last + random() % 2);
      lower.push_back(static_cast<std::uint32_t>(last * channels));
      upper.push_back(static_cast<std::uint32_t>(next * channels));
      lerp.push_back(next == last ? 0.0F : part(random));
      spread.insert(spread.end(), channels, lerp.back());
    }
    columns = {{lower, upper, lerp}, spread, channels};
  }

  std::vector<std::byte> row;
  std::vector<std::uint32_t> lower;
  std::vector<std::uint32_t> upper;
  std::vector<float> lerp;
  std::vector<float> spread;
  std::vector<float> target;
  LerpColumns columns;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i]);
    if (!same && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return a.size() == b.size();
}

TEST(all_variants_mix_columns_alike) {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    RowCase row(random, 1 + random() % 5, 1 + random() % 40, 1 + random() % 40);
    const auto type = random() % kPixelTypes;
    const std::size_t bytes = pixel_bytes(static_cast<PixelType>(type));
    // The row ends where the memory ends, or some bytes before.
    const std::size_t used = row.row.size() / sizeof(double) * bytes;
    const std::size_t more = std::min<std::size_t>(random() % 9, row.row.size() - used);
    const Bytes pixels = Bytes(row.row).last(used + more);
    kResizePortable.pixels[type].lerp(pixels, row.columns, row.target);
    const std::vector<float> expected = row.target;
    for (const ResizeVariant* const variant : resize_variants()) {
      std::ranges::fill(row.target, -1.0F);
      variant->pixels[type].lerp(pixels, row.columns, row.target);
      CHECK(same_bits(row.target, expected));
    }
  }
}

TEST(all_variants_convert_and_add_alike) {
  std::mt19937 random(3);
  for (std::size_t size = 0; size < 70; ++size) {
    RowCase row(random, 1, size + 1, size + 1);
    const std::array<const std::byte*, 4> rows{row.row.data(), row.row.data(), row.row.data(),
                                               row.row.data()};
    for (std::size_t type = 0; type < kPixelTypes; ++type) {
      const auto made = [&](const ResizeVariant& variant) {
        const PixelLoops& loops = variant.pixels[type];
        std::vector<float> all(4 * size);
        const std::span<float> parts(all);
        loops.convert(row.row.data(), parts.first(size));
        loops.add(
            std::array<const std::byte*, 6>{rows[0], rows[0], rows[0], rows[0], rows[0], rows[0]},
            std::array{0.3F, 1.7F, 0.1F, -0.7F, 0.9F, 0.2F}, parts.subspan(size, size));
        loops.mix(rows, std::array{0.1F, 0.7F, 0.3F, -0.1F}, parts.subspan(2 * size, size));
        variant.lerp_rows(parts.first(size), parts.subspan(size, size), 0.3F,
                          parts.subspan(3 * size, size));
        return all;
      };
      const std::vector<float> expected = made(kResizePortable);
      for (const ResizeVariant* const variant : resize_variants()) {
        CHECK(same_bits(made(*variant), expected));
      }
    }
  }
}

TEST(halves_are_converted_exactly) {
  const FlushDenormals flushed;
  const PixelLoops& loops = kResizePortable.pixels[static_cast<std::size_t>(PixelType::kHalf)];
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const std::array<std::byte, 2> bytes{static_cast<std::byte>(half & 0xff),
                                         static_cast<std::byte>(half >> 8)};
    std::array<float, 1> found{};
    loops.convert(bytes.data(), found);
    const int exponent = static_cast<int>((half >> 10) & 31);
    const int fraction = static_cast<int>(half & 1023);
    const double sign = half < 0x8000 ? 1.0 : -1.0;
    if (exponent == 31 && fraction != 0) {
      CHECK(std::isnan(found[0]));
    } else if (exponent == 31) {
      CHECK(found[0] == sign * std::numeric_limits<double>::infinity());
    } else {
      const int whole = exponent == 0 ? fraction : fraction + 1024;
      CHECK(found[0] == sign * std::ldexp(whole, std::max(exponent, 1) - 25));
    }
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
