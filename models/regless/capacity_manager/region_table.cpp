// SPDX-License-Identifier: Apache-2.0
#include <regatta/regless/region_table.h>

#include <regatta/support/config.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::models {

using protocol::RegisterId;
using trace::LastUse;

namespace {

UseMarks marks_of(const protocol::InstructionTraits& traits, const trace::SlotUses& uses) {
  UseMarks marks;
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

void RegionTable::refuse(const trace::Kernel& kernel, const std::string& what) {
  throw support::UnfitTrace("kernel " + kernel.name + ": " + what +
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
    refuse(kernel, "the region words before instruction " + std::to_string(region.first) +
                       " preload more registers of bank " + std::to_string(bank) + " than the " +
                       std::to_string(region.lines_of[bank]) + " lines that they say the region holds there");
  }
}

void RegionTable::add(const protocol::KernelContext& context, const trace::PlacedRegion& placed) {
  Region region;
  region.first = placed.begin;
  region.head_words = placed.head_words;
  region.lines_of = placed.words.lines;
  for (const std::uint8_t lines : region.lines_of) region.lines += lines;
  for (unsigned rotation = 0; rotation < trace::region_banks; ++rotation) {
    for (unsigned b = 0; b < trace::region_banks; ++b) {
      region.lines_by_rotation[rotation][(b + rotation) % trace::region_banks] = region.lines_of[b];
    }
  }
  regions_.push_back(std::move(region));
  add_entries(*context.kernel, placed.words.entries);
  for (std::uint32_t i = placed.begin; i < placed.end; ++i) {
    marks_[i] = marks_of((*context.traits)[i], placed.words.uses[i - placed.begin]);
  }
}

void RegionTable::read(const protocol::KernelContext& context) {
  const trace::Kernel& kernel = *context.kernel;
  trace::RegionStream stream;
  try {
    stream = trace::read_region_stream(kernel);
  } catch (const std::invalid_argument& e) {
    refuse(kernel, std::string("the region words cannot be read: ") + e.what());
  }
  if (stream.regions.empty()) {
    throw support::UnfitTrace("kernel " + kernel.name + ": the trace has no instruction words of scheme " +
                              trace::region_scheme +
                              ", which tell the hardware of regions; expected a trace that regatta-annotate has cut "
                              "into regions");
  }
  words_ = std::move(stream.words);
  regions_.clear();
  marks_.assign(kernel.instructions.size(), UseMarks{});
  for (const trace::PlacedRegion& placed : stream.regions) add(context, placed);
}

unsigned RegionTable::longest_head() const {
  unsigned longest = 0;
  for (const Region& r : regions_) longest = std::max(longest, r.head_words);
  return longest;
}

}  // namespace regatta::models
