// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/power_states.h>
#include <regatta/trace/section_format.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::trace {

namespace {

constexpr std::uint8_t live_bit = 0x80;

[[noreturn]] void wrong(const std::string& what) { throw std::invalid_argument("power states: " + what); }

void check_header(unsigned bound, unsigned threshold) {
  if (bound < 1 || bound > max_power_bound)
    wrong("the bound is " + std::to_string(bound) + ", expected 1 to " + std::to_string(max_power_bound));
  if (threshold < 1 || threshold > bound)
    wrong("the threshold is " + std::to_string(threshold) + ", expected 1 to " + std::to_string(bound));
}

std::size_t registers_of(const StaticInstruction& i) { return std::size_t{i.destination_count} + i.source_count; }

std::uint8_t register_at(const StaticInstruction& i, std::size_t k) {
  return k < i.destination_count ? i.destinations[k] : i.sources[k - i.destination_count];
}

/// All mentions of a register in an instruction must agree on its next access.
void check_agreement(const StaticInstruction& i, const std::vector<NextAccess>& next, std::size_t index) {
  for (std::size_t a = 1; a < next.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      if (register_at(i, a) != register_at(i, b)) continue;
      if (next[a].distance == next[b].distance && next[a].live == next[b].live) continue;
      wrong("instruction " + std::to_string(index) + " says two things of R" + std::to_string(register_at(i, a)));
    }
}

unsigned address_registers(const StaticInstruction& i) {
  if (!i.reads_memory && !i.writes_memory) return 0;
  if (i.operands.size() <= i.operand_destinations) return 0;
  const Operand& address = i.operands[i.operand_destinations];
  if (address.kind != Operand::Kind::reg) return 0;
  return std::min<unsigned>(address.words, i.source_count);
}

}  // namespace

const char* to_string(RegisterPower state) {
  switch (state) {
    case RegisterPower::on:
      return "ON";
    case RegisterPower::sleep:
      return "SLEEP";
    case RegisterPower::off:
      return "OFF";
  }
  return "?";
}

std::string encode(const PowerStates& states) {
  check_header(states.bound, states.threshold);
  std::string payload;
  payload.push_back(static_cast<char>(states.bound));
  payload.push_back(static_cast<char>(states.threshold));
  for (const std::vector<NextAccess>& registers : states.next) {
    for (const NextAccess next : registers) {
      if (next.distance > states.bound)
        wrong("a distance of " + std::to_string(next.distance) + ", expected at most " + std::to_string(states.bound));
      payload.push_back(static_cast<char>(next.distance | (next.live ? live_bit : 0)));
    }
  }
  return payload;
}

PowerStates decode_power_states(const Kernel& kernel, const std::string& payload) {
  std::size_t expected = 2;
  for (const StaticInstruction& i : kernel.instructions) expected += registers_of(i);
  if (payload.size() != expected)
    wrong(std::to_string(payload.size()) + " bytes, expected " + std::to_string(expected) +
          ": one per register operand of the kernel, and two before them");
  PowerStates states;
  states.bound = static_cast<std::uint8_t>(payload[0]);
  states.threshold = static_cast<std::uint8_t>(payload[1]);
  check_header(states.bound, states.threshold);
  states.next.resize(kernel.instructions.size());
  std::size_t at = 2;
  for (std::size_t index = 0; index < kernel.instructions.size(); ++index) {
    const StaticInstruction& i = kernel.instructions[index];
    std::vector<NextAccess>& registers = states.next[index];
    registers.resize(registers_of(i));
    for (NextAccess& next : registers) {
      const auto byte = static_cast<std::uint8_t>(payload[at++]);
      next.distance = byte & static_cast<std::uint8_t>(~live_bit);
      next.live = (byte & live_bit) != 0;
      if (next.distance > states.bound)
        wrong("instruction " + std::to_string(index) + " has a distance of " + std::to_string(next.distance) +
              ", expected at most " + std::to_string(states.bound));
    }
    check_agreement(i, registers, index);
  }
  return states;
}

const AnnotationSection* find_power_section(const Kernel& kernel) {
  return find_section(kernel, power_section, power_section_version);
}

PowerFields power_fields_of(const StaticInstruction& i) {
  PowerFields fields;
  fields.fill(-1);
  if (i.destination_count != 0) fields[0] = i.destinations[0];
  unsigned field = power_destination_fields;
  for (unsigned s = address_registers(i); s < i.source_count && field < power_fields; ++s)
    fields[field++] = i.sources[s];
  return fields;
}

std::uint8_t power_bits(const StaticInstruction& i, const std::vector<NextAccess>& next, unsigned threshold) {
  const PowerFields fields = power_fields_of(i);
  std::uint8_t bits = 0;
  for (unsigned f = 0; f < power_fields; ++f) {
    if (fields[f] < 0) continue;
    std::size_t k = 0;
    while (register_at(i, k) != fields[f]) ++k;
    bits = static_cast<std::uint8_t>(bits | static_cast<unsigned>(power_of(next[k], threshold)) << (2 * f));
  }
  return bits;
}

RegisterPower power_state(const PowerFields& fields, std::uint8_t bits, unsigned reg) {
  for (unsigned f = 0; f < power_fields; ++f)
    if (fields[f] == static_cast<std::int16_t>(reg)) return power_field(bits, f);
  return RegisterPower::sleep;
}

std::string power_text(const StaticInstruction& i, std::uint8_t bits) {
  const PowerFields fields = power_fields_of(i);
  std::string text;
  for (unsigned f = 0; f < power_fields; ++f) {
    if (fields[f] < 0) continue;
    text += (text.empty() ? "R" : ", R") + std::to_string(fields[f]) + " " + to_string(power_field(bits, f));
  }
  return text;
}

}  // namespace regatta::trace
