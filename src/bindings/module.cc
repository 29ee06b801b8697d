// The module `tfrkit._core`: registration only.
#include "bindings/bind.h"

NB_MODULE(_core, module) {
  module.doc() = "The kernels of tfrkit. Private: names and signatures may change at any time.";
  // Consumers of Arrow and DLPack may keep our memory until after the interpreter's end.
  nanobind::set_leak_warnings(false);
  tfrkit::bind_buffer(module);
  tfrkit::bind_crc32c(module);
  tfrkit::bind_frame(module);
  tfrkit::bind_split(module);
  tfrkit::bind_pieces(module);
  tfrkit::bind_map(module);
  tfrkit::bind_read(module);
  tfrkit::bind_read_files(module);
  tfrkit::bind_records(module);
  tfrkit::bind_resize(module);
  tfrkit::bind_resync(module);
  tfrkit::bind_image_header(module);
  tfrkit::bind_index(module);
  tfrkit::bind_scan_rows(module);
  tfrkit::bind_gather(module);
  tfrkit::bind_record_inputs(module);
  tfrkit::bind_pad(module);
  tfrkit::bind_png(module);
  tfrkit::bind_items(module);
  tfrkit::bind_collate(module);
  tfrkit::bind_finish_batch(module);
  tfrkit::bind_own(module);
  tfrkit::bind_rows(module);
  tfrkit::bind_parse(module);
  tfrkit::bind_parse_proto(module);
  tfrkit::bind_select(module);
  tfrkit::bind_sequence(module);
  tfrkit::bind_value_places(module);
  tfrkit::bind_permutation(module);
  tfrkit::bind_record_shuffle(module);
  tfrkit::bind_shuffle(module);
  tfrkit::bind_record_digest(module);
  tfrkit::bind_statistics(module);
  tfrkit::bind_encode(module);
  tfrkit::bind_arrow(module);
}
