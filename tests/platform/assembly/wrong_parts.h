// SPDX-License-Identifier: Apache-2.0
//
// Parts that do what their contract forbids, where a test tells them to, and what the run says of it.
#pragma once

#include <regatta/support/cycle_scheduler.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harness.h"

namespace regatta::test {

inline const sc_core::sc_time wrong_parts_period(1e6 / assembly::MachineConfig{}.clock_mhz, sc_core::SC_PS);

/// How a run with the parts that `change` makes of the baseline's ends: the error report ("regatta/point: ..."), or the
/// message of the result.
inline std::string outcome(const std::string& name, const std::function<void(assembly::SmParts&)>& change,
                           bool check_protocol = false, const assembly::MachineConfig& machine = {}) {
  FunctionScheme scheme([&](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    change(parts);
    return parts;
  });
  try {
    return simulate(mixed_trace(name, 2), scheme, machine, 1, check_protocol).message;
  } catch (const sc_core::sc_report& report) {
    return std::string(report.get_msg_type()) + ": " + report.get_msg();
  }
}

/// A register file whose answers a test may spoil.
class HookedStorage : public sc_core::sc_module, public protocol::OperandStorage {
 public:
  using Payload = tlm::tlm_generic_payload;
  /// Called after the register file has answered a request; returns what to answer instead.
  using Hook = std::function<tlm::tlm_sync_enum(HookedStorage&, Payload&, tlm::tlm_phase&, sc_core::sc_time&)>;

  HookedStorage(const sc_core::sc_module_name& name, Hook on_read, Hook on_write)
      : sc_module(name),
        reads("reads"),
        writes("writes"),
        inner_("register_file", models::RegisterFileConfig{}, wrong_parts_period),
        inner_reads_("inner_reads"),
        inner_writes_("inner_writes"),
        on_read_(std::move(on_read)),
        on_write_(std::move(on_write)),
        later_("later") {
    reads.register_nb_transport_fw(this, &HookedStorage::read);
    writes.register_nb_transport_fw(this, &HookedStorage::write);
    inner_reads_.register_nb_transport_bw(this, &HookedStorage::read_back);
    inner_writes_.register_nb_transport_bw(this, &HookedStorage::write_back);
    inner_reads_.bind(inner_.reads);
    inner_writes_.bind(inner_.writes);
    SC_HAS_PROCESS(HookedStorage);
    SC_METHOD(act);
    sensitive << later_;
    dont_initialize();
  }
  protocol::OperandTargetSocket& read_socket() override { return reads; }
  protocol::OperandTargetSocket& write_socket() override { return writes; }
  std::uint64_t capacity_registers() const override { return inner_.capacity_registers(); }
  void kernel_started(const protocol::KernelContext& context) override { inner_.kernel_started(context); }
  void warp_started(const protocol::WarpInfo& w) override { inner_.warp_started(w); }
  void warp_finished(const protocol::WarpInfo& w) override { inner_.warp_finished(w); }

  /// Does something `delay` from now.
  void later(const sc_core::sc_time& delay, std::function<void()> what) {
    what_ = std::move(what);
    later_.notify(delay);
  }
  /// Sends a phase on the backward path of the reads' socket.
  void send(Payload& payload, tlm::tlm_phase phase, sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    reads->nb_transport_bw(payload, phase, delay);
  }

  tlm_utils::simple_target_socket<HookedStorage, 1024> reads, writes;
  unsigned seen = 0;  ///< for hooks that count

 private:
  tlm::tlm_sync_enum read(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    const bool request = phase == tlm::BEGIN_REQ;
    const tlm::tlm_sync_enum answer = inner_reads_->nb_transport_fw(p, phase, delay);
    return request && answer == tlm::TLM_COMPLETED && on_read_ ? on_read_(*this, p, phase, delay) : answer;
  }
  tlm::tlm_sync_enum write(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    const bool request = phase == tlm::BEGIN_REQ;
    const tlm::tlm_sync_enum answer = inner_writes_->nb_transport_fw(p, phase, delay);
    return request && answer == tlm::TLM_COMPLETED && on_write_ ? on_write_(*this, p, phase, delay) : answer;
  }
  tlm::tlm_sync_enum read_back(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return reads->nb_transport_bw(p, phase, delay);
  }
  tlm::tlm_sync_enum write_back(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return writes->nb_transport_bw(p, phase, delay);
  }
  void act() { what_(); }

  models::RegisterFile inner_;
  tlm_utils::simple_initiator_socket<HookedStorage, 1024> inner_reads_, inner_writes_;
  Hook on_read_, on_write_;
  sc_core::sc_event later_;
  std::function<void()> what_;
};

/// A gate given as functions.
class FunctionGate : public sc_core::sc_module, public protocol::IssueGate {
 public:
  using May = std::function<bool(FunctionGate&, const protocol::DynamicInstruction&)>;
  FunctionGate(const sc_core::sc_module_name& name, May may)
      : sc_module(name), may_(std::move(may)), changed_("changed") {}
  bool may_issue(const protocol::DynamicInstruction& d) override { return may_(*this, d); }
  void connect(protocol::GateListener& l) override { listener = &l; }
  bool inject_through(protocol::Injector& i) override {
    injector = &i;
    return injects;
  }
  void warp_started(const protocol::WarpInfo& w) override {
    if (on_warp) on_warp(*this, w);
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  void notify() { changed_.notify(sc_core::SC_ZERO_TIME); }
  protocol::Cycle now() const { return protocol::Cycle(support::CycleScheduler::of(wrong_parts_period).now()); }

  protocol::GateListener* listener = nullptr;
  protocol::Injector* injector = nullptr;
  bool injects = false;
  unsigned seen = 0;  ///< for functions that count
  std::function<void(FunctionGate&, const protocol::WarpInfo&)> on_warp;

 private:
  May may_;
  sc_core::sc_event changed_;
};

}  // namespace regatta::test
