// The registration functions, one for each concept.
#pragma once

#include <nanobind/nanobind.h>

namespace tfrkit {

void bind_arrow(nanobind::module_& module);
void bind_buffer(nanobind::module_& module);
void bind_collate(nanobind::module_& module);
void bind_crc32c(nanobind::module_& module);
void bind_split(nanobind::module_& module);
void bind_encode(nanobind::module_& module);
void bind_finish_batch(nanobind::module_& module);
void bind_frame(nanobind::module_& module);
void bind_gather(nanobind::module_& module);
void bind_image_header(nanobind::module_& module);
void bind_index(nanobind::module_& module);
void bind_items(nanobind::module_& module);
void bind_map(nanobind::module_& module);
void bind_own(nanobind::module_& module);
void bind_pad(nanobind::module_& module);
void bind_pieces(nanobind::module_& module);
void bind_parse(nanobind::module_& module);
void bind_parse_proto(nanobind::module_& module);
void bind_permutation(nanobind::module_& module);
void bind_record_digest(nanobind::module_& module);
void bind_record_inputs(nanobind::module_& module);
void bind_png(nanobind::module_& module);
void bind_read(nanobind::module_& module);
void bind_read_files(nanobind::module_& module);
void bind_records(nanobind::module_& module);
void bind_resize(nanobind::module_& module);
void bind_resync(nanobind::module_& module);
void bind_scan_rows(nanobind::module_& module);
void bind_rows(nanobind::module_& module);
void bind_select(nanobind::module_& module);
void bind_sequence(nanobind::module_& module);
void bind_record_shuffle(nanobind::module_& module);
void bind_shuffle(nanobind::module_& module);
void bind_statistics(nanobind::module_& module);
void bind_value_places(nanobind::module_& module);

}  // namespace tfrkit
