// SPDX-License-Identifier: Apache-2.0
//
// Load-store unit: memory instructions pass the address stage in order, lsu.lanes of their lanes per cycle.
// Shared-memory accesses occupy the banks for as many cycles as they conflict; the others are coalesced into lines, of
// which one goes to the L1 per cycle, when the last address in it is made. A load's result is ready when its last line
// has answered; a store is done when its last line has been sent, its completion is counted for fences and for the end
// of a launch.
#pragma once

#include <regatta/protocol/payload.h>
#include <regatta/protocol/shared_contents.h>
#include <regatta/sm/causes.h>
#include <regatta/support/ring.h>

#include "coalescer.h"
#include "contract.h"
#include "core.h"
#include "holds.h"
#include "request_channel.h"
#include "texture_cache.h"

#include <optional>
#include <string>
#include <systemc>

namespace regatta::sm {

class AsyncUnit;
class Writeback;

class LoadStoreUnit : public sc_core::sc_module, public support::StatProvider, tlm::tlm_bw_transport_if<> {
 public:
  LoadStoreUnit(const sc_core::sc_module_name& name, Core& core, Writeback& writeback, AsyncUnit& async);
  ~LoadStoreUnit() override;

  /// To the L1 (or an arbiter in front of it): one request per cycle at most.
  protocol::MemoryInitiatorSocket memory_socket;
  /// To the contents of shared memory, if they are modelled.
  protocol::OptionalSharedInitiatorSocket shared_socket;
  /// `memory`: the name of what memory_socket leads to.
  void connect(const std::string& memory) { accesses_of_.set_target(memory); }
  /// `contents`: the name of what shared_socket leads to.
  void connect_contents(const std::string& contents) { contents_ = contents; }

  bool can_accept() const { return queue_.size() < core_.config.lsu_queue; }
  void accept(DynamicInstruction& d) { queue_.push(&d); }
  void cycle() {
    if (!line_requests_.empty()) send_line();
    if (__builtin_expect(static_cast<int>(has_async_), 0) != 0) cycle_async();
    if (!queue_.empty()) serve();
  }
  void kernel_started();
  /// A line for the instruction or the constant cache: leaves before data. `tag` comes back with Work::line_arrived.
  void request_line(protocol::AccessClass access, std::uint64_t address, std::uint8_t sectors, std::uint32_t tag) {
    line_requests_.push(LineRequest{address, tag, sectors, access});
    core_.progress = true;
  }
  /// `bytes` of a CTA's context are written to shared memory or read from it, when the banks are free, and occupy all
  /// of them. The cycle from which on they take another access.
  Cycle move_context(unsigned bytes);
  const std::uint64_t& context_passes() const { return context_passes_; }
  /// Stores of this warp slot that memory has not confirmed; a fence waits for them.
  unsigned stores_in_flight(WarpSlot w) const { return stores_in_flight_[w.value()]; }
  /// What keeps `d` here or in the memory behind; none: it is elsewhere.
  std::optional<Hold> holds(const DynamicInstruction& d) const;
  /// What keeps the head of the queue; none: the queue is empty.
  std::optional<Hold> blockage() const;
  /// The instruction that it serves; null: none.
  const DynamicInstruction* head() const { return queue_.empty() ? nullptr : queue_[0]; }
  /// Whether `d` waits in the queue behind another one.
  bool queues_behind(const DynamicInstruction& d) const {
    return queue_.size() > 1 && queue_[0] != &d && queue_.holds(const_cast<DynamicInstruction*>(&d));
  }
  /// What was asked of it, by kernel of the trace and static instruction; empty for a kernel that has not run.
  const std::vector<std::vector<AccessCounts>>& accesses() const { return accesses_; }
  /// What keeps a warp's stores.
  Hold stores_held(WarpSlot warp, Cycle since) const;
  /// What keeps lines of the instruction and constant caches.
  Hold lines_held(Cycle since) const;
  AsyncUnit& async() { return async_; }
  /// What is queued goes on in a later cycle that is known.
  bool is_due() const;
  /// Nothing queued and nothing outstanding.
  bool idle() const { return queue_.empty() && outstanding_ == 0; }
  /// Accesses of instructions that memory has answered so far. Lines of the instruction and constant caches do not
  /// count: they may be asked for again and again.
  std::uint64_t answers() const { return answers_; }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  struct LineRequest {
    std::uint64_t address = 0;
    std::uint32_t tag = 0;
    std::uint8_t sectors = 0;
    protocol::AccessClass access = protocol::AccessClass::instruction;
  };
  void serve();
  void send_line();
  template <class F>
  std::string lines_under_way(F&& which) const;
  void transport(tlm::tlm_generic_payload& payload);
  bool start(DynamicInstruction& d);
  void access_contents(DynamicInstruction& d, LaneMask lanes);
  void transfer_contents(tlm::tlm_command command, protocol::SharedWords& words);
  void send_next(DynamicInstruction& d);
  /// Addresses of a texture or surface access.
  void start_texture(DynamicInstruction& d);
  /// The next line of a fetch, in the texture cache; false: it has to wait.
  bool look_up_next(DynamicInstruction& d);
  /// Cycles that a fetch takes behind its texels.
  Cycle filtered(const DynamicInstruction& d, Cycle when) const;
  // load_store_async.cpp
  bool start_async(DynamicInstruction& d);
  void leave_async(DynamicInstruction& d);
  void arrived_async(DynamicInstruction& d, Cycle when);
  void cycle_async();
  void finish_if_answered(DynamicInstruction& d);
  std::uint64_t local_address(const DynamicInstruction& d, std::uint64_t address, unsigned lane) const;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void answered(tlm::tlm_generic_payload& payload, Cycle when);
  /// A line or what a texture cache fetched, for an instruction that waits for it.
  void arrived(DynamicInstruction& d, Cycle when);

  /// Shared memory answers in the call.
  struct NoBackwardPath : tlm::tlm_bw_transport_if<> {
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  };

  Core& core_;
  Writeback& writeback_;
  AsyncUnit& async_;
  bool has_async_ = false;  ///< the kernel has asynchronous operations
  bool stays_ = false;      ///< the head waits for a phase of a mbarrier
  protocol::MemoryPayloadPool pool_;
  NoBackwardPath no_backward_path_;
  tlm::tlm_generic_payload contents_payload_;
  protocol::SharedAccess contents_access_;
  protocol::SharedWords delivered_;
  std::string contents_;  ///< name of what keeps them; empty: nothing does
  support::Ring<DynamicInstruction*> queue_;
  bool started_ = false;  ///< the head has been through address generation
  unsigned next_line_ = 0;
  LineList lines_;
  unsigned address_passes_;  ///< cycles in which a warp's addresses are made
  Cycle addresses_from_;     ///< the head's first addresses are made in this cycle
  Cycle addresses_free_;     ///< the address stage takes another instruction from here on
  Cycle shared_free_;        ///< the banks take another access from here on
  Cycle last_sent_;          ///< cycle of the last request to the L1
  unsigned sent_ = 0;        ///< requests in that cycle
  bool has_slot() const { return last_sent_ != core_.now || sent_ < core_.config.l1_tags; }
  void take_slot() {
    sent_ = last_sent_ == core_.now ? sent_ + 1 : 1;
    last_sent_ = core_.now;
  }
  TextureCache texture_cache_;
  Cycle last_lookup_;         ///< of the texture cache
  std::uint8_t missing_ = 0;  ///< sectors of the line that is sent for the texture cache
  std::uint32_t texture_mshr_ = 0;
  RequestChannel channel_;
  TargetContract accesses_of_;
  support::Ring<LineRequest> line_requests_;  ///< at most as many as the caches have MSHRs
  std::uint64_t outstanding_ = 0;
  std::uint64_t answers_ = 0;
  std::vector<std::uint32_t> stores_in_flight_;
  std::vector<std::uint64_t> remapped_;
  std::vector<std::vector<AccessCounts>> accesses_;
  AccessCounts* of_kernel_ = nullptr;  ///< those of the running kernel

  std::uint64_t global_instructions_ = 0, shared_instructions_ = 0, local_instructions_ = 0, empty_instructions_ = 0;
  std::uint64_t line_requests_sent_ = 0, requests_ = 0, load_sectors_ = 0, store_sectors_ = 0, atomic_sectors_ = 0;
  std::uint64_t shared_passes_ = 0, shared_conflicts_ = 0, held_attempts_ = 0;
  std::uint64_t context_passes_ = 0;
  std::uint64_t texture_instructions_ = 0, surface_instructions_ = 0, texture_texels_ = 0, texture_lines_ = 0,
                texture_sectors_ = 0, texture_passes_ = 0;
};

}  // namespace regatta::sm
