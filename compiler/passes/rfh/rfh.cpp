// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/rfh.h>

#include "ranges.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace regatta::passes {

namespace {

using analysis::BitSet;
using trace::RfhLevels;

bool overlap(const BitSet& a, const BitSet& b) {
  BitSet both = a;
  both.intersect(b);
  return both.any();
}

/// The entry of a level: what it is written at, and what must not write to it.
struct Entry {
  BitSet written, held;
};

class RfhAllocation {
 public:
  RfhAllocation(const trace::Kernel& kernel, const RfhOptions& options)
      : kernel_(kernel),
        options_(options),
        ranges_(kernel),
        lrf_entries_(options.split ? trace::lrf_banks : 1),
        entries_(lrf_entries_ + options.entries) {
    plan_.entries = options.entries;
    plan_.split = options.split;
    plan_.instructions.resize(kernel.instructions.size());
    for (std::size_t i = 0; i < kernel.instructions.size(); ++i)
      plan_.instructions[i].strand_begins = ranges_.strand_begins()[i];
    const BitSet none(kernel.instructions.size());
    for (Entry& e : entries_) e.written = e.held = none;
    beyond_ = main_live(kernel, [&](std::uint32_t index, unsigned s) {
      return !ranges_.in_strand(index, kernel_.instructions[index].sources[s]);
    });
  }

  trace::RfhPlan run() {
    struct Candidate {
      const RfhRange* range = nullptr;
      double priority = 0;
    };
    std::vector<Candidate> candidates;
    for (const RfhRange& range : ranges_.ranges()) {
      const RfhOccupation o = ranges_.occupation(range, range.reads.size());
      const double saved = savings(range, range.reads.size(), o);
      if (saved > 0) candidates.push_back({&range, saved / static_cast<double>(o.held.count())});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.priority > b.priority; });
    for (const Candidate& c : candidates) place(*c.range);
    write_main();
    return std::move(plan_);
  }

 private:
  /// By the ORF's energies. A definition that a read in the main file needs is written to both.
  double savings(const RfhRange& range, std::size_t reads, const RfhOccupation& o) const {
    const RfhEnergy& e = options_.energy;
    double saved = 0;
    for (std::size_t n = 0; n < reads; ++n) {
      const trace::StaticInstruction& i = kernel_.instructions[range.reads[n]];
      const auto count = std::count(i.sources.begin(), i.sources.begin() + i.source_count, range.reg);
      saved += static_cast<double>(count) * (e.main_read - e.orf_read);
    }
    if (range.copies) return saved - e.orf_write;
    std::vector<std::uint32_t> needed;
    for (std::size_t n = reads; n < range.reads.size(); ++n) {
      const std::vector<std::uint32_t> writes = ranges_.reaching(range, range.reads[n]);
      needed.insert(needed.end(), writes.begin(), writes.end());
    }
    for (const std::uint32_t w : o.writes) {
      const bool main = beyond_[w].test(range.reg) || std::find(needed.begin(), needed.end(), w) != needed.end();
      saved += (main ? 0 : e.main_write) - e.orf_write;
    }
    return saved;
  }

  void place(const RfhRange& range) {
    for (std::size_t reads = range.reads.size(); reads > 0; --reads) {
      const RfhOccupation o = ranges_.occupation(range, reads);
      if (savings(range, reads, o) <= 0) return;
      if (const std::optional<std::size_t> e = lrf_entry(range, reads, o); e && fits(o, entries_[*e])) {
        take(range, reads, o, *e);
        return;
      }
      for (std::size_t e = lrf_entries_; e < entries_.size(); ++e) {
        if (!fits(o, entries_[e])) continue;
        take(range, reads, o, e);
        return;
      }
    }
  }

  /// The entry of the LRF that can serve the first reads of a range: of a split one, the bank of the operand slot in
  /// which all of them read the register.
  std::optional<std::size_t> lrf_entry(const RfhRange& range, std::size_t reads, const RfhOccupation& o) const {
    if (!only_alus(range, reads, o)) return std::nullopt;
    if (!options_.split) return 0;
    unsigned bank = 0;
    for (std::size_t n = 0; n < reads; ++n) {
      const trace::StaticInstruction& i = kernel_.instructions[range.reads[n]];
      const auto banks = trace::lrf_banks_of(i);
      for (unsigned s = 0; s < i.source_count; ++s) {
        if (i.sources[s] != range.reg) continue;
        if (banks[s] == 0 || (bank != 0 && bank != banks[s])) return std::nullopt;
        bank = banks[s];
      }
    }
    return bank - 1;
  }

  bool only_alus(const RfhRange& range, std::size_t reads, const RfhOccupation& o) const {
    const auto alu = [&](std::uint32_t index) { return trace::is_private_alu(kernel_.instructions[index].op_class); };
    return std::all_of(range.reads.begin(), range.reads.begin() + static_cast<std::ptrdiff_t>(reads), alu) &&
           std::all_of(o.writes.begin(), o.writes.end(), alu);
  }

  bool fits(const RfhOccupation& o, const Entry& entry) const {
    if (overlap(o.held, entry.written)) return false;
    return std::none_of(o.writes.begin(), o.writes.end(), [&](std::uint32_t w) { return entry.held.test(w); });
  }

  void take(const RfhRange& range, std::size_t reads, const RfhOccupation& o, std::size_t e) {
    entries_[e].held.merge(o.held);
    RfhLevels levels;
    levels.main = false;
    levels.last = e < lrf_entries_;
    if (levels.last && options_.split) levels.bank = static_cast<std::uint8_t>(e + 1);
    if (!levels.last) levels.orf = static_cast<std::int8_t>(e - lrf_entries_);
    for (std::size_t n = 0; n < reads; ++n) set_sources(range.reads[n], range.reg, levels);
    for (const std::uint32_t w : o.writes) {
      entries_[e].written.set(w);
      if (range.copies) {
        RfhLevels copy = levels;
        copy.main = true;
        set_sources(w, range.reg, copy);
        continue;
      }
      const trace::StaticInstruction& i = kernel_.instructions[w];
      for (unsigned d = 0; d < i.destination_count; ++d)
        if (i.destinations[d] == range.reg) plan_.instructions[w].destinations[d] = levels;
    }
  }

  void set_sources(std::uint32_t index, std::uint8_t reg, const RfhLevels& levels) {
    const trace::StaticInstruction& i = kernel_.instructions[index];
    for (unsigned s = 0; s < i.source_count; ++s)
      if (i.sources[s] == reg) plan_.instructions[index].sources[s] = levels;
  }

  /// Values that are read from the main file are written to it too.
  void write_main() {
    const auto live =
        main_live(kernel_, [&](std::uint32_t index, unsigned s) { return plan_.instructions[index].sources[s].main; });
    for (std::size_t index = 0; index < kernel_.instructions.size(); ++index) {
      const trace::StaticInstruction& i = kernel_.instructions[index];
      for (unsigned d = 0; d < i.destination_count; ++d)
        if (live[index].test(i.destinations[d])) plan_.instructions[index].destinations[d].main = true;
    }
  }

  const trace::Kernel& kernel_;
  const RfhOptions& options_;
  const RfhRanges ranges_;
  std::vector<BitSet> beyond_;  ///< per instruction: registers whose value is needed beyond their ranges
  const std::size_t lrf_entries_;
  std::vector<Entry> entries_;  ///< the LRF, then the ORF
  trace::RfhPlan plan_;
};

}  // namespace

void check(const RfhOptions& options) {
  if (options.entries < 1 || options.entries > trace::max_orf_entries)
    throw trace::InputError("error: --rfh is " + std::to_string(options.entries) + ", expected 1 to " +
                            std::to_string(trace::max_orf_entries));
}

trace::RfhPlan plan_rfh(const trace::Kernel& kernel, const RfhOptions& options) {
  check(options);
  return RfhAllocation(kernel, options).run();
}

void add_rfh(trace::Kernel& kernel, const trace::RfhPlan& plan) {
  kernel.annotations.push_back({trace::rfh_section, trace::rfh_section_version, trace::encode(kernel, plan)});
}

double energy_of(const trace::RfhAccesses& n, const RfhEnergy& e) {
  const auto energy = [](std::uint64_t reads, double read, std::uint64_t writes, double write) {
    return static_cast<double>(reads) * read + static_cast<double>(writes) * write;
  };
  return energy(n.main_reads, e.main_read, n.main_writes, e.main_write) +
         energy(n.orf_reads, e.orf_read, n.orf_writes, e.orf_write) +
         energy(n.last_reads, e.last_read, n.last_writes, e.last_write);
}

}  // namespace regatta::passes
