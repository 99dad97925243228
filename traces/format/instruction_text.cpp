// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/instruction_text.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace regatta::trace {
namespace {

std::string operand_text(const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::reg:
      return register_name(o.value, o.words);
    case Operand::Kind::predicate:
      return (o.negated ? "!P" : "P") + std::to_string(o.value);
    case Operand::Kind::immediate:
      return hex_text(o.value);
    case Operand::Kind::special:
      return o.value < special_register_count ? special_register_names[o.value] : "%special" + std::to_string(o.value);
    case Operand::Kind::constant_bank:
      return "c[" + hex_text(o.value) + "]" + (o.words == 2 ? ".64" : "");
  }
  return "?";
}

std::string address_text(const StaticInstruction& i, const Operand& o) {
  // The opcode names the space.
  if (o.kind == Operand::Kind::constant_bank) return "[" + hex_text(o.value) + "]";
  std::string text = "[" + operand_text(o);
  if (i.address_offset > 0) text += "+" + hex_text(static_cast<std::uint64_t>(i.address_offset));
  if (i.address_offset < 0) text += "-" + hex_text(0 - static_cast<std::uint64_t>(i.address_offset));
  return text + "]";
}

/// Operands [first, end) with commas between them; in braces where they are one value's parts.
std::string list_text(const StaticInstruction& i, std::size_t first, std::size_t end, bool parts) {
  std::string text;
  for (std::size_t n = first; n < end; ++n) text += (n == first ? "" : ", ") + operand_text(i.operands[n]);
  return parts && end - first > 1 ? "{" + text + "}" : text;
}

std::string destinations_text(const StaticInstruction& i, std::size_t count) {
  const bool memory = i.reads_memory || i.writes_memory;
  // A second result of its own: shfl's R1|P0.
  const bool two_results = !memory && count == 2 && i.operands[1].kind == Operand::Kind::predicate;
  if (two_results) return operand_text(i.operands[0]) + "|" + operand_text(i.operands[1]);
  return list_text(i, 0, count, true);
}

}  // namespace

std::string register_name(std::uint64_t first, unsigned words) {
  return "R" + std::to_string(first) + (words == 2 ? ".64" : "");
}

std::string hex_text(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

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

std::string instruction_text(const StaticInstruction& i) {
  std::string text;
  if (i.guard.predicate >= 0) {
    text += i.guard.negated ? "@!P" : "@P";
    text += std::to_string(i.guard.predicate) + " ";
  }
  text += printable(i.opcode);
  const char* separator = " ";
  const auto append = [&](const std::string& item) {
    if (item.empty()) return;
    text += separator + item;
    separator = ", ";
  };
  const std::size_t count = i.operands.size();
  std::size_t source = std::min<std::size_t>(i.operand_destinations, count);
  append(destinations_text(i, source));
  // An asynchronous operation has two places, or none.
  const bool memory = (i.reads_memory || i.writes_memory) && i.op_class != OpClass::async;
  if (memory && source < count) append(address_text(i, i.operands[source++]));
  const bool packs = i.opcode.rfind("pack.", 0) == 0;
  append(list_text(i, source, count, (memory && !i.reads_memory) || packs));
  if (i.branch_target >= 0) append("-> " + std::to_string(i.branch_target));
  return text;
}

}  // namespace regatta::trace
