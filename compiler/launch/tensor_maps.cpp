// SPDX-License-Identifier: Apache-2.0
//
// Parameters that are tensor maps: 128 bytes that say which tensor a cp.async.bulk.tensor copies boxes of.
#include "parser.h"

namespace regatta::launch {

namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 32, most_stride = std::int64_t{1} << 40;

}  // namespace

std::vector<std::int64_t> LaunchFileParser::numbers(TomlTable& t, const char* key, std::size_t least, std::size_t most,
                                                    std::int64_t low, std::int64_t high) const {
  const toml::node* node = t.node(key);
  const std::string what = std::string("'") + key + "'";
  const std::string count = std::to_string(least) + (least != most ? " to " + std::to_string(most) : "");
  const toml::array* list = node != nullptr ? node->as_array() : nullptr;
  if (list == nullptr) {
    if (node == nullptr) t.fail_missing(key, t.what() + " has no " + what);
    t.fail(key, what + " is " + kind_of(*node) + ", expected an array of " + count + " integers");
  }
  if (list->size() < least || list->size() > most)
    t.fail(key, what + " has " + std::to_string(list->size()) + " elements, expected " + count);
  std::vector<std::int64_t> values;
  for (const toml::node& item : *list) {
    const auto value = item.value_exact<std::int64_t>();
    if (!value || *value < low || *value > high) {
      out_.fail(TomlTable::position(item), what + " holds " + (value ? std::to_string(*value) : kind_of(item)) +
                                               ", expected integers from " + std::to_string(low) + " to " +
                                               std::to_string(high));
    }
    values.push_back(*value);
  }
  return values;
}

void LaunchFileParser::tensor_map(TomlTable& outer, Parameter& p, bool inline_buffers, const std::string& name) {
  const toml::node& node = *outer.node("tensor_map");
  if (!node.is_table()) outer.fail("tensor_map", "'tensor_map' is " + kind_of(node) + ", expected a table");
  TomlTable t(out_, *node.as_table(), "'tensor_map'");
  if (!t.has("buffer")) t.fail_missing("buffer", "'tensor_map' has no 'buffer'");
  pointer(t, p, inline_buffers, name);
  if (!p.formula.empty()) t.fail("offset", "'offset' of a tensor map follows a counter, expected a number");
  p.kind = Parameter::Kind::tensor_map;
  p.bytes = ir::TensorMap::bytes;
  p.alignment = 64;
  ir::TensorMap m;
  const std::string element = t.required_text("element");
  const auto type = ir::tensor_type_named(element);
  if (!type)
    t.fail("element", "unknown element '" + element +
                          "', expected u8, u16, u32, s32, u64, s64, f16, bf16, f32, f32_ftz, tf32, tf32_ftz or f64");
  m.type = *type;
  const auto size = numbers(t, "size", 1, ir::TensorMap::most_dimensions, 1, most_elements);
  m.dimensions = static_cast<unsigned>(size.size());
  m.stride[0] = ir::size_of(m.type);
  for (unsigned d = 0; d < m.dimensions; ++d) {
    m.size[d] = static_cast<std::uint64_t>(size[d]);
    if (d != 0) m.stride[d] = m.stride[d - 1] * m.size[d - 1];
  }
  if (t.has("strides")) {
    const auto strides = numbers(t, "strides", m.dimensions - 1, m.dimensions - 1, 0, most_stride);
    for (unsigned d = 1; d < m.dimensions; ++d) m.stride[d] = static_cast<std::uint64_t>(strides[d - 1]);
  }
  const auto box = numbers(t, "box", m.dimensions, m.dimensions, 1, 256);
  for (unsigned d = 0; d < m.dimensions; ++d) m.box[d] = static_cast<std::uint32_t>(box[d]);
  if (t.has("element_strides")) {
    const auto strides = numbers(t, "element_strides", m.dimensions, m.dimensions, 1, 8);
    for (unsigned d = 0; d < m.dimensions; ++d) m.element_stride[d] = static_cast<std::uint32_t>(strides[d]);
  }
  static constexpr const char* swizzles[] = {"none", "32B", "64B", "128B"};
  const std::string swizzle = t.text("swizzle").value_or("none");
  std::size_t s = 0;
  while (s < std::size(swizzles) && swizzle != swizzles[s]) ++s;
  if (s == std::size(swizzles)) t.fail("swizzle", "unknown swizzle '" + swizzle + "', expected none, 32B, 64B or 128B");
  m.swizzle = static_cast<ir::TensorSwizzle>(s);
  const std::string fill = t.text("fill").value_or("zero");
  if (fill != "zero" && fill != "nan") t.fail("fill", "unknown fill '" + fill + "', expected zero or nan");
  m.fills_nan = fill == "nan";
  m.address = p.buffer_offset;  // buffers lie at multiples of more than 16
  const std::string wrong = m.refusal();
  if (!wrong.empty()) t.fail("'tensor_map' describes " + wrong);
  std::uint64_t end = p.buffer_offset + m.stride[0];
  for (unsigned d = 0; d < m.dimensions; ++d) end += (m.size[d] - 1) * m.stride[d];
  const Buffer& b = out_.buffers[p.buffer];
  if (end > b.contents.bytes)
    t.fail("buffer", "the tensor ends at byte " + std::to_string(end) + ", buffer '" + b.name + "' has " +
                         std::to_string(b.contents.bytes) + " bytes");
  t.finish();
  p.object = out_.tensor_maps.size();
  out_.tensor_maps.push_back(m);
}

}  // namespace regatta::launch
