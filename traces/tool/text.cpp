// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <regatta/trace/region_words.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <numeric>
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

std::string inserted_text(const trace::StaticInstruction& instruction) {
  std::string text = "[" + printable(instruction.scheme) + "] " + printable(instruction.opcode);
  if (instruction.scheme != trace::region_scheme) return text;
  try {
    return text + " " + trace::region_word_text(trace::region_word(instruction));
  } catch (const std::invalid_argument& e) {
    return text + " (" + printable(e.what()) + ")";
  }
}

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = name.size() / 2 + 1;
  for (const std::string& candidate : known) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t change = diagonal + (name[i] != candidate[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace regatta::tool
