#include "bindings/parallel.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace tfrkit {
namespace {

constexpr int kMaxThreads = 256;

int cores_of_this_process() noexcept {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(CPU_COUNT(&set), 1);
#endif
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

// What a thread does to itself: blocked, such a signal ends the process without asking a handler.
constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

// Starts a thread that gets no signals but its own faults: Python wants them on threads of its own.
// Returns false if the system has no more threads.
template <typename Main>
bool start_thread(Main main) noexcept {
  sigset_t others;
  sigset_t before;
  sigfillset(&others);
  for (const int fault : kFaults) sigdelset(&others, fault);
  if (pthread_sigmask(SIG_SETMASK, &others, &before) != 0) return false;
  bool started = true;
  try {
    std::thread(main).detach();
  } catch (const std::system_error&) {
    started = false;
  } catch (const std::bad_alloc&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

// Worker threads that do one job at a time. Never destroyed: its threads wait on its members until
// the process ends.
class WorkerPool {
 public:
  explicit WorkerPool(pid_t owner) noexcept : owner_(owner) {}

  [[nodiscard]] pid_t owner() const noexcept { return owner_; }

  // Does the job with up to `helpers` threads besides this one; false if another job is running.
  bool run(std::size_t chunks, int helpers, const ChunkBody& body) noexcept {
    if (busy_.test_and_set(std::memory_order_acquire)) return false;
    {
      const std::lock_guard lock(mutex_);
      while (threads_ < helpers && start_thread([this] { work(); })) ++threads_;
      next_.store(0, std::memory_order_relaxed);
      chunks_ = chunks;
      body_ = body;
      wanted_ = std::min(helpers, threads_);
    }
    if (wanted_ == 1) {
      wake_.notify_one();
    } else {
      wake_.notify_all();
    }
    take_chunks(chunks, body);
    {
      std::unique_lock lock(mutex_);
      wanted_ = 0;  // threads that have not woken up yet come too late
      done_.wait(lock, [this] { return active_ == 0; });
    }
    busy_.clear(std::memory_order_release);
    return true;
  }

 private:
  void take_chunks(std::size_t chunks, const ChunkBody& body) noexcept {
    for (;;) {
      const std::size_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks) return;
      body.run(body.context, chunk);
    }
  }

  [[noreturn]] void work() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return wanted_ > 0; });
      --wanted_;
      ++active_;
      const std::size_t chunks = chunks_;
      const ChunkBody body = body_;
      lock.unlock();
      take_chunks(chunks, body);
      lock.lock();
      if (--active_ == 0) done_.notify_one();
    }
  }

  const pid_t owner_;
  std::atomic_flag busy_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::atomic<std::size_t> next_{0};
  std::size_t chunks_ = 0;
  ChunkBody body_{};
  int threads_ = 0;  // started
  int wanted_ = 0;   // that should still join the job
  int active_ = 0;   // at the job
};

std::atomic<WorkerPool*> current_pool{nullptr};

// Returns the pool of this process, or nullptr if there is no memory.
WorkerPool* pool_of_this_process() noexcept {
  const pid_t self = getpid();
  WorkerPool* pool = current_pool.load(std::memory_order_acquire);
  if (pool != nullptr && pool->owner() == self) return pool;
  auto* const fresh = new (std::nothrow) WorkerPool(self);
  if (fresh == nullptr) return nullptr;
  if (current_pool.compare_exchange_strong(pool, fresh, std::memory_order_acq_rel)) return fresh;
  delete fresh;  // another thread was first; no thread waits on this one
  return current_pool.load(std::memory_order_acquire);
}

}  // namespace

int thread_count(int threads) noexcept {
  return std::clamp(threads > 0 ? threads : cores_of_this_process(), 1, kMaxThreads);
}

void run_chunks(std::size_t chunks, int threads, const ChunkBody& body) noexcept {
  if (chunks > 1 && threads != 1) {
    const auto wanted =
        std::min<std::size_t>(chunks, static_cast<std::size_t>(thread_count(threads)));
    WorkerPool* const pool = wanted > 1 ? pool_of_this_process() : nullptr;
    if (pool != nullptr && pool->run(chunks, static_cast<int>(wanted) - 1, body)) return;
  }
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) body.run(body.context, chunk);
}

}  // namespace tfrkit
