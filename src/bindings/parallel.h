// Run the parts of a kernel on several cores.
//
// One lazy pool of native threads per process. It belongs to the process that made it: after a fork
// the child makes its own. Its threads never touch Python and never end before the process does.
#pragma once

#include <cstddef>

namespace tfrkit {

// Returns how many threads `threads` means: 0 is one for each core this process may use. At least
// 1, at most 256.
[[nodiscard]] int thread_count(int threads) noexcept;

// A function on one chunk, with what it works on.
struct ChunkBody {
  void (*run)(const void* context, std::size_t chunk) noexcept;
  const void* context;
};

// See parallel_for.
void run_chunks(std::size_t chunks, int threads, const ChunkBody& body) noexcept;

// Calls body(chunk) for every chunk in [0, chunks), each once, on up to thread_count(threads)
// threads of which the calling one is the first; returns when all are done. Chunks are handed out
// in ascending order. Runs inline if the pool is at work for another caller, which includes calls
// from its own threads. Call it without the GIL. `body` must not throw.
template <typename Body>
void parallel_for(std::size_t chunks, int threads, const Body& body) noexcept {
  run_chunks(chunks, threads,
             {[](const void* context, std::size_t chunk) noexcept {
                (*static_cast<const Body*>(context))(chunk);
              },
              &body});
}

}  // namespace tfrkit
