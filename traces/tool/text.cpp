// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <cinttypes>
#include <cstdio>
#include <stdexcept>

namespace regatta::tool {
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes) / 1024;
  unsigned unit = 0;
  while (size >= 1024 && unit < 3) {
    size /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", size, units[unit]);
  return text;
}

std::string mask_text(trace::LaneMask mask, unsigned warp_size) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*" PRIx64, static_cast<int>(warp_size / 4), mask);
  return text;
}

std::string inserted_text(const trace::StaticInstruction& instruction, const trace::SectionRegistry& sections) {
  std::string text = "[" + printable(instruction.scheme) + "] " + printable(instruction.opcode);
  const trace::SectionFormat* format = sections.of_scheme(instruction.scheme);
  if (format == nullptr) return text;
  try {
    const std::string content = format->inserted_text(instruction);
    return content.empty() ? text : text + " " + printable(content);
  } catch (const std::invalid_argument& e) {
    return text + " (" + printable(e.what()) + ")";
  }
}

}  // namespace regatta::tool
