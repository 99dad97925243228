// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/recorders/timeline_file.h>
#include <regatta/support/clock_domain.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::recorders {

/// The tracks of one SM in a TimelineFile; platform/recorders/README.md lists them.
class TimelineRecorder : public protocol::Observer {
 public:
  struct Shape {
    unsigned sm = 0;
    unsigned schedulers = 4;
    std::vector<std::string> gates;  ///< names of the SM's issue gates, in their order
  };
  /// Warps and CTAs with a number in `ctas` are shown. `clock` tells the time of lifecycle events.
  TimelineRecorder(TimelineFile& file, const Shape& shape, Window ctas, const support::ClockDomain& clock);

  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle, const protocol::KernelContext&) override;
  void cta_launched(protocol::Cycle now, const protocol::CtaInfo& cta) override;
  void cta_finished(protocol::Cycle now, const protocol::CtaInfo& cta) override;
  void cta_switched(protocol::Cycle now, protocol::CtaSlot cta, bool active) override;
  void warp_started(protocol::Cycle now, const protocol::WarpInfo& warp) override;
  void warp_finished(protocol::Cycle now, const protocol::WarpInfo& warp) override;
  void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void bypassed(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void operands_delivered(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void warp_state(protocol::Cycle now, const protocol::WarpInfo& warp, protocol::WarpState state) override;
  void gate_closed(protocol::Cycle from, const protocol::WarpInfo& warp, unsigned gate, bool closed) override;
  void cycles(protocol::Cycle from, std::uint64_t count, const std::vector<protocol::Stall>& stall) override;

  /// To be notified of what observers are not: what a residency policy and a scheduling policy with an active set do.
  protocol::LifecycleListener& listener() { return listener_; }
  /// The group track for the SM's counters.
  TimelineFile::Track counters() const { return counters_; }
  /// An interval ends, whose cycles are `from` to `to` (excluded).
  void sample(std::uint64_t from, std::uint64_t to);
  /// The run has ended; cycle `end` is the first that did not run.
  void finish(std::uint64_t end);
  /// True if no CTA was shown; after finish().
  bool empty() const { return !shown_; }

 private:
  using Name = TimelineFile::Name;
  class Listener : public protocol::LifecycleListener {
   public:
    explicit Listener(TimelineRecorder& recorder) : recorder_(recorder) {}
    void cta_quiesced(const protocol::CtaInfo& cta) override { recorder_.show_phase(cta, recorder_.quiesced_); }
    void cta_moved(const protocol::CtaInfo& cta) override { recorder_.show_phase(cta, recorder_.parked_); }
    void active_set_changed(const protocol::WarpInfo& warp, bool inside) override {
      recorder_.show_active(warp, inside);
    }

   private:
    TimelineRecorder& recorder_;
  };
  struct Warp {
    explicit Warp(TimelineRow r) : row(std::move(r)) {}
    TimelineRow row;
    protocol::WarpState state = protocol::WarpState::absent;
    std::uint64_t issued_until = 0;                 ///< the cycle after that of its last issue
    unsigned cta = 0;                               ///< its slot
    std::vector<std::optional<TimelineRow>> gates;  ///< below its own row, by gate
    std::optional<TimelineRow> active_set;          ///< likewise
  };
  struct Cta {
    explicit Cta(TimelineRow r) : row(std::move(r)) {}
    TimelineRow row;
    bool active = false;
    std::vector<unsigned> warps;  ///< slots
  };
  Warp& warp(unsigned slot);
  Cta& cta(unsigned slot);
  void show_phase(const protocol::CtaInfo& info, Name phase);
  void show_active(const protocol::WarpInfo& info, bool inside);
  void show_state(Warp& w, std::uint64_t now);
  void close_below(Warp& w, std::uint64_t now);
  void count_warps(std::uint64_t now, int change);
  void write_warps(std::uint64_t until);
  void collect(std::uint64_t now, int change);

  TimelineFile& file_;
  Listener listener_{*this};
  Window shown_ctas_;
  const support::ClockDomain& clock_;
  std::vector<std::string> gate_names_;
  TimelineFile::Track ctas_track_ = 0, warps_track_ = 0, counters_ = 0, resident_ = 0, collecting_ = 0;
  std::array<Name, protocol::stall_count> stall_names_{};
  std::array<Name, protocol::warp_state_count> state_names_{};
  Name switched_out_ = 0, draining_ = 0, quiesced_ = 0, parked_ = 0, closed_ = 0, inside_ = 0;
  std::vector<TimelineRow> schedulers_;
  std::uint64_t accounted_ = 0;  ///< first cycle that the schedulers have not reported
  std::vector<Warp> warps_;      ///< by slot
  std::vector<Cta> ctas_;        ///< by slot
  std::uint64_t warp_count_ = 0, warps_since_ = 0;
  std::uint64_t in_collection_ = 0, collect_since_ = 0, collected_ = 0;  ///< instructions; instruction-cycles
  bool collection_shown_ = false, shown_ = false;
};

}  // namespace regatta::recorders
