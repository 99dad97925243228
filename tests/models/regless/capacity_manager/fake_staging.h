// SPDX-License-Identifier: Apache-2.0
//
// A staging unit without lines: it notes what it is asked and acknowledges when it is told to.
#pragma once

#include <regatta/regless/staging_unit.h>
#include <regatta/support/clock_domain.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace regatta::test {

class FakeStaging : public sc_core::sc_module, public models::StagingUnit {
 public:
  struct Call {
    enum class Kind : std::uint8_t { preload, invalidate, issued, ended } kind = Kind::preload;
    std::uint64_t cycle = 0;
    unsigned warp = 0;
    unsigned reg = 0;            ///< of preload and invalidate
    bool last = false;           ///< of preload
    std::uint64_t sequence = 0;  ///< of issued
    models::UseMarks marks;      ///< of issued
    protocol::GeneralRegisters erase{};
  };

  /// `delay` gives the cycles from a request to its acknowledgement, at least 1.
  FakeStaging(const sc_core::sc_module_name& name, unsigned lines, support::ClockDomain& clock,
              std::function<unsigned()> delay)
      : sc_module(name),
        lines_(lines),
        clock_(clock),
        client_(
            clock, [](void* unit) { static_cast<FakeStaging*>(unit)->tick(); }, this),
        delay_(std::move(delay)) {}

  bool keeps_cycle_time() const override { return true; }
  unsigned banks() const override { return banks_; }
  unsigned lines_per_bank() const override { return lines_; }
  unsigned bank_of(protocol::WarpSlot warp, protocol::RegisterId reg) const override {
    return (warp.value() + reg.value()) % banks_;
  }
  void connect(models::StagingClient& client) override { told_ = &client; }
  unsigned request_room(unsigned bank) const override {
    const auto asked = asked_.find(bank);
    return asked == asked_.end() ? lines_ : lines_ - asked->second;
  }
  void preload(protocol::WarpSlot warp, protocol::RegisterId reg, bool last) override {
    Call call = note(Call::Kind::preload, warp.value());
    call.reg = reg.value();
    call.last = last;
    calls.push_back(call);
    answer(call);
  }
  void invalidate(protocol::WarpSlot warp, protocol::RegisterId reg) override {
    Call call = note(Call::Kind::invalidate, warp.value());
    call.reg = reg.value();
    calls.push_back(call);
    answer(call);
  }
  bool can_issue(const protocol::DynamicInstruction& d) const override { return !refuses || !refuses(d); }
  void issued(const protocol::DynamicInstruction& d, const models::UseMarks& marks) override {
    Call call = note(Call::Kind::issued, d.warp.value());
    call.sequence = d.sequence;
    call.marks = marks;
    calls.push_back(call);
  }
  void region_ended(protocol::WarpSlot warp, const protocol::GeneralRegisters& erase) override {
    Call call = note(Call::Kind::ended, warp.value());
    call.erase = erase;
    calls.push_back(call);
  }
  void lines_available(std::uint64_t at) { told_->lines_available(at); }
  void set_banks(unsigned banks) { banks_ = banks; }

  std::vector<Call> calls;
  std::function<bool(const protocol::DynamicInstruction&)> refuses;
  bool overflowed = false;  ///< a bank had more requests than lines

 private:
  Call note(Call::Kind kind, unsigned warp) const {
    Call call;
    call.kind = kind;
    call.cycle = clock_.now();
    call.warp = warp;
    return call;
  }
  void answer(const Call& call) {
    const std::uint64_t at = clock_.now() + std::max(1u, delay_());
    overflowed = ++asked_[(call.warp + call.reg) % banks_] > lines_ || overflowed;
    due_.emplace(at, call);
    client_.request(at);
  }
  void tick() {
    while (!due_.empty() && due_.begin()->first <= clock_.now()) {
      const Call call = due_.begin()->second;
      due_.erase(due_.begin());
      --asked_[(call.warp + call.reg) % banks_];
      const protocol::WarpSlot warp(static_cast<std::uint16_t>(call.warp));
      const protocol::RegisterId reg(static_cast<std::uint8_t>(call.reg));
      if (call.kind == Call::Kind::preload) {
        told_->preloaded(warp, reg, static_cast<models::PreloadSource>(call.reg % models::preload_source_count));
      } else {
        told_->invalidated(warp, reg);
      }
    }
    if (!due_.empty()) client_.request(due_.begin()->first);
  }

  unsigned banks_ = 8;
  unsigned lines_;
  support::ClockDomain& clock_;
  support::CycleClient client_;
  std::function<unsigned()> delay_;
  std::multimap<std::uint64_t, Call> due_;
  std::map<unsigned, unsigned> asked_;  ///< not answered, by bank
  models::StagingClient* told_ = nullptr;
};

}  // namespace regatta::test
