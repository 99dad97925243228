// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace while another emulator runs: kernels, launches, and what each warp does, instruction by instruction.
// Every call is checked when it is made. README.md has an example; examples/trace_writer is a whole program.
#pragma once

#include <regatta/trace/file.h>
#include <regatta/trace/kernel_builder.h>
#include <regatta/trace/lane_paths.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace regatta::trace {

/// Records one warp. step() begins an instruction; its addresses, results and predicates follow, all of them, before
/// the next step(). Throws RecordError "kernel NAME, CTA N, warp N, instruction N (static index N, OPCODE): ...".
class WarpRecorder {
 public:
  /// Threads of the warp, one bit per lane.
  LaneMask threads() const { return threads_; }
  /// Lanes that have not exited.
  LaneMask live() const { return paths_.live(); }

  /// The warp executes instruction `index`. `path`: the lanes that come to it. `active`: those that execute it, fewer
  /// only if the instruction has a guard. All lanes of the path stand before `index`: after the instruction that they
  /// came from, or at the target of their branch. Lanes that were there and are not on the path wait. The SIMT stack
  /// follows by itself.
  void step(std::uint32_t index, LaneMask path, LaneMask active);
  /// All lanes of the path execute it.
  void step(std::uint32_t index, LaneMask path) { step(index, path, path); }
  /// With the lanes that the instruction before sends there.
  void step(std::uint32_t index);
  /// After step() of a branch: where these of its active lanes go, if not to its target.
  void goes_to(LaneMask lanes, std::uint32_t index);

  /// The next destination register: `value(lane)` is its 32 bits, asked for active lanes.
  template <class Value>
  void result(Value value) {
    WarpValue v{};
    for (LaneMask m = active_; m != 0; m &= m - 1) v.lane[first(m)] = value(first(m));
    result(v);
  }
  void result(const WarpValue& value);
  /// The next destination predicate: its value by lane.
  void predicate(LaneMask value);
  /// Byte addresses of a memory access: `address(lane)`, asked for active lanes. Shared memory is addressed by the
  /// offset in the CTA's; local memory by local_window + linear thread of the grid * local bytes of a thread + offset.
  template <class Address>
  void addresses(Address address) {
    std::uint64_t all[max_lanes] = {};
    for (LaneMask m = active_; m != 0; m &= m - 1) all[first(m)] = address(first(m));
    addresses(static_cast<const std::uint64_t*>(all));
  }
  void addresses(const std::uint64_t* by_lane);
  /// The next 32-bit word that a write left in shared memory, only if Kernel::shared_values.
  void stored(const WarpValue& value);

 private:
  friend class TraceRecorder;
  WarpRecorder(const Kernel& kernel, const Launch& launch, std::uint64_t cta, std::uint32_t warp);
  static unsigned first(LaneMask lanes) { return static_cast<unsigned>(__builtin_ctzll(lanes)); }
  [[noreturn]] void refuse(const std::string& what) const;
  void check_address(std::uint64_t address, unsigned lane) const;
  void finish();

  const Kernel* kernel_;
  const Launch* launch_;
  std::uint64_t cta_;
  std::uint32_t warp_;
  LaneMask threads_;
  LanePaths paths_;
  WarpEncoder encoder_;
  std::vector<StackEvent> events_;
  std::uint64_t steps_ = 0;
  std::uint32_t index_ = 0;
  LaneMask active_ = 0;
  unsigned results_left_ = 0, predicates_left_ = 0;
  bool addresses_left_ = false;
};

/// Writes a trace: add() each kernel, then for each launch() each CTA in order. Nothing is left behind if finish() is
/// not reached. Throws RecordError for what cannot be in a trace, base::InputError where the file cannot be written.
class TraceRecorder {
 public:
  /// `producer`: free text about the origin, shown by `regatta-trace info`.
  TraceRecorder(const std::string& path, const std::string& producer);

  /// Adds a kernel, of KernelBuilder::build() or made otherwise. Returns its number.
  std::uint32_t add(Kernel kernel);
  const Kernel& kernel(std::uint32_t number) const;
  /// Begins a launch; the one before must be complete. `ctas`: how many of the grid's first CTAs are recorded; 0: all.
  void launch(std::uint32_t kernel, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
              std::uint32_t dynamic_shared_bytes = 0, std::uint64_t ctas = 0);
  /// Begins the next CTA of the launch: number 0 first, x fastest. Returns its number.
  std::uint64_t begin_cta();
  /// A warp of the CTA, in any order and side by side. Thread t of the CTA is lane t % warp size of warp t / warp size.
  WarpRecorder& warp(std::uint32_t number);
  unsigned warps() const { return static_cast<unsigned>(warps_.size()); }
  /// Ends the CTA, all lanes of which must have exited.
  void end_cta();
  /// Completes the file.
  void finish();

 private:
  void end_launch();

  Writer writer_;
  std::deque<Kernel> kernels_;  ///< encoders refer to them
  Launch launch_;
  bool in_launch_ = false, in_cta_ = false;
  std::uint64_t next_cta_ = 0, ctas_ = 0;
  std::uint32_t launches_ = 0;
  std::vector<WarpRecorder> warps_;
};

}  // namespace regatta::trace
