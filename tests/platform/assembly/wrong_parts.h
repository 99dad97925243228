// SPDX-License-Identifier: Apache-2.0
//
// Parts that do what their contract forbids, where a test tells them to, and what the run says of it.
#pragma once

#include <regatta/protocol/interposed_storage.h>
#include <regatta/support/clock_domain.h>
#include <regatta/test/clock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harness.h"

namespace regatta::test {

inline const sc_core::sc_time wrong_parts_period = assembly::MachineConfig{}.clock_period();

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

/// What `run` returns in a process of its own, since a process can elaborate SystemC once: for cases that try several.
inline std::string in_child(const std::function<std::string()>& run) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string said;
    try {
      said = run();
    } catch (const std::exception& e) {
      said = std::string("exception: ") + e.what();
    }
    const bool whole = write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(whole ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = read(ends[0], piece.data(), piece.size())) > 0;) {
    said.append(piece.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return said;
}

/// A register file whose answers a test may spoil.
class HookedStorage : public protocol::InterposedStorage {
 public:
  using Payload = tlm::tlm_generic_payload;
  /// Called after the register file has answered a request; returns what to answer instead.
  using Hook = std::function<tlm::tlm_sync_enum(HookedStorage&, Payload&, tlm::tlm_phase&, sc_core::sc_time&)>;

  HookedStorage(const sc_core::sc_module_name& name, Hook on_read, Hook on_write)
      : InterposedStorage(name, std::in_place_type<models::RegisterFile>, "register_file", models::RegisterFileConfig{},
                          test::machine_clock()),
        on_read_(std::move(on_read)),
        on_write_(std::move(on_write)),
        later_("later") {
    SC_HAS_PROCESS(HookedStorage);
    SC_METHOD(act);
    sensitive << later_;
    dont_initialize();
  }
  bool keeps_cycle_time() const override { return false; }

  /// Does something `delay` from now.
  void later(const sc_core::sc_time& delay, std::function<void()> what) {
    what_ = std::move(what);
    later_.notify(delay);
  }
  /// Sends a phase on the backward path of the reads' socket.
  void send(Payload& payload, tlm::tlm_phase phase, sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    read_answered(payload, phase, delay);
  }

  unsigned seen = 0;  ///< for hooks that count

 private:
  tlm::tlm_sync_enum read(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    const bool request = phase == tlm::BEGIN_REQ;
    const tlm::tlm_sync_enum answer = InterposedStorage::read(p, phase, delay);
    return request && answer == tlm::TLM_COMPLETED && on_read_ ? on_read_(*this, p, phase, delay) : answer;
  }
  tlm::tlm_sync_enum write(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    const bool request = phase == tlm::BEGIN_REQ;
    const tlm::tlm_sync_enum answer = InterposedStorage::write(p, phase, delay);
    return request && answer == tlm::TLM_COMPLETED && on_write_ ? on_write_(*this, p, phase, delay) : answer;
  }
  void act() { what_(); }

  Hook on_read_, on_write_;
  sc_core::sc_event later_;
  std::function<void()> what_;
};

/// A gate given as functions.
class FunctionGate : public sc_core::sc_module,
                     public protocol::IssueGate,
                     public protocol::GateReporter,
                     public protocol::MoveRequester {
 public:
  using May = std::function<bool(FunctionGate&, const protocol::DynamicInstruction&)>;
  FunctionGate(const sc_core::sc_module_name& name, May may)
      : sc_module(name), may_(std::move(may)), changed_("changed") {}
  bool may_issue(const protocol::DynamicInstruction& d) override { return may_(*this, d); }
  void connect(protocol::GateListener& l) override { listener = &l; }
  void inject_through(protocol::Injector& i) override { injector = &i; }
  void warp_started(const protocol::WarpInfo& w) override {
    if (on_warp) on_warp(*this, w);
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  void notify() { changed_.notify(sc_core::SC_ZERO_TIME); }
  protocol::Cycle now() const { return protocol::Cycle(test::machine_clock().now()); }

  protocol::GateListener* listener = nullptr;
  protocol::Injector* injector = nullptr;
  unsigned seen = 0;  ///< for functions that count
  std::function<void(FunctionGate&, const protocol::WarpInfo&)> on_warp;

 private:
  May may_;
  sc_core::sc_event changed_;
};

}  // namespace regatta::test
