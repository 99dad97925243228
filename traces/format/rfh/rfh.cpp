// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/rfh.h>
#include <regatta/trace/section_format.h>

#include <stdexcept>

namespace regatta::trace {

namespace {

constexpr unsigned mrf_bit = 0x80, lrf_bit = 0x40, orf_bit = 0x20, bank_bits = 0x18, orf_index_bits = 0x07;
constexpr unsigned bank_shift = 3;
/// Of the section's first byte.
constexpr unsigned split_bit = 0x80;

[[noreturn]] void bad_rfh(const std::string& what) { throw std::invalid_argument("rfh: " + what); }
[[noreturn]] void bad_at(std::size_t index, const std::string& what) {
  bad_rfh("instruction " + std::to_string(index) + " " + what);
}

std::uint8_t byte_of(const RfhLevels& l) {
  unsigned byte = (l.main ? mrf_bit : 0) | (l.last ? lrf_bit : 0) | static_cast<unsigned>(l.bank) << bank_shift;
  if (l.orf >= 0) byte |= orf_bit | static_cast<unsigned>(l.orf);
  return static_cast<std::uint8_t>(byte);
}

RfhLevels levels_of(std::uint8_t byte, bool split, std::size_t index) {
  const bool orf = (byte & orf_bit) != 0, banked = split && (byte & lrf_bit) != 0;
  if ((!banked && (byte & bank_bits) != 0) || (!orf && (byte & orf_index_bits) != 0))
    bad_at(index, "has an operand with byte " + std::to_string(byte) + ", expected no bits beyond the levels");
  RfhLevels l;
  l.main = (byte & mrf_bit) != 0;
  l.last = (byte & lrf_bit) != 0;
  l.orf = static_cast<std::int8_t>(orf ? byte & orf_index_bits : -1);
  l.bank = static_cast<std::uint8_t>((byte & bank_bits) >> bank_shift);
  return l;
}

std::string lrf_name(const RfhLevels& l) {
  return l.bank == 0 ? "LRF" : std::string("LRF ") + static_cast<char>('A' + l.bank - 1);
}

/// What can be said of an instruction alone.
class RfhInstructionCheck {
 public:
  RfhInstructionCheck(const StaticInstruction& i, const RfhInstruction& levels, const RfhPlan& plan, std::size_t index)
      : i_(i), levels_(levels), plan_(plan), index_(index) {}

  void run() {
    const auto banks = lrf_banks_of(i_);
    for (unsigned s = 0; s < i_.source_count; ++s) {
      const RfhLevels& l = levels_.sources[s];
      const std::string reg = "R" + std::to_string(i_.sources[s]);
      if (!l.main && !l.uses_entry()) bad("reads " + reg + " from no level");
      if (l.last && l.orf >= 0) bad("reads " + reg + " with both LRF and ORF");
      check_entry(l);
      if (l.last && !l.main && l.bank != 0 && l.bank != banks[s])
        bad("reads " + reg + " from " + lrf_name(l) + " in " +
            (banks[s] == 0 ? "a fourth operand" : std::string("operand ") + static_cast<char>('A' + banks[s] - 1)));
      bool first = true;
      for (unsigned o = 0; o < s; ++o) {
        if (i_.sources[o] != i_.sources[s]) continue;
        first = false;
        if (levels_.sources[o] != l) bad("reads " + reg + " from two levels");
      }
      if (first && l.copies()) write(l);
    }
    for (unsigned d = 0; d < i_.destination_count; ++d) {
      const RfhLevels& l = levels_.destinations[d];
      if (!l.main && !l.uses_entry()) bad("writes R" + std::to_string(i_.destinations[d]) + " to no level");
      check_entry(l);
      write(l);
    }
  }

 private:
  [[noreturn]] void bad(const std::string& what) const { bad_at(index_, what); }

  void check_entry(const RfhLevels& l) const {
    if (l.orf >= static_cast<int>(plan_.entries))
      bad("names " + to_string(l) + ", and the ORF has " + std::to_string(plan_.entries) + " entries");
    if (l.bank > lrf_banks || (l.bank != 0 && !l.last))
      bad("names bank " + std::to_string(l.bank) + " of the LRF, expected 1 to " + std::to_string(lrf_banks) +
          " with the LRF, and 0 without");
    if (!l.last) return;
    if (!is_private_alu(i_.op_class)) bad("uses the LRF, which only private ALUs reach");
    if (plan_.split != (l.bank != 0))
      bad("names " + lrf_name(l) + ", and the LRF is " + (plan_.split ? "" : "not ") + "split");
  }

  void write(const RfhLevels& l) {
    if (l.last) {
      bool& last = last_written_[l.bank];
      if (last) bad(l.bank == 0 ? "writes the LRF twice" : "writes " + lrf_name(l) + " twice");
      last = true;
    }
    if (l.orf < 0) return;
    bool& orf = written_[static_cast<std::size_t>(l.orf)];
    if (orf) bad("writes ORF " + std::to_string(l.orf) + " twice");
    orf = true;
  }

  const StaticInstruction& i_;
  const RfhInstruction& levels_;
  const RfhPlan& plan_;
  const std::size_t index_;
  std::array<bool, 1 + lrf_banks> last_written_{};  ///< by bank
  std::array<bool, max_orf_entries> written_{};
};

void check(const Kernel& kernel, const RfhPlan& plan) {
  if (plan.entries < 1 || plan.entries > max_orf_entries)
    bad_rfh("the ORF has " + std::to_string(plan.entries) + " entries, expected 1 to " +
            std::to_string(max_orf_entries));
  if (plan.instructions.size() != kernel.instructions.size())
    bad_rfh("levels of " + std::to_string(plan.instructions.size()) + " instructions, the kernel has " +
            std::to_string(kernel.instructions.size()));
  for (std::size_t index = 0; index < kernel.instructions.size(); ++index)
    RfhInstructionCheck(kernel.instructions[index], plan.instructions[index], plan, index).run();
}

}  // namespace

bool is_private_alu(OpClass op_class) {
  switch (op_class) {
    case OpClass::int_add:
    case OpClass::int_max:
    case OpClass::int_mul:
    case OpClass::int_mad:
    case OpClass::int64:
    case OpClass::convert:
    case OpClass::fp32_add:
    case OpClass::fp32_max:
    case OpClass::fp32_mul:
    case OpClass::fp32_mad:
    case OpClass::fp64_add:
    case OpClass::fp64_max:
    case OpClass::fp64_mul:
    case OpClass::fp64_mad:
      return true;
    default:
      return false;
  }
}

bool is_long_latency(const StaticInstruction& i) {
  const bool far = i.space == MemorySpace::global || i.space == MemorySpace::local || i.space >= MemorySpace::generic;
  return i.reads_memory && far && i.destination_count != 0;
}

std::array<std::uint8_t, max_source_registers> lrf_banks_of(const StaticInstruction& i) {
  std::array<std::uint8_t, max_source_registers> banks{};
  const auto bank = [](unsigned place) { return static_cast<std::uint8_t>(place < lrf_banks ? place + 1 : 0); };
  unsigned reg = 0, place = 0;
  for (std::size_t o = i.operand_destinations; o < i.operands.size(); ++o) {
    const Operand& operand = i.operands[o];
    if (operand.kind == Operand::Kind::predicate) continue;
    if (operand.kind == Operand::Kind::reg)
      for (unsigned word = 0; word < operand.words && reg < i.source_count; ++word) banks[reg++] = bank(place);
    ++place;
  }
  if (i.operands.empty())
    for (; reg < i.source_count; ++reg) banks[reg] = bank(reg);
  return banks;
}

RfhAccesses count_accesses(const Kernel& kernel, const RfhPlan& plan) {
  RfhAccesses n;
  for (std::size_t index = 0; index < kernel.instructions.size(); ++index) {
    const StaticInstruction& i = kernel.instructions[index];
    const RfhInstruction& levels = plan.instructions[index];
    for (unsigned s = 0; s < i.source_count; ++s) {
      const RfhLevels& l = levels.sources[s];
      n.main_reads += l.main;
      n.last_reads += !l.main && l.last;
      n.orf_reads += !l.main && l.orf >= 0;
      bool first = true;
      for (unsigned o = 0; o < s; ++o) first = first && i.sources[o] != i.sources[s];
      n.last_writes += first && l.copies() && l.last;
      n.orf_writes += first && l.copies() && l.orf >= 0;
    }
    for (unsigned d = 0; d < i.destination_count; ++d) {
      n.main_writes += levels.destinations[d].main;
      n.last_writes += levels.destinations[d].last;
      n.orf_writes += levels.destinations[d].orf >= 0;
    }
  }
  return n;
}

std::string encode(const Kernel& kernel, const RfhPlan& plan) {
  check(kernel, plan);
  std::string payload{static_cast<char>(plan.entries | (plan.split ? split_bit : 0))};
  for (std::size_t index = 0; index < kernel.instructions.size(); ++index) {
    const StaticInstruction& i = kernel.instructions[index];
    const RfhInstruction& levels = plan.instructions[index];
    payload.push_back(static_cast<char>(levels.strand_begins));
    for (unsigned d = 0; d < i.destination_count; ++d)
      payload.push_back(static_cast<char>(byte_of(levels.destinations[d])));
    for (unsigned s = 0; s < i.source_count; ++s) payload.push_back(static_cast<char>(byte_of(levels.sources[s])));
  }
  return payload;
}

RfhPlan decode_rfh(const Kernel& kernel, const std::string& payload) {
  std::size_t expected = 1;
  for (const StaticInstruction& i : kernel.instructions)
    expected += std::size_t{1} + i.destination_count + i.source_count;
  if (payload.size() != expected)
    bad_rfh(std::to_string(payload.size()) + " bytes, expected " + std::to_string(expected) +
            ": one per instruction and register operand of the kernel, and one before them");
  RfhPlan plan;
  const auto first = static_cast<std::uint8_t>(payload[0]);
  plan.split = (first & split_bit) != 0;
  plan.entries = first & ~split_bit;
  plan.instructions.resize(kernel.instructions.size());
  std::size_t at = 1;
  const auto next = [&] { return static_cast<std::uint8_t>(payload[at++]); };
  for (std::size_t index = 0; index < kernel.instructions.size(); ++index) {
    const StaticInstruction& i = kernel.instructions[index];
    RfhInstruction& levels = plan.instructions[index];
    const std::uint8_t begins = next();
    if (begins > 1) bad_at(index, "has a strand byte of " + std::to_string(begins) + ", expected 0 or 1");
    levels.strand_begins = begins == 1;
    for (unsigned d = 0; d < i.destination_count; ++d) levels.destinations[d] = levels_of(next(), plan.split, index);
    for (unsigned s = 0; s < i.source_count; ++s) levels.sources[s] = levels_of(next(), plan.split, index);
  }
  check(kernel, plan);
  return plan;
}

std::optional<RfhPlan> find_rfh(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, rfh_section, rfh_section_version);
  if (section == nullptr) return std::nullopt;
  try {
    return decode_rfh(kernel, section->payload);
  } catch (const std::invalid_argument& e) {
    throw InputError("kernel " + kernel.name + ": " + e.what());
  }
}

std::string to_string(const RfhLevels& levels) {
  std::string text;
  const auto add = [&](const std::string& level) { text += (text.empty() ? "" : "+") + level; };
  if (levels.main) add("MRF");
  if (levels.last) add(lrf_name(levels));
  if (levels.orf >= 0) add("ORF " + std::to_string(levels.orf));
  return text.empty() ? "-" : text;
}

std::string rfh_text(const StaticInstruction& i, const RfhInstruction& levels) {
  bool entries = false;
  std::string to, from;
  for (unsigned d = 0; d < i.destination_count; ++d) {
    entries = entries || levels.destinations[d].uses_entry();
    to += (to.empty() ? "R" : ", R") + std::to_string(i.destinations[d]) + " " + to_string(levels.destinations[d]);
  }
  for (unsigned s = 0; s < i.source_count; ++s) {
    entries = entries || levels.sources[s].uses_entry();
    from += (from.empty() ? "R" : ", R") + std::to_string(i.sources[s]) + " " + to_string(levels.sources[s]);
  }
  std::string text = levels.strand_begins ? "strand" : "";
  if (!entries) return text;
  if (!text.empty()) text += ": ";
  text += to;
  if (!from.empty()) text += (to.empty() ? "<- " : " <- ") + from;
  return text;
}

}  // namespace regatta::trace
