#include "bindings/arrays/pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tfrkit {
namespace {

constexpr std::size_t kMinOctave = 12;
constexpr std::size_t kMinPooledBytes = std::size_t{1} << kMinOctave;  // malloc does smaller ones
constexpr std::size_t kMaxPooledBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxKeptBytes = std::size_t{64} << 20;
constexpr std::size_t kStepsPerOctave = 4;  // at most a quarter of a block is waste
constexpr std::size_t kOctaves = 12;        // from kMinPooledBytes to kMaxPooledBytes
constexpr std::size_t kClasses = kOctaves * kStepsPerOctave + 1;

static_assert(kMinPooledBytes << kOctaves == kMaxPooledBytes && kStepsPerOctave == 1 << 2);

// Memory of that size is asked for in large pages.
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

// Returns the smallest class that holds `size`. Precondition: size <= kMaxPooledBytes.
SizeClass class_of(std::size_t size) noexcept {
  if (size <= kMinPooledBytes) return {0, kMinPooledBytes};
  const auto octave = static_cast<std::size_t>(std::bit_width(size - 1)) - 1;  // 2^octave < size
  const std::size_t octave_bytes = std::size_t{1} << octave;
  const std::size_t step_bytes = octave_bytes / kStepsPerOctave;
  // Rounded up; a shift since step_bytes is 2^(octave - 2).
  const std::size_t steps = (size - octave_bytes + step_bytes - 1) >> (octave - 2);
  return {(octave - kMinOctave) * kStepsPerOctave + steps, octave_bytes + steps * step_bytes};
}

bool is_pooled(std::size_t size) noexcept {
  return size >= kMinPooledBytes && size <= kMaxPooledBytes;
}

std::byte* allocate(std::size_t size) noexcept {
  void* memory = nullptr;
  const std::size_t alignment = size < kHugePageBytes ? kBufferAlignment : kHugePageBytes;
  if (posix_memalign(&memory, alignment, std::max(size, alignment)) != 0) return nullptr;
#ifdef __linux__
  if (size >= kHugePageBytes) madvise(memory, size, MADV_HUGEPAGE);  // it may say no
#endif
  return static_cast<std::byte*>(memory);
}

// Free blocks by class. A free block holds the address of the next one in its first bytes.
class Pool {
 public:
  // Returns a block of class `index`, or nullptr if there is none or another thread uses the pool.
  std::byte* take(const SizeClass& size_class) noexcept {
    if (busy_.test_and_set(std::memory_order_acquire)) return nullptr;
    std::byte*& head = heads_[size_class.index];
    std::byte* const block = head;
    if (block != nullptr) {
      std::memcpy(static_cast<void*>(&head), block, sizeof(head));
      kept_bytes_ -= size_class.bytes;
    }
    busy_.clear(std::memory_order_release);
    return block;
  }

  // Keeps `block`; returns false if the pool is full or another thread uses it.
  bool give(std::byte* block, const SizeClass& size_class) noexcept {
    if (busy_.test_and_set(std::memory_order_acquire)) return false;
    const bool fits = size_class.bytes <= kMaxKeptBytes - kept_bytes_;
    if (fits) {
      const std::byte* const head = std::exchange(heads_[size_class.index], block);
      std::memcpy(block, static_cast<const void*>(&head), sizeof(head));
      kept_bytes_ += size_class.bytes;
    }
    busy_.clear(std::memory_order_release);
    return fits;
  }

 private:
  // Tried, never waited for. If a fork copies it while set, the child uses malloc for ever after.
  std::atomic_flag busy_;
  std::array<std::byte*, kClasses> heads_{};
  std::size_t kept_bytes_ = 0;
};

constinit Pool pool;

}  // namespace

std::byte* pool_take(std::size_t size) noexcept {
  if (!is_pooled(size)) return allocate(size);
  const SizeClass size_class = class_of(size);
  std::byte* const block = pool.take(size_class);
  return block != nullptr ? block : allocate(size_class.bytes);
}

void pool_give(std::byte* memory, std::size_t size) noexcept {
  if (memory == nullptr) return;
  if (!is_pooled(size) || !pool.give(memory, class_of(size))) {
    std::free(memory);
  }
}

}  // namespace tfrkit
