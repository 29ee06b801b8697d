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
constexpr std::size_t kStepsPerOctave = 4;  // at most a quarter of a block is waste
constexpr std::size_t kOctaves = 12;        // from kMinPooledBytes to kMaxPooledBytes
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

void release(std::byte* memory, [[maybe_unused]] std::size_t size) noexcept {
#ifdef __linux__
  if (size >= kMappedBytes) {
    munmap(memory, whole_pages(size));
    return;
  }
#endif
  std::free(memory);
}

// A free block holds the address of the next one in its first bytes.
std::byte* next_of(const std::byte* block) noexcept {
  std::byte* next = nullptr;
  std::memcpy(static_cast<void*>(&next), block, sizeof(next));
  return next;
}

// Free blocks of one class.
struct FreeBlocks {
  std::byte* head = nullptr;
  std::size_t size = 0;   // of each
  std::size_t bytes = 0;  // of all
};

// Takes a block away. Precondition: there is one.
std::byte* pop(FreeBlocks& blocks) noexcept {
  blocks.bytes -= blocks.size;
  return std::exchange(blocks.head, next_of(blocks.head));
}

void put(FreeBlocks& blocks, std::byte* block) noexcept {
  const std::byte* const next = std::exchange(blocks.head, block);
  std::memcpy(block, static_cast<const void*>(&next), sizeof(next));
  blocks.bytes += blocks.size;
}

// Free blocks by class.
class Pool {
 public:
  // Returns a block of a class, or nullptr if there is none or another thread uses the pool.
  std::byte* take(const SizeClass& size_class) noexcept {
    if (busy_.test_and_set(std::memory_order_acquire)) return nullptr;
    FreeBlocks& blocks = classes_[size_class.index];
    std::byte* const block = blocks.head == nullptr ? nullptr : pop(blocks);
    if (block != nullptr) kept_bytes_ -= size_class.bytes;
    busy_.clear(std::memory_order_release);
    return block;
  }

  // Keeps `block`; returns false if the pool is full or another thread uses it. If another class
  // has more of a full pool, some blocks of that go and are returned: what is no longer asked for
  // must not keep out what is.
  bool give(std::byte* block, const SizeClass& size_class, FreeBlocks& gone) noexcept {
    if (busy_.test_and_set(std::memory_order_acquire)) return false;
    FreeBlocks& blocks = classes_[size_class.index];
    blocks.size = size_class.bytes;
    FreeBlocks& most = *std::ranges::max_element(classes_, {}, &FreeBlocks::bytes);
    gone.size = most.size;
    while (size_class.bytes > kMaxKeptBytes - kept_bytes_ && &most != &blocks &&
           most.head != nullptr) {
      put(gone, pop(most));
      kept_bytes_ -= most.size;
    }
    const bool fits = size_class.bytes <= kMaxKeptBytes - kept_bytes_;
    if (fits) {
      put(blocks, block);
      kept_bytes_ += size_class.bytes;
    }
    busy_.clear(std::memory_order_release);
    return fits;
  }

 private:
  // Tried, never waited for. If a fork copies it while set, the child uses malloc for ever after.
  std::atomic_flag busy_;
  std::array<FreeBlocks, kClasses> classes_{};
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
  if (!is_pooled(size)) {
    release(memory, size);
    return;
  }
  const SizeClass size_class = class_of(size);
  FreeBlocks gone;
  if (!pool.give(memory, size_class, gone)) release(memory, size_class.bytes);
  while (gone.head != nullptr) release(pop(gone), gone.size);
}

}  // namespace tfrkit
