// SPDX-License-Identifier: Apache-2.0
//
// Arrays, textures and surfaces of a launch file, made in the emulator.
#include "host.h"

namespace regatta::tool {

using emulator::ChannelKind;
using emulator::TextureResource;

namespace {

emulator::TexelFormat format_of(const launch::TexelType& t) {
  emulator::TexelFormat f;
  f.kind = ir::is_float(t.channel)    ? ChannelKind::floating
           : ir::is_signed(t.channel) ? ChannelKind::signed_integer
                                      : ChannelKind::unsigned_integer;
  f.bits = static_cast<std::uint8_t>(8 * ir::size_of(t.channel));
  f.channels = static_cast<std::uint8_t>(t.channels);
  return f;
}

/// What `make` returns; what the table refuses names the place in the launch file.
template <class Make>
auto at_place(const launch::LaunchFile& file, const launch::Position& where, Make make) {
  try {
    return make();
  } catch (const base::OutOfMemory&) {
    throw;
  } catch (const trace::InputError& e) {
    const std::string prefix = "error: ", text = e.what();
    file.fail(where, text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text);
  }
}

emulator::ArrayBox box_of(const launch::ArrayPart& p) {
  return {p.at[0], p.at[1], p.at[2], p.size[0], p.size[1], p.size[2]};
}

}  // namespace

std::uint64_t Host::create_array(const launch::Array& a) {
  const bool is_initialised = a.data.contents.fill.init != launch::Init::none;
  return at_place(file_, a.data.where, [&] {
    return textures_.create_array(
        a.data.name, {a.size.width, a.size.height, a.size.depth, a.size.layers, format_of(a.format), a.size.cubes},
        is_initialised, a.data.address);
  });
}

void Host::write_array(std::uint64_t array, const launch::ArrayPart& part, const void* from) {
  textures_.write_array(array, box_of(part), from);
}

void Host::read_array(std::uint64_t array, const launch::ArrayPart& part, void* to) const {
  textures_.read_array(array, box_of(part), to);
}

void Host::copy_to_array(std::uint64_t array, const launch::ArrayPart& part, std::uint64_t from, std::uint64_t pitch) {
  textures_.copy_to_array(array, box_of(part), from, pitch);
}

void Host::copy_from_array(std::uint64_t array, const launch::ArrayPart& part, std::uint64_t to, std::uint64_t pitch) {
  textures_.copy_from_array(array, box_of(part), to, pitch);
}

void Host::copy_array(std::uint64_t to, const std::array<std::uint32_t, 3>& at, std::uint64_t from,
                      const launch::ArrayPart& part) {
  textures_.copy_array(to, at[0], at[1], at[2], from, box_of(part));
}

emulator::TextureHandle Host::reference(const launch::TextureReference& r, const launch::Position& where) const {
  emulator::TextureHandle found = 0;
  std::string first, files;
  for (std::size_t m = 0; m < images_.size(); ++m) {
    if (r.module && *r.module != m) continue;
    files += (files.empty() ? "'" : ", '") + file_.ptx[m] + "'";
    const emulator::TextureHandle handle = images_[m].reference(r.name);
    if (handle == 0) continue;
    if (found != 0) {
      file_.fail(where, "reference '" + r.name + "' is in '" + first + "' and in '" + file_.ptx[m] +
                            "': name its file with ptx = \"...\"");
    }
    found = handle;
    first = file_.ptx[m];
  }
  if (found == 0) {
    const bool one = r.module || images_.size() == 1;
    file_.fail(where, files + (one ? " has" : " have") + " no .texref or .surfref called '" + r.name + "'");
  }
  return found;
}

std::uint64_t Host::create_texture(const launch::Texture& t, std::uint64_t memory) {
  TextureResource r = TextureResource::of_array(memory);
  if (!t.of_array) {
    const emulator::TexelFormat format = format_of(t.format);
    const std::uint64_t rest = file_.buffers[t.memory].contents.bytes - t.offset;
    const std::uint64_t bytes = t.width != 0 ? std::uint64_t{t.width} * format.bytes() : rest;
    r = t.height != 0 ? TextureResource::pitched(memory, t.width, t.height, t.pitch, format)
                      : TextureResource::linear(memory, bytes, format);
  }
  emulator::Sampler s;
  for (std::size_t d = 0; d < 3; ++d) s.address[d] = static_cast<emulator::AddressMode>(t.address[d]);
  s.filter = t.linear_filter ? emulator::FilterMode::linear : emulator::FilterMode::point;
  s.read = t.reads_normalized ? emulator::ReadMode::normalized_float : emulator::ReadMode::element;
  s.normalized_coordinates = t.normalized_coordinates;
  s.border = t.border;
  const emulator::TextureHandle bound = t.reference.name.empty() ? 0 : reference(t.reference, t.where);
  return at_place(file_, t.where, [&] {
    if (bound == 0) return textures_.create_texture(r, s, t.handle);
    textures_.bind(bound, r, s);
    return bound;
  });
}

std::uint64_t Host::create_surface(const launch::Surface& s, std::uint64_t array) {
  if (s.reference.name.empty()) {
    return at_place(file_, s.where, [&] { return textures_.create_surface(array, s.handle); });
  }
  const emulator::TextureHandle bound = reference(s.reference, s.where);
  textures_.bind_surface(bound, array);
  return bound;
}

void Host::destroy_texture(const launch::Texture& t, std::uint64_t handle) {
  if (t.reference.name.empty()) return textures_.destroy_texture(handle);
  textures_.unbind(handle);
}

void Host::destroy_surface(const launch::Surface& s, std::uint64_t handle) {
  if (s.reference.name.empty()) return textures_.destroy_surface(handle);
  textures_.unbind(handle);
}

}  // namespace regatta::tool
