#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/arrow/arrow_abi.h"
#include "bindings/arrow/arrow_export.h"
#include "bindings/bind.h"

namespace tfrkit {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::int64_t kMaxParts = 1 << 20;  // children or buffers of one array

// A structure that was moved out of its capsule or stream; released when nothing refers to it.
template <typename Structure>
struct Moved {
  Moved() = default;
  Moved(const Moved&) = delete;
  Moved(Moved&&) = delete;
  Moved& operator=(const Moved&) = delete;
  Moved& operator=(Moved&&) = delete;
  ~Moved() {
    if (structure.release != nullptr) structure.release(&structure);
  }
  Structure structure{};
};

template <typename Structure>
Structure* open_capsule(nb::handle capsule, const char* name) {
  auto* const found = static_cast<Structure*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (found == nullptr) throw nb::python_error();
  if (found->release == nullptr) {
    throw nb::value_error("the Arrow capsule is used up: ask its producer for another one");
  }
  return found;
}

template <typename Structure>
std::shared_ptr<Moved<Structure>> move_out(nb::handle capsule, const char* name) {
  auto moved = std::make_shared<Moved<Structure>>();
  auto* const source = open_capsule<Structure>(capsule, name);
  moved->structure = *source;
  source->release = nullptr;
  return moved;
}

void check_count(std::int64_t count, const void* pointers) {
  if (count < 0 || count > kMaxParts || (count > 0 && pointers == nullptr)) {
    throw nb::value_error("the Arrow structure is damaged: its number of parts makes no sense");
  }
}

// Returns (format, name, flags, children, dictionary or None).
nb::tuple schema_tree(const ArrowSchema* schema, int depth = 0) {
  if (schema == nullptr || schema->format == nullptr || depth > kMaxDepth) {
    throw nb::value_error("the Arrow schema is damaged, or nested more than 64 levels deep");
  }
  check_count(schema->n_children, static_cast<const void*>(schema->children));
  nb::list children;
  for (std::int64_t i = 0; i < schema->n_children; ++i) {
    children.append(schema_tree(schema->children[i], depth + 1));
  }
  nb::object dictionary = nb::none();
  if (schema->dictionary != nullptr) dictionary = schema_tree(schema->dictionary, depth + 1);
  return nb::make_tuple(nb::str(schema->format),
                        nb::str(schema->name == nullptr ? "" : schema->name), schema->flags,
                        nb::tuple(children), dictionary);
}

// An array, or a child of one, that another library made. Keeps the whole of it alive.
class ArrowNode {
 public:
  ArrowNode(std::shared_ptr<Moved<ArrowArray>> owner, const ArrowArray* array)
      : owner_(std::move(owner)), array_(array) {
    check_count(array->n_children, static_cast<const void*>(array->children));
    check_count(array->n_buffers, static_cast<const void*>(array->buffers));
    if (array->length < 0 || array->offset < 0 || array->null_count < -1 ||
        array->offset > INT64_MAX - array->length) {
      throw nb::value_error("the Arrow array is damaged: its length or offset makes no sense");
    }
  }

  [[nodiscard]] std::int64_t length() const noexcept { return array_->length; }
  [[nodiscard]] std::int64_t null_count() const noexcept { return array_->null_count; }
  [[nodiscard]] std::int64_t offset() const noexcept { return array_->offset; }
  [[nodiscard]] std::int64_t buffer_count() const noexcept { return array_->n_buffers; }

  [[nodiscard]] bool has_buffer(std::int64_t index) const {
    check_index(index, array_->n_buffers);
    return array_->buffers[index] != nullptr;
  }

  // Returns `size` bytes of a buffer. The interface does not say how large a buffer is, so the
  // producer's word for the size has to do.
  [[nodiscard]] const void* buffer(std::int64_t index, std::int64_t size) const {
    static constexpr std::uint8_t kNothing = 0;
    check_index(index, array_->n_buffers);
    if (size < 0) throw nb::value_error("expected a size of at least 0 bytes");
    if (size == 0) return &kNothing;
    if (array_->buffers[index] == nullptr) {
      throw nb::value_error("the Arrow array is damaged: a buffer that is needed is missing");
    }
    return array_->buffers[index];
  }

  [[nodiscard]] std::vector<ArrowNode> children() const {
    std::vector<ArrowNode> nodes;
    nodes.reserve(static_cast<std::size_t>(array_->n_children));
    for (std::int64_t i = 0; i < array_->n_children; ++i) {
      nodes.push_back(node(array_->children[i]));
    }
    return nodes;
  }

  [[nodiscard]] ArrowNode dictionary() const { return node(array_->dictionary); }

 private:
  static void check_index(std::int64_t index, std::int64_t count) {
    if (index < 0 || index >= count) {
      throw nb::value_error("the Arrow array is damaged: it has fewer buffers than its type needs");
    }
  }

  [[nodiscard]] ArrowNode node(const ArrowArray* array) const {
    if (array == nullptr) throw nb::value_error("the Arrow array is damaged: a part is missing");
    return {owner_, array};
  }

  std::shared_ptr<Moved<ArrowArray>> owner_;
  const ArrowArray* array_;
};

// A stream of record batches that another library made.
class ArrowReader {
 public:
  explicit ArrowReader(nb::handle capsule)
      : stream_(move_out<ArrowArrayStream>(capsule, kStreamCapsule)) {}

  [[nodiscard]] nb::tuple schema() {
    const auto schema = std::make_unique<Moved<ArrowSchema>>();
    ArrowArrayStream& stream = stream_->structure;
    int result = 0;
    {
      const nb::gil_scoped_release released;
      result = stream.get_schema(&stream, &schema->structure);
    }
    check(result);
    return schema_tree(&schema->structure);
  }

  // Returns the next batch, or None at the end.
  [[nodiscard]] nb::object next() {
    const auto batch = std::make_shared<Moved<ArrowArray>>();
    ArrowArrayStream& stream = stream_->structure;
    int result = 0;
    {
      const nb::gil_scoped_release released;
      result = stream.get_next(&stream, &batch->structure);
    }
    check(result);
    if (batch->structure.release == nullptr) return nb::none();
    return nb::cast(ArrowNode(batch, &batch->structure));
  }

 private:
  void check(int result) {
    if (result == 0) return;
    ArrowArrayStream& stream = stream_->structure;
    const char* const text = stream.get_last_error(&stream);
    throw std::runtime_error("the Arrow stream failed: " +
                             (text == nullptr ? "error " + std::to_string(result) : text));
  }

  std::shared_ptr<Moved<ArrowArrayStream>> stream_;
};

nb::tuple read_schema(nb::handle capsule) {
  return schema_tree(open_capsule<ArrowSchema>(capsule, kSchemaCapsule));
}

ArrowNode read_array(nb::handle capsule) {
  const auto array = move_out<ArrowArray>(capsule, kArrayCapsule);
  return {array, &array->structure};
}

nb::object export_stream(nb::handle schema, const nb::list& batches) {
  std::vector<SharedLayout> layouts;
  for (const nb::handle batch : batches) layouts.push_back(read_layout(batch));
  return stream_capsule(read_layout(schema), std::move(layouts));
}

void bind_import(nb::module_& module) {
  nb::class_<ArrowNode>(module, "ArrowNode", "An Arrow array, or a child of one.")
      .def_prop_ro("length", &ArrowNode::length, "Number of entries.")
      .def_prop_ro("null_count", &ArrowNode::null_count, "Number of nulls, -1 if not known.")
      .def_prop_ro("offset", &ArrowNode::offset, "Entries of the buffers before the first one.")
      .def_prop_ro("buffer_count", &ArrowNode::buffer_count, "Number of buffers.")
      .def_prop_ro("children", &ArrowNode::children, "The arrays inside.")
      .def_prop_ro("dictionary", &ArrowNode::dictionary, "The values of a dictionary array.")
      .def("has_buffer", &ArrowNode::has_buffer, nb::arg("index"), "Whether a buffer is there.")
      .def(
          "buffer",
          [](nb::handle_t<ArrowNode> self, std::int64_t index, std::int64_t size) {
            const auto& node = nb::cast<const ArrowNode&>(self);
            return nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(
                node.buffer(index, size), {static_cast<std::size_t>(size)}, self);
          },
          nb::arg("index"), nb::arg("size"),
          "The first `size` bytes of a buffer, a view that keeps the array alive.");
  nb::class_<ArrowReader>(module, "ArrowReader", "The batches of an `arrow_array_stream` capsule.")
      .def(nb::init<nb::handle>(), nb::arg("capsule"))
      .def("schema", &ArrowReader::schema, nb::sig("def schema(self) -> tuple[typing.Any, ...]"),
           "Return (format, name, flags, children, dictionary or None) of the batches.")
      .def("next", &ArrowReader::next, nb::sig("def next(self) -> ArrowNode | None"),
           "Return the next batch, or None at the end.");
  module.def("read_arrow_schema", read_schema, nb::arg("capsule"),
             nb::sig("def read_arrow_schema(capsule: object) -> tuple[typing.Any, ...]"),
             "Return (format, name, flags, children, dictionary or None) of a capsule.");
  module.def("read_arrow_array", read_array, nb::arg("capsule"),
             "Take the array out of a capsule.");
}

}  // namespace

void bind_arrow(nb::module_& module) {
  bind_import(module);
  module.def(
      "export_arrow_schema", [](nb::handle layout) { return schema_capsule(read_layout(layout)); },
      nb::arg("layout"),
      "Make an `arrow_schema` capsule of (format, name, flags, length, null_count, buffers,\n"
      "children).");
  module.def(
      "export_arrow_array", [](nb::handle layout) { return array_capsule(read_layout(layout)); },
      nb::arg("layout"), "Make an `arrow_array` capsule of the same; buffers are not copied.");
  module.def(
      "export_arrow_stream", export_stream, nb::arg("schema"), nb::arg("batches"),
      nb::sig("def export_arrow_stream(schema: object, batches: list[typing.Any]) -> object"),
      "Make an `arrow_array_stream` capsule of such tuples.");
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(note_interpreter_end));
}

}  // namespace tfrkit
