// SPDX-License-Identifier: Apache-2.0
//
// The compression table of a slice (aging-aware register file, sections 5.1.1 and 5.1.3) as a block.
#pragma once

#include <regatta/aging/compression_entries.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>

namespace regatta::models::aging {

/// A read of the register of this entry.
struct TableQuery {
  std::uint32_t entry = 0;
};
struct TableAnswer {
  bool valid = false;
  DeltaCode code;  ///< if it is
};

class TableWrites : public virtual sc_core::sc_interface {
 public:
  /// Both take the write port, and return the cycles until it accepts them: other writes go first, and a refresh.
  virtual unsigned enter(std::uint32_t entry, const DeltaCode& code) = 0;
  virtual unsigned clear(std::uint32_t entry) = 0;
  /// The entry's register belongs to no warp any more; without the port.
  virtual void invalidate(std::uint32_t entry) = 0;
  /// All entries invalid: a launch begins.
  virtual void reset() = 0;
  /// The valid bit, for decisions that need no port.
  virtual bool valid(std::uint32_t entry) const = 0;
};

class CompressionTable : public sc_core::sc_module,
                         public TableWrites,
                         public protocol::Lookup<TableQuery, TableAnswer>,
                         public support::StatProvider {
 public:
  protocol::LookupTarget<TableQuery, TableAnswer> reads;
  sc_core::sc_export<TableWrites> writes;

  CompressionTable(const sc_core::sc_module_name& name, std::uint32_t entries, std::uint64_t retention,
                   std::uint64_t period, support::ClockDomain& clock)
      : sc_module(name), reads("reads", *this), writes("writes"), clock_(clock), entries_(entries, retention, period) {
    writes.bind(*this);
  }

  protocol::LookupReply look_up(const TableQuery& query, std::uint32_t, TableAnswer& answer) override {
    ++read_;
    const DeltaCode* const code = entries_.find(query.entry, clock_.now());
    answer.valid = code != nullptr;
    if (answer.valid) answer.code = *code;
    return protocol::LookupReply::answered;
  }
  /// Never notified: the read port serves every read of the slice.
  const sc_core::sc_event& changed() const override { return changed_; }
  unsigned enter(std::uint32_t entry, const DeltaCode& code) override {
    const std::uint64_t now = clock_.now();
    ++written_;
    return static_cast<unsigned>(entries_.write(entry, code, now) - now);
  }
  unsigned clear(std::uint32_t entry) override {
    const std::uint64_t now = clock_.now();
    ++written_;
    return static_cast<unsigned>(entries_.clear(entry, now) - now);
  }
  void invalidate(std::uint32_t entry) override { entries_.invalidate(entry); }
  void reset() override { entries_.reset(); }
  bool valid(std::uint32_t entry) const override { return entries_.valid(entry); }

  std::uint64_t table_reads() const { return read_; }
  std::uint64_t table_writes() const { return written_; }
  std::uint64_t refreshes() const { return entries_.refreshes(clock_.now()); }

  void register_stats(support::StatGroup& g) override {
    g.counter("reads", read_, "accesses", "by reads of registers");
    g.counter("writes", written_, "accesses", "entries made or cleared");
    g.derived(
        "refreshes", [this] { return static_cast<double>(refreshes()); }, "accesses", "to keep entries charged");
    g.derived(
        "refresh_conflicts", [this] { return static_cast<double>(entries_.refresh_conflicts()); }, "accesses",
        "that waited a cycle for a refresh");
  }
  void register_energy(support::EnergyGroup& g) override {
    g.costs_nothing("the group aging of the statistics has it, by the paper's numbers");
  }

 private:
  support::ClockDomain& clock_;
  CompressionEntries entries_;
  std::uint64_t read_ = 0, written_ = 0;
  sc_core::sc_event changed_;
};

}  // namespace regatta::models::aging
