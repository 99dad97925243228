// SPDX-License-Identifier: Apache-2.0
//
// Obeys control bits while a warp's path is followed, and looks whether the path could go wrong. The warp is alone and
// issues as early as its bits allow; a wait for a counter costs nothing, and nothing of variable latency completes
// unless it has been waited for. So a fault here is one that some machine would show on this path.
#pragma once

#include <regatta/trace/control.h>
#include <regatta/trace/warp_stream.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regatta::test {

class ControlWarp {
 public:
  ControlWarp(const trace::Kernel& kernel, const trace::ControlSection& control) : kernel_(kernel), control_(control) {}

  void step(std::uint32_t index, trace::LaneMask active) {
    const trace::StaticInstruction& i = kernel_.instructions[index];
    const trace::ControlBits& b = control_.bits[index];
    index_ = index;
    wait(b);
    const Names reads = registers_read(i), at_issue = predicates_read(i), writes = written(i);
    const unsigned latency = control_.latency[index];
    if (active != 0) {
      for (const int r : reads) read(r, latency == 0 ? 1 : 0);
      for (const int r : at_issue) read(r, 0);
      for (const int r : writes) write(r, latency);
    }
    look_in_cache(i, b, active);
    raise(index, b, active == 0 ? Names{} : reads, active == 0 ? Names{} : writes);
    if (active != 0)
      for (const int r : writes) {
        ++versions_[r];
        if (latency != 0) written_at_[r] = std::max(written_at_[r], now_ + latency);
      }
    now_ += b.issue_distance();
    ++steps_;
  }

  /// The warp has left.
  void finish() {
    for (const auto& bank : cache_)
      for (const Entry& e : bank)
        if (e.reg >= 0) fail("leaves R" + std::to_string(e.reg) + " in the register file cache");
  }

  std::string replay(const trace::WarpColumns& columns) {
    trace::WarpCursor cursor(kernel_, columns);
    while (wrong_.empty() && cursor.next()) step(cursor.index(), cursor.active_mask());
    if (wrong_.empty()) finish();
    return wrong_;
  }

  /// The first wrong, "" if there is none.
  const std::string& wrong() const { return wrong_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t hits() const { return hits_; }
  std::uint64_t cycles() const { return now_; }

 private:
  /// Registers by number, predicates from 1000 on, the carry flag 2000.
  using Names = std::vector<int>;
  struct Flying {
    std::uint32_t index = 0;
    std::uint64_t since = 0;
    unsigned write_counter = trace::no_counter, read_counter = trace::no_counter;
    Names reads, writes;
    bool is_read = false;
  };
  struct Entry {
    int reg = -1;
    std::uint64_t version = 0;
  };

  static Names registers_read(const trace::StaticInstruction& i) {
    return Names(i.sources.begin(), i.sources.begin() + i.source_count);
  }
  static Names predicates_read(const trace::StaticInstruction& i) {
    Names names;
    for (unsigned p = 0; p < i.source_predicate_count; ++p) names.push_back(1000 + i.source_predicates[p]);
    if (i.guard.predicate >= 0) names.push_back(1000 + i.guard.predicate);
    if (i.reads_carry) names.push_back(2000);
    return names;
  }
  static Names written(const trace::StaticInstruction& i) {
    Names names(i.destinations.begin(), i.destinations.begin() + i.destination_count);
    for (unsigned p = 0; p < i.destination_predicate_count; ++p) names.push_back(1000 + i.destination_predicates[p]);
    if (i.writes_carry) names.push_back(2000);
    return names;
  }
  static bool has(const Names& names, int name) { return std::find(names.begin(), names.end(), name) != names.end(); }

  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = "instruction " + std::to_string(index_) + " " + what;
  }

  void wait(const trace::ControlBits& b) {
    const auto seen = [&](unsigned counter, const Flying& f) {
      return counter != trace::no_counter && b.waits_for(counter) && now_ - f.since >= 2;
    };
    std::vector<Flying> left;
    for (Flying& f : flying_) {
      if (seen(f.write_counter, f)) {
        f.writes.clear();
        f.write_counter = trace::no_counter;
        f.is_read = true;
      }
      if (seen(f.read_counter, f)) {
        f.is_read = true;
        f.read_counter = trace::no_counter;
      }
      if (f.write_counter != trace::no_counter || f.read_counter != trace::no_counter || !f.writes.empty() ||
          (!f.is_read && !f.reads.empty()))
        left.push_back(f);
    }
    flying_ = std::move(left);
  }

  void read(int name, unsigned extra) {
    for (const Flying& f : flying_)
      if (has(f.writes, name)) fail("reads what " + std::to_string(f.index) + " may not have written");
    const auto at = written_at_.find(name);
    if (at != written_at_.end() && now_ < at->second + extra)
      fail("reads " + std::to_string(name) + " " + std::to_string(at->second + extra - now_) + " cycles early");
  }

  void write(int name, unsigned latency) {
    for (const Flying& f : flying_) {
      if (has(f.writes, name)) fail("overwrites what " + std::to_string(f.index) + " may write later");
      if (!f.is_read && has(f.reads, name)) fail("overwrites what " + std::to_string(f.index) + " may not have read");
    }
    const auto at = written_at_.find(name);
    if (at == written_at_.end()) return;
    if (latency == 0 ? now_ < at->second : now_ + latency <= at->second) fail("overwrites " + std::to_string(name));
  }

  void raise(std::uint32_t index, const trace::ControlBits& b, const Names& reads, const Names& writes) {
    if (trace::has_fixed_latency(kernel_.instructions[index])) return;
    Flying f{index, now_, b.write_counter, b.read_counter, reads, writes, false};
    flying_.push_back(f);
    for (unsigned c = 0; c < trace::control_counters; ++c) {
      std::uint64_t value = 0;
      for (const Flying& other : flying_) value += (other.write_counter == c) + (other.read_counter == c);
      if (value > trace::max_counter_value) fail("raises counter " + std::to_string(c) + " too far");
    }
  }

  void look_in_cache(const trace::StaticInstruction& i, const trace::ControlBits& b, trace::LaneMask active) {
    if (!trace::has_fixed_latency(i)) return;
    const auto positions = trace::source_positions(i);
    for (unsigned s = 0; s < i.source_count; ++s) {
      if (positions[s] < 0) continue;
      const auto p = static_cast<unsigned>(positions[s]);
      const int reg = i.sources[s];
      Entry& e = cache_[i.sources[s] % 2u][p];
      const bool hit = e.reg == reg;
      hits_ += hit;
      if (hit && e.version != versions_[reg] && active != 0) fail("finds an old R" + std::to_string(reg));
      const std::uint64_t version = hit ? e.version : versions_[reg];
      e = b.reuses(p) ? Entry{reg, version} : Entry{};
    }
  }

  const trace::Kernel& kernel_;
  const trace::ControlSection& control_;
  std::uint32_t index_ = 0;
  std::uint64_t now_ = 0, steps_ = 0, hits_ = 0;
  std::vector<Flying> flying_;
  std::map<int, std::uint64_t> written_at_, versions_;
  std::array<std::array<Entry, 3>, 2> cache_;
  std::string wrong_;
};

}  // namespace regatta::test
