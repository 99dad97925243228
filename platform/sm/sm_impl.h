// SPDX-License-Identifier: Apache-2.0
//
// The inside of an SM: its stages and what it counts itself.
#pragma once

#include <regatta/sm/sm.h>

#include "async_unit.h"
#include "cause_sampler.h"
#include "control.h"
#include "core.h"
#include "cta_stage.h"
#include "execution_units.h"
#include "front_end.h"
#include "issue.h"
#include "load_store_unit.h"
#include "operands.h"
#include "reuse_stage.h"
#include "writeback.h"

#include <exception>
#include <functional>
#include <memory>

namespace regatta::sm {

struct Sm::Impl {
  Impl(const SmConfig& config, support::ClockDomain& clock, unsigned index, const PolicyFactory& policy)
      : core(config, clock, index),
        execution("execution", core),
        operands(core, execution),
        made_writeback(operands.make_writeback(core)),
        writeback(*made_writeback),
        async("async", core),
        lsu("lsu", core, writeback, async),
        icache("icache", core.config.icache),
        constants("constant_cache", core.config.constant_cache),
        front_end("front_end", core, lsu, icache, constants),
        issue("issue", core, policy),
        reuse("reuse", core, operands),
        ctas("ctas", core),
        control(core, front_end, issue),
        sampler(core, issue, operands, lsu, writeback, front_end, ctas) {
    execution.connect(operands, lsu, writeback, ctas);
  }

  void dispatch(const Work& work);
  void prefetch(const Work& work);
  void released(DynamicInstruction& d);
  void account(std::uint64_t cycles);
  /// What the watchdog has seen since the last step.
  struct Quiet {
    std::uint64_t steps = 0;   ///< steps() at that time
    std::uint64_t cycles = 0;  ///< without any that was certain to come
    unsigned staged = 0;       ///< times put off for what a write-back point holds
  };
  /// Called after sm.watchdog cycles without a step: whether one can still come by itself, since something is due.
  bool waits();
  /// Whether the calendar has something for an instruction of the stream: what happens to each once, or (`staged`) what
  /// a write-back point may have happen again and again.
  bool holds_scheduled(bool staged) const;
  /// Grows with every step that brings the program nearer to its end: instructions issued and completed, accesses of
  /// theirs answered. Moves that gates inject, refusals and lines of code are none.
  std::uint64_t steps() const { return core.counters.warp_instructions + retired + lsu.answers(); }

  Core core;
  ExecutionUnits execution;
  Operands operands;
  std::unique_ptr<Writeback> made_writeback;
  Writeback& writeback;
  AsyncUnit async;
  LoadStoreUnit lsu;
  ReadOnlyCache icache, constants;
  FrontEnd front_end;
  IssueStage issue;
  ReuseStage reuse;
  CtaStage ctas;
  Control control;
  CauseSampler sampler;
  std::vector<protocol::LifecycleListener*> further_listeners;  ///< behind those at extension points
  std::function<void()> heartbeat;
  std::function<void(const std::string&)> watchdog;
  bool running = false;
  std::uint64_t ticks = 0;
  std::uint64_t active_cycles = 0;
  std::uint64_t resident_cta_cycles = 0, resident_warp_cycles = 0;
  std::uint64_t retired = 0;         ///< instructions of the program
  std::uint64_t watchdog_steps = 0;  ///< steps(), when last looked at
  Cycle watchdog_since;
  Quiet quiet;
  std::exception_ptr error;
};

}  // namespace regatta::sm
