// SPDX-License-Identifier: Apache-2.0
//
// Arrays, textures and surfaces of the captured program, in the emulator and in the log.
#include "device.h"

#include <stdexcept>

namespace regatta::capture {

namespace {

/// What the table refuses is the program's mistake, for which the API has an error code.
template <class Make>
auto checked(Make make) {
  try {
    return make();
  } catch (const base::OutOfMemory&) {
    throw;
  } catch (const trace::InputError& e) {
    const std::string prefix = "error: ", text = e.what();
    throw std::invalid_argument(text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text);
  }
}

/// One of the first `count` numbers of an enumeration.
template <class Enum>
Enum as(std::uint32_t number, std::uint32_t count) {
  if (number < count) return static_cast<Enum>(number);
  throw std::invalid_argument("number " + std::to_string(number) + " of an enumeration, expected less than " +
                              std::to_string(count));
}

emulator::TexelFormat format_of(const TexelDescription& d) {
  emulator::TexelFormat f;
  f.kind = as<emulator::ChannelKind>(d.kind, 3);
  f.bits = static_cast<std::uint8_t>(d.bits);
  f.channels = static_cast<std::uint8_t>(d.channels);
  return f;
}

emulator::ArrayShape shape_of(const ArrayDescription& d) {
  return {d.width, d.height, d.depth, d.layers, format_of(d.format), d.is_cube != 0};
}

emulator::ArrayBox box_of(const ArrayRegion& r) { return {r.x, r.y, r.z, r.width, r.height, r.depth}; }

emulator::TextureResource resource_of(const TextureDescription& d) {
  using emulator::TextureResource;
  switch (d.source) {
    case TextureDescription::Source::array:
      return TextureResource::of_array(d.memory);
    case TextureDescription::Source::pitched:
      return TextureResource::pitched(d.memory, d.width, d.height, d.pitch, format_of(d.format));
    case TextureDescription::Source::linear:
      break;
  }
  return TextureResource::linear(d.memory, d.bytes, format_of(d.format));
}

emulator::Sampler sampler_of(const TextureDescription& d) {
  emulator::Sampler s;
  for (std::size_t i = 0; i < 3; ++i) s.address[i] = as<emulator::AddressMode>(d.address[i], 4);
  s.filter = as<emulator::FilterMode>(d.filter, 2);
  s.read = as<emulator::ReadMode>(d.read, 2);
  s.normalized_coordinates = d.normalized != 0;
  for (std::size_t i = 0; i < 4; ++i) s.border[i] = d.border[i];
  return s;
}

}  // namespace

std::uint64_t CapturedDevice::create_array(const ArrayDescription& d) {
  return checked([&] {
    const std::string name = "a" + std::to_string(log_.arrays());
    const emulator::ArrayShape shape = shape_of(d);
    const std::uint64_t bytes = emulator::TextureTable::array_bytes(name, shape);
    const std::uint64_t address = reserve(bytes);
    reserved_.erase(address);
    take_memory(bytes);
    const emulator::ArrayId id = textures_.create_array(name, shape, !options_.strict, address);
    arrays_[id] = log_.add_array(d, address);
    return id;
  });
}

void CapturedDevice::destroy_array(std::uint64_t array) {
  checked([&] {
    const std::uint64_t bytes = memory_.find(textures_.array_address(array))->bytes;
    textures_.destroy_array(array);
    used_ -= bytes;
    log_.release_array(arrays_.at(array));
    arrays_.erase(array);
  });
}

std::uint64_t CapturedDevice::region_bytes(std::uint64_t array, const ArrayRegion& r) const {
  return checked([&] {
    const emulator::ArrayShape& s = textures_.array_shape(array);
    // Before anything of that size is made.
    const bool fits = std::uint64_t{r.x} + r.width <= s.width && std::uint64_t{r.y} + r.height <= s.rows() &&
                      std::uint64_t{r.z} + r.depth <= s.slices();
    if (!fits) throw std::invalid_argument("a range beyond an array");
    return std::uint64_t{r.width} * r.height * r.depth * s.format.bytes();
  });
}

void CapturedDevice::write_array(std::uint64_t array, const ArrayRegion& region, const std::uint8_t* bytes) {
  const std::uint64_t count = region_bytes(array, region);
  if (count == 0) return;  // the table's boxes have no size of 0
  checked([&] { textures_.write_array(array, box_of(region), bytes); });
  log_.load_array(arrays_.at(array), region, bytes, count);
}

std::vector<std::uint8_t> CapturedDevice::read_array(std::uint64_t array, const ArrayRegion& region) const {
  std::vector<std::uint8_t> bytes(region_bytes(array, region));
  if (!bytes.empty()) checked([&] { textures_.read_array(array, box_of(region), bytes.data()); });
  return bytes;
}

void CapturedDevice::copy_array(bool to_array, std::uint64_t array, const ArrayRegion& region, std::uint64_t address,
                                std::uint64_t pitch) {
  const std::uint64_t packed = region_bytes(array, region);
  if (packed == 0) return;
  const std::uint64_t rows = std::uint64_t{region.height} * region.depth, row = packed / rows;
  const emulator::Allocation& a = allocation(address, (rows - 1) * pitch + row);
  if (pitch < row) throw std::invalid_argument("a pitch of less than a row");
  const auto buffer = buffers_.find(a.base);
  if (buffer == buffers_.end()) {
    const Rows plain{address, pitch, row, rows};
    if (to_array) return write_array(array, region, read(plain).data());
    return write(plain, read_array(array, region).data());
  }
  checked([&] {
    if (to_array) {
      textures_.copy_to_array(array, box_of(region), address, pitch, pitch * region.height);
    } else {
      textures_.copy_from_array(array, box_of(region), address, pitch, pitch * region.height);
    }
  });
  log_.copy_array(to_array, arrays_.at(array), region, buffer->second, address - a.base, pitch);
}

void CapturedDevice::copy_arrays(std::uint64_t to, const ArrayRegion& place, std::uint64_t from,
                                 const ArrayRegion& region) {
  if (region_bytes(from, region) == 0) return;
  checked([&] { textures_.copy_array(to, place.x, place.y, place.z, from, box_of(region)); });
  log_.copy_arrays(arrays_.at(to), place, arrays_.at(from), region);
}

ProgramLog::TextureMemory CapturedDevice::log_place(const TextureDescription& d) const {
  if (d.source == TextureDescription::Source::array) return {true, arrays_.at(d.memory), 0};
  const emulator::Allocation& a = allocation(d.memory, 1);
  const auto buffer = buffers_.find(a.base);
  if (buffer == buffers_.end()) {
    throw trace::InputError("error: the program has a texture of variable '" + a.name +
                            "', which is not supported, expected memory of cudaMalloc()");
  }
  return {false, buffer->second, d.memory - a.base};
}

std::uint64_t CapturedDevice::create_texture(const TextureDescription& d) {
  const auto handle = checked([&] { return textures_.create_texture(resource_of(d), sampler_of(d), next_handle_); });
  ++next_handle_;
  objects_[handle] = log_.add_texture(d, log_place(d), {handle, 0, ""});
  return handle;
}

std::uint64_t CapturedDevice::create_surface(std::uint64_t array) {
  const auto handle = checked([&] { return textures_.create_surface(array, next_handle_); });
  ++next_handle_;
  objects_[handle] = log_.add_surface(arrays_.at(array), {handle, 0, ""});
  return handle;
}

void CapturedDevice::destroy_texture(std::uint64_t handle) {
  checked([&] { textures_.destroy_texture(handle); });
  log_.destroy(objects_.at(handle));
  objects_.erase(handle);
}

void CapturedDevice::destroy_surface(std::uint64_t handle) {
  checked([&] { textures_.destroy_surface(handle); });
  log_.destroy(objects_.at(handle));
  objects_.erase(handle);
}

emulator::TextureHandle CapturedDevice::reference(std::uint32_t module, const std::string& name) const {
  const emulator::TextureHandle found = modules_.at(module)->image->reference(name);
  if (found == 0) throw std::out_of_range("no texture or surface reference " + name);
  return found;
}

void CapturedDevice::bind_texture(std::uint32_t module, const std::string& name, const TextureDescription& d) {
  const emulator::TextureHandle handle = reference(module, name);
  checked([&] { textures_.bind(handle, resource_of(d), sampler_of(d)); });
  bound_[handle] = log_.add_texture(d, log_place(d), {0, module, name});
}

void CapturedDevice::bind_surface(std::uint32_t module, const std::string& name, std::uint64_t array) {
  const emulator::TextureHandle handle = reference(module, name);
  checked([&] { textures_.bind_surface(handle, array); });
  bound_[handle] = log_.add_surface(arrays_.at(array), {0, module, name});
}

void CapturedDevice::unbind(std::uint32_t module, const std::string& name) {
  const emulator::TextureHandle handle = reference(module, name);
  const auto found = bound_.find(handle);
  if (found == bound_.end()) return;
  textures_.unbind(handle);
  log_.destroy(found->second);
  bound_.erase(found);
}

}  // namespace regatta::capture
