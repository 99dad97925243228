// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/control.h>
#include <regatta/trace/section_format.h>

#include <stdexcept>

namespace regatta::trace {

namespace {

constexpr unsigned yield_at = 4, write_at = 5, read_at = 8, wait_at = 11, reuse_at = 17, unused_at = 20;
constexpr unsigned latency_at = 24, bytes_of_bits = 4;
constexpr unsigned counter_bits = 0x7, all_counters = 0x3f, all_positions = 0x7, unused_bits = 0xf;

[[noreturn]] void bad_control(const std::string& what) { throw std::invalid_argument("control: " + what); }

/// What can be said of an instruction alone.
class ControlCheck {
 public:
  ControlCheck(const StaticInstruction& i, const ControlBits& bits, unsigned latency, std::size_t index)
      : i_(i), bits_(bits), latency_(latency), index_(index) {}

  void run() const {
    const bool fixed = has_fixed_latency(i_);
    if (fixed && latency_ == 0) bad("has a latency of 0, expected one of at least 1: its latency is fixed");
    if (!fixed && latency_ != 0)
      bad("has a latency of " + std::to_string(latency_) + ", expected 0: its latency is variable");
    if (bits_.stall > max_stall)
      bad("has a stall count of " + std::to_string(bits_.stall) + ", expected at most " + std::to_string(max_stall));
    if (bits_.yield && bits_.stall == 0) bad("has a stall count of 0 with yield, which hardware takes for 45 cycles");
    if (!bits_.yield && bits_.stall > max_stall_without_yield)
      bad("has a stall count of " + std::to_string(bits_.stall) + " without yield, expected at most " +
          std::to_string(max_stall_without_yield));
    if (bits_.wait_mask > all_counters)
      bad("has a wait mask of " + std::to_string(bits_.wait_mask) + ", expected bits of counters 0 to 5");
    check_counter(bits_.write_counter, "write", fixed, has_result(i_), "no result");
    check_counter(bits_.read_counter, "read", fixed, i_.source_count != 0, "no source register");
    check_reuse();
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    bad_control("instruction " + std::to_string(index_) + " " + what);
  }

  void check_counter(unsigned counter, const std::string& name, bool fixed, bool has, const char* lack) const {
    if (counter == no_counter) return;
    if (counter >= control_counters)
      bad("has " + name + " counter " + std::to_string(counter) + ", expected 0 to 5, or 7 for none");
    if (fixed) bad("has a " + name + " counter, expected none: its latency is fixed");
    if (!has) bad("has a " + name + " counter and " + lack);
  }

  void check_reuse() const {
    if (bits_.reuse == 0) return;
    if (bits_.reuse > all_positions)
      bad("has reuse flags " + std::to_string(bits_.reuse) + ", expected bits of positions A to C");
    if (!uses_register_cache(i_)) bad("has a reuse flag, and does not use the register file cache");
    unsigned registers = 0;
    for (const std::int8_t position : source_positions(i_))
      if (position >= 0) registers |= 1u << static_cast<unsigned>(position);
    for (unsigned p = 0; p < control_positions; ++p)
      if (bits_.reuses(p) && (registers >> p & 1u) == 0)
        bad(std::string("has a reuse flag in position ") + static_cast<char>('A' + p) + ", which is not a register");
  }

  const StaticInstruction& i_;
  const ControlBits& bits_;
  const unsigned latency_;
  const std::size_t index_;
};

void check(const Kernel& kernel, const ControlSection& control) {
  const std::size_t expected = kernel.instructions.size();
  if (control.bits.size() != expected || control.latency.size() != expected)
    bad_control("bits of " + std::to_string(control.bits.size()) + " instructions and latencies of " +
                std::to_string(control.latency.size()) + ", the kernel has " + std::to_string(expected));
  for (std::size_t i = 0; i < expected; ++i)
    ControlCheck(kernel.instructions[i], control.bits[i], control.latency[i], i).run();
}

std::uint32_t word_of(const ControlBits& bits, unsigned latency) {
  return bits.stall | (bits.yield ? 0u : 1u) << yield_at | static_cast<std::uint32_t>(bits.write_counter) << write_at |
         static_cast<std::uint32_t>(bits.read_counter) << read_at |
         static_cast<std::uint32_t>(bits.wait_mask) << wait_at | static_cast<std::uint32_t>(bits.reuse) << reuse_at |
         latency << latency_at;
}

ControlBits bits_of(std::uint32_t word) {
  ControlBits bits;
  bits.stall = static_cast<std::uint8_t>(word & max_stall);
  bits.yield = (word >> yield_at & 1u) == 0;
  bits.write_counter = static_cast<std::uint8_t>(word >> write_at & counter_bits);
  bits.read_counter = static_cast<std::uint8_t>(word >> read_at & counter_bits);
  bits.wait_mask = static_cast<std::uint8_t>(word >> wait_at & all_counters);
  bits.reuse = static_cast<std::uint8_t>(word >> reuse_at & all_positions);
  return bits;
}

}  // namespace

std::array<std::int8_t, max_source_registers> source_positions(const StaticInstruction& i) {
  std::array<std::int8_t, max_source_registers> positions{};
  positions.fill(-1);
  unsigned reg = 0, place = 0;
  const auto set = [&] {
    if (place < control_positions) positions[reg] = static_cast<std::int8_t>(place);
    ++reg;
  };
  for (std::size_t o = i.operand_destinations; o < i.operands.size(); ++o) {
    const Operand& operand = i.operands[o];
    if (operand.kind == Operand::Kind::predicate) continue;
    if (operand.kind == Operand::Kind::reg)
      for (unsigned word = 0; word < operand.words && reg < i.source_count; ++word) set();
    ++place;
  }
  if (i.operands.empty())
    for (; reg < i.source_count; ++place) set();
  return positions;
}

std::string encode(const Kernel& kernel, const ControlSection& control) {
  check(kernel, control);
  std::string payload;
  for (std::size_t i = 0; i < control.bits.size(); ++i) {
    const std::uint32_t word = word_of(control.bits[i], control.latency[i]);
    for (unsigned byte = 0; byte < bytes_of_bits; ++byte) payload.push_back(static_cast<char>(word >> (8 * byte)));
  }
  return payload;
}

ControlSection decode_control(const Kernel& kernel, const std::string& payload) {
  const std::size_t expected = bytes_of_bits * kernel.instructions.size();
  if (payload.size() != expected)
    bad_control(std::to_string(payload.size()) + " bytes, expected " + std::to_string(expected) +
                ": four per instruction of the kernel");
  ControlSection control;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    std::uint32_t word = 0;
    for (unsigned byte = 0; byte < bytes_of_bits; ++byte)
      word |= std::uint32_t{static_cast<std::uint8_t>(payload[bytes_of_bits * i + byte])} << (8 * byte);
    if ((word >> unused_at & unused_bits) != 0)
      bad_control("instruction " + std::to_string(i) + " has bits beyond the reuse flags, expected 0");
    control.bits.push_back(bits_of(word));
    control.latency.push_back(static_cast<std::uint8_t>(word >> latency_at));
  }
  check(kernel, control);
  return control;
}

std::optional<ControlSection> find_control(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, control_section, control_section_version);
  if (section == nullptr) return std::nullopt;
  try {
    return decode_control(kernel, section->payload);
  } catch (const std::invalid_argument& e) {
    throw InputError("kernel " + kernel.name + ": " + e.what());
  }
}

std::string to_string(const ControlBits& bits) {
  const auto counter = [](unsigned c) { return c == no_counter ? std::string("-") : std::to_string(c); };
  std::string text = "B";
  for (unsigned c = 0; c < control_counters; ++c) text += bits.waits_for(c) ? static_cast<char>('0' + c) : '-';
  text += ":R" + counter(bits.read_counter) + ":W" + counter(bits.write_counter) + (bits.yield ? ":Y" : ":-");
  text += std::string(":S") + (bits.stall < 10 ? "0" : "") + std::to_string(bits.stall);
  if (bits.reuse != 0) text += " reuse ";
  for (unsigned p = 0; p < control_positions; ++p)
    if (bits.reuses(p)) text += static_cast<char>('A' + p);
  return text;
}

}  // namespace regatta::trace
