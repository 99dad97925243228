// SPDX-License-Identifier: Apache-2.0
//
// Buffers, their initial contents, and scalars.
#include "computed.h"
#include "parser.h"
#include "structured.h"

#include <regatta/ir/half.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

namespace regatta::launch {

using ir::Type;

namespace {

struct NamedType {
  const char* name;
  Type type;
};
constexpr NamedType types[] = {{"s8", Type::s8},   {"s16", Type::s16},   {"s32", Type::s32}, {"s64", Type::s64},
                               {"u8", Type::u8},   {"u16", Type::u16},   {"u32", Type::u32}, {"u64", Type::u64},
                               {"b8", Type::b8},   {"b16", Type::b16},   {"b32", Type::b32}, {"b64", Type::b64},
                               {"f16", Type::f16}, {"bf16", Type::bf16}, {"f32", Type::f32}, {"f64", Type::f64}};
/// Numbers that a power law may choose from.
constexpr std::int64_t max_kinds = 1 << 20;

}  // namespace

std::optional<Type> named_type(const std::string& name) {
  for (const NamedType& n : types) {
    if (name == n.name) return n.type;
  }
  return std::nullopt;
}

std::string LaunchFileParser::path(const std::string& name) const {
  const std::filesystem::path p(name);
  return p.is_absolute() || folder_.empty() ? name : (std::filesystem::path(folder_) / p).string();
}

Type LaunchFileParser::type(TomlTable& t, bool required) {
  const auto name = t.text("type");
  if (!name) {
    if (required) t.fail(t.what() + " has no 'type' (" + type_list + ")");
    return Type::b8;
  }
  if (const auto known = named_type(*name)) return *known;
  t.fail("type", "unknown type '" + *name + "', expected " + type_list);
}

std::uint64_t LaunchFileParser::pattern_bits(const std::string& text, const Position& where, Type type) const {
  std::uint64_t bits = 0;
  const char* const end = text.data() + text.size();
  const bool prefixed = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const auto [stop, error] = std::from_chars(text.data() + (prefixed ? 2 : 0), end, bits, 16);
  const std::string type_name = ir::to_string(type);
  if (!prefixed || stop != end || (error != std::errc() && error != std::errc::result_out_of_range)) {
    out_.fail(where, "a scalar of type " + type_name + " is the string '" + text +
                         "', expected a number, or its bits as \"0x...\"");
  }
  const unsigned width = 8 * ir::size_of(type);
  if (error != std::errc() || (width < 64 && bits >> width != 0)) {
    out_.fail(where, "the bits " + text + " do not fit type " + type_name + " of " + std::to_string(width) + " bits");
  }
  return bits;
}

std::uint64_t LaunchFileParser::scalar_bits(const toml::node& node, Type type) const {
  const Position where = TomlTable::position(node);
  const std::string type_name = ir::to_string(type);
  if (const toml::value<std::string>* text = node.as_string()) return pattern_bits(text->get(), where, type);
  if (ir::is_float(type)) {
    if (!node.is_number())
      out_.fail(where, "a scalar of type " + type_name + " is " + kind_of(node) + ", expected a number");
    const double v = *node.value<double>();
    std::uint64_t bits = 0;
    if (type == Type::f64) {
      std::memcpy(&bits, &v, sizeof v);
    } else if (ir::is_small_float(type)) {
      bits = ir::double_to_small(type, v, ir::Rounding::rn);
      if (std::isinf(ir::small_to_double(type, static_cast<std::uint32_t>(bits))) && !std::isinf(v))
        out_.fail(where, "the value is too large for type " + type_name);
    } else {
      const auto f = static_cast<float>(v);
      if (std::isinf(f) && !std::isinf(v)) out_.fail(where, "the value is too large for type f32");
      std::memcpy(&bits, &f, sizeof f);
    }
    return bits;
  }
  if (!node.is_integer()) {
    out_.fail(where, "a scalar of type " + type_name + " is " + kind_of(node) + ", expected an integer");
  }
  const std::int64_t v = *node.value<std::int64_t>();
  const unsigned bits = 8 * ir::size_of(type);
  const auto [low, high] = integer_range(type);
  if (v < low || v > high) {
    out_.fail(where, "the value " + std::to_string(v) + " does not fit type " + type_name + ", expected " +
                         std::to_string(low) + " to " + std::to_string(high));
  }
  return bits == 64 ? static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v) & ((std::uint64_t{1} << bits) - 1);
}

Contents LaunchFileParser::contents(TomlTable& t, const char* size_key, Type usual) {
  Contents c;
  if (const auto bytes = t.integer(size_key, 1, std::int64_t{1} << 40)) c.bytes = static_cast<std::uint64_t>(*bytes);
  const std::string init = t.text("init").value_or("zero");
  FillSpec& f = c.fill;
  const std::vector<std::string> kinds{"zero",  "iota",      "constant", "uniform", "normal", "file",  "none",
                                       "image", "power_law", "offsets",  "text",    "sorted", "points"};
  std::size_t kind = 0;
  while (kind < kinds.size() && kinds[kind] != init) ++kind;
  if (kind == kinds.size()) {
    t.fail("init", "unknown init '" + init +
                       "', expected zero, iota, constant, uniform, normal, image, power_law, offsets, text, " +
                       "sorted, points, file or none" + base::suggestion(init, kinds));
  }
  f.init = static_cast<Init>(kind);
  const bool needed = f.init != Init::zero && f.init != Init::file && f.init != Init::none;
  f.type = usual != Type::none && !t.has("type") ? usual : type(t, needed);
  const bool integers = !ir::is_float(f.type);
  const auto value = [&](const char* key, double& real, std::int64_t& integer, bool required) {
    if (required && !t.has(key)) t.fail("init = \"" + init + "\" needs '" + key + "'");
    if (!t.has(key)) return;
    if (integers) {
      integer = *t.integer(key, INT64_MIN, INT64_MAX);
      real = static_cast<double>(integer);
    } else {
      real = *t.number(key);
    }
  };
  const auto range = [&] {
    value("low", f.low, f.integer_low, true);
    value("high", f.high, f.integer_high, true);
    if (integers ? f.integer_high < f.integer_low : !(f.low <= f.high)) t.fail("high", "'high' is below 'low'");
  };
  const auto positive = [&](const char* key, std::optional<std::int64_t> usual) {
    const auto number = t.integer(key, 1, INT32_MAX);
    if (!number && !usual) t.fail("init = \"" + init + "\" needs '" + key + "'");
    return static_cast<std::uint64_t>(number ? *number : *usual);
  };
  switch (f.init) {
    case Init::iota:
      value("low", f.low, f.integer_low, false);
      value("step", f.step, f.integer_step, false);
      break;
    case Init::constant:
      value("value", f.value, f.integer_value, true);
      break;
    case Init::uniform:
      range();
      break;
    case Init::normal:
      f.mean = t.number("mean").value_or(0);
      f.stddev = t.number("stddev").value_or(1);
      if (!(f.stddev >= 0)) t.fail("stddev", "'stddev' is negative");
      break;
    case Init::file:
      c.file = path(t.required_text("file"));
      break;
    case Init::zero:
    case Init::none:
      break;
    case Init::image:
      range();
      f.width = positive("width", std::nullopt);
      break;
    case Init::power_law:
    case Init::offsets:
      if (!integers)
        t.fail("type", "init = \"" + init + "\" has integers, found type " + std::string(ir::to_string(f.type)));
      range();
      if (f.integer_low < 0 || f.integer_high - f.integer_low >= max_kinds) {
        t.fail("high", "'low' to 'high' is " + std::to_string(f.integer_low) + " to " + std::to_string(f.integer_high) +
                           ", expected at most " + std::to_string(max_kinds) + " numbers from 0 on");
      }
      f.exponent = static_cast<unsigned>(t.integer("exponent", 1, 8).value_or(2));
      break;
    case Init::text:
      if (ir::size_of(f.type) != 1) {
        t.fail("type", "init = \"text\" has symbols of a byte, found type " + std::string(ir::to_string(f.type)));
      }
      f.alphabet = t.text("alphabet").value_or(f.alphabet);
      if (f.alphabet.empty()) t.fail("alphabet", "'alphabet' is empty");
      break;
    case Init::sorted:
      range();
      f.swaps = t.number("swaps").value_or(0);
      if (!(f.swaps >= 0 && f.swaps <= 1)) t.fail("swaps", "'swaps' is no fraction from 0 to 1");
      break;
    case Init::points:
      range();
      f.dimensions = positive("dimensions", 1);
      f.clusters = positive("clusters", 1);
      f.deviation = t.number("deviation").value_or(1);
      if (!(f.deviation >= 0)) t.fail("deviation", "'deviation' is negative");
      break;
  }
  if (f.init == Init::uniform || f.init == Init::normal || is_structured(f.init)) {
    f.seed = static_cast<std::uint64_t>(t.integer("seed", 0, INT64_MAX).value_or(0));
  }
  if (c.bytes % ir::size_of(f.type) != 0) {
    t.fail(size_key, std::to_string(c.bytes) + " bytes are no whole number of " + ir::to_string(f.type) +
                         " elements of " + std::to_string(ir::size_of(f.type)) + " bytes");
  }
  return c;
}

Buffer LaunchFileParser::buffer(TomlTable& t, const char* size_key, const std::string& default_name) {
  Buffer b;
  b.where = t.where();
  b.name = t.text("name").value_or(default_name);
  if (b.name.empty()) t.fail(t.what() + " has no 'name'");
  b.contents = contents(t, size_key);
  if (b.contents.bytes == 0) {
    if (b.contents.fill.init != Init::file) t.fail("buffer '" + b.name + "' has no '" + size_key + "'");
    size_from_file(t, b.contents);
  }
  if (const auto address = t.integer("address", 0, INT64_MAX)) b.address = static_cast<std::uint64_t>(*address);
  b.expect = expectation(t, b.contents.fill.type);
  return b;
}

void LaunchFileParser::size_from_file(TomlTable& t, Contents& c) const {
  std::error_code error;
  const auto size = std::filesystem::file_size(c.file, error);
  if (error) t.fail("file", "cannot read '" + c.file + "'");
  if (size == 0) t.fail("file", "'" + c.file + "' is empty");
  c.bytes = size;
}

void LaunchFileParser::add_buffer(Buffer b) {
  if (!buffers_.emplace(b.name, out_.buffers.size()).second)
    out_.fail(b.where, "there are two buffers called '" + b.name + "'");
  out_.buffers.push_back(std::move(b));
}

}  // namespace regatta::launch
