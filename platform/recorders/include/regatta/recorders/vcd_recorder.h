// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/protocol/payload.h>
#include <regatta/recorders/socket_tap.h>
#include <regatta/recorders/window.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/vcd_writer.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regatta::recorders {

/// A value change dump shared by the SMs' recorders: signals by cycle, a clock, and a window of cycles. Future events
/// (the end of a bank access) wait until their cycle.
class VcdFile {
 public:
  using Signal = support::VcdWriter::Signal;

  /// A cycle lasts `period_ps`.
  VcdFile(const std::string& path, std::uint64_t period_ps, Window window);

  support::VcdWriter& declare() { return writer_; }
  /// Writes everything before cycle `now`.
  void advance(std::uint64_t now);
  void set(std::uint64_t cycle, Signal signal, std::uint64_t value) { pending_[cycle].sets.push_back({signal, value}); }
  /// Sets the value for one cycle; then it is 0 unless set again.
  void pulse(std::uint64_t cycle, Signal signal, std::uint64_t value = 1) {
    set(cycle, signal, value);
    pending_[cycle + 1].clears.push_back(signal);
  }
  bool over(std::uint64_t now) const { return now > window_.last; }
  /// The run ended in cycle `now`. Gives the file its final name.
  void finish(std::uint64_t now);

 private:
  struct Assignment {
    Signal signal;
    std::uint64_t value;
  };
  struct Changes {
    std::vector<Signal> clears;
    std::vector<Assignment> sets;
  };
  /// Ticks the clock up to but not including `cycle`.
  void run_to(std::uint64_t cycle);

  support::VcdWriter writer_;
  std::uint64_t period_ps_;
  Window window_;
  Signal clock_;
  std::map<std::uint64_t, Changes> pending_;
  std::uint64_t next_ = 0;  ///< the first cycle not written
};

/// Sizes of the parts of an SM to show.
struct VcdShape {
  unsigned schedulers = 4;
  unsigned issue_width = 1;
  unsigned banks = 16;
  unsigned read_ports = 1;  ///< of a bank
  unsigned write_ports = 6;
  unsigned ctas = 32, warps = 64;  ///< resident at most
  unsigned dispatches = 8;         ///< to pipelines of one kind in a cycle, at most
};

/// The signals of one SM; platform/recorders/README.md lists them.
class VcdRecorder : public protocol::Observer {
 public:
  /// Declares the signals of SM `sm` in `file`, whose declarations must be open.
  VcdRecorder(VcdFile& file, unsigned sm, const VcdShape& shape, const support::ClockDomain& clock);

  /// Observes the SM's sockets through taps.
  void watch(SocketTap<1024>& reads, SocketTap<1024>& writes, SocketTap<256>& memory);

  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle now, const protocol::KernelContext&) override;
  void cta_launched(protocol::Cycle now, const protocol::CtaInfo&) override { count(now, resident_ctas_, 1); }
  void cta_finished(protocol::Cycle now, const protocol::CtaInfo&) override { count(now, resident_ctas_, -1); }
  void warp_started(protocol::Cycle now, const protocol::WarpInfo& warp) override;
  void warp_finished(protocol::Cycle now, const protocol::WarpInfo& warp) override;
  void warp_state(protocol::Cycle now, const protocol::WarpInfo& warp, protocol::WarpState state) override;
  void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void bypassed(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void operands_delivered(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void cycles(protocol::Cycle from, std::uint64_t count, const std::vector<protocol::Stall>& stall) override;

 private:
  using Signal = VcdFile::Signal;
  /// A number of things, as a signal.
  struct Counted {
    Signal signal = 0;
    std::uint64_t value = 0;
  };
  /// A warp and its register or PC that pass a port.
  struct Port {
    Signal valid = 0, warp = 0, what = 0;
  };
  /// Events of a kind in the present cycle.
  struct PerCycle {
    std::uint64_t cycle = UINT64_MAX;
    unsigned count = 0;
    unsigned next(std::uint64_t now) {
      count = cycle == now ? count + 1 : 0;
      cycle = now;
      return count;
    }
  };
  Port port(const std::string& prefix, const std::string& what, unsigned width);
  /// By cycle, how many of what is to come are known.
  using Ordinals = std::map<std::uint64_t, unsigned>;
  /// How many came before in `cycle`.
  unsigned ordinal(Ordinals& counts, std::uint64_t cycle) const;
  void pass(std::uint64_t cycle, const Port& p, std::uint64_t warp, std::uint64_t what);
  void count(protocol::Cycle now, Counted& c, int change);
  std::uint64_t when(const sc_core::sc_time& delay) const { return clock_.now() + delay.value() / period_; }

  VcdFile& file_;
  const support::ClockDomain& clock_;
  std::uint64_t period_;
  VcdShape shape_;
  Counted resident_ctas_, resident_warps_, at_barrier_, collecting_;
  std::vector<std::vector<Port>> issue_;  ///< per scheduler and slot
  std::vector<PerCycle> issues_;
  std::vector<Signal> stall_;
  std::vector<std::uint64_t> stall_value_;
  std::vector<std::vector<Port>> read_;  ///< per bank and read port
  std::vector<Port> write_;              ///< in the order of a cycle
  std::vector<Ordinals> reads_at_;       ///< per bank
  Ordinals writes_at_, responses_at_;
  std::vector<Port> dispatch_;  ///< per unit, the last one of a cycle
  std::vector<Signal> dispatched_;
  std::vector<PerCycle> dispatches_;
  Signal request_valid_ = 0, request_write_ = 0, request_class_ = 0, request_address_ = 0, request_warp_ = 0,
         response_valid_ = 0, response_count_ = 0, write_count_ = 0;
  std::vector<Signal> quiet_;  ///< 0 from the start of the first launch on
  std::vector<bool> barrier_;  ///< per warp slot
};

}  // namespace regatta::recorders
