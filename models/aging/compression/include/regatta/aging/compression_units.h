// SPDX-License-Identifier: Apache-2.0
//
// Compression and decompression unit (aging-aware register file, sections 5.1.1 and 5.1.2) as blocks.
#pragma once

#include <regatta/aging/compression_machine.h>
#include <regatta/aging/unit_operations.h>
#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::models::aging {

/// A result leaves its SIMD unit.
struct CompressionRequest {
  const std::uint32_t* components = nullptr;  ///< `lanes` of them; valid until the answer
  unsigned lanes = 64;                        ///< 32 or 64
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
    if (__builtin_expect(static_cast<int>(twin_ != nullptr), 0) != 0) verdict = of_twin(r, verdict);
    beats_ += verdict.beats;
    return protocol::LookupReply::answered;
  }
  /// Never notified: the unit is never busy.
  const sc_core::sc_event& changed() const override { return changed_; }
  /// From now on every register passes the twin too. Null: none does.
  void set_twin(CompressionTwin* twin) { twin_ = twin; }
  /// A line of text: the buffers and the state.
  std::string describe_state() const { return machine_.describe(); }
  void register_stats(support::StatGroup& g) override {
    g.counter("registers", registers_, "warp registers", "that passed the unit");
    g.counter("beats", beats_, "sub-wavefronts", "in which the unit was active");
  }
  void register_energy(support::EnergyGroup& g) override {
    g.costs_nothing("the group aging of the statistics has it, by the paper's numbers");
  }

 private:
  [[gnu::noinline, gnu::cold]] CompressionVerdict of_twin(const CompressionRequest& r, const CompressionVerdict& own) {
    CompressionOperation operation;
    operation.lanes = r.lanes;
    std::copy_n(r.components, r.lanes, operation.components.begin());
    return twin_->operate(operation, own);
  }

  CompressionMachine machine_;
  CompressionTwin* twin_ = nullptr;
  std::uint64_t registers_ = 0, beats_ = 0;
  sc_core::sc_event changed_;
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
    if (__builtin_expect(static_cast<int>(twin_ != nullptr), 0) != 0) ask_twin(r, value);
    return protocol::LookupReply::answered;
  }
  /// Never notified: the unit is never busy.
  const sc_core::sc_event& changed() const override { return changed_; }
  /// From now on every register passes the twin too. Null: none does.
  void set_twin(DecompressionTwin* twin) { twin_ = twin; }
  void register_stats(support::StatGroup& g) override {
    g.counter("registers", registers_, "warp registers", "decompressed");
  }
  void register_energy(support::EnergyGroup& g) override {
    g.costs_nothing("the group aging of the statistics has it, by the paper's numbers");
  }

 private:
  [[gnu::noinline, gnu::cold]] void ask_twin(const DecompressionRequest& r, protocol::WarpValue& value) {
    DecompressedRegister own;
    std::copy_n(value.lane.begin(), r.lanes, own.components.begin());
    const DecompressedRegister counts = twin_->operate(r, own);
    std::copy_n(counts.components.begin(), r.lanes, value.lane.begin());
  }

  DecompressionTwin* twin_ = nullptr;
  std::uint64_t registers_ = 0;
  sc_core::sc_event changed_;
};

}  // namespace regatta::models::aging
