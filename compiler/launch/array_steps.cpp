// SPDX-License-Identifier: Apache-2.0
//
// Steps that fill and copy arrays, and that make and end textures and surfaces.
#include "parser.h"

#include <algorithm>

namespace regatta::launch {

namespace {

using Triple = std::array<std::uint32_t, 3>;

constexpr std::int64_t most_pitch = std::int64_t{1} << 31;

std::string text_of(const Triple& v, const char* between) {
  return std::to_string(v[0]) + between + std::to_string(v[1]) + between + std::to_string(v[2]);
}

std::string at_text(const Triple& v) { return "[" + text_of(v, ", ") + "]"; }

/// One to three whole numbers from `low` on; `low` is the rest.
std::optional<Triple> triple(TomlTable& t, const char* key, std::int64_t low) {
  const toml::node* const node = t.node(key);
  if (node == nullptr) return std::nullopt;
  const toml::array* const list = node->as_array();
  const std::string expected = "'" + std::string(key) + "' needs one to three whole numbers of " + std::to_string(low) +
                               " to " + std::to_string(most_texels);
  if (list == nullptr || list->empty() || list->size() > 3) t.fail(key, expected);
  Triple result{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto number = d < list->size() ? list->get(d)->value_exact<std::int64_t>() : low;
    if (!number || *number < low || *number > most_texels) t.fail(key, expected);
    result[d] = static_cast<std::uint32_t>(*number);
  }
  return result;
}

}  // namespace

bool LaunchFileParser::names_array(TomlTable& t, const char* key) const {
  const toml::node* const node = t.node(key);
  const auto name = node != nullptr ? node->value<std::string>() : std::nullopt;
  return name && arrays_.count(*name) != 0 && buffers_.count(*name) == 0 && globals_.count(*name) == 0;
}

Memory LaunchFileParser::array_memory(TomlTable& t, const char* key) const {
  Memory m;
  m.kind = Memory::Kind::array;
  m.index = arrays_.at(t.required_text(key));
  return m;
}

ArrayPart LaunchFileParser::array_part(TomlTable& t, const char* at_key, const ArrayPart* size,
                                       std::size_t array) const {
  const Array& a = out_.arrays[array];
  const Triple whole = a.size.whole();
  const auto at = triple(t, at_key, 0);
  ArrayPart p;
  p.at = at.value_or(Triple{0, 0, 0});
  if (size != nullptr) {
    p.size = size->size;
  } else if (const auto given = triple(t, "size", 1)) {
    p.size = *given;
  } else {
    for (std::size_t d = 0; d < 3; ++d) p.size[d] = p.at[d] < whole[d] ? whole[d] - p.at[d] : 1;
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (std::uint64_t{p.at[d]} + p.size[d] <= whole[d]) continue;
    t.fail(at ? at_key : "size", text_of(p.size, " x ") + " texels at " + at_text(p.at) + ", array '" + a.data.name +
                                     "' has " + text_of(whole, " x "));
  }
  return p;
}

void LaunchFileParser::fill_array_step(TomlTable& t, Step& s, const char* kind) {
  s.to = array_memory(t, kind);
  s.to.part = array_part(t, "at", nullptr, s.to.index);
  const Array& a = out_.arrays[s.to.index];
  s.bytes = s.to.part.texels() * a.format.bytes();
  std::uint64_t given = 0;
  const char* key = "bytes";
  if (std::string(kind) == "load") {
    s.contents.fill.init = Init::file;
    s.contents.file = path(t.required_text("file"));
    given = static_cast<std::uint64_t>(t.integer("bytes", 1, most_bytes).value_or(0));
    s.contents.file_offset = static_cast<std::uint64_t>(t.integer("file_offset", 0, INT64_MAX).value_or(0));
    s.contents.is_part = t.has("file_offset");
  } else {
    s.contents = contents(t, "bytes", a.format.channel);
    if (s.contents.fill.init == Init::none) t.fail("init", "init = \"none\" is no contents to fill memory with");
    if (s.contents.fill.init == Init::image)
      s.contents.fill.width = std::uint64_t{s.to.part.size[0]} * a.format.channels;
    given = s.contents.bytes;
  }
  if (given == 0 && s.contents.fill.init == Init::file && !s.contents.is_part) {
    size_from_file(t, s.contents);
    given = s.contents.bytes;
    key = "file";
  }
  if (given != 0 && given != s.bytes) {
    t.fail(key, std::to_string(given) + " bytes for " + text_of(s.to.part.size, " x ") + " texels of array '" +
                    a.data.name + "', which take " + std::to_string(s.bytes));
  }
  s.contents.bytes = s.bytes;
  if (s.bytes % ir::size_of(s.contents.fill.type) != 0) {
    t.fail("type", "the " + std::to_string(s.bytes) + " bytes of array '" + a.data.name + "' are no whole number of " +
                       ir::to_string(s.contents.fill.type) + " elements");
  }
}

void LaunchFileParser::copy_array_step(TomlTable& t, Step& s) const {
  const bool from_array = names_array(t, "copy"), to_array = names_array(t, "to");
  s.from = from_array ? array_memory(t, "copy") : memory(t, "copy", "offset");
  s.to = to_array ? array_memory(t, "to") : memory(t, "to", "to_offset");
  if (from_array) s.from.part = array_part(t, "at", nullptr, s.from.index);
  if (to_array) s.to.part = array_part(t, "to_at", from_array ? &s.from.part : nullptr, s.to.index);
  const Memory& texels = from_array ? s.from : s.to;
  const Array& a = out_.arrays[texels.index];
  const std::uint64_t row = std::uint64_t{texels.part.size[0]} * a.format.bytes();
  if (from_array && to_array) {
    const Array& b = out_.arrays[s.to.index];
    if (a.format.bytes() != b.format.bytes()) {
      t.fail("to", "a texel of array '" + b.data.name + "' has " + std::to_string(b.format.bytes()) +
                       " bytes, one of '" + a.data.name + "' " + std::to_string(a.format.bytes()));
    }
    s.bytes = texels.part.texels() * a.format.bytes();
    return;
  }
  Memory& plain = from_array ? s.to : s.from;
  const char* const pitch_key = from_array ? "to_pitch" : "pitch";
  plain.pitch =
      static_cast<std::uint64_t>(t.integer(pitch_key, 1, most_pitch).value_or(static_cast<std::int64_t>(row)));
  if (plain.pitch < row) {
    t.fail(pitch_key, "'" + std::string(pitch_key) + "' is " + std::to_string(plain.pitch) + ", a row of " +
                          std::to_string(texels.part.size[0]) + " texels has " + std::to_string(row) + " bytes");
  }
  const std::uint64_t rows = std::uint64_t{texels.part.size[1]} * texels.part.size[2];
  s.bytes = (rows - 1) * plain.pitch + row;
  check_fits(t, from_array ? "to" : "copy", s.bytes, plain);
}

Item LaunchFileParser::object_item(TomlTable& t, const char* key) const {
  const std::string name = t.required_text(key);
  const auto texture = textures_.find(name), surface = surfaces_.find(name);
  const bool is_texture = texture != textures_.end(), is_surface = surface != surfaces_.end();
  if (is_texture && is_surface) t.fail(key, "'" + name + "' is a texture and a surface: give one another name");
  if (is_texture) return {Item::Kind::texture, texture->second};
  if (is_surface) return {Item::Kind::surface, surface->second};
  std::vector<std::string> names = names_of(out_.textures);
  const std::vector<std::string> more = names_of(out_.surfaces);
  names.insert(names.end(), more.begin(), more.end());
  t.fail(key, "no [[texture]] or [[surface]] is called '" + name + "'" + base::suggestion(name, names));
}

}  // namespace regatta::launch
