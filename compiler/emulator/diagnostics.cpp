// SPDX-License-Identifier: Apache-2.0
#include "diagnostics.h"

#include <regatta/trace/types.h>

#include <cstdio>

namespace regatta::emulator {

std::string location_text(const ir::Function& f, const ir::Instruction& i) {
  const std::string file = f.ptx_file.empty() ? "<ptx>" : f.ptx_file;
  if (i.where.line == 0) return file + ": ";
  std::string text = file + ":" + std::to_string(i.where.line);
  if (i.where.column != 0) text += ":" + std::to_string(i.where.column);
  return text + ": ";
}

std::string source_text(const ir::Function& f, const ir::Instruction& i) {
  if (i.where.source_line == 0 || i.where.source_file >= f.source_files.size()) return "";
  const auto text = [&f](std::uint32_t file, std::uint32_t line) {
    return f.source_files[file] + ":" + std::to_string(line);
  };
  std::string inlined;
  if (i.where.caller_line != 0 && i.where.caller_file < f.source_files.size()) {
    inlined = ", inlined in " + text(i.where.caller_file, i.where.caller_line);
  }
  return " (" + text(i.where.source_file, i.where.source_line) + inlined + ")";
}

std::string triple_text(const std::array<std::uint32_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::string hex_text(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

std::array<std::uint32_t, 3> unflatten(std::uint64_t index, const std::array<std::uint32_t, 3>& box) {
  return {static_cast<std::uint32_t>(index % box[0]), static_cast<std::uint32_t>(index / box[0] % box[1]),
          static_cast<std::uint32_t>(index / box[0] / box[1])};
}

std::string message_at(const ir::Function& f, const ir::Instruction& i, const std::array<std::uint32_t, 3>& cta,
                       const std::array<std::uint32_t, 3>* thread, const std::string& what, const char* kind) {
  std::string text = location_text(f, i) + kind + ": kernel '" + f.name + "', CTA " + triple_text(cta);
  if (thread != nullptr) text += ", thread " + triple_text(*thread);
  return text + ": " + what + source_text(f, i);
}

void fail_at(const ir::Function& f, const ir::Instruction& i, const std::array<std::uint32_t, 3>& cta,
             const std::array<std::uint32_t, 3>* thread, const std::string& what, FaultKind kind) {
  throw ProgramFault(kind, message_at(f, i, cta, thread, what));
}

}  // namespace regatta::emulator
