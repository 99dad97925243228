// SPDX-License-Identifier: Apache-2.0
//
// Compression and decompression unit (aging-aware register file, sections 5.1.1 and 5.1.2) as blocks.
#pragma once

#include <regatta/models/aging_compression/compression_machine.h>
#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>

namespace regatta::models::aging {

/// A result leaves its SIMD unit.
struct CompressionRequest {
  const std::uint32_t* components = nullptr;  ///< `lanes` of them; valid until the answer
  unsigned lanes = 64;                        ///< 32 or 64
};
struct CompressionVerdict {
  bool compressible = false;
  DeltaCode code;      ///< if it is
  unsigned beats = 0;  ///< sub-wavefronts that have passed the unit when the verdict is known
};

/// Behind a SIMD unit, which delivers a sub-wavefront per cycle. The answer counts these cycles; a verdict that comes
/// later delays the write. One serves all slices, because it keeps no state from one register to the next.
class CompressionUnit : public sc_core::sc_module,
                        public protocol::Lookup<CompressionRequest, CompressionVerdict>,
                        public support::StatProvider {
 public:
  protocol::LookupTarget<CompressionRequest, CompressionVerdict> results;

  explicit CompressionUnit(const sc_core::sc_module_name& name) : sc_module(name), results("results", *this) {}

  protocol::LookupReply look_up(const CompressionRequest& r, std::uint32_t, CompressionVerdict& verdict) override {
    ++registers_;
    verdict.compressible = compress(machine_, r.components, r.lanes);
    verdict.beats = machine_.beats_worked();
    if (verdict.compressible) verdict.code = machine_.code();
    beats_ += verdict.beats;
    return protocol::LookupReply::answered;
  }
  /// Never notified: the unit is never busy.
  const sc_core::sc_event& changed() const override { return changed_; }
  void register_stats(support::StatGroup& g) override {
    g.counter("registers", registers_, "warp registers", "that passed the unit");
    g.counter("beats", beats_, "sub-wavefronts", "in which the unit was active");
  }
  void register_energy(support::EnergyGroup& g) override {
    g.costs_nothing("the group aging of the statistics has it, by the paper's numbers");
  }

 private:
  CompressionMachine machine_;
  std::uint64_t registers_ = 0, beats_ = 0;
  sc_core::sc_event changed_;
};

/// A register is read from its table entry.
struct DecompressionRequest {
  DeltaCode code;
  unsigned lanes = 64;  ///< 32 or 64
};

/// Shifts and adds, a sub-wavefront per cycle as the slice would deliver it.
class DecompressionUnit : public sc_core::sc_module,
                          public protocol::Lookup<DecompressionRequest, protocol::WarpValue>,
                          public support::StatProvider {
 public:
  protocol::LookupTarget<DecompressionRequest, protocol::WarpValue> entries;

  explicit DecompressionUnit(const sc_core::sc_module_name& name) : sc_module(name), entries("entries", *this) {}

  protocol::LookupReply look_up(const DecompressionRequest& r, std::uint32_t, protocol::WarpValue& value) override {
    ++registers_;
    decompress(r.code, 0, r.lanes, value.lane.data());
    return protocol::LookupReply::answered;
  }
  /// Never notified: the unit is never busy.
  const sc_core::sc_event& changed() const override { return changed_; }
  void register_stats(support::StatGroup& g) override {
    g.counter("registers", registers_, "warp registers", "decompressed");
  }
  void register_energy(support::EnergyGroup& g) override {
    g.costs_nothing("the group aging of the statistics has it, by the paper's numbers");
  }

 private:
  std::uint64_t registers_ = 0;
  sc_core::sc_event changed_;
};

}  // namespace regatta::models::aging
