// SPDX-License-Identifier: Apache-2.0
//
// Runs all CTAs of a launch: one after another, or several of them together in turns.
#pragma once

#include "cta.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace regatta::emulator {

/// What all CTAs of a launch work on. All must outlive the run; `races` and `strays` may be nullptr.
struct GridContext {
  Program& program;
  DeviceMemory& memory;
  const ModuleImage& image;
  const EmulatorOptions& options;
  const LaunchRequest& request;
  std::uint64_t grid_barrier;  ///< address, 0 where the launch is not cooperative
  RaceDetector* races;
  StrayLog* strays;
  AccessLog* log = nullptr;
};

class GridRunner {
 public:
  /// `resident`: CTAs that advance together, at least 1. `kernel` and `sink` may be nullptr.
  GridRunner(const GridContext& context, std::uint64_t resident, const trace::Kernel* kernel = nullptr,
             TraceSink* sink = nullptr);

  /// `progress` may be empty; it is called after every CTA with the number done.
  RunCounts run(const std::function<void(std::uint64_t)>& progress) {
    run_range(0, ctas_, progress);
    return counts();
  }
  /// The CTAs from `first` to before `end`. The number done counts those before `first`.
  void run_range(std::uint64_t first, std::uint64_t end, const std::function<void(std::uint64_t)>& progress);
  /// Of all that have run.
  RunCounts counts() const;
  bool left_stack_order() const;

 private:
  /// Keeps the segments of a CTA until the sink can have them.
  class Segments : public TraceSink {
   public:
    bool wants(std::uint64_t) const override { return true; }
    void take_segment(trace::WarpColumns&& columns) override { kept.push_back(std::move(columns)); }
    void take(trace::Cta&&) override {}
    std::vector<trace::WarpColumns> kept;
  };
  struct Slot {
    std::unique_ptr<CtaRunner> runner;
    bool busy = false;
    bool traced = false;
    std::unique_ptr<Segments> segments;
  };
  struct Ended {
    trace::Cta cta;
    std::unique_ptr<Segments> segments;
  };
  void begin(Slot& slot);
  void finish(Slot& slot);
  /// Hands on the CTAs whose turn it is.
  void hand_on();
  void report_endless();

  const GridContext& context_;
  const trace::Kernel* kernel_;
  TraceSink* sink_;
  std::uint64_t ctas_ = 1;
  std::uint64_t started_ = 0, done_ = 0, handed_on_ = 0;
  SpinWindow window_;
  std::vector<Slot> slots_;
  std::map<std::uint64_t, Ended> ended_;  ///< by index
};

/// EmulatorOptions::concurrent_ctas = 0: what an H100 holds.
std::uint64_t resident_ctas(const ir::Function& f, const LaunchRequest& request);

}  // namespace regatta::emulator
