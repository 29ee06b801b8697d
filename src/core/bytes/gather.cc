#include "core/bytes/gather.h"

#include <cstring>
#include <limits>

namespace tfrkit {
namespace {

// Returns whether run `i` is inside its buffer, and the run.
bool find_run(std::span<const Bytes> buffers, const Runs& runs, std::size_t i,
              Bytes& run) noexcept {
  const std::int64_t number = runs.which.empty() ? 0 : runs.which[i];
  if (number < 0 || static_cast<std::uint64_t>(number) >= buffers.size()) return false;
  const Bytes buffer = buffers[static_cast<std::size_t>(number)];
  const std::int64_t start = runs.starts[i];
  const std::int64_t length = runs.lengths[i];
  if (start < 0 || length < 0) return false;
  const auto first = static_cast<std::size_t>(start);
  if (first > buffer.size() || static_cast<std::size_t>(length) > buffer.size() - first) {
    return false;
  }
  run = buffer.subspan(first, static_cast<std::size_t>(length));
  return true;
}

}  // namespace

std::size_t measure_runs(std::span<const Bytes> buffers, const Runs& runs,
                         std::size_t& size) noexcept {
  size = 0;
  Bytes run;
  for (std::size_t i = 0; i < runs.starts.size(); ++i) {
    if (!find_run(buffers, runs, i, run)) return i;
    if (run.size() > std::numeric_limits<std::int64_t>::max() - size) return i;
    size += run.size();
  }
  return runs.starts.size();
}

bool fill_runs(std::span<const Bytes> buffers, const Runs& runs,
               std::span<std::byte> target) noexcept {
  Bytes run;
  for (std::size_t i = 0; i < runs.starts.size(); ++i) {
    if (!find_run(buffers, runs, i, run) || run.size() > target.size()) return false;
    if (!run.empty()) std::memcpy(target.data(), run.data(), run.size());
    target = target.subspan(run.size());
  }
  return true;
}

}  // namespace tfrkit
