// SPDX-License-Identifier: Apache-2.0
#include "copy_section.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace regatta::tool {

void copy_section(const trace::Kernel& from, const std::string& name, const trace::SectionRegistry& sections,
                  trace::Kernel& to) {
  const auto section = std::find_if(from.annotations.begin(), from.annotations.end(),
                                    [&](const trace::AnnotationSection& a) { return a.name == name; });
  if (section == from.annotations.end()) return;
  const auto old = std::find_if(to.annotations.begin(), to.annotations.end(),
                                [&](const trace::AnnotationSection& a) { return a.name == name; });
  old == to.annotations.end() ? to.annotations.push_back(*section) : void(*old = *section);
  std::string scheme;
  for (const auto& format : sections.formats()) {
    if (format->name() == name) scheme = format->scheme();
  }
  if (scheme.empty()) return;
  const auto is_old = [&](const trace::InsertedInstruction& i) { return i.instruction.scheme == scheme; };
  to.inserted.erase(std::remove_if(to.inserted.begin(), to.inserted.end(), is_old), to.inserted.end());
  // Ids that the kernel has are other opcodes'.
  std::map<std::string, std::uint32_t> ids;
  std::uint32_t next = 0;
  for (const trace::StaticInstruction& i : to.instructions) next = std::max(next, i.opcode_id + 1);
  for (const trace::InsertedInstruction& i : to.inserted) next = std::max(next, i.instruction.opcode_id + 1);
  for (trace::InsertedInstruction i : from.inserted) {
    if (i.instruction.scheme != scheme) continue;
    const auto [id, is_new] = ids.emplace(i.instruction.opcode, next);
    next += is_new ? 1 : 0;
    i.instruction.opcode_id = id->second;
    to.inserted.push_back(std::move(i));
  }
  std::stable_sort(to.inserted.begin(), to.inserted.end(),
                   [](const auto& a, const auto& b) { return a.before < b.before; });
}

}  // namespace regatta::tool
