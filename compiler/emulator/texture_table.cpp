// SPDX-License-Identifier: Apache-2.0
#include "texture_array.h"

#include <regatta/trace/types.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace regatta::emulator {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw trace::InputError("error: " + what); }

std::string size_text(const ArrayShape& s) {
  std::string text = std::to_string(s.width);
  if (s.height != 0) text += " x " + std::to_string(s.height);
  if (s.depth != 0) text += " x " + std::to_string(s.depth);
  if (s.layers != 0) text += " (" + std::to_string(s.layers) + (s.layers == 1 ? " layer)" : " layers)");
  return text;
}

void check(const TexelFormat& f) {
  const bool is_float = f.kind == ChannelKind::floating;
  const bool bits = (f.bits == 8 && !is_float) || f.bits == 16 || f.bits == 32;
  const bool channels = f.channels == 1 || f.channels == 2 || f.channels == 4;
  if (bits && channels) return;
  refuse("texel format " + to_string(f) +
         " is not one of 1, 2 or 4 channels of s8, u8, s16, u16, s32, u32, f16 or f32");
}

void check(const std::string& name, const ArrayShape& s) {
  check(s.format);
  const std::string what = "array '" + name + "' of " + size_text(s) + " texels";
  if (s.width == 0) refuse(what + " has no width");
  if (s.depth != 0 && s.height == 0) refuse(what + " has a depth and no height");
  if (s.depth != 0 && s.layers != 0) refuse(what + " has a depth and layers, expected one of them");
  if (s.cubes && (s.width != s.height || s.layers == 0 || s.layers % 6 != 0))
    refuse(what + " is no cube, expected squares, and 6 layers a cube");
  struct Limit {
    std::uint32_t width, height, depth, layers;
  };
  static constexpr Limit limits[] = {{131072, 0, 0, 0}, {131072, 65536, 0, 0}, {16384, 16384, 16384, 0}};
  static constexpr Limit layered = {32768, 32768, 0, 2048};
  const Limit& most = s.layers != 0 ? layered : limits[s.dimensions() - 1];
  if (s.width <= most.width && s.height <= most.height && s.depth <= most.depth && s.layers <= most.layers) return;
  std::string text = std::to_string(most.width);
  if (s.height != 0) text += " x " + std::to_string(most.height);
  if (s.depth != 0) text += " x " + std::to_string(most.depth);
  if (s.layers != 0) text += " and " + std::to_string(most.layers) + " layers";
  refuse(what + " is too large, expected at most " + text);
}

std::uint64_t rounded_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

TexelLayout layout_of(const ArrayShape& s, std::uint64_t& bytes) {
  TexelLayout l;
  const std::uint64_t row = std::uint64_t{s.width} * s.format.bytes();
  if (s.dimensions() == 1) {
    l.pitch = row;
    l.slice = rounded_up(row, DeviceMemory::alignment);
    bytes = (s.slices() - 1) * l.slice + row;
    return l;
  }
  constexpr std::uint64_t block = std::uint64_t{TexelLayout::block_bytes} * TexelLayout::block_rows;
  l.blocks = true;
  l.pitch = rounded_up(row, TexelLayout::block_bytes) / TexelLayout::block_bytes * block;
  l.slice = rounded_up(s.rows(), TexelLayout::block_rows) / TexelLayout::block_rows * l.pitch;
  bytes = s.slices() * l.slice;
  return l;
}

}  // namespace

std::string to_string(const TexelFormat& f) {
  static constexpr const char* letters[] = {"s", "u", "f"};
  std::string text = letters[static_cast<std::size_t>(f.kind) % 3] + std::to_string(f.bits);
  if (f.channels != 1) text += " x " + std::to_string(f.channels);
  return text;
}

struct TextureTable::Object {
  enum class Kind : std::uint8_t { texture, surface, reference };
  Kind kind = Kind::texture;
  bool is_bound = true;
  bool is_surface = false;
  std::string name;  ///< of a reference
  ArrayId array = 0;
  TextureView view;
};

TextureTable::TextureTable(DeviceMemory& memory) : memory_(memory) {}
TextureTable::~TextureTable() = default;

const TextureTable::Array& TextureTable::array_of(ArrayId array) const {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) refuse("there is no array with id " + std::to_string(array));
  return found->second;
}

std::uint64_t TextureTable::array_bytes(const std::string& name, const ArrayShape& shape) {
  check(name, shape);
  std::uint64_t bytes = 0;
  layout_of(shape, bytes);
  return bytes;
}

ArrayId TextureTable::create_array(const std::string& name, const ArrayShape& shape, bool initialised,
                                   std::optional<std::uint64_t> address) {
  check(name, shape);
  Array a{name, shape, {}};
  std::uint64_t bytes = 0;
  a.layout = layout_of(shape, bytes);
  if (address) memory_.allocate_at(name, *address, bytes, initialised);
  a.layout.base = address ? *address : memory_.allocate(name, bytes, initialised);
  arrays_.emplace(++last_array_, std::move(a));
  return last_array_;
}

void TextureTable::destroy_array(ArrayId array) {
  memory_.release(array_of(array).layout.base);
  arrays_.erase(array);
}

bool TextureTable::has_array(ArrayId array) const { return arrays_.count(array) != 0; }
const ArrayShape& TextureTable::array_shape(ArrayId array) const { return array_of(array).shape; }
std::uint64_t TextureTable::array_address(ArrayId array) const { return array_of(array).layout.base; }

TextureView TextureTable::view(const TextureResource& r, const Sampler& sampler) const {
  TextureView v;
  v.sampler = sampler;
  if (r.kind == TextureResource::Kind::array) {
    const Array& a = array_of(r.array);
    v.shape = a.shape;
    v.layout = a.layout;
  } else {
    check(r.format);
    const bool is_linear = r.kind == TextureResource::Kind::linear;
    const unsigned texel = r.format.bytes();
    if (r.address % texel != 0) {
      refuse("a texture of texels of " + std::to_string(texel) + " bytes lies at address " + std::to_string(r.address) +
             ", expected a multiple of " + std::to_string(texel));
    }
    v.is_linear = is_linear;
    v.shape.format = r.format;
    v.layout.base = r.address;
    std::uint64_t end = r.bytes;
    if (is_linear) {
      if (r.bytes / texel > (1u << 28)) {
        refuse("a texture of linear memory has " + std::to_string(r.bytes / texel) +
               " texels, expected at most 268435456");
      }
      v.shape.width = static_cast<std::uint32_t>(r.bytes / texel);
    } else {
      v.shape.width = r.width;
      v.shape.height = r.height;
      v.layout.pitch = r.pitch;
      const std::uint64_t row = std::uint64_t{r.width} * texel;
      if (r.pitch < row || r.pitch % texel != 0) {
        refuse("a texture of rows of " + std::to_string(row) + " bytes has a pitch of " + std::to_string(r.pitch) +
               " bytes, expected a multiple of " + std::to_string(texel) + " that is no smaller than a row");
      }
      if (r.height == 0) refuse("a texture of pitched memory has no rows");
      end = (r.height - 1) * r.pitch + row;
    }
    if (v.shape.width == 0) refuse("a texture has no texels");
    const Allocation* const a = static_cast<const DeviceMemory&>(memory_).find(r.address);
    if (a == nullptr || end > a->end() - r.address) {
      refuse("a texture of " + std::to_string(end) + " bytes does not lie within one buffer: it begins " +
             memory_.describe(r.address));
    }
  }
  const TexelFormat& f = v.shape.format;
  const bool is_float = f.kind == ChannelKind::floating;
  if (is_float) v.sampler.read = ReadMode::element;
  if (v.sampler.read == ReadMode::normalized_float && f.bits == 32) {
    refuse("texels of " + to_string(f) + " cannot be read as normalized floats, expected integers of 8 or 16 bits");
  }
  if (sampler.filter == FilterMode::linear) {
    if (v.is_linear) refuse("a texture of linear memory cannot be filtered, expected filter mode point");
    if (!is_float && v.sampler.read == ReadMode::element) {
      refuse("linear filtering of texels of " + to_string(f) +
             " needs floats, expected a float format or read mode normalized float");
    }
  }
  if (v.is_linear && sampler.normalized_coordinates) {
    refuse("a texture of linear memory has normalized coordinates, expected texel numbers");
  }
  for (AddressMode& m : v.sampler.address) {
    if (!sampler.normalized_coordinates && (m == AddressMode::wrap || m == AddressMode::mirror)) m = AddressMode::clamp;
  }
  return v;
}

TextureHandle TextureTable::add(Object&& object, TextureHandle handle) {
  if (handle == 0) {
    while (objects_.count(++last_handle_) != 0) continue;
    handle = last_handle_;
  }
  if (!objects_.try_emplace(handle, std::move(object)).second) refuse(describe(handle) + ", is taken");
  return handle;
}

TextureHandle TextureTable::create_texture(const TextureResource& resource, const Sampler& sampler,
                                           TextureHandle handle) {
  Object o;
  o.view = view(resource, sampler);
  o.array = resource.kind == TextureResource::Kind::array ? resource.array : 0;
  return add(std::move(o), handle);
}

TextureHandle TextureTable::create_surface(ArrayId array, TextureHandle handle) {
  Object o;
  o.kind = Object::Kind::surface;
  o.is_surface = true;
  o.array = array;
  o.view.shape = array_of(array).shape;
  o.view.layout = array_of(array).layout;
  return add(std::move(o), handle);
}

TextureHandle TextureTable::create_reference(const std::string& name) {
  Object o;
  o.kind = Object::Kind::reference;
  o.is_bound = false;
  o.name = name;
  return add(std::move(o), 0);
}

TextureTable::Object& TextureTable::reference_of(TextureHandle reference) {
  const auto found = objects_.find(reference);
  if (found == objects_.end() || found->second.kind != Object::Kind::reference) {
    refuse(describe(reference) + ", expected a texture or surface reference");
  }
  return found->second;
}

void TextureTable::bind(TextureHandle reference, const TextureResource& resource, const Sampler& sampler) {
  Object& o = reference_of(reference);
  o.view = view(resource, sampler);
  o.array = resource.kind == TextureResource::Kind::array ? resource.array : 0;
  o.is_bound = true;
  o.is_surface = false;
}

void TextureTable::bind_surface(TextureHandle reference, ArrayId array) {
  Object& o = reference_of(reference);
  o.view = TextureView();
  o.view.shape = array_of(array).shape;
  o.view.layout = array_of(array).layout;
  o.array = array;
  o.is_bound = o.is_surface = true;
}

void TextureTable::unbind(TextureHandle reference) { reference_of(reference).is_bound = false; }

void TextureTable::destroy(TextureHandle handle, bool surface) {
  const Object* const o = find(handle);
  const Object::Kind kind = surface ? Object::Kind::surface : Object::Kind::texture;
  if (o == nullptr || o->kind != kind) {
    refuse(describe(handle) + ", expected a " + (surface ? "surface" : "texture") + " object");
  }
  objects_.erase(handle);
}

void TextureTable::destroy_texture(TextureHandle texture) { destroy(texture, false); }
void TextureTable::destroy_surface(TextureHandle surface) { destroy(surface, true); }

const TextureTable::Object* TextureTable::find(TextureHandle handle) const {
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : &found->second;
}

const TextureView* TextureTable::texture(TextureHandle handle) const {
  const Object* const o = find(handle);
  if (o == nullptr || o->is_surface || !o->is_bound) return nullptr;
  return o->array == 0 || has_array(o->array) ? &o->view : nullptr;
}

const TextureView* TextureTable::surface(TextureHandle handle) const {
  const Object* const o = find(handle);
  return o != nullptr && o->is_surface && o->is_bound && has_array(o->array) ? &o->view : nullptr;
}

std::string TextureTable::describe(TextureHandle handle) const {
  const std::string text = "handle " + std::to_string(handle);
  const Object* const o = find(handle);
  if (o == nullptr) return text + ", which is neither a texture nor a surface object";
  if (o->kind == Object::Kind::reference) {
    return "reference '" + o->name + "'" +
           (!o->is_bound    ? ", to which nothing is bound"
            : o->is_surface ? ", a surface"
                            : ", a texture") +
           (o->is_bound && o->array != 0 && !has_array(o->array) ? ", whose array was destroyed" : "");
  }
  return text + ", which is a " + (o->kind == Object::Kind::surface ? "surface" : "texture") + " object" +
         (o->array != 0 && !has_array(o->array) ? " of an array that was destroyed" : "");
}

}  // namespace regatta::emulator
