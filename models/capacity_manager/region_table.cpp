// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/capacity_manager/region_table.h>

#include <regatta/support/config.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::models {

using protocol::RegisterId;
using trace::LastUse;
using trace::RegionOpcode;

namespace {

protocol::UseMarks marks_of(const protocol::InstructionTraits& traits, const trace::SlotUses& uses) {
  protocol::UseMarks marks;
  const std::array<trace::UseSlot, trace::use_slots> slots = trace::use_slots_of(*traits.info);
  for (unsigned s = 0; s < trace::use_slots; ++s) {
    if (uses[s] == LastUse::none) continue;
    for (unsigned n = 0; n < slots[s].count; ++n) {
      const RegisterId reg(static_cast<std::uint8_t>(slots[s].first + n));
      bool written = false;
      for (unsigned i = 0; i < traits.write_count; ++i) {
        if (traits.writes[i] != reg) continue;
        marks.writes[i] = uses[s];
        written = true;
      }
      for (unsigned i = 0; i < traits.read_count && !written; ++i) {
        if (traits.reads[i] == reg) marks.reads[i] = uses[s];
      }
    }
  }
  return marks;
}

}  // namespace

void RegionTable::refuse(const trace::Kernel& kernel, std::uint32_t before, const std::string& what) {
  throw support::ConfigError("kernel " + kernel.name + ": the region words before instruction " +
                             std::to_string(before) + " " + what +
                             "; annotate the kernel again with this version's regatta-annotate");
}

void RegionTable::add_entries(const trace::Kernel& kernel, const std::vector<trace::RegionEntry>& entries) {
  Region& region = regions_.back();
  for (const trace::RegionEntry& e : entries) {
    const RegisterId reg(e.reg);
    switch (e.kind) {
      case trace::RegionEntry::Kind::preload:
      case trace::RegionEntry::Kind::invalidating_preload:
        region.preloads.push_back({reg, e.kind == trace::RegionEntry::Kind::invalidating_preload});
        break;
      case trace::RegionEntry::Kind::invalidate:
        region.invalidations.push_back(reg);
        break;
      case trace::RegionEntry::Kind::erase_at_end:
        region.erase[reg.value() >> 6] |= std::uint64_t{1} << (reg.value() & 63);
        break;
    }
  }
  std::array<unsigned, trace::region_banks> preloads{};
  for (const Region::Preload& p : region.preloads) {
    const unsigned bank = p.reg.value() % trace::region_banks;
    if (++preloads[bank] <= region.lines_of[bank]) continue;
    refuse(kernel, region.first,
           "preload more registers of bank " + std::to_string(bank) + " than the " +
               std::to_string(region.lines_of[bank]) + " lines that they say the region holds there");
  }
}

void RegionTable::start(const trace::Kernel& kernel, std::uint32_t inserted, const trace::DecodedWord& word) {
  Region region;
  region.first = kernel.inserted[inserted].before;
  region.compact = word.opcode == RegionOpcode::compact;
  region.lines_of = word.lines;
  for (const std::uint8_t lines : word.lines) region.lines += lines;
  for (unsigned rotation = 0; rotation < trace::region_banks; ++rotation) {
    for (unsigned b = 0; b < trace::region_banks; ++b) {
      region.lines_by_rotation[rotation][(b + rotation) % trace::region_banks] = word.lines[b];
    }
  }
  region.head_words = region.compact ? 1 : 0;  // counted when the last uses are found
  regions_.push_back(std::move(region));
}

void RegionTable::add_uses(const protocol::KernelContext& context, std::uint32_t inserted,
                           const trace::DecodedWord& word) {
  const std::uint32_t before = context.kernel->inserted[inserted].before;
  for (std::uint32_t i = 0; i < word.uses.size() && before + i < marks_.size(); ++i) {
    // Behind the region's end the word has nothing to say: the next region's words overrule it.
    marks_[before + i] = marks_of((*context.traits)[before + i], word.uses[i]);
    covered_[before + i] = 1;
  }
}

void RegionTable::read(const protocol::KernelContext& context) {
  const trace::Kernel& kernel = *context.kernel;
  regions_.clear();
  words_.assign(kernel.inserted.size(), Word{});
  marks_.assign(kernel.instructions.size(), protocol::UseMarks{});
  covered_.assign(kernel.instructions.size(), 0);
  unsigned head = 0;  // words of the current region's head so far; 0: it is complete
  std::uint32_t covered_to = 0;
  for (std::uint32_t i = 0; i < kernel.inserted.size(); ++i) {
    const trace::InsertedInstruction& inserted = kernel.inserted[i];
    if (inserted.instruction.scheme != trace::region_scheme) continue;
    trace::DecodedWord word;
    try {
      word = trace::decode_region_word(trace::region_word(inserted.instruction));
    } catch (const std::invalid_argument& e) {
      refuse(kernel, inserted.before, std::string("cannot be decoded: ") + e.what());
    }
    Word& w = words_[i];
    w.starts = word.starts_region();
    w.marks = !word.uses.empty();
    w.covers = static_cast<std::uint8_t>(word.uses.size());
    if (w.starts) {
      if (head != 0) refuse(kernel, inserted.before, "begin a region before the one before it is described");
      // What the last word of the region before says of instructions behind its end is not said of these.
      for (std::uint32_t n = inserted.before; n < covered_to; ++n) covered_[n] = 0;
      start(kernel, i, word);
      head = 1;
    } else if (regions_.empty()) {
      refuse(kernel, inserted.before, "go on with a region that none began");
    } else if (head != 0) {
      ++head;
    }
    w.region = static_cast<std::uint32_t>(regions_.size() - 1);
    Region& region = regions_.back();
    if (head != 0 && inserted.before != region.first) refuse(kernel, region.first, "describe the region in part only");
    if (head == 0 && !w.marks) refuse(kernel, inserted.before, "describe a region that has begun");
    add_entries(kernel, word.entries);
    if (!w.marks) continue;
    add_uses(context, i, word);
    covered_to = std::min<std::uint32_t>(inserted.before + w.covers, static_cast<std::uint32_t>(marks_.size()));
    w.completes = head != 0;
    if (head != 0) region.head_words = head;
    head = 0;
  }
  if (regions_.empty()) {
    throw support::ConfigError("kernel " + kernel.name + ": the trace has no instruction words of scheme " +
                               trace::region_scheme +
                               ", which tell the hardware of regions; expected a trace that regatta-annotate has cut "
                               "into regions");
  }
  if (head != 0) refuse(kernel, regions_.back().first, "describe the region in part only");
  const auto bare = std::find(covered_.begin(), covered_.end(), 0);
  if (bare != covered_.end()) {
    refuse(kernel, static_cast<std::uint32_t>(bare - covered_.begin()), "are missing: it is in no region");
  }
}

unsigned RegionTable::longest_head() const {
  unsigned longest = 0;
  for (const Region& r : regions_) longest = std::max(longest, r.head_words);
  return longest;
}

}  // namespace regatta::models
