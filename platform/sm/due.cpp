// SPDX-License-Identifier: Apache-2.0
//
// What an SM in which nothing goes on can still wait for: the part of the watchdog that tells slow from stuck. Asked
// when sm.watchdog cycles have brought no step, and never before.
#include <regatta/sm/sm.h>

#include "async_unit.h"
#include "collectors.h"
#include "execution_units.h"
#include "load_store_unit.h"
#include "reuse_stage.h"
#include "sm_impl.h"
#include "writeback.h"

#include <algorithm>

namespace regatta::sm {

namespace {

/// Gates may ask for moves for ever; every instruction of the stream comes and goes once.
bool is_move(const DynamicInstruction& d) { return d.injected && d.info->scheme.empty(); }

/// Waits in succession, each of the longest length that a block has asked for, after which it is taken to be stuck.
constexpr std::uint64_t waits_in_succession = 64;
/// Times that the watchdog is put off for results that a write-back point holds until a known cycle.
constexpr unsigned most_staged = 16;

}  // namespace

bool OperandCollectors::is_due() const { return !backlog_.empty() && channel_.opens_after(core_.current()); }

bool Writeback::is_due() const { return waiting_ != 0 && channel_.opens_after(core_.current()); }

bool ReuseStage::is_due() const { return !delayed_.empty() && core_.current() < delayed_[0].due; }

bool LoadStoreUnit::is_due() const {
  if (has_async_ && async_.is_busy()) return true;
  if (queue_.empty() && line_requests_.empty()) return false;
  return channel_.opens_after(core_.current()) || core_.current() < addresses_free_ || core_.current() < shared_free_;
}

bool ExecutionUnits::is_due() const {
  const auto is_busy = [this](const Partition& p) {
    return !p.waiting.empty() && !is_move(*p.waiting[0]) &&
           std::any_of(p.free_at.begin(), p.free_at.end(), [this](Cycle free_at) { return core_.current() < free_at; });
  };
  if (is_busy(constants_)) return true;
  return std::any_of(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return std::any_of(kind.partitions.begin(), kind.partitions.end(), is_busy);
  });
}

bool Sm::Impl::holds_scheduled(bool staged) const {
  bool found = false;
  core.calendar.for_each([&](const Work& work) {
    switch (work.kind) {
      case Work::Kind::fetched:
      case Work::Kind::fetch_unblocked:
      case Work::Kind::barrier_open:
      case Work::Kind::fence_reached:
      case Work::Kind::warp_launched:
      case Work::Kind::dependence:
        found = found || !staged;
        break;
      case Work::Kind::operands_ready:
        found = found || (!staged && !is_move(operands->in_place(work.value)));
        break;
      case Work::Kind::executed:
      case Work::Kind::released:
        found = found || (!staged && !is_move(core.pool.at(work.value)));
        break;
      case Work::Kind::staged:
        found = found || staged;
        break;
      case Work::Kind::line_arrived:
      case Work::Kind::gate_opened:
      case Work::Kind::gate_resumed:
      case Work::Kind::context_moved:
      case Work::Kind::tick:
        break;  // these can recur without an instruction getting further
    }
  });
  return found;
}

bool Sm::Impl::waits() {
  if (!running || ctas.resident() == 0) return false;
  if (quiet.steps != steps()) quiet = Quiet{steps(), 0, 0};
  if (holds_scheduled(false) || execution.is_due() || operands->is_due() || reuse.is_due() || lsu.is_due() ||
      writeback.is_due()) {
    quiet.cycles = 0;
    return true;
  }
  quiet.cycles += core.config.watchdog_cycles;
  return quiet.cycles < waits_in_succession * core.longest_wait ||
         (holds_scheduled(true) && ++quiet.staged <= most_staged);
}

bool Sm::waits() { return impl_->waits(); }

}  // namespace regatta::sm
