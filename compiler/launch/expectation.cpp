// SPDX-License-Identifier: Apache-2.0
//
// What buffers, variables and arrays must hold after the program.
#include "at_place.h"
#include "parser.h"

#include <regatta/ir/half.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace regatta::launch {

Expectation LaunchFileParser::expectation(TomlTable& t, ir::Type type) {
  Expectation e;
  e.type = type;
  if (const auto file = t.text("expect")) {
    if (file->empty()) t.fail("expect", "'expect' is empty");
    e.file = path(*file);
  }
  const auto tolerance = [&](const char* key) {
    const auto number = t.number(key);
    if (!number) return number;
    const std::string name = "'" + std::string(key) + "'";
    if (e.file.empty()) t.fail(key, name + " without 'expect'");
    if (!ir::is_float(type)) t.fail(key, name + " is for elements of type f16, bf16, f32 or f64");
    if (!(*number >= 0)) t.fail(key, name + " is negative");
    return number;
  };
  e.relative = tolerance("tolerance");
  e.absolute = tolerance("absolute_tolerance");
  if (const auto unordered = t.integer("unordered", 2, INT64_MAX)) {
    if (e.relative || e.absolute)
      t.fail("unordered", "'unordered' with a tolerance: elements in any order are compared bit for bit");
    e.unordered = static_cast<std::uint64_t>(*unordered);
  }
  return e;
}

namespace {

std::string number_text(double v, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", digits, v);
  return text;
}

/// The element at `p` as text and as a number.
std::string element_text(ir::Type type, const std::uint8_t* p, double& value) {
  std::uint64_t bits = 0;
  const unsigned size = ir::size_of(type);
  std::memcpy(&bits, p, size);
  if (type == ir::Type::f32) {
    float f = 0;
    std::memcpy(&f, p, sizeof f);
    value = static_cast<double>(f);
    return number_text(value, 9);
  }
  if (ir::is_small_float(type)) {
    value = ir::small_to_double(type, static_cast<std::uint32_t>(bits));
    return number_text(value, 5);
  }
  if (type == ir::Type::f64) {
    std::memcpy(&value, p, sizeof value);
    return number_text(value, 17);
  }
  if (ir::is_signed(type)) {
    const unsigned shift = 64 - 8 * size;
    const std::int64_t v = static_cast<std::int64_t>(bits << shift) >> shift;
    value = static_cast<double>(v);
    return std::to_string(v);
  }
  value = static_cast<double>(bits);
  return std::to_string(bits);
}

}  // namespace

std::string check_expectation(const LaunchFile& launch, const std::string& what, const Expectation& e,
                              const Position& where, const std::vector<std::uint8_t>& given) {
  const std::vector<std::uint8_t> expected = at_place(launch, where, [&] { return base::read_bytes(e.file); });
  if (expected.size() != given.size()) {
    launch.fail(where, "'" + e.file + "' has " + std::to_string(expected.size()) + " bytes, " + what + " has " +
                           std::to_string(given.size()));
  }
  const ir::Type type = e.type;
  const std::size_t size = ir::size_of(type);
  const std::vector<std::uint8_t> bytes = arranged_like(expected, given, size, e.unordered);
  std::size_t different = 0, first = 0;
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    if (std::memcmp(&bytes[i * size], &expected[i * size], size) == 0) continue;
    double got = 0, wanted = 0;
    if (e.relative || e.absolute) {
      element_text(type, &bytes[i * size], got);
      element_text(type, &expected[i * size], wanted);
      const double allowed = e.relative.value_or(0) * std::fabs(wanted) + e.absolute.value_or(0);
      if (std::isfinite(got) && std::isfinite(wanted) && std::fabs(got - wanted) <= allowed) continue;
      if (std::isnan(got) && std::isnan(wanted)) continue;
    }
    if (different++ == 0) first = i;
  }
  if (different == 0) return "";
  double unused = 0;
  std::string text = what + " differs from '" + e.file + "' in " + std::to_string(different) + " of " +
                     std::to_string(bytes.size() / size) + " elements; the first is element " + std::to_string(first) +
                     " (" + ir::to_string(type) + "): got " + element_text(type, &bytes[first * size], unused) +
                     ", expected " + element_text(type, &expected[first * size], unused);
  std::string allowed;
  if (e.relative) allowed = "tolerance " + number_text(*e.relative, 6);
  if (e.absolute) allowed += (allowed.empty() ? "" : ", ") + ("absolute tolerance " + number_text(*e.absolute, 6));
  if (e.unordered > 1) allowed = "in any order within " + std::to_string(e.unordered) + " elements";
  if (!allowed.empty()) text += " (" + allowed + ")";
  return launch.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) + ": error: " + text;
}

}  // namespace regatta::launch
