// Numbers too small for a normal float32 taken for 0, as TensorFlow's kernels do.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tfrkit {

// For this thread and as long as it lives: operations take subnormal numbers for 0, and return 0
// for them. What only moves numbers keeps them.
class FlushDenormals {
 public:
  FlushDenormals() noexcept : before_(state()) { set_state(before_ | kFlush); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals(FlushDenormals&&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
  FlushDenormals& operator=(FlushDenormals&&) = delete;
  ~FlushDenormals() { set_state(before_); }

 private:
#if defined(__x86_64__)
  using State = std::uint32_t;
  static constexpr State kFlush = 0x8040;  // FTZ for results, DAZ for operands
  static State state() noexcept { return _mm_getcsr(); }
  static void set_state(State state) noexcept { _mm_setcsr(state); }
#elif defined(__aarch64__)
  using State = std::uint64_t;
  static constexpr State kFlush = State{1} << 24;  // FZ
  static State state() noexcept {
    State state;
    asm volatile("mrs %0, fpcr" : "=r"(state));
    return state;
  }
  static void set_state(State state) noexcept { asm volatile("msr fpcr, %0" ::"r"(state)); }
#else
  using State = int;
  static constexpr State kFlush = 0;
  static State state() noexcept { return 0; }
  static void set_state(State /*state*/) noexcept {}
#endif

  State before_;
};

}  // namespace tfrkit
