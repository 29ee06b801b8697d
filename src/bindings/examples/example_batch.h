// One batch of Examples on its way into columns: memory, chunks, and what Python gets.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "core/bytes/bytes.h"
#include "core/examples/example.h"

namespace tfrkit {

// Scratches that are not in use, with the order of keys that they have learned.
class ScratchCache {
 public:
  explicit ScratchCache(const ExamplePlan& plan) : plan_(plan) {}
  ScratchCache(const ScratchCache&) = delete;
  ScratchCache(ScratchCache&&) = delete;
  ScratchCache& operator=(const ScratchCache&) = delete;
  ScratchCache& operator=(ScratchCache&&) = delete;
  ~ScratchCache();

  // Thread-safe; never waits. `take` throws std::bad_alloc.
  [[nodiscard]] std::unique_ptr<ExampleScratch> take();
  void give(std::unique_ptr<ExampleScratch> scratch) noexcept;

 private:
  static constexpr std::size_t kKept = 16;

  const ExamplePlan& plan_;
  std::array<std::atomic<ExampleScratch*>, kKept> kept_{};
};

// Make it with the GIL, run it without, and take the columns with the GIL again.
class ExampleBatchRun {
 public:
  // Throws std::bad_alloc.
  ExampleBatchRun(const ExamplePlan& plan, ScratchCache& cache, std::span<const Bytes> records,
                  bool states);
  ExampleBatchRun(const ExampleBatchRun&) = delete;
  ExampleBatchRun(ExampleBatchRun&&) = delete;
  ExampleBatchRun& operator=(const ExampleBatchRun&) = delete;
  ExampleBatchRun& operator=(ExampleBatchRun&&) = delete;
  ~ExampleBatchRun();

  // Parses everything, on several threads if it is large. Throws std::bad_alloc.
  [[nodiscard]] ExampleFailure run(Dialect dialect, int threads);

  // Moves the columns and the states to Python. Precondition: `run` was called, and went well.
  [[nodiscard]] nb::list columns(const ArrayMaker& arrays);
  [[nodiscard]] nb::object states(const ArrayMaker& arrays);

 private:
  // The lists of a slot: where they are, and what is made of them.
  struct ListColumn {
    std::span<ListRef> refs;
    std::vector<ListTotals> chunk_starts;  // and the totals at the end
    std::unique_ptr<Buffer> values;        // numbers, or the bytes of all values
    std::unique_ptr<Buffer> offsets;       // bytes only
    std::unique_ptr<Buffer> splits;        // variable only
  };

  void lay_out(bool states);
  void fill_states(std::size_t chunk) noexcept;
  void allocate_lists();
  void fill_chunk(std::size_t chunk) noexcept;
  [[nodiscard]] std::size_t chunk_begin(std::size_t chunk) const noexcept {
    return rows_ * chunk / chunks_;
  }
  [[nodiscard]] ExampleFailure parse_chunks(Dialect dialect, int threads);

  const ExamplePlan& plan_;
  ScratchCache& cache_;
  std::span<const Bytes> records_;
  std::size_t rows_;
  std::size_t chunks_ = 1;
  std::unique_ptr<Buffer> direct_;  // all columns of numbers of fixed count
  std::unique_ptr<Buffer> refs_;
  std::unique_ptr<Buffer> states_;
  std::vector<std::size_t> starts_;  // by slot: where its numbers begin in direct_
  std::vector<ExampleColumn> columns_;
  std::vector<ListColumn> lists_;  // by slot; empty for the direct ones
  std::vector<std::unique_ptr<ExampleScratch>> scratches_;
};

}  // namespace tfrkit
