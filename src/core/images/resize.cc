#include "core/images/resize.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "core/bytes/flush_denormals.h"
#include "core/images/resize_axis.h"
#include "core/images/resize_rows.h"

namespace tfrkit {
namespace {

constexpr std::size_t kRowsAtOnce = 16;  // of a filter
constexpr auto kMaxBytes = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());

struct Choice {
  std::array<const ResizeVariant*, 2> variants{};
  std::size_t count = 0;
};

Choice choose() noexcept {
  Choice choice;
#ifdef TFRKIT_HAVE_AVX2
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") != 0) choice.variants[choice.count++] = &kResizeAvx2;
#endif
  choice.variants[choice.count++] = &kResizePortable;
  return choice;
}

const Choice kChoice = choose();

// Multiplies; false if the product is over kMaxBytes.
bool times(std::size_t& value, std::size_t factor) noexcept {
  if (factor != 0 && value > kMaxBytes / factor) return false;
  value *= factor;
  return true;
}

bool is_filter(ResizeMethod method) noexcept { return method >= ResizeMethod::kTriangle; }

// Cuts the scratch memory into parts; or, without memory, adds up what they need.
class Cutter {
 public:
  Cutter() = default;
  explicit Cutter(const ResizeScratch& scratch) noexcept : scratch_(scratch), real_(true) {}

  std::span<std::uint32_t> indices(std::size_t count) noexcept {
    return cut(scratch_.indices, indices_, count);
  }
  std::span<float> floats(std::size_t count, std::size_t each = 1) noexcept {
    good_ = good_ && times(count, each);
    return cut(scratch_.floats, floats_, good_ ? count : 0);
  }

  // Tells whether no sum or product went over the limits.
  [[nodiscard]] bool good() const noexcept { return good_; }
  void write_to(ResizeSizes& sizes) const noexcept {
    sizes.indices = indices_;
    sizes.floats = floats_;
  }

 private:
  template <typename T>
  std::span<T> cut(std::span<T> whole, std::size_t& used, std::size_t count) noexcept {
    if (count > kMaxBytes / sizeof(T) - used) {
      good_ = false;
      return {};
    }
    const std::size_t start = used;
    used += count;
    return real_ ? whole.subspan(start, count) : std::span<T>();
  }

  ResizeScratch scratch_{};
  std::size_t indices_ = 0;
  std::size_t floats_ = 0;
  bool real_ = false;
  bool good_ = true;
};

LerpTable cut_lerps(Cutter& cutter, std::size_t out) noexcept {
  return {cutter.indices(out), cutter.indices(out), cutter.floats(out)};
}
CubicTable cut_cubic(Cutter& cutter, std::size_t out) noexcept {
  return {cutter.indices(4 * out), cutter.floats(4 * out)};
}
AreaTable cut_area(Cutter& cutter, std::size_t out) noexcept {
  return {cutter.indices(out), cutter.indices(out), cutter.floats(2 * out)};
}
SpanTable cut_spans(Cutter& cutter, std::size_t out, std::size_t width) noexcept {
  return {cutter.indices(out), cutter.indices(out), cutter.floats(out, width), width};
}

// One task in its parts: sizes of rows, the loops, and the rows of one image after another.
class Resizer {
 public:
  explicit Resizer(const ResizeTask& task) noexcept
      : task_(task),
        loops_(*kChoice.variants[0]),
        pixels_(loops_.pixels[static_cast<std::size_t>(task.type)]),
        in_row_(task.width * task.channels),
        out_row_(task.out_width * task.channels),
        in_row_bytes_(in_row_ * pixel_bytes(task.type)) {}

  // Each of these cuts its scratch memory, and if there is any fills its tables and goes through
  // the images.
  void bilinear(Cutter& cutter, Bytes input, std::span<float> output) noexcept;
  void bicubic(Cutter& cutter, Bytes input, std::span<float> output) noexcept;
  void area(Cutter& cutter, Bytes input, std::span<float> output) noexcept;
  void filter(Cutter& cutter, Bytes input, std::span<float> output) noexcept;

  void run(Cutter& cutter, Bytes input, std::span<float> output) noexcept {
    if (is_filter(task_.method)) return filter(cutter, input, output);
    if (task_.method == ResizeMethod::kBicubic) return bicubic(cutter, input, output);
    if (task_.method == ResizeMethod::kArea) return area(cutter, input, output);
    return bilinear(cutter, input, output);
  }

 private:
  [[nodiscard]] ResizeAxis rows() const noexcept {
    return {task_.height, task_.out_height, 1, task_.centers};
  }
  [[nodiscard]] ResizeAxis columns(std::size_t step) const noexcept {
    return {task_.width, task_.out_width, step, task_.centers};
  }
  // Returns row `y` of image `image`, and all that follows it.
  [[nodiscard]] Bytes row(Bytes input, std::size_t image, std::size_t y) const noexcept {
    return input.subspan((image * task_.height + y) * in_row_bytes_);
  }
  // Returns row `y` of the output, to be filled.
  [[nodiscard]] std::span<float> target(std::span<float> output, std::size_t image,
                                        std::size_t y) const noexcept {
    return output.subspan((image * task_.out_height + y) * out_row_, out_row_);
  }
  // Does with a finished row what the task asks for, while it is in the cache.
  void finish(std::span<float> row) const noexcept {
    if (task_.after == After::kMultiply) loops_.multiply(task_.factor, row);
    if (task_.after == After::kDivide) loops_.divide(task_.factor, row);
  }
  void convert_all(Bytes input, std::span<float> output) const noexcept;

  const ResizeTask& task_;
  const ResizeVariant& loops_;
  const PixelLoops& pixels_;
  std::size_t in_row_;
  std::size_t out_row_;
  std::size_t in_row_bytes_;
};

void Resizer::convert_all(Bytes input, std::span<float> output) const noexcept {
  for (std::size_t y = 0; y < task_.images * task_.height; ++y) {
    const std::span<float> made = target(output, 0, y);
    pixels_.convert(row(input, 0, y).data(), made);
    finish(made);
  }
}

void Resizer::bilinear(Cutter& cutter, Bytes input, std::span<float> output) noexcept {
  const LerpTable rows_table = cut_lerps(cutter, task_.out_height);
  const LerpTable table = cut_lerps(cutter, task_.out_width);
  const LerpColumns mixing{table, cutter.floats(out_row_), task_.channels};
  std::array<std::span<float>, 2> kept{cutter.floats(out_row_), cutter.floats(out_row_)};
  if (output.empty()) return;
  if (task_.height == task_.out_height && task_.width == task_.out_width) {
    return convert_all(input, output);
  }
  fill_lerps(rows(), rows_table);
  fill_lerps(columns(task_.channels), table);
  for (std::size_t x = 0; x < task_.out_width; ++x) {
    const float lerp = table.lower[x] == table.upper[x] ? 0.0F : table.lerp[x];
    std::fill_n(mixing.spread.begin() + static_cast<std::ptrdiff_t>(x * task_.channels),
                task_.channels, lerp);
  }
  for (std::size_t image = 0; image < task_.images; ++image) {
    // The input rows that `kept` holds, mixed; the next output row often needs one of them again.
    constexpr std::size_t kNone = kMaxSide;
    std::array<std::size_t, 2> held{kNone, kNone};
    for (std::size_t y = 0; y < task_.out_height; ++y) {
      const std::array<std::size_t, 2> wanted{rows_table.lower[y], rows_table.upper[y]};
      if (held[1] == wanted[0]) std::swap(held[0], held[1]), std::swap(kept[0], kept[1]);
      for (std::size_t k = 0; k < 2; ++k) {
        if (held[k] == wanted[k] || (k == 1 && wanted[1] == wanted[0])) continue;
        pixels_.lerp(row(input, image, wanted[k]), mixing, kept[k]);
        held[k] = wanted[k];
      }
      const std::span<float> made = target(output, image, y);
      const std::size_t lower = wanted[1] == wanted[0] ? 0 : 1;
      loops_.lerp_rows(kept[0], kept[lower], rows_table.lerp[y], made);
      finish(made);
    }
  }
}

void Resizer::bicubic(Cutter& cutter, Bytes input, std::span<float> output) noexcept {
  const CubicTable rows_table = cut_cubic(cutter, task_.out_height);
  const CubicColumns mixing{cut_cubic(cutter, task_.out_width), task_.channels};
  const std::span<float> mixed = cutter.floats(in_row_ + 1);
  if (output.empty()) return;
  fill_cubic(rows(), rows_table);
  fill_cubic(columns(task_.channels), mixing.table);
  for (std::size_t image = 0; image < task_.images; ++image) {
    for (std::size_t y = 0; y < task_.out_height; ++y) {
      std::array<const std::byte*, 4> four{};
      for (std::size_t k = 0; k < 4; ++k) {
        four[k] = row(input, image, rows_table.indices[4 * y + k]).data();
      }
      pixels_.mix(four, std::span<const float>(rows_table.weights).subspan(4 * y).first<4>(),
                  mixed.first(in_row_));
      const std::span<float> made = target(output, image, y);
      loops_.cubic_columns(mixed, mixing, made);
      finish(made);
    }
  }
}

void Resizer::area(Cutter& cutter, Bytes input, std::span<float> output) noexcept {
  const AreaTable rows_table = cut_area(cutter, task_.out_height);
  const AreaColumns summing{cut_area(cutter, task_.out_width), task_.width, task_.channels};
  const std::span<float> converted = cutter.floats(in_row_ + 1);
  const std::span<float> summed = cutter.floats(out_row_);
  if (output.empty()) return;
  fill_area(rows(), rows_table);
  fill_area(columns(1), summing.table);
  const float pixels = axis_scale(rows()) * axis_scale(columns(1));
  const auto factor = static_cast<float>(1.0 / static_cast<double>(pixels));
  for (std::size_t image = 0; image < task_.images; ++image) {
    std::size_t held = kMaxSide;  // the input row that `summed` has
    for (std::size_t y = 0; y < task_.out_height; ++y) {
      const std::span<float> made = target(output, image, y);
      std::fill(made.begin(), made.end(), 0.0F);
      const std::size_t count = rows_table.count[y];
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t from = std::min(rows_table.first[y] + k, task_.height - 1);
        if (from != held) {
          pixels_.convert(row(input, image, from).data(), converted.first(in_row_));
          loops_.area_columns(converted, summing, summed);
          held = from;
        }
        const float inner = k + 1 == count ? rows_table.ends[2 * y + 1] : 1.0F;
        loops_.add_row(summed, k == 0 ? rows_table.ends[2 * y] : inner, made);
      }
      loops_.multiply(factor, made);
      finish(made);
    }
  }
}

void Resizer::filter(Cutter& cutter, Bytes input, std::span<float> output) noexcept {
  const ResizeMethod method = task_.method;
  const bool antialias = task_.antialias;
  const SpanTable rows_table =
      cut_spans(cutter, task_.out_height, filter_width(rows(), method, antialias));
  const SpanColumns mixing{
      cut_spans(cutter, task_.out_width, filter_width(columns(1), method, antialias)),
      task_.channels};
  const std::span<float> mixed = cutter.floats(in_row_ + 1);
  if (output.empty()) return;
  const bool padded = task_.type >= PixelType::kHalf;  // others are always finite
  fill_filter(rows(), method, antialias, padded, rows_table);
  fill_filter(columns(1), method, antialias, padded, mixing.table);
  for (std::size_t image = 0; image < task_.images; ++image) {
    for (std::size_t y = 0; y < task_.out_height; ++y) {
      std::fill(mixed.begin(), mixed.end(), 0.0F);
      std::array<const std::byte*, kRowsAtOnce> taken{};
      const std::size_t count = rows_table.count[y];
      for (std::size_t k = 0; k < count; k += kRowsAtOnce) {
        const std::size_t some = std::min(kRowsAtOnce, count - k);
        for (std::size_t i = 0; i < some; ++i) {
          taken[i] = row(input, image, rows_table.first[y] + k + i).data();
        }
        pixels_.add(std::span<const std::byte* const>(taken).first(some),
                    rows_table.weights.subspan(y * rows_table.width + k, some),
                    mixed.first(in_row_));
      }
      const std::span<float> made = target(output, image, y);
      loops_.span_columns(mixed, mixing, made);
      finish(made);
    }
  }
}

bool fits(const ResizeTask& task, Bytes input, const ResizeScratch& scratch,
          std::size_t output_bytes) noexcept {
  ResizeSizes sizes;
  return measure_resize(task, sizes) == Code::kOk && input.size() == sizes.input_bytes &&
         output_bytes == sizes.output_bytes && scratch.indices.size() >= sizes.indices &&
         scratch.floats.size() >= sizes.floats;
}

}  // namespace

std::span<const ResizeVariant* const> resize_variants() noexcept {
  return std::span(kChoice.variants).first(kChoice.count);
}

std::size_t pixel_bytes(PixelType type) noexcept {
  constexpr std::array<std::size_t, kPixelTypes> kBytes{1, 1, 2, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

Code measure_resize(const ResizeTask& task, ResizeSizes& sizes) noexcept {
  const std::array sides{task.height, task.width, task.channels, task.out_height, task.out_width};
  if (std::ranges::count(sides, std::size_t{0}) != 0) return Code::kOutOfRange;
  if (std::ranges::max(sides) > kMaxSide) return Code::kTooLarge;
  const std::size_t longest = std::max(task.width, task.out_width);
  if (task.channels > kMaxSide / longest) return Code::kTooLarge;
  const bool nearest = task.method == ResizeMethod::kNearest;
  sizes.input_bytes = task.width * task.channels * pixel_bytes(task.type);
  sizes.output_bytes =
      task.out_width * task.channels * (nearest ? pixel_bytes(task.type) : sizeof(float));
  if (!times(sizes.input_bytes, task.height) || !times(sizes.input_bytes, task.images) ||
      !times(sizes.output_bytes, task.out_height) || !times(sizes.output_bytes, task.images)) {
    return Code::kTooLarge;
  }
  Cutter cutter;
  if (nearest) {
    (void)cutter.indices(task.out_height);
    (void)cutter.indices(task.out_width);
  } else {
    Resizer(task).run(cutter, {}, {});
  }
  cutter.write_to(sizes);
  return cutter.good() ? Code::kOk : Code::kTooLarge;
}

Code resize_images(const ResizeTask& task, Bytes input, const ResizeScratch& scratch,
                   std::span<float> output) noexcept {
  if (task.method == ResizeMethod::kNearest || !fits(task, input, scratch, output.size_bytes())) {
    return Code::kOutOfRange;
  }
  const FlushDenormals flushed;
  Cutter cutter(scratch);
  Resizer(task).run(cutter, input, output);
  return Code::kOk;
}

}  // namespace tfrkit
