// SPDX-License-Identifier: Apache-2.0
#include <regatta/emulator/emulator.h>

#include "cta.h"
#include "diagnostics.h"
#include "grid.h"
#include "parallel_grid.h"
#include "race_detector.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace regatta::emulator {

struct Emulator::Impl {
  Program program;
  DeviceMemory& memory;
  const ModuleImage& image;
  EmulatorOptions options;
  std::unique_ptr<RaceDetector> races;
  StrayLog strays;
  bool depends = false;            ///< CTAs on each other
  std::uint64_t grid_barrier = 0;  ///< address, once a cooperative launch has been run

  bool left_stack_order = false;

  std::uint64_t fresh_grid_barrier();
  void load_parameters(const LaunchRequest& request);
};

void Emulator::Impl::load_parameters(const LaunchRequest& request) {
  for (const ParameterPatch& p : program.parameters) {
    const unsigned bytes = ir::size_of(p.type);
    if (p.offset > request.parameters.size() || bytes > request.parameters.size() - p.offset) {
      throw trace::InputError(location_text(*program.function, *p.instruction) + "error: kernel '" +
                              program.function->name + "' reads " + std::to_string(bytes) + " bytes at offset " +
                              std::to_string(p.offset) + " of its parameters, which have " +
                              std::to_string(request.parameters.size()) + " bytes");
    }
    std::uint64_t value = 0;
    std::memcpy(&value, request.parameters.data() + p.offset, bytes);
    if (ir::is_signed(p.type) && bytes < 8) {
      const unsigned shift = 64 - 8 * bytes;
      value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
    }
    for (unsigned i = 0; i < program.lanes; ++i) {
      program.constants[p.constant + i] = static_cast<std::uint32_t>(value);
      program.constants[p.constant + program.lanes + i] = static_cast<std::uint32_t>(value >> 32);
    }
  }
}

/// What CUDA's cooperative groups find at the address in %envreg1 and %envreg2: the size of the workspace in bytes, and
/// the word of the barrier, which is zero when a launch begins.
std::uint64_t Emulator::Impl::fresh_grid_barrier() {
  constexpr std::uint32_t workspace[] = {8, 0};
  if (grid_barrier == 0) grid_barrier = memory.allocate("barrier of the grid", sizeof workspace, true);
  memory.write(grid_barrier, workspace, sizeof workspace);
  return grid_barrier;
}

Emulator::Emulator(const ir::Function& function, const std::vector<std::int32_t>& reconvergence, DeviceMemory& memory,
                   const ModuleImage& image, const EmulatorOptions& options)
    : impl_(new Impl{decode(function, reconvergence, image, options.warp_size, options.approximations),
                     memory,
                     image,
                     options,
                     nullptr,
                     {},
                     false,
                     0,
                     false}) {
  // Whether lanes leave the stack's order is known of CTAs that run in order.
  impl_->depends = !may_run_in_parallel(impl_->program) || options.divergence == Divergence::barriers;
  if (options.races != RaceRule::off) {
    impl_->races = std::make_unique<RaceDetector>(impl_->program, memory, options.races);
  }
}

Emulator::~Emulator() = default;
Emulator::Emulator(Emulator&&) noexcept = default;
Emulator& Emulator::operator=(Emulator&&) noexcept = default;

RunCounts Emulator::run(const LaunchRequest& request, const trace::Kernel* kernel, TraceSink* sink,
                        const std::function<void(std::uint64_t)>& progress) {
  if (sink != nullptr && kernel == nullptr) throw std::logic_error("a trace sink needs the kernel's static form");
  std::uint64_t ctas = 1;
  for (const std::uint32_t n : request.grid) ctas *= n;
  for (const std::uint32_t n : request.block) {
    if (n == 0) ctas = 0;
  }
  if (ctas == 0) throw std::logic_error("a launch with an empty grid or block");
  impl_->load_parameters(request);
  if (impl_->program.function->uses_heap) impl_->memory.heap();
  const std::uint64_t fitting = resident_ctas(request);
  std::uint64_t resident = impl_->options.concurrent_ctas == 0 ? fitting : impl_->options.concurrent_ctas;
  std::uint64_t barrier = 0;
  if (request.cooperative) {
    if (ctas > fitting) {
      throw trace::InputError("error: kernel '" + impl_->program.function->name + "' is launched cooperatively with " +
                              std::to_string(ctas) + " CTAs, expected at most " + std::to_string(fitting) +
                              ", as many as are resident at a time");
    }
    resident = ctas;
    barrier = impl_->fresh_grid_barrier();
  }
  resident = std::min(resident, ctas);
  if (impl_->races) impl_->races->begin_launch(request.grid, request.block, resident);
  const GridContext context{
      impl_->program, impl_->memory, impl_->image,       impl_->options,
      request,        barrier,       impl_->races.get(), impl_->options.stray_reads ? &impl_->strays : nullptr};
  const bool in_order = sink != nullptr || resident > 1 || impl_->races != nullptr || impl_->depends;
  if (impl_->options.threads > 1 && !in_order) {
    ParallelGrid grid(context, impl_->options.threads);
    const RunCounts counts = grid.run(progress);
    impl_->depends = grid.found_conflict();
    return counts;
  }
  GridRunner runner(context, resident, kernel, sink);
  const RunCounts counts = runner.run(progress);
  impl_->left_stack_order = impl_->left_stack_order || runner.left_stack_order();
  if (impl_->races) impl_->races->finish_launch();
  return counts;
}

std::uint64_t Emulator::resident_ctas(const LaunchRequest& request) const {
  return emulator::resident_ctas(*impl_->program.function, request);
}

bool Emulator::left_stack_order() const { return impl_->left_stack_order; }

std::vector<Race> Emulator::races() const { return impl_->races ? impl_->races->races() : std::vector<Race>{}; }

const std::vector<StrayRead>& Emulator::stray_reads() const { return impl_->strays.found; }

}  // namespace regatta::emulator
