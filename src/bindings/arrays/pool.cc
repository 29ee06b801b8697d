#include "bindings/arrays/pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tfrkit {
namespace {

constexpr std::size_t kMinOctave = 12;
constexpr std::size_t kMinPooledBytes = std::size_t{1} << kMinOctave;  // malloc does smaller ones
constexpr std::size_t kMaxPooledBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxKeptBytes = std::size_t{128} << 20;
constexpr std::size_t kStepsPerOctave = 4;  // at most a quarter of a new block is waste
// Blocks of so many larger classes serve too, so that sizes on both sides of a border between two
// classes share theirs: batches of lists, each of another size, took half of their memory from the
// system anew.
constexpr std::size_t kLargerClasses = 2;
constexpr int kTries = 100;           // to get hold of the pool, which takes some ns to use
constexpr std::size_t kOctaves = 12;  // from kMinPooledBytes to kMaxPooledBytes
constexpr std::size_t kClasses = kOctaves * kStepsPerOctave + 1;

static_assert(kMinPooledBytes << kOctaves == kMaxPooledBytes && kStepsPerOctave == 1 << 2);

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

#ifdef __linux__
// Memory of that size is mapped, and goes back when it is free. In the heaps of threads, which
// malloc takes it from after a while, holes would stay between such blocks: eight epochs of a
// shuffle of 65 MB left 417 MB behind.
constexpr std::size_t kMappedBytes = std::size_t{1} << 20;
// Memory of that size is asked for in large pages.
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::size_t kPageBytes = std::size_t{1} << 16;  // of any Linux

// Returns the bytes of whole pages for `size`. Precondition: they can be counted.
std::size_t whole_pages(std::size_t size) noexcept {
  return (size + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Maps memory, aligned for large pages if it has some. Returns nullptr if there is none.
std::byte* map_pages(std::size_t size) noexcept {
  const std::size_t spare = size < kHugePageBytes ? 0 : kHugePageBytes;
  if (size > std::numeric_limits<std::size_t>::max() - spare - kPageBytes) return nullptr;
  const std::size_t whole = whole_pages(size);
  void* const mapped =
      mmap(nullptr, whole + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const memory = static_cast<std::byte*>(mapped);
  if (spare == 0) return memory;
  const std::size_t before = -std::bit_cast<std::uintptr_t>(mapped) % kHugePageBytes;
  if (before != 0) munmap(memory, before);
  munmap(memory + before + whole, spare - before);
  madvise(memory + before, size, MADV_HUGEPAGE);  // it may say no
  return memory + before;
}
#endif

std::byte* allocate(std::size_t size) noexcept {
#ifdef __linux__
  if (size >= kMappedBytes) return map_pages(size);
#endif
  void* memory = nullptr;
  if (posix_memalign(&memory, kBufferAlignment, std::max(size, kBufferAlignment)) != 0) {
    return nullptr;
  }
  return static_cast<std::byte*>(memory);
}

void release(PoolBlock block) noexcept {
#ifdef __linux__
  if (block.bytes >= kMappedBytes) {
    munmap(block.memory, whole_pages(block.bytes));
    return;
  }
#endif
  std::free(block.memory);
}

// Free blocks: the first, which holds the next in its first bytes.
using FreeBlocks = PoolBlock;

// Takes a block away. Precondition: there is one.
PoolBlock pop(FreeBlocks& blocks) noexcept {
  const PoolBlock first = blocks;
  std::memcpy(&blocks, first.memory, sizeof(blocks));
  return first;
}

void put(FreeBlocks& blocks, PoolBlock block) noexcept {
  std::memcpy(block.memory, &blocks, sizeof(blocks));
  blocks = block;
}

// Free blocks by class.
class Pool {
 public:
  // Returns a block of a class or one a little larger, or nullptr if there is none or another
  // thread uses the pool.
  PoolBlock take(const SizeClass& size_class) noexcept {
    if (!hold()) return {};
    PoolBlock block;
    asked_[size_class.index] = ++calls_;
    const std::size_t last = std::min(size_class.index + kLargerClasses, kClasses - 1);
    for (std::size_t index = size_class.index; index <= last; ++index) {
      if (free_[index].memory == nullptr) continue;
      block = pop(free_[index]);
      asked_[index] = calls_;
      break;
    }
    kept_bytes_ -= block.bytes;
    busy_.clear(std::memory_order_release);
    return block;
  }

  // Keeps `block`; returns false if the pool is full or another thread uses it. Of a full pool the
  // blocks go, and are returned, whose class was not asked for for longest: what is no longer
  // needed must not keep out what is.
  bool give(PoolBlock block, FreeBlocks& gone) noexcept {
    if (!hold()) return false;
    const std::size_t own = class_of(block.bytes).index;
    while (block.bytes > kMaxKeptBytes - kept_bytes_) {
      std::size_t oldest = own;
      for (std::size_t index = 0; index < kClasses; ++index) {
        if (free_[index].memory != nullptr && asked_[index] < asked_[oldest]) oldest = index;
      }
      if (oldest == own) break;
      const PoolBlock old = pop(free_[oldest]);
      kept_bytes_ -= old.bytes;
      put(gone, old);
    }
    const bool fits = block.bytes <= kMaxKeptBytes - kept_bytes_;
    if (fits) {
      put(free_[own], block);
      kept_bytes_ += block.bytes;
    }
    busy_.clear(std::memory_order_release);
    return fits;
  }

 private:
  bool hold() noexcept {
    for (int i = 0; i < kTries; ++i) {
      if (!busy_.test_and_set(std::memory_order_acquire)) return true;
    }
    return false;
  }

  // Tried, never waited for. If a fork copies it while set, the child uses malloc for ever after.
  std::atomic_flag busy_;
  std::array<FreeBlocks, kClasses> free_{};
  std::array<std::uint64_t, kClasses> asked_{};  // when each was asked for last, in calls
  std::uint64_t calls_ = 0;
  std::size_t kept_bytes_ = 0;
};

constinit Pool pool;

}  // namespace

PoolBlock pool_take(std::size_t size) noexcept {
  if (!is_pooled(size)) return {allocate(size), size};
  const SizeClass size_class = class_of(size);
  const PoolBlock block = pool.take(size_class);
  return block.memory != nullptr ? block : PoolBlock{allocate(size_class.bytes), size_class.bytes};
}

void pool_give(PoolBlock block) noexcept {
  if (block.memory == nullptr) return;
  FreeBlocks gone;
  if (!is_pooled(block.bytes) || !pool.give(block, gone)) release(block);
  while (gone.memory != nullptr) release(pop(gone));
}

}  // namespace tfrkit
