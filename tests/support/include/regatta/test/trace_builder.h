// SPDX-License-Identifier: Apache-2.0
//
// Small traces by hand: a kernel given instruction by instruction and what each warp executes of it. Values are
// computed by a fixed rule (a mix of the sources' values, the PC and the lane), so that every register of every
// warp at every time holds something different and a lost or stale value is seen.
#pragma once

#include <regatta/trace/file.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace regatta::test {

class TraceBuilder {
 public:
  explicit TraceBuilder(unsigned warp_size = 32);

  // --- the kernel: each call adds an instruction and returns its static index ---
  std::uint32_t op(trace::OpClass c, std::vector<unsigned> destinations, std::vector<unsigned> sources);
  std::uint32_t guarded_op(trace::OpClass c, unsigned guard, std::vector<unsigned> destinations,
                           std::vector<unsigned> sources);
  std::uint32_t set_predicate(unsigned predicate, std::vector<unsigned> sources);
  std::uint32_t load(trace::MemorySpace space, unsigned destination, unsigned address_register, unsigned bytes = 4);
  std::uint32_t store(trace::MemorySpace space, unsigned address_register, unsigned value, unsigned bytes = 4);
  std::uint32_t barrier(unsigned id = 0, unsigned threads = 0);
  std::uint32_t fence();
  std::uint32_t branch(std::uint32_t target);
  std::uint32_t exit();
  trace::Kernel& kernel() { return kernel_; }

  // --- the launch ---
  /// Starts a launch of the kernel: `ctas` CTAs of `threads` threads.
  void launch(std::uint64_t ctas, unsigned threads, unsigned shared_bytes = 0);

  /// Another rule for results: the value of a lane from the instruction, the lane and its sources' values.
  using Rule = std::function<std::uint32_t(std::uint32_t index, unsigned lane, const std::vector<std::uint32_t>&)>;
  void set_rule(Rule rule) { rule_ = std::move(rule); }

  // --- the execution: call for every CTA and warp of the launch in order ---
  void begin_cta();
  void begin_warp();
  /// The warp executes instruction `index` on the lanes of `active` (all existing lanes when 0 is given).
  /// `address(lane)` for memory instructions.
  void execute(std::uint32_t index, trace::LaneMask active = 0);
  void execute(std::uint32_t index, trace::LaneMask active, const std::vector<std::uint64_t>& addresses);
  /// Executes the whole kernel from first to last instruction once, with no lane switched off.
  void execute_straight(const std::vector<std::uint64_t>& addresses = {});
  void end_warp();
  void end_cta();

  bool uniform_values = false;  ///< results are the same in all lanes, where operands are
  /// Every CTA and warp of the launch executes the kernel straight through.
  void run_all(const std::vector<std::uint64_t>& addresses = {});

  /// Writes `name`.rgt, in the current directory unless `name` says another, and returns its path.
  std::string write(const std::string& name);

 private:
  trace::StaticInstruction& add(trace::OpClass c, const std::string& opcode);
  struct WarpState {
    std::vector<trace::WarpValue> registers;
    trace::LaneMask exists = 0;
  };
  struct LaunchData {
    trace::Launch launch;
    std::vector<trace::Cta> ctas;
  };

  trace::Kernel kernel_;
  std::vector<LaunchData> launches_;
  Rule rule_;
  WarpState warp_;
  std::unique_ptr<trace::WarpEncoder> encoder_;
};

}  // namespace regatta::test
