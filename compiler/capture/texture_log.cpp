// SPDX-License-Identifier: Apache-2.0
//
// Arrays, textures and surfaces in the launch file.
#include "log_text.h"
#include "program_log.h"

#include <cstdio>

namespace regatta::capture {

namespace {

std::string array_name(std::size_t array) { return in_quotes("a" + number(array)); }

std::string line(const char* key, const std::string& value) { return std::string(key) + " = " + value + "\n"; }

std::string three(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return "[" + number(x) + ", " + number(y) + ", " + number(z) + "]";
}
std::string place_of(const ArrayRegion& r) { return three(r.x, r.y, r.z); }
std::string size_of(const ArrayRegion& r) { return three(r.width, r.height, r.depth); }

std::string format_of(const TexelDescription& d) {
  static constexpr const char* letters[] = {"s", "u", "f"};
  const std::string channel = letters[d.kind % 3] + number(d.bits);
  return in_quotes(d.channels == 1 ? channel : channel + " x " + number(d.channels));
}

/// All digits, and always a number of TOML.
std::string decimal(float value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  const std::string number = text;
  return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
}

}  // namespace

std::size_t ProgramLog::add_array(const ArrayDescription& d, std::uint64_t address) {
  const std::size_t index = array_count_++;
  textures_ += "[[array]]\n" + line("name", array_name(index)) + line("format", format_of(d.format)) +
               line("width", number(d.width));
  if (d.height != 0) textures_ += line("height", number(d.height));
  if (d.depth != 0) textures_ += line("depth", number(d.depth));
  if (d.layers != 0) textures_ += line("layers", number(d.layers));
  if (d.is_cube != 0) textures_ += line("cubes", "true");
  textures_ += line("address", number(address)) + (initialised_ ? "\n" : "init = \"none\"\n\n");
  step("allocate = " + array_name(index));
  return index;
}

void ProgramLog::release_array(std::size_t array) { step("free = " + array_name(array)); }

void ProgramLog::load_array(std::size_t array, const ArrayRegion& region, const std::uint8_t* from,
                            std::uint64_t bytes) {
  if (bytes == 0) return;
  step(line("load", array_name(array)) + line("at", place_of(region)) + line("size", size_of(region)) +
       line("file", "\"data.bin\"") + line("file_offset", number(store(from, bytes))) + "bytes = " + number(bytes));
}

void ProgramLog::copy_array(bool to_array, std::size_t array, const ArrayRegion& region, std::size_t buffer,
                            std::uint64_t offset, std::uint64_t pitch) {
  const std::string plain = in_quotes(buffer_name(buffer));
  if (to_array) {
    step(line("copy", plain) + line("offset", number(offset)) + line("pitch", number(pitch)) +
         line("to", array_name(array)) + line("to_at", place_of(region)) + "size = " + size_of(region));
  } else {
    step(line("copy", array_name(array)) + line("at", place_of(region)) + line("size", size_of(region)) +
         line("to", plain) + line("to_offset", number(offset)) + "to_pitch = " + number(pitch));
  }
}

void ProgramLog::copy_arrays(std::size_t to, const ArrayRegion& place, std::size_t from, const ArrayRegion& region) {
  step(line("copy", array_name(from)) + line("at", place_of(region)) + line("size", size_of(region)) +
       line("to", array_name(to)) + "to_at = " + place_of(place));
}

std::string ProgramLog::add_object(const char* table, const std::string& prefix, const TextureName& n,
                                   const std::string& keys) {
  const std::string name = prefix + number(object_count_++);
  textures_ += "[[" + std::string(table) + "]]\n" + line("name", in_quotes(name));
  if (n.reference.empty()) {
    textures_ += line("handle", number(n.handle));
  } else {
    textures_ +=
        line("reference", in_quotes(n.reference)) + line("ptx", in_quotes("module" + number(n.module) + ".ptx"));
  }
  textures_ += keys + "\n";
  step("create = " + in_quotes(name));
  return name;
}

std::string ProgramLog::add_texture(const TextureDescription& d, const TextureMemory& memory, const TextureName& name) {
  static constexpr const char* addresses[] = {"wrap", "clamp", "mirror", "border"};
  std::string keys;
  if (memory.is_array) {
    keys = line("array", array_name(memory.index));
  } else {
    const std::uint64_t texel = std::uint64_t{d.format.bits} / 8 * d.format.channels;
    const bool is_linear = d.source == TextureDescription::Source::linear;
    keys = line("buffer", in_quotes(buffer_name(memory.index))) + line("offset", number(memory.offset)) +
           line("format", format_of(d.format)) + line("width", number(is_linear ? d.bytes / texel : d.width));
    if (!is_linear) keys += line("height", number(d.height)) + line("pitch", number(d.pitch));
  }
  keys += "address = [";
  for (std::size_t i = 0; i < 3; ++i) keys += (i == 0 ? "" : ", ") + in_quotes(addresses[d.address[i] % 4]);
  keys += "]\n";
  if (d.filter != 0) keys += line("filter", "\"linear\"");
  if (d.normalized != 0) keys += line("normalized", "true");
  if (d.read != 0) keys += line("read", "\"normalized_float\"");
  bool has_border = false;
  for (const float c : d.border) has_border = has_border || c != 0;
  if (has_border) {
    keys += "border = [" + decimal(d.border[0]) + ", " + decimal(d.border[1]) + ", " + decimal(d.border[2]) + ", " +
            decimal(d.border[3]) + "]\n";
  }
  return add_object("texture", "t", name, keys);
}

std::string ProgramLog::add_surface(std::size_t array, const TextureName& name) {
  return add_object("surface", "s", name, line("array", array_name(array)));
}

void ProgramLog::destroy(const std::string& name) { step("destroy = " + in_quotes(name)); }

}  // namespace regatta::capture
