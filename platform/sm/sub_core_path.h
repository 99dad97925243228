// SPDX-License-Identifier: Apache-2.0
//
// The operand path of a modern NVIDIA SM (Huerta et al., MICRO 2025, sections 5.1 and 5.3), without collectors. Each
// scheduler has a sub-core:
//
//   issue -> control -> allocate -> three read cycles ------------> execution units     fixed latency
//                  \--> queue per kind of unit, reads ports there -> execution units     variable latency
//                  \--> memory queue --------- in turns ----------> load-store unit
//
// An instruction of fixed latency leaves the allocate stage when all of its operands find read ports within the window;
// otherwise it stays and stalls what is behind. One of variable latency skips the stage, and takes ports that are left
// in a cycle. A storage that cannot plan its reads (ReadPlanner) is asked when an instruction issues, as by a
// collector, and the window lasts until it has answered.
#pragma once

#include <regatta/protocol/operand_cache.h>
#include <regatta/support/ring.h>

#include "contract.h"
#include "memory_turns.h"
#include "operand_path.h"
#include "request_channel.h"
#include "result_queue.h"

#include <array>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::sm {

class ExecutionUnits;
class IssueStage;

class SubCorePath final : public OperandPath, tlm::tlm_bw_transport_if<> {
 public:
  /// `results`: the result queue of each sub-core.
  SubCorePath(const sc_core::sc_module_name& name, Core& core, ExecutionUnits& execution,
              std::vector<ResultQueue>& results);

  protocol::OperandInitiatorSocket read_socket;
  protocol::OperandInitiatorSocket& socket() override { return read_socket; }
  void connect(const std::string& storage) override { reads_of_.set_target(storage); }
  void connect_issue(IssueStage& issue) override { issue_ = &issue; }
  void connect_storage(protocol::OperandStorage& storage, protocol::OperandCache* cache) override;
  void kernel_started() override;
  bool forwards() const override { return planner_ != nullptr; }

  unsigned closed(unsigned scheduler) const override;
  bool available(unsigned scheduler, protocol::Unit kind) const override {
    return ((closed(scheduler) >> static_cast<unsigned>(kind)) & 1) == 0;
  }
  bool finds_pipeline(unsigned scheduler, const InstructionTraits& next) const override;
  bool takes(unsigned scheduler, protocol::Unit kind) const override;
  void put_behind_reuse_point() override { is_behind_reuse_ = true; }
  void backlog(unsigned scheduler, unsigned instructions) override { sub_cores_[scheduler].arrived = instructions; }
  protocol::Stall reason(unsigned scheduler, protocol::Unit kind) const override;
  void enter(DynamicInstruction& d) override;
  void operands_ready(std::uint32_t place) override;
  void dispatched(DynamicInstruction& d) override;
  void cycle() override;
  /// A result of fixed latency is there: instructions whose operands are read and not dispatched take it.
  void bypass(const DynamicInstruction& result);

  std::optional<Hold> holds(const DynamicInstruction& d) const override;
  std::vector<const DynamicInstruction*> holders(unsigned scheduler, protocol::Unit kind) const override;
  const DynamicInstruction& in_place(std::uint32_t place) const override { return core_.pool.at(place); }
  bool waits_for_operands(const DynamicInstruction& d, Cycle at) const override;
  bool is_due() const override { return under_way_ != 0 && channel_.opens_after(core_.current()); }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  using Queue = support::Ring<DynamicInstruction*>;
  static constexpr unsigned queue_count = protocol::unit_count + 1;
  static constexpr unsigned constant_queue = protocol::unit_count;  ///< of the unit for constant loads by register
  enum class Stage : std::uint8_t { none, control, allocate, window, queue, execution };
  /// Of an instruction in the path, by pool index.
  struct Place {
    Cycle entered;
    Cycle from;                ///< first read cycle
    Cycle end;                 ///< last cycle before the execution units
    Cycle ready;               ///< all operands that have been answered are there
    std::uint16_t sent = 0;    ///< operands whose read has been sent, or that the cache has, a bit each
    std::uint16_t cached = 0;  ///< of these, those of the cache
    std::array<std::uint8_t, trace::max_source_registers> slots{};  ///< read cycles, from `from`
    Stage stage = Stage::none;
  };
  struct SubCore {
    DynamicInstruction* control = nullptr;
    DynamicInstruction* allocate = nullptr;
    Queue window;                              ///< allocated, in order
    std::array<Queue, queue_count> queues;     ///< variable latency, by unit, in order
    std::array<unsigned, queue_count> held{};  ///< instructions that have a place in a queue, issued and not dispatched
    unsigned arrived = 0;                      ///< from the reuse point, and not entered
    std::vector<DynamicInstruction*> handed;   ///< in the execution units, not dispatched
    std::vector<Cycle> latches;    ///< per pipeline of the sub-core: takes an instruction at issue from here on
    std::vector<Cycle> pipelines;  ///< and from allocate, or a queue
  };

  static constexpr std::size_t index_of(protocol::Unit unit) { return static_cast<std::size_t>(unit); }
  static constexpr std::uint64_t all_pipelines = ~std::uint64_t{0};
  /// Of the pipelines of a sub-core that `may` names, a bit each, the one that is free first.
  unsigned earliest(const std::vector<Cycle>& pipelines, std::uint64_t may) const;
  std::uint64_t pipelines_for(const DynamicInstruction& d) const;
  /// Kinds whose queue, or whose result queue, has no place: a bit per unit.
  unsigned full(unsigned scheduler) const;
  unsigned queue_of(const DynamicInstruction& d) const;
  unsigned places(unsigned queue) const;
  Place& place(const DynamicInstruction& d) { return places_[d.pool_index]; }
  const Place& place(const DynamicInstruction& d) const { return places_[d.pool_index]; }
  static bool is_sent(const DynamicInstruction& d, const Place& p);
  bool has_all(const DynamicInstruction& d, const Place& p) const;

  void read_window(SubCore& c);
  void allocate(SubCore& c);
  bool plan(DynamicInstruction& d, Place& p);
  void send_unsent();
  void read_queues(SubCore& c);
  void read_in_queue(DynamicInstruction& d, Place& p);
  void leave_queue(SubCore& c, unsigned queue);
  void control(SubCore& c);
  void leave_memory();
  void hand_over(SubCore& c, DynamicInstruction& d);
  void send(DynamicInstruction& d, Place& p, unsigned operand, bool planned);
  void look_up(const DynamicInstruction& d, Place& p) const;
  template <class F>
  void for_each_cached_source(const DynamicInstruction& d, F&& f) const;

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  Core& core_;
  ExecutionUnits& execution_;
  std::vector<ResultQueue>& results_;
  IssueStage* issue_ = nullptr;
  protocol::ReadPlanner* planner_ = nullptr;                                     ///< null: the storage has none
  protocol::OperandCache* cache_ = nullptr;                                      ///< null: none
  std::vector<std::array<std::int8_t, trace::max_source_registers>> positions_;  ///< per static instruction, of sources
  std::vector<std::uint8_t> reuse_;  ///< per static instruction, a bit per position
  std::vector<SubCore> sub_cores_;
  std::vector<Place> places_;
  Queue unsent_;  ///< without a plan, instructions with reads to send, in order of issue
  MemoryTurns turns_;
  std::size_t under_way_ = 0;  ///< instructions in the path, not dispatched
  protocol::OperandPayloadPool payloads_;
  RequestChannel channel_;
  TargetContract reads_of_;
  std::uint64_t instructions_ = 0, reads_ = 0, duplicates_ = 0, held_reads_ = 0, cached_reads_ = 0;
  std::uint64_t allocate_waits_ = 0, control_waits_ = 0, queue_waits_ = 0, bypassed_ = 0;
  bool is_behind_reuse_ = false;
};

}  // namespace regatta::sm
