// SPDX-License-Identifier: Apache-2.0
#include "rfv_section.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace regatta::trace {

namespace {

std::optional<RfvSection> rfv_of(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, rfv_section, rfv_section_version);
  if (section == nullptr) return std::nullopt;
  return parse_rfv(kernel, section->payload);
}

bool has_rfv_words(const Kernel& kernel) {
  for (const InsertedInstruction& i : kernel.inserted)
    if (i.instruction.scheme == rfv_scheme) return true;
  return false;
}

/// Which registers may be released at the entry of each block, along every path of a lane.
class ReleasedOnPaths {
 public:
  ReleasedOnPaths(const Kernel& kernel, const RfvReleases& releases)
      : kernel_(kernel),
        releases_(releases),
        at_entry_(kernel.blocks.size(), 0),
        block_at_(kernel.instructions.size()) {
    for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b)
      for (std::uint32_t i = 0; i < kernel.blocks[b].count; ++i) block_at_[kernel.blocks[b].first + i] = b;
  }

  void follow() {
    if (kernel_.blocks.empty()) return;
    arrived_.assign(kernel_.blocks.size(), false);
    arrive(0, 0);
    while (!work_.empty()) {
      const std::uint32_t b = work_.back();
      work_.pop_back();
      const BasicBlock& block = kernel_.blocks[b];
      RfvRegisters released = at_entry_[b] | releases_.at_block[b];
      const std::uint32_t end = block.first + block.count;
      for (std::uint32_t index = block.first; index < end; ++index) released = pass(index, released);
      const StaticInstruction& last = kernel_.instructions[end - 1];
      if (last.branch_target >= 0) arrive(block_at_[static_cast<std::uint32_t>(last.branch_target)], released);
      const bool ends = last.op_class == OpClass::branch || last.op_class == OpClass::exit;
      if ((last.guard.predicate >= 0 || !ends) && end < kernel_.instructions.size()) arrive(block_at_[end], released);
    }
  }

 private:
  void arrive(std::uint32_t block, RfvRegisters released) {
    if (arrived_[block] && (released & ~at_entry_[block]) == 0) return;
    arrived_[block] = true;
    at_entry_[block] |= released;
    work_.push_back(block);
  }

  RfvRegisters pass(std::uint32_t index, RfvRegisters released) const {
    const StaticInstruction& i = kernel_.instructions[index];
    if (const RfvRegisters lost = read_by(i) & released; lost != 0)
      throw std::invalid_argument("rfv: instruction " + std::to_string(index) + " reads " + rfv_text(lost) +
                                  ", which is released on a path to it");
    return (released | releases_.at_operand[index]) & ~written_by(i);
  }

  const Kernel& kernel_;
  const RfvReleases& releases_;
  std::vector<RfvRegisters> at_entry_;
  std::vector<std::uint32_t> block_at_;
  std::vector<bool> arrived_;
  std::vector<std::uint32_t> work_;
};

}  // namespace

void RfvSectionFormat::validate(const Kernel& kernel) const { rfv_of(kernel); }

void RfvSectionFormat::verify(const Kernel& kernel) const {
  const std::optional<RfvSection> section = rfv_of(kernel);
  if (!section) {
    if (has_rfv_words(kernel))
      throw std::invalid_argument("rfv: instructions of the scheme, and no section of version 1");
    return;
  }
  const RfvReleases releases = read_rfv_words(kernel, *section);
  ReleasedOnPaths(kernel, releases).follow();
}

std::vector<InfoRow> RfvSectionFormat::info(const Kernel& kernel) const {
  const std::optional<RfvSection> section = rfv_of(kernel);
  if (!section) return {};
  std::size_t pir = 0, pbr = 0;
  for (const InsertedInstruction& i : kernel.inserted) {
    if (i.instruction.scheme != rfv_scheme) continue;
    pir += i.instruction.opcode == rfv_pir ? 1 : 0;
    pbr += i.instruction.opcode == rfv_pbr ? 1 : 0;
  }
  const std::string table = section->table_entries == 0
                                ? "all renamed"
                                : std::to_string(section->table_entries) + " table entries, exempt " +
                                      (section->exempt == 0 ? std::string("none") : rfv_text(section->exempt));
  return {{"rfv", "at most " + std::to_string(section->most) + " of " + std::to_string(kernel.registers_per_thread) +
                      " registers at once, " + std::to_string(pir) + " pir and " + std::to_string(pbr) + " pbr words"},
          {"  renaming", table},
          {"  at the start", section->at_start == 0 ? "none" : rfv_text(section->at_start)}};
}

std::vector<std::string> RfvSectionFormat::notes(const Kernel& kernel) const {
  const std::optional<RfvSection> section = rfv_of(kernel);
  std::vector<std::string> notes;
  if (!section) return notes;
  for (const RfvRegisters released : read_rfv_words(kernel, *section).at_operand)
    notes.push_back(released == 0 ? "" : "releases " + rfv_text(released));
  return notes;
}

std::string RfvSectionFormat::inserted_text(const StaticInstruction& instruction) const {
  if (instruction.operands.size() != 1) throw std::invalid_argument("rfv: a word without an operand");
  return rfv_word_text(instruction.operands[0].value);
}

}  // namespace regatta::trace
