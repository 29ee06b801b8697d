#include "bindings/errors.h"

#include <cerrno>
#include <string>

namespace tfrkit {

namespace nb = nanobind;

namespace {

std::string describe(const IndexStatus& status, const IndexHeader& header, std::size_t size) {
  const std::string entry = std::to_string(status.entry);
  switch (status.code) {
    case IndexCode::kOk:
      break;
    case IndexCode::kTooShort:
      return "expected at least " + std::to_string(kMinIndexBytes) + " bytes but got " +
             std::to_string(size);
    case IndexCode::kMagic:
      return "expected it to start with 'TFRKIDX1'";
    case IndexCode::kSize:
      return "its size of " + std::to_string(size) + " bytes does not go with " +
             std::to_string(header.frames) + " frames and " + std::to_string(header.members) +
             " members";
    case IndexCode::kChecksum:
      return "its checksum is wrong";
    case IndexCode::kCompression:
      return "expected compression 0, 1 or 2 but got " + std::to_string(header.compression);
    case IndexCode::kShardBytes:
      return "the shard's size of " + std::to_string(header.shard_bytes) + " bytes is impossible";
    case IndexCode::kFirstFrame:
      return "expected the first frame to start at 0";
    case IndexCode::kFrameOrder:
      return "frame " + entry + " starts less than 16 bytes behind the one before";
    case IndexCode::kStreamEnd:
      return "expected the frames to end at " + std::to_string(header.shard_bytes) +
             ", the shard's size";
    case IndexCode::kMembers:
      return "expected no members with compression " + std::to_string(header.compression) +
             " but got " + std::to_string(header.members);
    case IndexCode::kMemberOrder:
      return "member " + entry + " does not start behind the one before";
    case IndexCode::kMemberRange:
      return "member " + entry + " starts where none can";
  }
  return "unknown error";
}

}  // namespace

void raise_index_error(const IndexStatus& status, const IndexHeader& header, std::size_t size) {
  throw nb::value_error(("bad index: " + describe(status, header, size)).c_str());
}

void raise_out_of_range(const char* arrays, std::size_t index, std::size_t size) {
  throw nb::index_error(("entry " + std::to_string(index) + " of " + arrays + " lies outside the " +
                         std::to_string(size) + " bytes of the buffer")
                            .c_str());
}

void check_range(std::int64_t start, std::int64_t stop, std::size_t size) {
  if (start >= 0 && start <= stop && static_cast<std::uint64_t>(stop) <= size) return;
  throw nb::value_error(("expected 0 <= start <= stop <= " + std::to_string(size) +
                         " but got start " + std::to_string(start) + " and stop " +
                         std::to_string(stop))
                            .c_str());
}

void check_same_size(const char* name, std::size_t size, const char* other,
                     std::size_t other_size) {
  if (size == other_size) return;
  throw nb::value_error((std::string("expected ") + name + " and " + other +
                         " of the same size but got " + std::to_string(size) + " and " +
                         std::to_string(other_size))
                            .c_str());
}

void raise_item_type(const char* expected, nb::handle item, std::size_t index) {
  const auto name = nb::steal<nb::str>(PyType_GetName(Py_TYPE(item.ptr())));
  throw nb::type_error((std::string("expected ") + expected + " but got " + name.c_str() +
                        " at index " + std::to_string(index))
                           .c_str());
}

void raise_os_error(int error_number) {
  errno = error_number;
  PyErr_SetFromErrno(PyExc_OSError);
  throw nb::python_error();
}

}  // namespace tfrkit
