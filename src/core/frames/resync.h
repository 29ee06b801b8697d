// Resynchronisation: the next intact frame after damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"
#include "core/bytes/status.h"
#include "core/frames/layout.h"

namespace tfrkit {

// What find_frame came to.
struct FoundFrame {
  // kOk: an intact frame stands at `position`. kNeedMore: one may stand at `position`, which takes
  // `need` bytes from there on to know. kBadLength: there is none; resume at `position` with more.
  Code code = Code::kBadLength;
  std::size_t position = 0;
  std::uint64_t need = 0;
  std::uint64_t summed_bytes = 0;  // bytes of payload run through the CRC, for tests of linearity
};

inline constexpr std::size_t kCheckpointBytes = 256;

// Returns how many checkpoints find_frame needs for `size` bytes (data.size() - start).
[[nodiscard]] constexpr std::size_t measure_checkpoints(std::size_t size) noexcept {
  return (size / kCheckpointBytes) + 1;
}

// Finds the lowest position >= start at which a whole frame stands whose two CRCs both hold.
//
// A header whose CRC holds but whose length is over `max_record_bytes` is no candidate. One whose
// frame goes beyond `data` ends the search with kNeedMore, or is no candidate if `at_eof`. Takes
// time linear in data.size() - start, whatever the data: candidates are checked directly as long as
// that costs no more than the input's size in all, and then by differences of checkpointed CRCs.
//
// `checkpoints` is scratch of measure_checkpoints() entries, touched only in the hostile case.
// Precondition: start <= data.size().
[[nodiscard]] FoundFrame find_frame(Bytes data, std::size_t start, bool at_eof,
                                    std::uint64_t max_record_bytes,
                                    std::span<std::uint32_t> checkpoints) noexcept;

}  // namespace tfrkit
