#include "bindings/arrow/arrow_export.h"

#include <atomic>
#include <cerrno>
#include <new>
#include <utility>

#include "bindings/arrow/arrow_abi.h"

namespace tfrkit {
namespace {

constexpr int kMaxDepth = 64;

std::atomic<bool> interpreter_ends{false};

// What a structure points to. Children are structures of their own: a consumer may move them out
// and keep them when the parent is released.
template <typename Structure>
struct Owner {
  SharedLayout layout;
  std::vector<Structure> children;
  std::vector<Structure*> pointers;
  std::vector<const void*> buffers;  // of an array
};

template <typename Structure>
void release(Structure* structure) noexcept {
  auto* const owner = static_cast<Owner<Structure>*>(structure->private_data);
  for (Structure& child : owner->children) {
    if (child.release != nullptr) child.release(&child);
  }
  delete owner;
  structure->release = nullptr;
}

template <typename Structure>
void fill(const SharedLayout& layout, Structure* out);

template <typename Structure>
std::unique_ptr<Owner<Structure>> make_owner(const SharedLayout& layout) {
  auto owner = std::make_unique<Owner<Structure>>();
  owner->layout = layout;
  owner->children.resize(layout->children.size());
  for (std::size_t i = 0; i < layout->children.size(); ++i) {
    fill(SharedLayout(layout, &layout->children[i]), &owner->children[i]);
    owner->pointers.push_back(&owner->children[i]);
  }
  return owner;
}

template <>
void fill(const SharedLayout& layout, ArrowSchema* out) {
  auto owner = make_owner<ArrowSchema>(layout);
  *out = {layout->format.c_str(),
          layout->name.c_str(),
          nullptr,
          layout->flags,
          static_cast<std::int64_t>(owner->pointers.size()),
          owner->pointers.data(),
          nullptr,
          release<ArrowSchema>,
          nullptr};
  out->private_data = owner.release();
}

template <>
void fill(const SharedLayout& layout, ArrowArray* out) {
  auto owner = make_owner<ArrowArray>(layout);
  for (const auto& buffer : layout->buffers) {
    owner->buffers.push_back(buffer == nullptr ? nullptr : buffer->data());
  }
  *out = {layout->length,
          layout->null_count,
          0,
          static_cast<std::int64_t>(owner->buffers.size()),
          static_cast<std::int64_t>(owner->pointers.size()),
          owner->buffers.data(),
          owner->pointers.data(),
          nullptr,
          release<ArrowArray>,
          nullptr};
  out->private_data = owner.release();
}

struct Stream {
  SharedLayout schema;
  std::vector<SharedLayout> batches;
  std::size_t next = 0;
};

// The callbacks of a stream. Memory is all they can lack.
template <typename Structure>
int fill_or_fail(const SharedLayout& layout, Structure* out) noexcept {
  try {
    fill(layout, out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept {
  return fill_or_fail(static_cast<const Stream*>(stream->private_data)->schema, out);
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) noexcept {
  auto* const self = static_cast<Stream*>(stream->private_data);
  if (self->next == self->batches.size()) {
    *out = {};  // a released array is the end
    return 0;
  }
  const int result = fill_or_fail(self->batches[self->next], out);
  if (result == 0) self->batches[self->next++].reset();
  return result;
}

const char* get_last_error(ArrowArrayStream* /*stream*/) noexcept { return "out of memory"; }

void release_stream(ArrowArrayStream* stream) noexcept {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

// Puts a structure into a capsule that releases it, unless a consumer has moved it out.
template <typename Structure>
nb::object wrap(std::unique_ptr<Structure> structure, const char* name) {
  nb::object capsule = nb::steal(PyCapsule_New(structure.get(), name, [](PyObject* self) noexcept {
    auto* const held = static_cast<Structure*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
    if (held->release != nullptr) held->release(held);
    delete held;
  }));
  if (!capsule.is_valid()) {
    structure->release(structure.get());
    throw nb::python_error();
  }
  (void)structure.release();
  return capsule;
}

Layout read_layout_at(nb::handle source, int depth) {
  if (depth > kMaxDepth) throw nb::value_error("expected at most 64 levels of nested columns");
  const auto items = nb::cast<nb::tuple>(source);
  Layout layout;
  layout.format = nb::cast<nb::str>(items[0]).c_str();
  layout.name = nb::cast<nb::str>(items[1]).c_str();
  layout.flags = nb::cast<std::int64_t>(items[2]);
  layout.length = nb::cast<std::int64_t>(items[3]);
  layout.null_count = nb::cast<std::int64_t>(items[4]);
  for (const nb::handle buffer : nb::cast<nb::tuple>(items[5])) {
    layout.buffers.push_back(buffer.is_none() ? nullptr : std::make_unique<HeldBuffer>(buffer));
  }
  for (const nb::handle child : nb::cast<nb::tuple>(items[6])) {
    layout.children.push_back(read_layout_at(child, depth + 1));
  }
  return layout;
}

}  // namespace

HeldBuffer::HeldBuffer(nb::handle source) {
  if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_SIMPLE) != 0) {
    view_.obj = nullptr;
    throw nb::python_error();
  }
}

HeldBuffer::~HeldBuffer() {
  if (view_.obj == nullptr || interpreter_ends.load() || Py_IsInitialized() == 0) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyBuffer_Release(&view_);
  PyGILState_Release(state);
}

void note_interpreter_end() noexcept { interpreter_ends.store(true); }

SharedLayout read_layout(nb::handle tuple) {
  return std::make_shared<const Layout>(read_layout_at(tuple, 0));
}

nb::object schema_capsule(const SharedLayout& layout) {
  auto schema = std::make_unique<ArrowSchema>();
  fill(layout, schema.get());
  return wrap(std::move(schema), kSchemaCapsule);
}

nb::object array_capsule(const SharedLayout& layout) {
  auto array = std::make_unique<ArrowArray>();
  fill(layout, array.get());
  return wrap(std::move(array), kArrayCapsule);
}

nb::object stream_capsule(SharedLayout schema, std::vector<SharedLayout> batches) {
  auto owner = std::make_unique<Stream>();
  owner->schema = std::move(schema);
  owner->batches = std::move(batches);
  auto stream = std::make_unique<ArrowArrayStream>();
  *stream = {get_schema, get_next, get_last_error, release_stream, owner.release()};
  return wrap(std::move(stream), kStreamCapsule);
}

}  // namespace tfrkit
