// Reading mapped files without dying when one shrinks.
//
// A page of a map after the end of its file cannot be read: the thread gets SIGBUS. Within
// run_guarded such a signal ends the work instead of the process. Every other SIGBUS goes where it
// would have gone without this.
#pragma once

#include <csetjmp>

#include "core/bytes/bytes.h"

namespace tfrkit {

// Puts the handler in place, once for the process; in front of handlers that were installed since.
// One system call. Needs the GIL. Raises OSError if the operating system refuses.
void install_guard();

// The same where a system call is too much: only one call in some hundred looks, and the first
// after a fork. Precondition: install_guard was called once.
void keep_guard();

// What the handler needs to know of the thread it interrupts.
struct Guard {
  sigjmp_buf back;
  Bytes source;
};

// Sets the guard of this thread; nullptr for none.
void set_guard(const Guard* guard) noexcept;

// Calls `work`, which reads the mapped bytes of `source`, and returns true; false if a part of them
// could not be read. Then work ended in the middle: it must not create anything that needs to be
// destroyed, nor take a lock, and what it wrote is of no use unless it is volatile.
template <typename Work>
[[nodiscard, gnu::noinline]] bool run_guarded(Bytes source, const Work& work) noexcept {
  Guard guard;
  guard.source = source;
  if (sigsetjmp(guard.back, 0) != 0) {  // NOLINT(bugprone-setjmp-longjmp): nothing to destroy
    set_guard(nullptr);
    return false;
  }
  set_guard(&guard);
  work();
  set_guard(nullptr);
  return true;
}

}  // namespace tfrkit
