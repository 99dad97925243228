// SPDX-License-Identifier: Apache-2.0
//
// Where each stage holds an instruction or a warp, and why, for the report of a deadlock.
#include "holds.h"

#include "async_unit.h"
#include "collectors.h"
#include "contract.h"
#include "cta_stage.h"
#include "execution_units.h"
#include "front_end.h"
#include "load_store_unit.h"
#include "reuse_stage.h"
#include "writeback.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace regatta::sm {

using protocol::AccessClass;
using protocol::Unit;

Hold FrontEnd::holds(const Warp& w) const {
  if (w.decode_full) {
    return Hold{"decode point " + support::block_name(*decode_point_) + " has no room for inserted instructions", "",
                w.fetch_since};
  }
  if (w.fetch_blocked) return Hold{"a branch that is not resolved", "", w.last_issued};
  return Hold{w.fetching ? "a fetch on its way" : "fetch, which has not had the warp's turn", "", w.last_issued};
}

std::optional<Hold> ReuseStage::holds(const DynamicInstruction& d) const {
  if (point_ == nullptr) return {};
  const std::string point = "reuse point " + support::block_name(*point_);
  const auto among = [&d](const auto& list) { return std::find(list.begin(), list.end(), &d) != list.end(); };
  if (d.kept_by == protocol::KeptBy::reuse_point) return Hold{point + " keeps the instruction", "", d.issued};
  if (among(waiting_)) return Hold{point + " has the instruction wait", "", d.issued};
  if (among(executing_)) {
    return Hold{"no collector unit is free for a " + std::string(protocol::to_string(d.traits->unit)) + " instruction",
                "", d.issued};
  }
  for (std::size_t i = 0; i < delayed_.size(); ++i) {
    if (delayed_[i].instruction == &d) return Hold{"the stages before " + point, "", d.issued};
  }
  return {};
}

std::optional<Hold> OperandCollectors::holds(const DynamicInstruction& d) const {
  if (unit_of_.size() <= d.pool_index || units_.empty()) return {};
  const Collector& c = units_[unit_of_[d.pool_index]];
  if (c.instruction != &d || d.operands_pending == 0) return {};
  const std::string storage = "operand storage " + reads_of_.target();
  std::string registers;
  payloads_.for_each_under_way([&](const protocol::WarpAccess& access) {
    if (access.instruction != &d) return;
    registers += (registers.empty() ? "R" : ", R") + std::to_string(access.reg.value());
  });
  if (const tlm::tlm_generic_payload* held = channel_.held()) {
    const auto* access = held->get_extension<protocol::WarpAccess>();
    return Hold{storage + " has not accepted a read (no END_REQ), which holds the others back",
                "R" + std::to_string(access->reg.value()) + " of " + describe(core_, access->warp), channel_.since()};
  }
  if (registers.empty()) return Hold{"reads held back by " + storage, "", c.taken};
  return Hold{storage + " has not answered reads", registers, c.taken};
}

std::vector<const DynamicInstruction*> OperandCollectors::holders(unsigned scheduler, protocol::Unit kind) const {
  std::vector<const DynamicInstruction*> all;
  for (const Collector& c : units_) {
    const bool could = c.pool == scheduler || c.pool == own_[scheduler][static_cast<unsigned>(kind)];
    if (could && c.instruction != nullptr) all.push_back(c.instruction);
  }
  return all;
}

std::optional<Hold> ExecutionUnits::holds(const DynamicInstruction& d) const {
  const std::string unit = protocol::to_string(d.traits->unit);
  for (const Partition& p : kinds_[static_cast<unsigned>(d.traits->unit)].partitions) {
    auto* const item = const_cast<DynamicInstruction*>(&d);  // as the queue names it
    if (!p.waiting.holds(item)) continue;
    if (writeback_->full()) {
      Hold hold = writeback_->blockage();
      hold.holder = "the write-back queue is full, since " + hold.holder;
      return hold;
    }
    if (d.traits->unit == Unit::lsu) {
      if (std::optional<Hold> hold = lsu_->blockage()) {
        hold->holder = "the load-store unit's queue is full, since " + hold->holder;
        return hold;
      }
    }
    return Hold{"the " + unit + " pipelines take no instruction", "", d.issued};
  }
  if (constants_.waiting.holds(const_cast<DynamicInstruction*>(&d))) {
    return Hold{"the constant unit takes no instruction", "", d.issued};
  }
  return {};
}

template <class F>
std::string LoadStoreUnit::lines_under_way(F&& which) const {
  constexpr unsigned shown = 4;
  std::string text;
  unsigned count = 0;
  for (const tlm::tlm_generic_payload* payload : pool_.under_way()) {
    if (!which(*payload->get_extension<protocol::MemoryAccess>())) continue;
    if (++count <= shown) text += (text.empty() ? "line " : ", ") + hex(payload->get_address());
  }
  return count <= shown ? text : text + " and " + std::to_string(count - shown) + " more";
}

std::optional<Hold> LoadStoreUnit::blockage() const {
  if (const tlm::tlm_generic_payload* held = channel_.held()) {
    return Hold{accesses_of_.target() + " has not accepted an access (no END_REQ)", "line " + hex(held->get_address()),
                channel_.since()};
  }
  if (queue_.empty()) return {};
  if (writeback_.full()) {
    Hold hold = writeback_.blockage();
    hold.holder = "the write-back queue is full, since " + hold.holder;
    return hold;
  }
  return Hold{"the load-store unit's address stage", "", queue_[0]->dispatched};
}

std::optional<Hold> LoadStoreUnit::holds(const DynamicInstruction& d) const {
  auto* const item = const_cast<DynamicInstruction*>(&d);  // as the queue names it
  if (queue_.holds(item)) return blockage();
  if (d.info->async != trace::AsyncKind::none)
    if (std::optional<Hold> hold = async_.holds(d)) return hold;
  if (d.accesses_pending == 0) return {};
  return Hold{accesses_of_.target() + " has not answered",
              lines_under_way([&d](const protocol::MemoryAccess& a) { return a.instruction == &d; }), d.dispatched};
}

Hold LoadStoreUnit::stores_held(WarpSlot warp, Cycle since) const {
  return Hold{accesses_of_.target() + " has not confirmed stores, for which a fence waits",
              lines_under_way([warp](const protocol::MemoryAccess& a) {
                return a.instruction == nullptr && a.tag == warp.value() && a.access != AccessClass::instruction &&
                       a.access != AccessClass::constant;
              }),
              since};
}

Hold LoadStoreUnit::lines_held(Cycle since) const {
  return Hold{accesses_of_.target() + " has not answered with lines of the instruction or constant cache",
              lines_under_way([](const protocol::MemoryAccess& a) {
                return a.access == AccessClass::instruction || a.access == AccessClass::constant;
              }),
              since};
}

Hold Writeback::held(const DynamicInstruction& d, unsigned destination) const {
  const std::string result = "R" + std::to_string(d.traits->writes[destination].value()) + " of " + describe(core_, d);
  if (channel_.held() != nullptr) {
    return Hold{"operand storage " + writes_to_.target() + " has not accepted a write (no END_REQ)", result,
                channel_.since()};
  }
  if (point_ == nullptr) return Hold{"results wait for write-back", result, held_since_};
  return Hold{"write-back point " + support::block_name(*point_) + " has a result wait", result, held_since_};
}

Hold Writeback::blockage() const {
  if (current_ != nullptr && !current_->empty()) return held(*(*current_)[0], destination_);
  if (kept_ != 0) return Hold{"write-back point " + support::block_name(*point_) + " keeps results", "", held_since_};
  return Hold{"results wait for write-back", "", held_since_};
}

std::optional<Hold> Writeback::holds(const DynamicInstruction& d) const {
  auto* const item = const_cast<DynamicInstruction*>(&d);  // as the queues name it
  if (d.kept_by == protocol::KeptBy::nobody && (results_.holds(item) || memory_.holds(item))) return blockage();
  return holds_elsewhere(d);
}

std::optional<Hold> Writeback::holds_elsewhere(const DynamicInstruction& d) const {
  if (d.kept_by == protocol::KeptBy::writeback_point) {
    return Hold{"write-back point " + support::block_name(*point_) + " keeps the result", "",
                d.bypassed ? d.issued : d.dispatched};
  }
  std::string registers;
  payloads_.for_each_under_way([&](const protocol::WarpAccess& access) {
    if (access.instruction != &d) return;
    registers += (registers.empty() ? "R" : ", R") + std::to_string(access.reg.value());
  });
  if (registers.empty()) return {};
  const tlm::tlm_generic_payload* held = channel_.held();
  if (held != nullptr && held->get_extension<protocol::WarpAccess>()->instruction == &d) {
    return Hold{"operand storage " + writes_to_.target() + " has not accepted a write (no END_REQ)", registers,
                channel_.since()};
  }
  return Hold{"operand storage " + writes_to_.target() + " has not answered writes", registers, d.completed};
}

Hold CtaStage::at_barrier(const Warp& w) const {
  const ResidentCta& cta = ctas_[w.info.cta.value()];
  const std::vector<WarpSlot>& halfway = cta.at_cluster_barrier;
  if (std::find(halfway.begin(), halfway.end(), w.info.warp) != halfway.end())
    return Hold{"the barrier of their cluster, where others have not arrived", "", w.last_issued};
  for (unsigned id = 0; id < barriers_per_cta; ++id) {
    const Barrier& b = cta.barriers[id];
    if (std::find(b.waiting.begin(), b.waiting.end(), w.info.warp) == b.waiting.end()) continue;
    std::string text = "waits at barrier " + std::to_string(id) + ", where ";
    if (b.threads_expected != 0) {
      text += std::to_string(b.arrived_threads) + " of " + std::to_string(b.threads_expected) + " threads have arrived";
    } else {
      text += std::to_string(b.arrived_warps) + " of " + std::to_string(cta.running) + " warps have arrived";
    }
    std::vector<unsigned> missing;
    for (const WarpSlot slot : cta.warps) {
      const Warp& other = core_.warps[slot.value()];
      if (other.resident && !other.exited && !other.at_barrier) missing.push_back(slot.value());
    }
    if (!missing.empty()) text += ", not yet warps " + ranges(missing);
    if (cta.waiting != 0) text += ", " + std::to_string(cta.waiting) + " not admitted";
    return Hold{"barriers at which others have not arrived", text, w.last_issued};
  }
  return Hold{"barriers whose number or threads have not been read", "", w.last_issued};
}

Hold CtaStage::inactive(const Warp& w) const {
  return Hold{"residency " + support::block_name(*residency_) + " keeps their CTAs inactive", "", w.last_issued};
}

std::string CtaStage::admits_nothing() const {
  std::string text;
  for (const ResidentCta& cta : ctas_) {
    if (!cta.resident || cta.waiting == 0) continue;
    text += (text.empty() ? "residency " + support::block_name(*residency_) + " has not admitted " : ", ") +
            std::to_string(cta.waiting) + (cta.waiting == 1 ? " warp" : " warps") + " of CTA slot " +
            std::to_string(cta.info.cta.value());
  }
  if (!text.empty()) text += "; asked last in cycle " + std::to_string(asked_.value());
  return text;
}

std::string CtaStage::launches_nothing() const {
  const std::uint64_t waiting = source_->waiting();
  if (waiting == 0 || active_ctas_ != 0 || resident_ == ctas_.size()) return "";
  return "residency " + support::block_name(*residency_) + " launches none of the " + std::to_string(waiting) +
         " CTAs that wait: " + std::to_string(resident_) + " of " + std::to_string(ctas_.size()) +
         " are resident, none active; asked last in cycle " + std::to_string(asked_.value());
}

}  // namespace regatta::sm
