// SPDX-License-Identifier: Apache-2.0
//
// RegLess's regions in the listing.
#include "region_listing.h"

#include <algorithm>

namespace regatta::passes {
namespace {

using trace::LastUse;

std::string names(const std::vector<std::uint8_t>& registers) {
  std::string text;
  for (const std::uint8_t r : registers) text += " R" + std::to_string(r);
  return text.empty() ? " -" : text;
}

}  // namespace

std::string region_head(const trace::Kernel& kernel, const Region& region, std::size_t number) {
  std::string text = "  // region " + std::to_string(number) + ": instructions " + std::to_string(region.begin) +
                     " to " + std::to_string(region.end - 1) + ", holds " + std::to_string(region.live) +
                     ", lines per bank";
  for (const std::uint8_t lines : region.words.lines) text += " " + std::to_string(lines);
  text += "\n  //   inputs" + names(region.inputs) + "; outputs" + names(region.outputs) + "; interiors" +
          names(region.interiors) + "\n";
  const char* separator = "  //   ";
  for (const trace::RegionEntry& e : region.words.entries) {
    text += separator + trace::to_string(e);
    separator = ", ";
  }
  if (!region.words.entries.empty()) text += "\n";
  const auto begin = std::lower_bound(kernel.inserted.begin(), kernel.inserted.end(), region.begin,
                                      [](const auto& i, std::uint32_t at) { return i.before < at; });
  std::size_t words = 0;
  for (auto i = begin; i != kernel.inserted.end() && i->before < region.end; ++i)
    words += i->instruction.scheme == trace::region_scheme;
  return text + "  //   " + std::to_string(words) + (words == 1 ? " word\n" : " words\n");
}

std::string region_marks(const trace::Kernel& kernel, const Region& region, std::uint32_t index) {
  const trace::SlotUses& uses = region.words.uses[index - region.begin];
  const auto slots = trace::use_slots_of(kernel.instructions[index]);
  std::string text;
  for (const LastUse use : {LastUse::evict, LastUse::erase}) {
    const char* separator = use == LastUse::evict ? "evict " : "erase ";
    if (!text.empty()) separator = use == LastUse::evict ? ", evict " : ", erase ";
    for (unsigned s = 0; s < trace::use_slots; ++s) {
      if (uses[s] != use || slots[s].count == 0) continue;
      text += separator + ("R" + std::to_string(slots[s].first));
      if (slots[s].count > 1) text += "-R" + std::to_string(slots[s].first + slots[s].count - 1);
      separator = " ";
    }
  }
  return text;
}

}  // namespace regatta::passes
