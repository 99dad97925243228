// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous operations in the load-store unit: cp.async as a load whose data goes on to shared memory, mbarriers as
// atomics of shared memory, bulk copies on their way to the engine.
#include "async_unit.h"
#include "load_store_unit.h"

namespace regatta::sm {

using trace::AsyncKind;

namespace {

constexpr unsigned mbarrier_bytes = 8;

}  // namespace

bool LoadStoreUnit::start_async(DynamicInstruction& d) {
  const trace::StaticInstruction& info = *d.info;
  next_line_ = 0;
  lines_.count = 0;
  addresses_from_ = core_.now;
  d.completed = core_.now + 1;
  const auto active = static_cast<unsigned>(__builtin_popcountll(d.active));
  unsigned passes = 0;
  if (d.active == 0) {
    ++empty_instructions_;
  } else if (info.async == AsyncKind::copy) {
    if (!async_.has_copy_entry()) return false;
    async_.copy_begins();
    LaneMask reading = 0;
    for (LaneMask rest = d.active; rest != 0; rest &= rest - 1) {
      if (d.texel(2)[static_cast<unsigned>(__builtin_ctzll(rest))] != 0) reading |= rest & (0 - rest);
    }
    if (reading != 0) {
      coalesce(d.addresses.data(), reading, info.access_bytes, core_.config.line_bytes, lines_);
      if (address_passes_ != 1)
        address_passes(d.addresses.data(), reading, info.access_bytes, core_.config.line_bytes, core_.config.lsu_lanes,
                       lines_);
    }
  } else if (info.async >= AsyncKind::bulk_load) {
    if (!async_.has_bulk_entries(active)) return false;
    async_.bulk_begins(d);
  } else {
    if (core_.now < shared_free_) {
      core_.at(shared_free_, Work::Kind::tick, 0);
      return false;
    }
    passes = shared_passes(d.addresses.data(), d.active, mbarrier_bytes, core_.kernel.warp_size,
                           core_.config.shared_banks, info.async != AsyncKind::barrier_wait);
    ++shared_instructions_;
    shared_passes_ += passes;
    shared_conflicts_ += passes > 1 ? 1 : 0;
    shared_free_ = core_.now + passes;
    d.completed = core_.now + (core_.config.shared_latency + std::max(passes, address_passes_) - 1);
    stays_ = !async_.on_barrier(d, d.completed);
  }
  started_ = true;
  addresses_free_ = core_.now + address_passes_;
  AccessCounts& counts = of_kernel_[d.traits->index];
  ++counts.executions;
  counts.passes += passes;
  counts.lanes += active;
  return true;
}

/// The head has left the address stage.
void LoadStoreUnit::leave_async(DynamicInstruction& d) {
  const bool stays = stays_;
  stays_ = false;
  if (d.active != 0) {
    if (d.info->async == AsyncKind::copy) {
      if (d.accesses_pending == 0) async_.copy_arrived(d, std::max(d.completed, core_.now + 1));
      return;
    }
    if (stays || d.info->async >= AsyncKind::bulk_load) return;
  }
  core_.at(std::max(d.completed, core_.now + 1), Work::Kind::executed, d.pool_index);
}

void LoadStoreUnit::arrived_async(DynamicInstruction& d, Cycle when) {
  if (d.info->async != AsyncKind::copy) return async_.bulk_answered(d, when, shared_free_);
  if (d.completed < when) d.completed = when;
  if (--d.accesses_pending != 0 || (!queue_.empty() && queue_.front() == &d)) return;
  async_.copy_arrived(d, d.completed);
}

/// Copies into shared memory, and one request of the engine of bulk copies, if the port has room.
void LoadStoreUnit::cycle_async() {
  if (!async_.cycle(shared_free_)) return;
  core_.progress = true;
  if (!channel_.open(core_.now) || !has_slot()) return;
  const AsyncUnit::Line& line = async_.line();
  tlm::tlm_generic_payload* payload =
      pool_.take(line.writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, line.address);
  protocol::MemoryAccess& access = *payload->get_extension<protocol::MemoryAccess>();
  access.access = line.atomic   ? protocol::AccessClass::atomic
                  : line.writes ? protocol::AccessClass::data_store
                                : protocol::AccessClass::data_load;
  access.sm = static_cast<std::uint16_t>(core_.sm);
  access.bypass_l1 = true;
  access.sectors = line.sectors;
  access.instruction = line.instruction;
  access.tag = line.instruction->warp.value();
  access.partial = false;
  ++outstanding_;
  take_slot();
  async_.line_sent();
  transport(*payload);
}

}  // namespace regatta::sm
