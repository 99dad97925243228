// SPDX-License-Identifier: Apache-2.0
#include <regatta/greener/lookup_table.h>

#include <algorithm>

namespace regatta::models {

LookupTable::LookupTable(unsigned warps, unsigned entries)
    : size_(entries), entries_(std::size_t{warps} * entries), held_(warps) {}

void LookupTable::start(const std::vector<PowerPlan>& plans) {
  plans_ = &plans;
  std::fill(held_.begin(), held_.end(), std::uint8_t{0});
}

void LookupTable::clear(unsigned warp) { held_[warp] = 0; }

void LookupTable::insert(unsigned warp, std::uint64_t sequence, std::uint32_t instruction, std::uint64_t now) {
  if (held_[warp] == size_) {
    ++overflows_;
    return;
  }
  ++inserted_;
  entries_[std::size_t{warp} * size_ + held_[warp]++] = Entry{sequence, now, instruction};
}

void LookupTable::remove(unsigned warp, std::uint64_t sequence, std::uint64_t now) {
  Entry* const first = &entries_[std::size_t{warp} * size_];
  for (unsigned i = 0; i < held_[warp]; ++i) {
    if (first[i].sequence != sequence) continue;
    entry_cycles_ += now - first[i].since;
    first[i] = first[--held_[warp]];
    return;
  }
}

}  // namespace regatta::models
