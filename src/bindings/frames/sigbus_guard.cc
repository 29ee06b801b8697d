#include "bindings/frames/sigbus_guard.h"

#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is not in <csignal>

#include <atomic>
#include <cerrno>

#include "bindings/errors.h"

namespace tfrkit {
namespace {

using Action = struct sigaction;

// Others may install handlers after us, as PyTorch does in a worker process, so that the place is
// looked at now and then, by one system call in 256 records.
constexpr int kCallsPerLook = 256;

// A handler that returns without having mended anything meets the same fault again, for ever.
constexpr int kSameFaults = 100;

// Not a thread_local: the first use of one in a thread may allocate, which a handler must not.
pthread_key_t guard_key;
std::atomic<const Action*> previous = nullptr;
std::atomic<bool> passing = false;  // a previous handler is running
std::atomic<void*> last_fault = nullptr;
std::atomic<int> same_faults = 0;
int calls_left = 0;  // with the GIL only

void look_in_child() noexcept { calls_left = 0; }

// Lets the signal do what it does to a process without handlers.
void act_by_default(bool raised) noexcept {
  Action action{};
  action.sa_handler = SIG_DFL;
  sigaction(SIGBUS, &action, nullptr);
  if (raised) raise(SIGBUS);  // else the instruction runs again, and so does the fault
}

void pass_on(int number, siginfo_t* info, void* context) noexcept {
  const Action* const action = previous.load();
  const bool raised = info->si_code <= 0;  // by a process, not by an access to memory
  // A handler from after ours that raises the signal for its predecessor may mean us.
  bool circle = raised && passing.load();
  if (!raised) {
    same_faults = last_fault.exchange(info->si_addr) == info->si_addr ? same_faults + 1 : 0;
    circle = same_faults > kSameFaults;
  }
  const bool with_info = (action->sa_flags & SA_SIGINFO) != 0;
  if (!circle && !with_info && action->sa_handler == SIG_IGN && raised) return;
  if (circle || (!with_info && (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN))) {
    act_by_default(raised);
    return;
  }
  passing = true;
  if (with_info) {
    action->sa_sigaction(number, info, context);
  } else {
    action->sa_handler(number);
  }
  passing = false;
}

void handle(int number, siginfo_t* info, void* context) {
  const int error_number = errno;
  const auto* const guard = static_cast<const Guard*>(pthread_getspecific(guard_key));
  if (guard != nullptr && info->si_code > 0) {
    const auto* const at = static_cast<const std::byte*>(info->si_addr);
    const std::byte* const begin = guard->source.data();
    if (at >= begin && at < begin + guard->source.size()) {
      // The mask of signals needs no restoring: the handler runs with the one of the thread.
      // NOLINTNEXTLINE(bugprone-setjmp-longjmp, modernize-avoid-c-style-cast)
      siglongjmp(*const_cast<sigjmp_buf*>(&guard->back), 1);
    }
  }
  pass_on(number, info, context);
  errno = error_number;
}

void check(int error_number) {
  if (error_number != 0) raise_os_error(error_number);
}

}  // namespace

void install_guard() {
  static const bool once = [] {
    check(pthread_key_create(&guard_key, nullptr));
    check(pthread_atfork(nullptr, nullptr, look_in_child));
    return true;
  }();
  (void)once;
  calls_left = kCallsPerLook;
  Action now{};
  check(sigaction(SIGBUS, nullptr, &now) == 0 ? 0 : errno);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handle) return;
  // Before the handler is in place, which reads it. The one before is kept for handlers running.
  const Action* const known = previous.load();
  if (known == nullptr || known->sa_sigaction != now.sa_sigaction ||
      known->sa_flags != now.sa_flags) {
    previous = new Action(now);
  }
  Action action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  check(sigaction(SIGBUS, &action, nullptr) == 0 ? 0 : errno);
}

void keep_guard() {
  if (--calls_left > 0) return;
  install_guard();
}

void set_guard(const Guard* guard) noexcept { pthread_setspecific(guard_key, guard); }

}  // namespace tfrkit
