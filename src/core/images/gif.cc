#include "core/images/gif.h"

#include <algorithm>
#include <array>

namespace tfrkit {
namespace {

constexpr unsigned kMaxBits = 12;
constexpr unsigned kMaxCode = (1U << kMaxBits) - 1;
constexpr unsigned kNone = kMaxCode + 3;
constexpr std::uint8_t kUnknownPixel = 2;  // how giflib ends codes that are in no table yet
constexpr unsigned kMaxCodeSize = 8;

// Takes codes of any number of bits from a chain of blocks.
class CodeReader {
 public:
  CodeReader(std::span<const std::uint8_t> data, std::size_t position) noexcept
      : data_(data), position_(position) {}

  [[nodiscard]] GifEnd read(unsigned bits, unsigned& code) noexcept {
    while (available_ < bits) {
      if (in_block_ == 0) {
        const GifEnd end = open_block();
        if (end != GifEnd::kOk) return end;
      }
      held_ |= static_cast<std::uint32_t>(data_[position_++]) << available_;
      --in_block_;
      available_ += 8;
    }
    code = held_ & ((1U << bits) - 1);
    held_ >>= bits;
    available_ -= bits;
    return GifEnd::kOk;
  }

  // Passes over the blocks that are left, up to and with the empty one.
  [[nodiscard]] GifFrame finish() noexcept {
    position_ += in_block_;
    while (position_ < data_.size()) {
      const std::size_t size = data_[position_++];
      if (size == 0) return {GifEnd::kOk, position_};
      if (size > data_.size() - position_) break;
      position_ += size;
    }
    return {GifEnd::kCut, position_};
  }

 private:
  GifEnd open_block() noexcept {
    if (position_ >= data_.size()) return GifEnd::kCut;
    in_block_ = data_[position_++];
    if (in_block_ == 0) return GifEnd::kDefective;
    if (in_block_ > data_.size() - position_) {
      in_block_ = 0;
      return GifEnd::kCut;
    }
    return GifEnd::kOk;
  }

  std::span<const std::uint8_t> data_;
  std::size_t position_;
  std::size_t in_block_ = 0;
  std::uint32_t held_ = 0;
  unsigned available_ = 0;
};

// Where pixels go: rows from top to bottom, or in the four passes of interlaced images.
class PixelWriter {
 public:
  PixelWriter(const GifSize& size, std::uint8_t* pixels) noexcept
      : size_(size), pixels_(pixels), left_(size.width * size.height) {}

  [[nodiscard]] std::size_t left() const noexcept { return left_; }

  // Takes `count` entries of `stack` from the last to the first, as many as there is room for.
  void put_reversed(const std::uint8_t* stack, std::size_t count) noexcept {
    const std::size_t room = std::min(count, left_);
    left_ -= room;
    if (pixels_ == nullptr) return;
    if (size_.interlaced) {
      for (std::size_t i = 0; i < room; ++i) put(stack[count - 1 - i]);
      return;
    }
    for (std::size_t i = 0; i < room; ++i) pixels_[i] = stack[count - 1 - i];
    pixels_ += room;
  }

 private:
  void put(std::uint8_t pixel) noexcept {
    pixels_[row_ * size_.width + column_] = pixel;
    ++column_;
    if (column_ < size_.width) return;
    column_ = 0;
    row_ += kJumps[pass_];
    while (row_ >= size_.height && pass_ + 1 < kOffsets.size()) {
      ++pass_;
      row_ = kOffsets[pass_];
    }
  }

  static constexpr std::array<std::size_t, 4> kOffsets{0, 4, 2, 1};
  static constexpr std::array<std::size_t, 4> kJumps{8, 8, 4, 2};

  const GifSize& size_;
  std::uint8_t* pixels_;
  std::size_t left_;
  std::size_t column_ = 0;
  std::size_t row_ = 0;
  std::size_t pass_ = 0;
};

// The strings that codes stand for, each as the code of all but its last pixel, and that pixel.
class CodeTable {
 public:
  explicit CodeTable(unsigned code_size) noexcept : code_size_(code_size), clear_(1U << code_size) {
    reset();
  }

  void reset() noexcept {
    prefixes_.fill(kNone);
    running_ = clear_ + 2;
    bits_ = code_size_ + 1;
    last_ = kNone;
  }

  [[nodiscard]] unsigned clear_code() const noexcept { return clear_; }
  [[nodiscard]] unsigned bits() const noexcept { return bits_; }

  // Counts a code that was read: the next one may have one bit more.
  void count() noexcept {
    if (running_ >= kMaxCode + 2) return;
    ++running_;
    if (running_ > (1U << bits_) && bits_ < kMaxBits) ++bits_;
  }

  // Writes the pixels of `code` in reverse order to `stack`, of kMaxCode + 1 entries; returns how
  // many they are, 0 if the code cannot be. Then the table has one more entry.
  [[nodiscard]] std::size_t expand(unsigned code, std::uint8_t* stack) noexcept {
    const unsigned entry = running_ - 2;
    const bool unknown = code > clear_ && prefixes_[code] == kNone;
    std::size_t size = unknown ? 1 : 0;
    unsigned prefix = unknown ? last_ : code;
    while (size < kMaxCode && prefix > clear_ && prefix <= kMaxCode) {
      stack[size++] = suffixes_[prefix];
      prefix = prefixes_[prefix];
    }
    if (size >= kMaxCode || prefix > kMaxCode) return 0;
    stack[size++] = static_cast<std::uint8_t>(prefix);
    const std::uint8_t first = unknown && code != entry ? kUnknownPixel : stack[size - 1];
    if (unknown) stack[0] = first;
    if (last_ != kNone && entry <= kMaxCode && prefixes_[entry] == kNone) {
      prefixes_[entry] = static_cast<std::uint16_t>(last_);
      suffixes_[entry] = first;
    }
    last_ = code;
    return size;
  }

 private:
  unsigned code_size_;
  unsigned clear_;
  unsigned running_ = 0;
  unsigned bits_ = 0;
  unsigned last_ = kNone;
  std::array<std::uint16_t, kMaxCode + 1> prefixes_{};
  std::array<std::uint8_t, kMaxCode + 1> suffixes_{};
};

GifFrame run(std::span<const std::uint8_t> data, std::size_t position, const GifSize& size,
             std::uint8_t* pixels) noexcept {
  if (position >= data.size()) return {GifEnd::kCut, position};
  const unsigned code_size = data[position++];
  if (code_size > kMaxCodeSize) return {GifEnd::kCut, position};  // what giflib says of it
  CodeReader reader(data, position);
  PixelWriter writer(size, pixels);
  CodeTable table(code_size);
  std::array<std::uint8_t, kMaxCode + 1> stack;
  while (writer.left() != 0) {
    unsigned code = 0;
    const GifEnd end = reader.read(table.bits(), code);
    if (end != GifEnd::kOk) return {end, position};
    table.count();
    if (code == table.clear_code() + 1) return {GifEnd::kTooSoon, position};
    if (code == table.clear_code()) {
      table.reset();
      continue;
    }
    const std::size_t count = table.expand(code, stack.data());
    if (count == 0) return {GifEnd::kDefective, position};
    writer.put_reversed(stack.data(), count);
  }
  return reader.finish();
}

}  // namespace

int paint_gif_frame(const GifPlace& place, std::span<const std::uint8_t> pixels,
                    std::span<const std::uint8_t> colors, std::span<std::uint8_t> canvas) noexcept {
  if (place.left >= place.canvas_width) return -1;
  const std::size_t width = std::min(place.width, place.canvas_width - place.left);
  const std::size_t bottom = std::min(place.top + place.height, place.canvas_height);
  for (std::size_t row = place.top; row < bottom; ++row) {
    const std::uint8_t* source = pixels.data() + (row - place.top) * place.width;
    std::uint8_t* target = canvas.data() + (row * place.canvas_width + place.left) * 3;
    for (std::size_t i = 0; i < width; ++i, target += 3) {
      const std::size_t number = source[i];
      if (static_cast<int>(number) == place.transparent) continue;
      if (3 * number + 2 >= colors.size()) return source[i];
      target[0] = colors[3 * number];
      target[1] = colors[3 * number + 1];
      target[2] = colors[3 * number + 2];
    }
  }
  return -1;
}

GifFrame decode_gif_frame(std::span<const std::uint8_t> data, std::size_t position,
                          const GifSize& size, std::span<std::uint8_t> pixels) noexcept {
  return run(data, position, size, pixels.data());
}

GifFrame measure_gif_frame(std::span<const std::uint8_t> data, std::size_t position,
                           const GifSize& size) noexcept {
  return run(data, position, size, nullptr);
}

}  // namespace tfrkit
