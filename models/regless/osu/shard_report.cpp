// SPDX-License-Identifier: Apache-2.0
// A shard's statistics and energy, and the check that its lists, tags and counts agree.
#include "shard.h"

#include <regatta/support/energy.h>

#include <algorithm>
#include <string>

namespace regatta::models {

std::string OsuShard::check() const {
  for (const ShardBank& b : banks_) {
    const std::string wrong = b.module.check();
    if (!wrong.empty()) return "bank " + std::to_string(b.index) + ": " + wrong;
    if (b.fills.size() > lines_per_bank_) return "more fills than lines";
    for (std::uint16_t i = 0; i < b.module.lines(); ++i) {
      const OsuLine& l = b.module.line(i);
      const LineUse& u = b.module.use(i);
      const bool is_listed = l.list != BankList::owned;
      const std::string line = "bank " + std::to_string(b.index) + " line " + std::to_string(i) + " (warp " +
                               std::to_string(l.warp) + " register " + std::to_string(l.reg) + ")";
      if ((u.state == State::listed) != is_listed) return line + ": its bank does not know whether a region owns it";
      if (l.list == BankList::free || u.state == State::dropped) continue;
      if (!b.module.is_tagged(i)) return line + " is not what its tag leads to";
      if (bank_of(l.warp, l.reg) != b.index) return line + " is in a bank that is not its register's";
      if (protocol::contains(owned_[l.warp], l.reg) == is_listed)
        return line + ": its warp does not know whether it owns it";
      if (is_listed && (u.reads != 0 || u.writes != 0)) return line + " was let go with accesses outstanding";
      if (l.list == BankList::clean && !protocol::contains(backed_[l.warp], l.reg))
        return line + " is clean and has no copy in memory";
    }
  }
  unsigned used = 0;
  for (const Buffered& p : buffer_) used += p.state != Buffered::State::free;
  if (used != buffered_) return "write-back buffer: places in use are miscounted";
  return "";
}

bool OsuShard::idle() const {
  return outgoing_.empty() && waiting_ == nullptr && pool_.outstanding() == 0 &&
         std::all_of(banks_.begin(), banks_.end(), [](const auto& b) { return b.requests.empty() && b.fills.empty(); });
}

void OsuShard::register_stats(support::StatGroup& g) {
  static const char* const names[] = {"staged", "compressor", "l1", "l2", "dram"};
  g.counter("preloads", preloads_, "warp registers", "preloads done");
  for (unsigned s = 0; s < sources_.size(); ++s) {
    g.counter(std::string("preloads_") + names[s], sources_[s], "warp registers",
              std::string("preloads, from: ") + names[s]);
  }
  g.counter("preloads_undefined", undefined_preloads_, "warp registers",
            "preloads of registers that were never written: there is no copy anywhere");
  g.counter("preloads_buffered", buffer_hits_, "warp registers", "preloads from the write-back buffer");
  g.counter("allocations_free", from_free_, "lines", "taken from the free list");
  g.counter("allocations_clean", clean_dropped_, "lines", "taken from the clean list");
  g.counter("evictions", evictions_, "lines", "taken from the dirty list: written back");
  g.counter("evictions_cancelled", writes_cancelled_, "lines",
            "that came back, were written anew or died before they had left the buffer");
  g.counter("erased", erased_, "lines", "whose values were dead, returned to the free list");
  g.counter("invalidations", invalidations_, "warp registers", "known dead by control flow");
  g.counter("memory_reads", reads_sent_, "requests", "register reads sent below");
  g.counter("memory_writes", writes_sent_, "requests", "register writes sent below");
  g.counter("memory_invalidations", invalidations_sent_, "requests", "register invalidations sent below");
  g.counter("stalled_requests", stalled_requests_, "warp registers",
            "preloads and invalidations that waited for a line, the buffer or the way to memory");
  g.counter("refusals", refusals_, "attempts", "to issue an instruction that found no line for a result");
  g.counter("buffer_full", buffer_full_, "events", "in which a full write-back buffer was in the way");
  g.counter("buffer_max", buffer_max_, "lines", "most lines in the write-back buffer at a time");
  g.counter("not_staged", not_staged_, "warp registers", "read without having a line: a fault of the annotations");
  g.counter("lost_writes", lost_writes_, "warp registers", "written without having a line: a fault of the annotations");
}

// A staging unit is charged as a register file of its size: the numbers are those of a register array, scaled by the
// table's rules to all shards of an SM together, since an operand may go between any shard and any execution unit.
support::ArrayGeometry OsuConfig::geometry(const RegisterSpace& space) const {
  return {double(entries) * space.line_bytes, double(space.shards) * banks};
}

void Osu::register_energy(support::EnergyGroup& g) {
  g.leakage("register_structures", "register_file.leakage", config_.geometry(space_));
}

void OsuShard::register_energy(support::EnergyGroup& g) {
  for (const ShardBank& b : banks_) b.module.add_energy(g, config_.geometry(space_));
}

}  // namespace regatta::models
