// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/rfh.h>
#include <regatta/trace/section_format.h>

#include <stdexcept>

namespace regatta::trace {

namespace {

constexpr unsigned mrf_bit = 0x80, lrf_bit = 0x40, orf_bit = 0x20, reserved_bits = 0x18, orf_index_bits = 0x07;

[[noreturn]] void bad_rfh(const std::string& what) { throw std::invalid_argument("rfh: " + what); }
[[noreturn]] void bad_at(std::size_t index, const std::string& what) {
  bad_rfh("instruction " + std::to_string(index) + " " + what);
}

std::uint8_t byte_of(const RfhLevels& l) {
  unsigned byte = (l.main ? mrf_bit : 0) | (l.last ? lrf_bit : 0);
  if (l.orf >= 0) byte |= orf_bit | static_cast<unsigned>(l.orf);
  return static_cast<std::uint8_t>(byte);
}

RfhLevels levels_of(std::uint8_t byte, std::size_t index) {
  const bool orf = (byte & orf_bit) != 0;
  if ((byte & reserved_bits) != 0 || (!orf && (byte & orf_index_bits) != 0))
    bad_at(index, "has an operand with byte " + std::to_string(byte) + ", expected no bits beyond the levels");
  RfhLevels l;
  l.main = (byte & mrf_bit) != 0;
  l.last = (byte & lrf_bit) != 0;
  l.orf = static_cast<std::int8_t>(orf ? byte & orf_index_bits : -1);
  return l;
}

/// What can be said of an instruction alone.
void check(const StaticInstruction& i, const RfhInstruction& levels, unsigned entries, std::size_t index) {
  bool last_written = false;
  std::array<bool, max_orf_entries> written{};
  const auto check_entry = [&](const RfhLevels& l) {
    if (l.orf >= static_cast<int>(entries))
      bad_at(index, "names " + to_string(l) + ", and the ORF has " + std::to_string(entries) + " entries");
    if (l.last && !is_private_alu(i.op_class)) bad_at(index, "uses the LRF, which only private ALUs reach");
  };
  const auto write = [&](const RfhLevels& l) {
    if (l.last && last_written) bad_at(index, "writes the LRF twice");
    last_written |= l.last;
    if (l.orf < 0) return;
    bool& orf = written[static_cast<std::size_t>(l.orf)];
    if (orf) bad_at(index, "writes ORF " + std::to_string(l.orf) + " twice");
    orf = true;
  };
  for (unsigned s = 0; s < i.source_count; ++s) {
    const RfhLevels& l = levels.sources[s];
    const std::string reg = "R" + std::to_string(i.sources[s]);
    if (!l.main && !l.uses_entry()) bad_at(index, "reads " + reg + " from no level");
    if (l.last && l.orf >= 0) bad_at(index, "reads " + reg + " with both LRF and ORF");
    check_entry(l);
    bool first = true;
    for (unsigned o = 0; o < s; ++o) {
      if (i.sources[o] != i.sources[s]) continue;
      first = false;
      if (levels.sources[o] != l) bad_at(index, "reads " + reg + " from two levels");
    }
    if (first && l.copies()) write(l);
  }
  for (unsigned d = 0; d < i.destination_count; ++d) {
    const RfhLevels& l = levels.destinations[d];
    if (!l.main && !l.uses_entry()) bad_at(index, "writes R" + std::to_string(i.destinations[d]) + " to no level");
    check_entry(l);
    write(l);
  }
}

void check(const Kernel& kernel, const RfhPlan& plan) {
  if (plan.entries < 1 || plan.entries > max_orf_entries)
    bad_rfh("the ORF has " + std::to_string(plan.entries) + " entries, expected 1 to " +
            std::to_string(max_orf_entries));
  if (plan.instructions.size() != kernel.instructions.size())
    bad_rfh("levels of " + std::to_string(plan.instructions.size()) + " instructions, the kernel has " +
            std::to_string(kernel.instructions.size()));
  for (std::size_t index = 0; index < kernel.instructions.size(); ++index)
    check(kernel.instructions[index], plan.instructions[index], plan.entries, index);
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
  const bool far = i.space == MemorySpace::global || i.space == MemorySpace::local || i.space == MemorySpace::generic;
  return i.reads_memory && far && i.destination_count != 0;
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
  std::string payload{static_cast<char>(plan.entries)};
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
  plan.entries = static_cast<std::uint8_t>(payload[0]);
  plan.instructions.resize(kernel.instructions.size());
  std::size_t at = 1;
  const auto next = [&] { return static_cast<std::uint8_t>(payload[at++]); };
  for (std::size_t index = 0; index < kernel.instructions.size(); ++index) {
    const StaticInstruction& i = kernel.instructions[index];
    RfhInstruction& levels = plan.instructions[index];
    const std::uint8_t begins = next();
    if (begins > 1) bad_at(index, "has a strand byte of " + std::to_string(begins) + ", expected 0 or 1");
    levels.strand_begins = begins == 1;
    for (unsigned d = 0; d < i.destination_count; ++d) levels.destinations[d] = levels_of(next(), index);
    for (unsigned s = 0; s < i.source_count; ++s) levels.sources[s] = levels_of(next(), index);
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
  if (levels.last) add("LRF");
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
