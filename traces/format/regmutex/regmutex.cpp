// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/regmutex.h>
#include <regatta/trace/section_format.h>

#include "regmutex_section.h"

#include <stdexcept>

namespace regatta::trace {

namespace {

[[noreturn]] void bad_regmutex(const std::string& what) { throw std::invalid_argument("regmutex: " + what); }

void check(const RegMutexRegisters& r) {
  if (r.registers() > max_general_registers)
    bad_regmutex(std::to_string(r.registers()) + " registers, expected at most " +
                 std::to_string(max_general_registers));
  if (r.place.size() != r.registers())
    bad_regmutex("places of " + std::to_string(r.place.size()) + " registers, expected " +
                 std::to_string(r.registers()));
  std::vector<int> at(r.registers(), -1);
  for (std::size_t reg = 0; reg < r.place.size(); ++reg) {
    const unsigned place = r.place[reg];
    if (place >= r.registers())
      bad_regmutex("R" + std::to_string(reg) + " has place " + std::to_string(place) + ", expected at most " +
                   std::to_string(r.registers() - 1));
    if (at[place] >= 0)
      bad_regmutex("R" + std::to_string(at[place]) + " and R" + std::to_string(reg) + " have the same place " +
                   std::to_string(place));
    at[place] = static_cast<int>(reg);
  }
}

}  // namespace

std::string encode(const RegMutexRegisters& registers) {
  check(registers);
  std::string payload{static_cast<char>(registers.base), static_cast<char>(registers.extended)};
  for (const std::uint8_t place : registers.place) payload.push_back(static_cast<char>(place));
  return payload;
}

RegMutexRegisters parse_regmutex(const Kernel& kernel, const std::string& payload) {
  const std::size_t expected = 2 + std::size_t{kernel.registers_per_thread};
  if (payload.size() != expected)
    bad_regmutex(std::to_string(payload.size()) + " bytes, expected " + std::to_string(expected) +
                 ": one per register of the kernel, and two before them");
  RegMutexRegisters registers;
  registers.base = static_cast<std::uint8_t>(payload[0]);
  registers.extended = static_cast<std::uint8_t>(payload[1]);
  if (registers.registers() != kernel.registers_per_thread)
    bad_regmutex("sets of " + std::to_string(registers.base) + " and " + std::to_string(registers.extended) +
                 " registers, the kernel has " + std::to_string(kernel.registers_per_thread));
  for (std::size_t i = 2; i < payload.size(); ++i) registers.place.push_back(static_cast<std::uint8_t>(payload[i]));
  check(registers);
  return registers;
}

RegMutexRegisters decode_regmutex(const Kernel& kernel, const AnnotationSection& section) {
  try {
    if (section.version != regmutex_section_version)
      bad_regmutex("version " + std::to_string(section.version) + ", expected " +
                   std::to_string(regmutex_section_version));
    return parse_regmutex(kernel, section.payload);
  } catch (const std::invalid_argument& e) {
    throw InputError("kernel " + kernel.name + ": " + e.what());
  }
}

std::optional<RegMutexRegisters> find_regmutex(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, regmutex_section, regmutex_section_version);
  if (section == nullptr) return std::nullopt;
  return decode_regmutex(kernel, *section);
}

StaticInstruction regmutex_instruction(const char* opcode, std::uint32_t opcode_id) {
  StaticInstruction i;
  i.opcode = opcode;
  i.opcode_id = opcode_id;
  i.op_class = OpClass::metadata;
  i.scheme = regmutex_scheme;
  return i;
}

}  // namespace regatta::trace
