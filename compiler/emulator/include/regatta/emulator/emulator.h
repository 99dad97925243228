// SPDX-License-Identifier: Apache-2.0
//
// The emulator: executes one allocated kernel warp-wide on real memory. A warp is a structure of arrays; branches
// that diverge go through an immediate-post-dominator SIMT stack; CTAs run one after the other, in index order, unless
// they are to advance together, and the warps of a CTA take turns. The result is the state of memory and, where a sink
// asks for it, the dynamic streams of the trace.
#pragma once

#include <regatta/emulator/approximations.h>
#include <regatta/emulator/device_memory.h>
#include <regatta/emulator/divergence.h>
#include <regatta/emulator/module_image.h>
#include <regatta/emulator/races.h>
#include <regatta/emulator/stray_reads.h>
#include <regatta/emulator/texture_table.h>
#include <regatta/ir/ir.h>
#include <regatta/trace/kernel.h>
#include <regatta/trace/warp_stream.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::emulator {

struct EmulatorOptions {
  unsigned warp_size = 32;  ///< 32 or 64
  /// Warp instructions one warp may execute before it is taken for an endless loop that could not be proved.
  std::uint64_t max_instructions = std::uint64_t{1} << 31;
  /// Warp instructions a warp runs before the next one of its CTA has its turn; barriers end a turn early.
  std::uint32_t quantum = 256;
  /// Reads of global memory outside of all buffers, where DeviceMemory::is_mapped(), give zero and are counted; they
  /// are errors else. Writes and atomics there always are.
  bool stray_reads = false;
  /// What CUDA leaves undefined is zero, and an error else where something depends on it: registers, predicates, local
  /// and shared memory before they are written, and the value that a shuffle takes from a lane that does not execute
  /// it. A shuffle from a lane that executes it but is not in the member mask takes that lane's value.
  bool undefined_zero = false;
  /// Textures and surfaces that handles in the launch mean; it must outlive the emulator. nullptr: there are none.
  const TextureTable* textures = nullptr;
  /// CTAs of a launch that advance together: each in turn gives every warp of its own a turn, and the next CTA takes
  /// the place of one that has ended. 1: one after another to their end; 0: as many as Emulator::resident_ctas() says.
  std::uint64_t concurrent_ctas = 1;
  /// Threads that run CTAs, of launches that are not traced and whose CTAs do not depend on each other (checked). What
  /// comes of it is the same as with 1, messages included.
  unsigned threads = 1;
  Divergence divergence = Divergence::stack;
  Approximations approximations = Approximations::rounded;
  RaceRule races = RaceRule::off;  ///< costs nothing when off; several times the time and memory else
  /// Receives what the kernel's vprintf prints, one call per thread and printf, in the order of execution (CTAs in
  /// index order, lanes ascending). Empty: standard output.
  std::function<void(const std::string&)> print;
};

/// One launch of a kernel. `parameters` is the parameter space, laid out as ir::Function::parameters says.
struct LaunchRequest {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::uint8_t> parameters;
  /// All CTAs advance together, and %envreg1 and %envreg2 have the address of the grid's barrier (cooperative_groups,
  /// cudaLaunchCooperativeKernel). Not more CTAs than Emulator::resident_ctas().
  bool cooperative = false;
};

/// Counts over a launch, all CTAs.
struct RunCounts {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;  ///< sum of the lanes that executed
  std::uint64_t divergent_branches = 0;   ///< branches at which a warp split

  RunCounts& operator+=(const RunCounts& o) {
    warp_instructions += o.warp_instructions;
    thread_instructions += o.thread_instructions;
    divergent_branches += o.divergent_branches;
    return *this;
  }
};

/// Receives the CTAs of a launch that are to be traced. Addresses in the streams: byte offsets for shared memory;
/// for generic accesses the generic address; for local memory ir::local_window + linear thread in the grid *
/// local_bytes + offset, so that every thread's frame has a place of its own.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Whether the CTA with this linear index is wanted.
  virtual bool wants(std::uint64_t cta) const = 0;
  /// A CTA whose memory the next one's columns take; what is in it does not count.
  virtual trace::Cta storage() { return {}; }
  /// Whether take_segment() may be called.
  virtual bool takes_segments() const { return false; }
  /// A part of a long warp, of the CTA that take() is called for next (trace::WarpSegments); `columns.cta` and
  /// `columns.warp` name it.
  virtual void take_segment(trace::WarpColumns&& /*columns*/) {}
  /// `cta.launch` is left 0. Called in ascending CTA order, also where CTAs advance together: those that end before
  /// earlier ones are kept until then.
  virtual void take(trace::Cta&& cta) = 0;
};

/// A kernel that is ready to run. The function, the memory and the image must outlive it.
///
/// Everything that is wrong with a program throws ProgramFault, a trace::InputError, as "file:line:column: error:
/// kernel 'k', CTA (x,y,z), thread (x,y,z): what (source:line)": accesses out of bounds or misaligned, reads of
/// registers, predicates, shared or global memory never written, barriers under divergence or that never fill, endless
/// loops, trap.
class Emulator {
 public:
  /// `reconvergence` has one entry per block, -1 for the kernel's exit. Throws trace::InputError for an
  /// instruction that cannot be executed.
  Emulator(const ir::Function& function, const std::vector<std::int32_t>& reconvergence, DeviceMemory& memory,
           const ModuleImage& image, const EmulatorOptions& options);
  ~Emulator();
  Emulator(Emulator&&) noexcept;
  Emulator& operator=(Emulator&&) noexcept;

  /// Runs the whole grid. `kernel` (the static form the streams refer to) is needed only with a sink. `progress`, when
  /// set, is called after every CTA with the number done.
  /// CTAs of this size that an H100 holds at a time, at least 1: 132 multiprocessors, each with 65,536 registers in
  /// units of 256 per warp, 2,048 threads, 32 CTAs and 228 KiB of shared memory, of which the system has 1 KiB per CTA.
  std::uint64_t resident_ctas(const LaunchRequest& request) const;

  RunCounts run(const LaunchRequest& request, const trace::Kernel* kernel = nullptr, TraceSink* sink = nullptr,
                const std::function<void(std::uint64_t)>& progress = {});

  /// With Divergence::barriers: whether, in a run so far, the lanes of a warp went in an order that a SIMT stack does
  /// not have. Otherwise the traces are the same.
  bool left_stack_order() const;
  /// The races of all runs so far, in the order they were found, one per pair of instructions.
  std::vector<Race> races() const;
  /// With EmulatorOptions::stray_reads, those of all runs so far, by instruction, in the order they were found.
  const std::vector<StrayRead>& stray_reads() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace regatta::emulator
