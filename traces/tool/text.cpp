// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <regatta/trace/region_words.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <numeric>
#include <stdexcept>

namespace regatta::tool {
namespace {

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

std::string operand_text(const trace::Operand& operand) {
  const std::string number = std::to_string(operand.value);
  switch (operand.kind) {
    case trace::Operand::Kind::reg:
      return operand.words > 1 ? "R" + number + ":R" + std::to_string(operand.value + operand.words - 1) : "R" + number;
    case trace::Operand::Kind::predicate:
      return (operand.negated ? "!P" : "P") + number;
    case trace::Operand::Kind::immediate:
      return operand.value < 10 ? number : hex(operand.value);
    case trace::Operand::Kind::special:
      return "%special" + number;
    case trace::Operand::Kind::constant_bank:
      return "c[" + hex(operand.value) + "]";
  }
  return "?";
}

}  // namespace

std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out;
}

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

std::string instruction_text(const trace::StaticInstruction& instruction) {
  std::string text;
  if (instruction.guard.predicate >= 0) {
    text += instruction.guard.negated ? "@!P" : "@P";
    text += std::to_string(instruction.guard.predicate) + " ";
  }
  text += printable(instruction.opcode);
  const char* separator = " ";
  for (const trace::Operand& operand : instruction.operands) {
    text += separator + operand_text(operand);
    separator = ", ";
  }
  if (instruction.branch_target >= 0) text += separator + ("-> " + std::to_string(instruction.branch_target));
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
