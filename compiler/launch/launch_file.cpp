// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/launch_file.h>

#include "at_place.h"
#include "parser.h"

#include <regatta/base/input_file.h>
#include <regatta/base/tool.h>

#include <filesystem>
#include <new>

namespace regatta::launch {

void LaunchFile::fail(const Position& where, const std::string& what) const {
  std::string text = file;
  if (where.line != 0) text += ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  throw trace::InputError(text + ": error: " + what);
}

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

}  // namespace regatta::launch
