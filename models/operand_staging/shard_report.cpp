// SPDX-License-Identifier: Apache-2.0
// A shard's statistics, and the check that its lists, tags and counts agree.
#include "shard.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace regatta::models {

std::string StagingShard::check() const {
  std::vector<unsigned> seen(lines_.size());
  for (const auto& b : banks_) {
    unsigned here = 0;
    for (const auto& [list, state] :
         {std::pair{&b.free, State::free}, {&b.clean, State::clean}, {&b.dirty, State::dirty}}) {
      for (std::uint16_t l = list->first(); l != no_line; l = lines_[l].next, ++here) {
        ++seen[l];
        if (lines_[l].state != state) return "line " + std::to_string(l) + " is in a list of another state";
        if (here > lines_.size()) return "a list has a loop";
      }
    }
    if (b.fills.size() > lines_per_bank_) return "more fills than lines";
  }
  std::size_t tagged = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const StagingLine& l = lines_[i];
    const std::string line =
        "line " + std::to_string(i) + " (warp " + std::to_string(l.warp) + " register " + std::to_string(l.reg) + ")";
    const bool listed = l.state == State::free || l.state == State::clean || l.state == State::dirty;
    if (seen[i] != (listed ? 1u : 0u)) return line + " is in " + std::to_string(seen[i]) + " lists";
    if (l.bank != i / lines_per_bank_) return line + " is in another bank than it says";
    if (l.state == State::free || l.state == State::dropped) continue;
    ++tagged;
    if (line_by_table(l.warp, l.reg) != i) return line + " is not what its tag leads to";
    if (bank_of(l.warp, l.reg) != l.bank) return line + " is in a bank that is not its register's";
    const bool is_owned = l.state == State::owned || l.state == State::filling;
    if (protocol::contains(owned_[l.warp], l.reg) != is_owned)
      return line + ": its warp does not know whether it owns it";
    if (listed && (l.reads != 0 || l.writes != 0)) return line + " was let go with accesses outstanding";
    if (l.state == State::clean && l.is_dirty) return line + " is dirty in the clean list";
    if (l.state == State::dirty && !l.is_dirty) return line + " is clean in the dirty list";
    if (l.state == State::clean && !protocol::contains(backed_[l.warp], l.reg))
      return line + " is clean and has no copy in memory";
  }
  for (const std::uint16_t line : table_) tagged -= line != no_line;
  if (tagged != 0) return "tags and lines do not match one to one";
  unsigned used = 0;
  for (const Buffered& p : buffer_) used += p.state != Buffered::State::free;
  if (used != buffered_) return "write-back buffer: places in use are miscounted";
  return "";
}

bool StagingShard::idle() const {
  return outgoing_.empty() && waiting_ == nullptr && pool_.outstanding() == 0 &&
         std::all_of(banks_.begin(), banks_.end(), [](const auto& b) { return b.requests.empty() && b.fills.empty(); });
}

void StagingShard::register_stats(support::StatGroup& g) {
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

}  // namespace regatta::models
