// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/launch_file.h>

#include "parser.h"

#include <regatta/base/input_file.h>
#include <regatta/base/tool.h>
#include <regatta/ir/half.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

namespace regatta::launch {

void LaunchFile::fail(const Position& where, const std::string& what) const {
  std::string text = file;
  if (where.line != 0) text += ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  throw trace::InputError(text + ": error: " + what);
}

namespace {

/// What `read` returns; what it throws names the place that asked for the file.
template <class Read>
auto at_place(const LaunchFile& launch, const Position& where, Read read) {
  try {
    return read();
  } catch (const base::InputError& e) {
    launch.fail(where, e.what());
  }
}

}  // namespace

LaunchFile read_launch_file(const std::string& path) { return parse_launch_file(base::read_text(path), path); }

LaunchFile parse_launch_file(const std::string& text, const std::string& file) {
  LaunchFile out;
  out.file = file;
  try {
    const toml::table root = toml::parse(text, file);
    LaunchFileParser(out, std::filesystem::path(file).parent_path().string()).parse(root);
  } catch (const toml::parse_error& e) {
    const auto begin = e.source().begin;
    out.fail({static_cast<std::uint32_t>(begin.line), static_cast<std::uint32_t>(begin.column)},
             std::string(e.description()));
  }
  return out;
}

std::vector<std::uint8_t> make_contents(const LaunchFile& launch, const Contents& contents, const Position& where) {
  if (contents.fill.init == Init::file) {
    std::optional<std::uint64_t> expected;
    if (contents.bytes != 0) expected = contents.bytes;
    return at_place(launch, where, [&] {
      // A part of a file that holds more.
      if (contents.is_part) return base::read_part(contents.file, contents.file_offset, contents.bytes);
      return base::read_bytes(contents.file, expected);
    });
  }
  std::vector<std::uint8_t> bytes;
  try {
    const base::ExpectAllocationFailure expect;
    bytes.resize(contents.bytes);
  } catch (const std::bad_alloc&) {
    throw base::OutOfMemory(launch.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) +
                            ": contents of " + std::to_string(contents.bytes) + " bytes do not fit");
  }
  fill_buffer(contents.fill, bytes);
  return bytes;
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

std::string check_expectation(const LaunchFile& launch, const Buffer& buffer, const std::vector<std::uint8_t>& bytes) {
  const std::string prefix =
      launch.file + ":" + std::to_string(buffer.where.line) + ":" + std::to_string(buffer.where.column) + ": error: ";
  const std::vector<std::uint8_t> expected =
      at_place(launch, buffer.where, [&] { return base::read_bytes(buffer.expect); });
  if (expected.size() != bytes.size()) {
    throw trace::InputError(prefix + "'" + buffer.expect + "' has " + std::to_string(expected.size()) +
                            " bytes, buffer '" + buffer.name + "' has " + std::to_string(bytes.size()));
  }
  const ir::Type type = buffer.contents.fill.type;
  const std::size_t size = ir::size_of(type);
  std::size_t different = 0, first = 0;
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    if (std::memcmp(&bytes[i * size], &expected[i * size], size) == 0) continue;
    double got = 0, wanted = 0;
    if (buffer.tolerance) {
      element_text(type, &bytes[i * size], got);
      element_text(type, &expected[i * size], wanted);
      if (std::isfinite(wanted) && std::fabs(got - wanted) <= *buffer.tolerance * std::fabs(wanted)) continue;
      if (std::isnan(got) && std::isnan(wanted)) continue;
    }
    if (different++ == 0) first = i;
  }
  if (different == 0) return "";
  double unused = 0;
  std::string text = "buffer '" + buffer.name + "' differs from '" + buffer.expect + "' in " +
                     std::to_string(different) + " of " + std::to_string(bytes.size() / size) +
                     " elements; the first is element " + std::to_string(first) + " (" + ir::to_string(type) +
                     "): got " + element_text(type, &bytes[first * size], unused) + ", expected " +
                     element_text(type, &expected[first * size], unused);
  if (buffer.tolerance) text += " (tolerance " + number_text(*buffer.tolerance, 6) + ")";
  return prefix + text;
}

}  // namespace regatta::launch
