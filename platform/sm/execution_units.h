// SPDX-License-Identifier: Apache-2.0
//
// Execution pipelines: each takes one warp instruction per initiation interval and delivers its result a fixed
// latency later. When the number of pipelines of a kind divides among the schedulers, each scheduler has its
// own; otherwise they are shared.
#pragma once

#include <regatta/support/ring.h>

#include "core.h"
#include "holds.h"

#include <optional>
#include <systemc>

namespace regatta::sm {

class CtaStage;
class LoadStoreUnit;
class Operands;
class Writeback;

class ExecutionUnits : public sc_core::sc_module, public support::StatProvider {
 public:
  ExecutionUnits(const sc_core::sc_module_name& name, Core& core);
  void connect(Operands& operands, LoadStoreUnit& lsu, Writeback& writeback, CtaStage& ctas);

  void kernel_started();
  /// Brings the counters that go by opcode class up to date.
  void settle();
  /// What the pipelines executed, by what it costs. Lanes: the active ones, or all of a warp when units are not gated.
  enum class Use : std::uint8_t { integer, fp32, special, fp64, constant, address, tensor };
  static constexpr unsigned use_count = 7;
  struct Count {
    std::uint64_t instructions = 0;
    std::uint64_t lanes = 0;
  };
  /// An instruction with all operands: waits for its unit.
  void enter(DynamicInstruction& d);
  /// What keeps `d`, which has its operands, from its pipeline; none: it does not wait for one.
  std::optional<Hold> holds(const DynamicInstruction& d) const;
  /// Instructions of the stream wait for a pipeline that is busy until a cycle that is known.
  bool is_due() const;
  /// With unit.alu, instructions go to some of the sp pipelines of their scheduler only.
  bool has_kinds() const { return !pipelines_.empty(); }
  /// The sp pipelines of its scheduler that may take an instruction of the program, a bit each.
  std::uint64_t pipelines_for(const InstructionTraits& t) const {
    return pipelines_.empty() ? ~std::uint64_t{0} : pipelines_[t.index];
  }
  /// Dispatches waiting instructions to pipelines that can take one.
  void cycle();
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  struct Partition {
    support::Ring<DynamicInstruction*> waiting;
    std::vector<Cycle> free_at;  ///< per pipeline
  };
  struct Kind {
    std::vector<Partition> partitions;
    std::uint64_t dispatched = 0;
    std::uint64_t busy = 0;
    std::size_t waiting = 0;
  };
  static Use use_of(trace::OpClass c);
  void dispatch(DynamicInstruction& d);
  void cycle(Kind& kind);
  /// The same for sp pipelines of several kinds (unit.alu).
  void cycle_split(Kind& kind);
  /// The same, where the operand path has reserved a pipeline for each instruction.
  void cycle_reserved(Kind& kind);
  void start(DynamicInstruction& d, Cycle& free_at, Kind& kind);
  void cycle_memory();
  /// The constant unit, with initiation.constant_word: one load by register after another, a word at a time.
  [[gnu::noinline]] void cycle_constants();
  bool goes_to_constants(const DynamicInstruction& d) const {
    return d.traits->info->op_class == trace::OpClass::constant_load && d.traits->read_count != 0;
  }

  Core& core_;
  Operands* operands_ = nullptr;
  LoadStoreUnit* lsu_ = nullptr;
  Writeback* writeback_ = nullptr;
  CtaStage* ctas_ = nullptr;
  std::array<Kind, protocol::unit_count> kinds_;
  /// With unit.alu, which pipelines of its partition each static instruction may go to: a bit each, those for logic
  /// first. Empty: to any.
  std::vector<std::uint64_t> pipelines_;
  const bool reserved_;  ///< the operand path says which pipeline an instruction takes (DynamicInstruction::pipeline)
  Partition constants_;  ///< without one, no pipeline
  std::uint64_t constant_words_ = 0;
  std::vector<Count> profile_;  ///< per static instruction, since settle()
  Count moves_;                 ///< that gates injected
  std::array<Count, use_count> uses_;
  std::uint64_t matrix_bytes_ = 0;                          ///< of shared memory that matrix products read
  std::uint64_t products_ = 0;                              ///< of matrix elements, in products of f16
  std::uint64_t expected_reads_ = 0, expected_writes_ = 0;  ///< static code x executions
};

}  // namespace regatta::sm
