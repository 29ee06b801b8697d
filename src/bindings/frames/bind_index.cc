#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "core/frames/index.h"

namespace tfrkit {
namespace {

nb::bytes encode(std::uint32_t compression, std::uint64_t shard_bytes, std::uint32_t tail_crc,
                 const Int64Input& frames, std::uint64_t stream_bytes,
                 const Int64Input& member_file, const Int64Input& member_stream) {
  const auto starts = entries(frames);
  const auto files = entries(member_file);
  const auto streams = entries(member_stream);
  check_same_size("member_file", files.size(), "member_stream", streams.size());
  const IndexHeader header{compression, tail_crc, shard_bytes, starts.size(), files.size()};
  const auto size = static_cast<std::size_t>(measure_index(header.frames, header.members));
  auto encoded =
      nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!encoded.is_valid()) throw nb::python_error();
  const std::span<char> text(PyBytes_AsString(encoded.ptr()), size);
  IndexStatus status;
  {
    const nb::gil_scoped_release released;
    status =
        encode_index(header, starts, stream_bytes, files, streams, std::as_writable_bytes(text));
  }
  if (status.code != IndexCode::kOk) raise_index_error(status, header, size);
  return encoded;
}

std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, Int64Array, Int64Array, Int64Array> decode(
    const InputBytes& data) {
  IndexHeader header;
  IndexStatus status;
  {
    const nb::gil_scoped_release released;
    status = check_index(data.bytes(), header);
  }
  if (status.code != IndexCode::kOk) raise_index_error(status, header, data.bytes().size());
  const auto frames = static_cast<std::size_t>(header.frames) + 1;
  const auto members = static_cast<std::size_t>(header.members);
  const Int64Batch batch(frames + 2 * members);
  {
    const nb::gil_scoped_release released;
    decode_index_unchecked(data.bytes(), header, batch.span(0, frames), batch.span(frames, members),
                           batch.span(frames + members, members));
  }
  return {
      header.compression,     header.shard_bytes,           header.tail_crc,
      batch.array(0, frames), batch.array(frames, members), batch.array(frames + members, members)};
}

}  // namespace

void bind_index(nb::module_& module) {
  module.def("encode_index", encode, nb::arg("compression"), nb::arg("shard_bytes"),
             nb::arg("tail_crc"), nb::arg("frames"), nb::arg("stream_bytes"),
             nb::arg("member_file"), nb::arg("member_stream"),
             "Return an index file. `frames` holds the n starts of the frames; ValueError if it\n"
             "would break a rule of the format.");
  module.def("decode_index", decode, nb::arg("data"),
             "Read an index file: (compression, shard_bytes, tail_crc, frames, member_file,\n"
             "member_stream). `frames` has n + 1 entries, the last is the end of the stream.\n"
             "ValueError says what is wrong.");
}

}  // namespace tfrkit
