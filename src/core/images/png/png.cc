#include "core/images/png/png.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/images/png/png_filter.h"

namespace tfrkit {
namespace {

constexpr std::uint32_t kRed = 9797;  // 0.299, 0.587 and the rest of 32,768, as libpng rounds them
constexpr std::uint32_t kGreen = 19234;
constexpr std::uint32_t kBlue = 3737;
constexpr std::uint32_t kHalf = 16384;
constexpr unsigned kShift = 15;

// The pixels of a pass are those at left + i * across, top + j * down.
struct Pass {
  std::uint32_t left;
  std::uint32_t top;
  std::uint32_t across;
  std::uint32_t down;

  [[nodiscard]] std::uint32_t columns(std::uint32_t width) const noexcept {
    return width <= left ? 0 : (width - left - 1) / across + 1;
  }
  [[nodiscard]] std::uint32_t rows(std::uint32_t height) const noexcept {
    return height <= top ? 0 : (height - top - 1) / down + 1;
  }
};

constexpr std::array<Pass, 1> kWhole{{{0, 0, 1, 1}}};
constexpr std::array<Pass, 7> kAdam7{{{0, 0, 8, 8},
                                      {4, 0, 8, 8},
                                      {0, 4, 4, 8},
                                      {2, 0, 4, 4},
                                      {0, 2, 2, 4},
                                      {1, 0, 2, 2},
                                      {0, 1, 1, 2}}};

std::span<const Pass> passes(const PngHeader& header) noexcept {
  if (header.interlaced) return kAdam7;
  return kWhole;
}

unsigned samples_per_pixel(PngColor color) noexcept {
  switch (color) {
    case PngColor::kRgb:
      return 3;
    case PngColor::kGrayAlpha:
      return 2;
    case PngColor::kRgba:
      return 4;
    default:
      return 1;
  }
}

std::uint64_t row_bytes(const PngHeader& header, std::uint64_t columns) noexcept {
  return (columns * samples_per_pixel(header.color) * header.depth + 7) / 8;
}

template <typename Sample>
Sample sample_at(const std::uint8_t* row, std::size_t index) noexcept {
  if constexpr (std::is_same_v<Sample, std::uint8_t>) {
    return row[index];
  } else {
    return static_cast<Sample>((row[2 * index] << 8) | row[2 * index + 1]);
  }
}

template <typename Sample, typename Out>
Out resized(Sample value) noexcept {
  if constexpr (sizeof(Sample) < sizeof(Out)) {
    return static_cast<Out>(value * 257);
  } else if constexpr (sizeof(Sample) > sizeof(Out)) {
    return static_cast<Out>(value >> 8);
  } else {
    return value;
  }
}

template <typename Sample>
struct Pixel {
  Sample red;
  Sample green;
  Sample blue;
  Sample alpha;

  [[nodiscard]] bool is(const std::array<std::uint16_t, 3>& key) const noexcept {
    return red == key[0] && green == key[1] && blue == key[2];
  }
};

// libpng cuts the sum off in 8 bits and rounds it in 16; equal samples of 8 bits stay what they
// are.
template <typename Sample>
Sample gray_of(const Pixel<Sample>& pixel, const PngConversion& conversion) noexcept {
  const bool equal = pixel.red == pixel.green && pixel.red == pixel.blue;
  if (!conversion.to_linear.empty()) {
    if (equal) return static_cast<Sample>(conversion.equal[pixel.red]);
    const std::uint32_t linear =
        (kRed * conversion.to_linear[pixel.red] + kGreen * conversion.to_linear[pixel.green] +
         kBlue * conversion.to_linear[pixel.blue] + kHalf) >>
        kShift;
    return static_cast<Sample>(conversion.from_linear[linear]);
  }
  const std::uint32_t sum = kRed * pixel.red + kGreen * pixel.green + kBlue * pixel.blue;
  if constexpr (sizeof(Sample) == 2) {
    return static_cast<Sample>((sum + kHalf) >> kShift);
  } else {
    return equal ? pixel.red : static_cast<Sample>(sum >> kShift);
  }
}

template <PngColor kColor, typename Sample>
Pixel<Sample> pixel_at(const std::uint8_t* row, std::size_t index,
                       const PngConversion& conversion) noexcept {
  const auto opaque = static_cast<Sample>(conversion.opaque);
  if constexpr (kColor == PngColor::kPalette) {
    const std::size_t entry = row[index];
    const std::uint8_t* color = &conversion.palette[3 * entry];
    return {color[0], color[1], color[2], conversion.opacities[entry]};
  } else if constexpr (kColor == PngColor::kGray) {
    const auto gray = sample_at<Sample>(row, index);
    return {gray, gray, gray, opaque};
  } else if constexpr (kColor == PngColor::kGrayAlpha) {
    const auto gray = sample_at<Sample>(row, 2 * index);
    return {gray, gray, gray, sample_at<Sample>(row, 2 * index + 1)};
  } else if constexpr (kColor == PngColor::kRgb) {
    return {sample_at<Sample>(row, 3 * index), sample_at<Sample>(row, 3 * index + 1),
            sample_at<Sample>(row, 3 * index + 2), opaque};
  } else {
    return {sample_at<Sample>(row, 4 * index), sample_at<Sample>(row, 4 * index + 1),
            sample_at<Sample>(row, 4 * index + 2), sample_at<Sample>(row, 4 * index + 3)};
  }
}

// Writes `count` pixels, each `stride` samples after the one before.
template <PngColor kColor, typename Sample, int kChannels, typename Out>
void convert_row(const std::uint8_t* row, std::size_t count, const PngConversion& conversion,
                 Out* target, std::size_t stride) noexcept {
  constexpr bool kColored =
      kColor == PngColor::kPalette || kColor == PngColor::kRgb || kColor == PngColor::kRgba;
  constexpr bool kKeyed = kColor == PngColor::kGray || kColor == PngColor::kRgb;
  for (std::size_t i = 0; i < count; ++i, target += stride) {
    Pixel<Sample> pixel = pixel_at<kColor, Sample>(row, i, conversion);
    if (kChannels % 2 == 0 && kKeyed && conversion.has_key) {
      pixel.alpha = pixel.is(conversion.key) ? Sample{0} : std::numeric_limits<Sample>::max();
    }
    if constexpr (kChannels < 3) {
      target[0] = resized<Sample, Out>(kColored ? gray_of(pixel, conversion) : pixel.red);
    } else {
      target[0] = resized<Sample, Out>(pixel.red);
      target[1] = resized<Sample, Out>(pixel.green);
      target[2] = resized<Sample, Out>(pixel.blue);
    }
    if constexpr (kChannels % 2 == 0) target[kChannels - 1] = resized<Sample, Out>(pixel.alpha);
  }
}

template <typename Out>
using RowConverter = void (*)(const std::uint8_t*, std::size_t, const PngConversion&, Out*,
                              std::size_t) noexcept;

template <PngColor kColor, typename Sample, typename Out>
RowConverter<Out> converter_to(int channels) noexcept {
  switch (channels) {
    case 1:
      return convert_row<kColor, Sample, 1, Out>;
    case 3:
      return convert_row<kColor, Sample, 3, Out>;
    case 4:
      return convert_row<kColor, Sample, 4, Out>;
    default:
      return convert_row<PngColor::kGrayAlpha, Sample, 2, Out>;
  }
}

template <typename Sample, typename Out>
RowConverter<Out> converter_of(PngColor color, int channels) noexcept {
  switch (color) {
    case PngColor::kGray:
      return converter_to<PngColor::kGray, Sample, Out>(channels);
    case PngColor::kRgb:
      return converter_to<PngColor::kRgb, Sample, Out>(channels);
    case PngColor::kGrayAlpha:
      return converter_to<PngColor::kGrayAlpha, Sample, Out>(channels);
    case PngColor::kRgba:
      return converter_to<PngColor::kRgba, Sample, Out>(channels);
    default:
      return converter_to<PngColor::kPalette, std::uint8_t, Out>(channels);
  }
}

// Spreads packed samples to one byte each; those of gray images over the whole range.
void unpack(const std::uint8_t* row, std::size_t count, unsigned depth, bool is_gray,
            std::uint8_t* target) noexcept {
  const unsigned mask = (1U << depth) - 1;
  const unsigned factor = is_gray ? 255 / mask : 1;
  const unsigned per_byte = 8 / depth;
  for (std::size_t i = 0; i < count; ++i) {
    const auto shift = static_cast<unsigned>(8 - depth * (i % per_byte + 1));
    target[i] = static_cast<std::uint8_t>(((unsigned{row[i / per_byte]} >> shift) & mask) * factor);
  }
}

// Restores rows in two alternating rows of scratch and converts each while it is in the cache.
template <typename Out>
class Decoder {
 public:
  Decoder(const PngHeader& header, const PngConversion& conversion, std::span<std::uint8_t> scratch,
          std::span<Out> target) noexcept
      : header_(header), conversion_(conversion), target_(target.data()) {
    const auto bytes = static_cast<std::size_t>(row_bytes(header, header.width));
    above_ = scratch.data();
    row_ = above_ + bytes;
    unpacked_ = row_ + bytes;
    step_ = std::max<std::size_t>(1, samples_per_pixel(header.color) * header.depth / 8U);
    convert_ = header.depth == 16
                   ? converter_of<std::uint16_t, Out>(header.color, conversion.channels)
                   : converter_of<std::uint8_t, Out>(header.color, conversion.channels);
  }

  [[nodiscard]] Code run(Octets raw) noexcept {
    const std::uint8_t* at = raw.data();
    for (const Pass& pass : passes(header_)) {
      const std::uint32_t columns = pass.columns(header_.width);
      if (columns == 0) continue;
      const auto bytes = static_cast<std::size_t>(row_bytes(header_, columns));
      std::memset(above_, 0, bytes);
      for (std::size_t j = 0; j < pass.rows(header_.height); ++j, at += bytes + 1) {
        if (!unfilter_png_row(at[0], at + 1, above_, bytes, step_, row_)) return Code::kBadData;
        write(pass, pass.top + j * pass.down, columns);
        std::swap(above_, row_);
      }
    }
    return Code::kOk;
  }

 private:
  void write(const Pass& pass, std::size_t line, std::size_t columns) noexcept {
    const std::uint8_t* samples = row_;
    if (header_.depth < 8) {
      unpack(row_, columns, header_.depth, header_.color == PngColor::kGray, unpacked_);
      samples = unpacked_;
    }
    const auto channels = static_cast<std::size_t>(conversion_.channels);
    Out* target = target_ + (line * header_.width + pass.left) * channels;
    convert_(samples, columns, conversion_, target, pass.across * channels);
  }

  const PngHeader& header_;
  const PngConversion& conversion_;
  Out* target_;
  std::uint8_t* above_;
  std::uint8_t* row_;
  std::uint8_t* unpacked_;
  std::size_t step_;
  RowConverter<Out> convert_;
};

bool is_plain(const PngHeader& header, const PngConversion& conversion) noexcept {
  return !header.interlaced && header.depth == 8 && header.color != PngColor::kPalette &&
         static_cast<int>(samples_per_pixel(header.color)) == conversion.channels;
}

// Rows that need nothing but their filters undone go straight to the target.
Code restore_in_place(const PngHeader& header, Octets raw, std::span<std::uint8_t> zeros,
                      std::span<std::uint8_t> target) noexcept {
  const auto bytes = static_cast<std::size_t>(row_bytes(header, header.width));
  std::memset(zeros.data(), 0, bytes);
  const std::uint8_t* above = zeros.data();
  const std::uint8_t* at = raw.data();
  std::uint8_t* row = target.data();
  const std::size_t step = samples_per_pixel(header.color);
  for (std::size_t j = 0; j < header.height; ++j, at += bytes + 1, above = row, row += bytes) {
    if (!unfilter_png_row(at[0], at + 1, above, bytes, step, row)) return Code::kBadData;
  }
  return Code::kOk;
}

template <typename Out>
bool fits(const PngHeader& header, const PngConversion& conversion, Octets raw,
          std::span<std::uint8_t> scratch, std::span<Out> target) noexcept {
  const std::uint64_t pixels = std::uint64_t{header.width} * header.height;
  return raw.size() == png_raw_bytes(header) && scratch.size() == png_scratch_bytes(header) &&
         target.size() / static_cast<std::uint64_t>(conversion.channels) == pixels &&
         target.size() % static_cast<std::uint64_t>(conversion.channels) == 0;
}

}  // namespace

bool is_valid(const PngHeader& header) noexcept {
  if (header.width == 0 || header.width > kMaxPngSide) return false;
  if (header.height == 0 || header.height > kMaxPngSide) return false;
  switch (header.depth) {
    case 1:
    case 2:
    case 4:
      return header.color == PngColor::kGray || header.color == PngColor::kPalette;
    case 16:
      if (header.color == PngColor::kPalette) return false;
      [[fallthrough]];
    case 8:
      return header.color == PngColor::kGray || header.color == PngColor::kRgb ||
             header.color == PngColor::kPalette || header.color == PngColor::kGrayAlpha ||
             header.color == PngColor::kRgba;
    default:
      return false;
  }
}

std::uint64_t png_raw_bytes(const PngHeader& header) noexcept {
  std::uint64_t total = 0;
  for (const Pass& pass : passes(header)) {
    const std::uint32_t columns = pass.columns(header.width);
    if (columns == 0) continue;
    total += (row_bytes(header, columns) + 1) * pass.rows(header.height);
  }
  return total;
}

std::size_t png_scratch_bytes(const PngHeader& header) noexcept {
  const auto bytes = static_cast<std::size_t>(row_bytes(header, header.width));
  return 2 * bytes + (header.depth < 8 ? header.width : 0);
}

Code decode_png_rows(const PngHeader& header, const PngConversion& conversion, Octets raw,
                     std::span<std::uint8_t> scratch, std::span<std::uint8_t> target) noexcept {
  if (!fits(header, conversion, raw, scratch, target)) return Code::kOutOfRange;
  if (is_plain(header, conversion)) return restore_in_place(header, raw, scratch, target);
  return Decoder<std::uint8_t>(header, conversion, scratch, target).run(raw);
}

Code decode_png_rows(const PngHeader& header, const PngConversion& conversion, Octets raw,
                     std::span<std::uint8_t> scratch, std::span<std::uint16_t> target) noexcept {
  if (!fits(header, conversion, raw, scratch, target)) return Code::kOutOfRange;
  return Decoder<std::uint16_t>(header, conversion, scratch, target).run(raw);
}

Code encode_png_rows(Octets rows, std::size_t row_bytes, std::size_t step,
                     std::span<std::uint8_t> scratch, std::span<std::uint8_t> target) noexcept {
  if (row_bytes == 0 || step == 0 || rows.size() % row_bytes != 0) return Code::kOutOfRange;
  const std::size_t count = rows.size() / row_bytes;
  if (scratch.size() / (kPngFilters + 1) != row_bytes || target.size() != rows.size() + count) {
    return Code::kOutOfRange;
  }
  const std::uint8_t* above = scratch.data() + kPngFilters * row_bytes;
  std::memset(scratch.data() + kPngFilters * row_bytes, 0, row_bytes);
  std::uint8_t* out = target.data();
  for (const std::uint8_t* row = rows.data(); row != rows.data() + rows.size(); row += row_bytes) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::uint8_t best = 0;
    for (std::uint8_t filter = 0; filter < kPngFilters; ++filter) {
      const std::uint64_t sum =
          filter_png_row(filter, row, above, row_bytes, step, scratch.data() + filter * row_bytes);
      if (sum < least) {
        least = sum;
        best = filter;
      }
    }
    *out = best;
    std::memcpy(out + 1, scratch.data() + best * row_bytes, row_bytes);
    out += row_bytes + 1;
    above = row;
  }
  return Code::kOk;
}

}  // namespace tfrkit
