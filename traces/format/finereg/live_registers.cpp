// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/live_registers.h>
#include <regatta/trace/section_format.h>

#include "liveness_section.h"

#include <algorithm>
#include <stdexcept>

namespace regatta::trace {

namespace {

[[noreturn]] void bad_liveness(const std::string& what) { throw std::invalid_argument("live registers: " + what); }

unsigned words_for(unsigned registers) { return std::max(1u, (registers + 63) / 64); }

}  // namespace

LiveRegisters::LiveRegisters(unsigned count, std::size_t instructions)
    : registers(count), words(words_for(count)), vectors(instructions * words, 0) {}

unsigned LiveRegisters::count(std::uint32_t instruction) const {
  unsigned n = 0;
  for (unsigned w = 0; w < words; ++w) n += static_cast<unsigned>(__builtin_popcountll(vector(instruction, w)));
  return n;
}

std::string encode(const LiveRegisters& live) {
  if (live.registers > max_general_registers)
    bad_liveness(std::to_string(live.registers) + " registers, expected at most " +
                 std::to_string(max_general_registers));
  if (live.words != words_for(live.registers) || live.vectors.size() % live.words != 0)
    bad_liveness(std::to_string(live.vectors.size()) + " words in vectors of " + std::to_string(live.words) + " for " +
                 std::to_string(live.registers) + " registers");
  std::string payload(1, static_cast<char>(live.registers));
  payload.reserve(1 + 8 * live.vectors.size());
  for (const std::uint64_t word : live.vectors)
    for (unsigned byte = 0; byte < 8; ++byte) payload.push_back(static_cast<char>(word >> (8 * byte)));
  return payload;
}

LiveRegisters parse_live_registers(const Kernel& kernel, const std::string& payload) {
  LiveRegisters live(kernel.registers_per_thread, kernel.instructions.size());
  const std::size_t expected = 1 + 8 * live.vectors.size();
  if (payload.size() != expected)
    bad_liveness(std::to_string(payload.size()) + " bytes, expected " + std::to_string(expected) + ": " +
                 std::to_string(8 * live.words) + " per instruction of the kernel, and one before them");
  const unsigned registers = static_cast<std::uint8_t>(payload[0]);
  if (registers != kernel.registers_per_thread)
    bad_liveness("of " + std::to_string(registers) + " registers, the kernel has " +
                 std::to_string(kernel.registers_per_thread));
  std::size_t at = 1;
  for (std::uint64_t& word : live.vectors)
    for (unsigned byte = 0; byte < 8; ++byte)
      word |= std::uint64_t{static_cast<std::uint8_t>(payload[at++])} << (8 * byte);
  // Only the last word of a vector has bits without a register.
  const unsigned last = live.registers - 64 * (live.words - 1);
  for (std::size_t i = 0; last < 64 && i < kernel.instructions.size(); ++i) {
    const std::uint64_t beyond = live.vectors[(i + 1) * live.words - 1] >> last;
    if (beyond == 0) continue;
    const unsigned reg = live.registers + static_cast<unsigned>(__builtin_ctzll(beyond));
    bad_liveness("R" + std::to_string(reg) + " is live before instruction " + std::to_string(i) + ", the kernel has " +
                 std::to_string(live.registers) + " registers");
  }
  return live;
}

LiveRegisters decode_live_registers(const Kernel& kernel, const AnnotationSection& section) {
  try {
    if (section.version != liveness_section_version)
      bad_liveness("version " + std::to_string(section.version) + ", expected " +
                   std::to_string(liveness_section_version));
    return parse_live_registers(kernel, section.payload);
  } catch (const std::invalid_argument& e) {
    throw InputError("kernel " + kernel.name + ": " + e.what());
  }
}

std::optional<LiveRegisters> find_live_registers(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, liveness_section, liveness_section_version);
  if (section == nullptr) return std::nullopt;
  return decode_live_registers(kernel, *section);
}

std::string live_text(const LiveRegisters& live, std::uint32_t instruction) {
  std::string text = "live";
  for (unsigned r = 0; r < live.registers; ++r) {
    if (!live.live(instruction, r)) continue;
    const unsigned first = r;
    while (live.live(instruction, r + 1)) ++r;
    text += " R" + std::to_string(first);
    if (r != first) text += "-R" + std::to_string(r);
  }
  return text == "live" ? "live none" : text;
}

}  // namespace regatta::trace
