// SPDX-License-Identifier: Apache-2.0
//
// [[array]], [[texture]] and [[surface]] tables, and the parameters that pass them.
#include "parser.h"

#include <algorithm>

namespace regatta::launch {

namespace {

/// A word out of a list. `found` is its place.
template <class Words>
std::size_t one_of(TomlTable& t, const char* key, const std::string& word, const Words& words) {
  std::string list;
  for (std::size_t i = 0; i < std::size(words); ++i) {
    if (word == words[i]) return i;
    list += (i == 0 ? "" : i + 1 == std::size(words) ? " or " : ", ") + std::string(words[i]);
  }
  t.fail(key, "'" + std::string(key) + "' is '" + word + "', expected " + list);
}

constexpr const char* address_words[] = {"wrap", "clamp", "mirror", "border"};

std::uint32_t size(TomlTable& t, const char* key) {
  return static_cast<std::uint32_t>(t.integer(key, 1, most_texels).value_or(0));
}

}  // namespace

TexelType LaunchFileParser::texel_type(TomlTable& t) {
  static constexpr ir::Type channel_types[] = {ir::Type::s8,  ir::Type::u8,  ir::Type::s16, ir::Type::u16,
                                               ir::Type::s32, ir::Type::u32, ir::Type::f16, ir::Type::f32};
  const std::string text = t.required_text("format");
  TexelType result;
  std::string channel = text;
  if (const std::size_t times = text.find(" x "); times != std::string::npos) {
    const std::string count = text.substr(times + 3);
    channel = text.substr(0, times);
    result.channels = count == "1" ? 1 : count == "2" ? 2 : count == "4" ? 4 : 0;
  }
  const auto type = std::find_if(std::begin(channel_types), std::end(channel_types),
                                 [&](ir::Type known) { return channel == ir::to_string(known); });
  if (type == std::end(channel_types) || result.channels == 0) {
    t.fail("format", "'format' is '" + text +
                         "', expected s8, u8, s16, u16, s32, u32, f16 or f32, or several of them: \"u8 x 4\"");
  }
  result.channel = *type;
  return result;
}

TextureReference LaunchFileParser::reference(TomlTable& t) {
  TextureReference r;
  r.name = t.text("reference").value_or("");
  if (!r.name.empty()) r.module = module(t);
  return r;
}

void LaunchFileParser::arrays(TomlTable& root) {
  for (const toml::table* table : root.tables("array")) {
    TomlTable t(out_, *table, "[[array]]");
    Array a;
    a.data.where = t.where();
    a.data.name = t.required_text("name");
    if (!arrays_.emplace(a.data.name, out_.arrays.size()).second) {
      t.fail("name", "there are two arrays called '" + a.data.name + "'");
    }
    a.format = texel_type(t);
    a.size.width = size(t, "width");
    if (a.size.width == 0) t.fail_missing("width", "[[array]] has no 'width'");
    a.size.height = size(t, "height");
    a.size.depth = size(t, "depth");
    a.size.layers = size(t, "layers");
    if (a.size.depth != 0 && a.size.height == 0) t.fail("depth", "'depth' without 'height'");
    if (a.size.depth != 0 && a.size.layers != 0) t.fail("layers", "an array has a 'depth' or 'layers', not both");
    a.size.cubes = t.boolean("cubes").value_or(false);
    if (a.size.cubes && (a.size.width != a.size.height || a.size.layers == 0 || a.size.layers % 6 != 0))
      t.fail("cubes", "'cubes' needs as many rows as texels in a row, and 6 'layers' a cube");
    if (a.size.texels() > static_cast<std::uint64_t>(most_texels))
      t.fail("array '" + a.data.name + "' has " + std::to_string(a.size.texels()) + " texels, expected at most " +
             std::to_string(most_texels));
    const std::uint64_t bytes = a.size.texels() * a.format.bytes();
    Contents& c = a.data.contents;
    c = contents(t, "bytes", a.format.channel);
    if (c.fill.init == Init::image) c.fill.width = std::uint64_t{a.size.width} * a.format.channels;
    if (c.bytes != 0 && c.bytes != bytes) {
      t.fail("bytes", "'bytes' is " + std::to_string(c.bytes) + ", the texels of array '" + a.data.name + "' take " +
                          std::to_string(bytes));
    }
    c.bytes = bytes;
    if (bytes % ir::size_of(c.fill.type) != 0) {
      t.fail("type", "the " + std::to_string(bytes) + " bytes of array '" + a.data.name + "' are no whole number of " +
                         ir::to_string(c.fill.type) + " elements");
    }
    a.data.expect = expectation(t, a.data.contents.fill.type);
    if (const auto address = t.integer("address", 1, most_bytes - 1)) {
      a.data.address = static_cast<std::uint64_t>(*address);
    }
    t.finish();
    out_.arrays.push_back(std::move(a));
  }
}

void LaunchFileParser::name_textures(TomlTable& root) {
  const auto name_all = [&](const char* key, auto& list, auto& known) {
    for (const toml::table* table : root.tables(key)) {
      TomlTable t(out_, *table, "[[" + std::string(key) + "]]");
      auto& item = list.emplace_back();
      item.where = t.where();
      item.reference = reference(t);
      item.name = item.reference.name.empty() ? t.required_text("name") : t.text("name").value_or(item.reference.name);
      if (const auto handle = t.integer("handle", 1, INT64_MAX)) {
        if (!item.reference.name.empty()) t.fail("handle", "a reference has no 'handle' to choose");
        item.handle = static_cast<std::uint64_t>(*handle);
      }
      if (known.emplace(item.name, list.size() - 1).second) continue;
      t.fail("there are two " + std::string(key) + "s called '" + item.name + "'");
    }
  };
  name_all("texture", out_.textures, textures_);
  name_all("surface", out_.surfaces, surfaces_);
}

std::size_t LaunchFileParser::find_array(TomlTable& t) const {
  const std::string name = t.required_text("array");
  const auto known = arrays_.find(name);
  if (known != arrays_.end()) return known->second;
  std::vector<std::string> names;
  for (const Array& a : out_.arrays) names.push_back(a.data.name);
  t.fail("array", "no [[array]] is called '" + name + "'" + base::suggestion(name, names));
}

void LaunchFileParser::textures(TomlTable& root, bool inline_buffers) {
  std::size_t next = 0;
  for (const toml::table* table : root.tables("texture")) {
    TomlTable t(out_, *table, "[[texture]]");
    texture(t, out_.textures[next++], inline_buffers);
    t.finish();
  }
  next = 0;
  for (const toml::table* table : root.tables("surface")) {
    TomlTable t(out_, *table, "[[surface]]");
    t.text("name");
    t.node("handle");
    reference(t);
    out_.surfaces[next++].array = find_array(t);
    t.finish();
  }
}

void LaunchFileParser::texture(TomlTable& t, Texture& x, bool inline_buffers) {
  t.text("name");
  t.node("handle");
  reference(t);
  if (t.has("array") == t.has("buffer")) {
    t.fail(std::string("[[texture]] has ") + (t.has("array") ? "both" : "none") + " of 'array' and 'buffer'");
  }
  x.of_array = t.has("array");
  if (x.of_array) {
    x.memory = find_array(t);
  } else {
    texture_of_buffer(t, x, inline_buffers);
  }
  if (const toml::node* node = t.node("address")) {
    const toml::array* list = node->as_array();
    if (list != nullptr && (list->empty() || list->size() > 3)) t.fail("address", "'address' needs one to three words");
    for (std::size_t d = 0; d < 3; ++d) {
      const toml::node* word = list != nullptr ? list->get(std::min(d, list->size() - 1)) : node;
      const auto text = word->value<std::string>();
      if (!text) t.fail("address", "'address' is " + kind_of(*word) + ", expected wrap, clamp, mirror or border");
      x.address[d] = static_cast<TextureAddress>(one_of(t, "address", *text, address_words));
    }
  }
  static constexpr const char* filters[] = {"point", "linear"};
  static constexpr const char* reads[] = {"element", "normalized_float"};
  x.linear_filter = one_of(t, "filter", t.text("filter").value_or(filters[0]), filters) == 1;
  x.reads_normalized = one_of(t, "read", t.text("read").value_or(reads[0]), reads) == 1;
  if (const toml::node* node = t.node("normalized")) {
    if (!node->is_boolean()) t.fail("normalized", "'normalized' is " + kind_of(*node) + ", expected true or false");
    x.normalized_coordinates = *node->value<bool>();
  }
  if (const toml::node* node = t.node("border")) {
    const toml::array* list = node->as_array();
    if (list == nullptr || list->size() != 4) t.fail("border", "'border' needs four numbers");
    for (std::size_t c = 0; c < 4; ++c) {
      if (!list->get(c)->is_number()) t.fail("border", "'border' needs four numbers");
      x.border[c] = static_cast<float>(*list->get(c)->value<double>());
    }
  }
}

void LaunchFileParser::texture_of_buffer(TomlTable& t, Texture& x, bool inline_buffers) {
  const std::string name = t.required_text("buffer");
  x.memory = find_buffer(name, t.where("buffer"), inline_buffers);
  x.format = texel_type(t);
  const std::uint64_t bytes = out_.buffers[x.memory].contents.bytes;
  x.offset = static_cast<std::uint64_t>(t.integer("offset", 0, most_bytes).value_or(0));
  if (x.offset >= bytes) {
    t.fail("offset", "'offset' is " + std::to_string(x.offset) + ", buffer '" + name + "' has " +
                         std::to_string(bytes) + " bytes");
  }
  x.width = size(t, "width");
  x.height = size(t, "height");
  x.pitch = static_cast<std::uint64_t>(t.integer("pitch", 1, most_bytes).value_or(0));
  if (x.height != 0 && x.width == 0) t.fail("height", "'height' without 'width'");
  if (x.pitch != 0 && x.height == 0) t.fail("pitch", "'pitch' without 'height'");
  // One dimension: the first `width` texels, or all.
  if (x.height != 0 && x.pitch == 0) x.pitch = std::uint64_t{x.width} * x.format.bytes();
}

void LaunchFileParser::object(TomlTable& t, Parameter& p) {
  const bool is_texture = t.has("texture");
  const char* const key = is_texture ? "texture" : "surface";
  p.kind = is_texture ? Parameter::Kind::texture : Parameter::Kind::surface;
  p.bytes = p.alignment = 8;
  const std::string name = t.required_text(key);
  const auto find = [&](const auto& list, const auto& places) {
    const auto known = places.find(name);
    if (known == places.end())
      t.fail(key, "no [[" + std::string(key) + "]] is called '" + name + "'" + base::suggestion(name, names_of(list)));
    if (!list[known->second].reference.name.empty())
      t.fail(key, "'" + name + "' is bound to a reference, and no object to pass");
    return known->second;
  };
  p.object = is_texture ? find(out_.textures, textures_) : find(out_.surfaces, surfaces_);
}

}  // namespace regatta::launch
