// A mutex that Python threads share.
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>

namespace tfrkit {

// Holds the mutex while it lives; waits for it without the GIL, which the thread that holds the
// mutex may need or wait for. Make it with the GIL.
class PatientLock {
 public:
  explicit PatientLock(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
    if (lock_.try_lock()) return;
    const nanobind::gil_scoped_release released;
    lock_.lock();
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace tfrkit
