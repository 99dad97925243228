// SPDX-License-Identifier: Apache-2.0
#include <regatta/emulator/emulator.h>

#include "cta.h"
#include "diagnostics.h"
#include "race_detector.h"

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

Emulator::Emulator(const ir::Function& function, const std::vector<std::int32_t>& reconvergence, DeviceMemory& memory,
                   const ModuleImage& image, const EmulatorOptions& options)
    : impl_(new Impl{decode(function, reconvergence, image, options.warp_size), memory, image, options, nullptr, {}}) {
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
  if (impl_->races) impl_->races->begin_launch(request.grid, request.block);
  CtaRunner runner(impl_->program, impl_->memory, impl_->image, impl_->options, request, impl_->races.get(),
                   impl_->options.stray_reads ? &impl_->strays : nullptr);
  for (std::uint64_t c = 0; c < ctas; ++c) {
    if (sink != nullptr && sink->wants(c)) {
      trace::Cta cta = sink->storage();
      runner.run(c, kernel, &cta, sink->takes_segments() ? sink : nullptr);
      sink->take(std::move(cta));
    } else {
      runner.run(c, nullptr, nullptr, nullptr);
    }
    if (progress) progress(c + 1);
  }
  if (impl_->races) impl_->races->finish_launch();
  return runner.counts();
}

std::vector<Race> Emulator::races() const { return impl_->races ? impl_->races->races() : std::vector<Race>{}; }

const std::vector<StrayRead>& Emulator::stray_reads() const { return impl_->strays.found; }

}  // namespace regatta::emulator
