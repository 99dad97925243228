// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/trace_recorder.h>

#include <algorithm>

#include "hex.h"

namespace regatta::trace {
namespace {

/// A warp with longer columns is written in parts (traces/format, "Long warps").
constexpr std::uint64_t segment_bytes = std::uint64_t{1} << 20;

LaneMask threads_of(const Kernel& kernel, const Launch& launch, std::uint32_t warp) {
  return all_lanes(std::min(kernel.warp_size, launch.threads_per_cta() - warp * kernel.warp_size));
}

std::string text_of(const std::array<std::uint32_t, 3>& a) {
  return "(" + std::to_string(a[0]) + ", " + std::to_string(a[1]) + ", " + std::to_string(a[2]) + ")";
}

}  // namespace

WarpRecorder::WarpRecorder(const Kernel& kernel, const Launch& launch, std::uint64_t cta, std::uint32_t warp)
    : kernel_(&kernel),
      launch_(&launch),
      cta_(cta),
      warp_(warp),
      threads_(threads_of(kernel, launch, warp)),
      paths_(kernel, threads_),
      encoder_(kernel) {}

void WarpRecorder::refuse(const std::string& what) const {
  throw RecordError("kernel " + kernel_->name + ", CTA " + std::to_string(cta_) + ", warp " + std::to_string(warp_) +
                    (steps_ == 0 ? std::string(": ")
                                 : ", instruction " + std::to_string(steps_) + " (static index " +
                                       std::to_string(index_) + ", " + kernel_->instructions[index_].opcode + "): ") +
                    what);
}

void WarpRecorder::finish() {
  if (results_left_ != 0) refuse(std::to_string(results_left_) + " of its results were not given");
  if (predicates_left_ != 0) refuse(std::to_string(predicates_left_) + " of its predicates were not given");
  if (addresses_left_) refuse("its addresses were not given");
}

void WarpRecorder::step(std::uint32_t index) {
  const LaneMask path = paths_.going(index);
  if (path == 0) refuse("no lane goes on to static index " + std::to_string(index) + " from there: expected a path");
  step(index, path, path);
}

void WarpRecorder::step(std::uint32_t index, LaneMask path, LaneMask active) {
  finish();
  if (index >= kernel_->instructions.size()) {
    refuse("followed by static index " + std::to_string(index) + ", and the kernel has " +
           std::to_string(kernel_->instructions.size()) + " instructions");
  }
  events_.clear();
  if (const std::string wrong = paths_.step(index, path, events_); !wrong.empty()) refuse(wrong);
  for (const StackEvent& e : events_) e.push ? encoder_.push(e.resume_index, e.mask) : encoder_.pop();
  index_ = index;
  ++steps_;
  const StaticInstruction& i = kernel_->instructions[index];
  if ((active & ~path) != 0) refuse("lanes " + hex(active & ~path) + " execute it and are not on the path");
  if (active != path && i.guard.predicate < 0) {
    refuse("lanes " + hex(path & ~active) + " of the path do not execute it, and it has no guard");
  }
  encoder_.instruction(index, path, active);
  paths_.execute(active);
  active_ = active;
  results_left_ = i.destination_count;
  predicates_left_ = i.destination_predicate_count;
  addresses_left_ = active != 0 && has_addresses(i);
}

void WarpRecorder::goes_to(LaneMask lanes, std::uint32_t index) {
  if (const std::string wrong = paths_.goes_to(lanes, index); !wrong.empty()) refuse(wrong);
}

void WarpRecorder::result(const WarpValue& value) {
  if (results_left_ == 0) {
    refuse("a result too many: it writes " + std::to_string(kernel_->instructions[index_].destination_count) +
           " registers");
  }
  --results_left_;
  encoder_.result(value);
}

void WarpRecorder::predicate(LaneMask value) {
  if (predicates_left_ == 0) {
    refuse("a predicate too many: it writes " +
           std::to_string(kernel_->instructions[index_].destination_predicate_count));
  }
  --predicates_left_;
  encoder_.predicate(value);
}

void WarpRecorder::check_address(std::uint64_t address, unsigned lane) const {
  const StaticInstruction& i = kernel_->instructions[index_];
  const auto say = [&](const std::string& expected) {
    refuse("lane " + std::to_string(lane) + " accesses " + std::to_string(i.access_bytes) + " bytes of " +
           to_string(i.space) + " memory at " + hex(address) + ", expected " + expected);
  };
  const std::uint64_t window = base::window_number(address);
  const bool shared = i.space == MemorySpace::shared || window == base::window_number(shared_window);
  if (i.space == MemorySpace::global && window != 0) say("an address below " + hex(base::window_bytes));
  if (i.space == MemorySpace::local && window != base::window_number(local_window)) {
    say("one of the local window, from " + hex(local_window));
  }
  if (i.space == MemorySpace::generic && window > base::window_number(local_window)) {
    say("one of global, shared or local memory");
  }
  if (shared && i.space != MemorySpace::global && i.space != MemorySpace::local) {
    const std::uint64_t offset = address & base::window_offset_mask, bytes = launch_->shared_bytes_per_cta;
    if ((window != 0 && i.space == MemorySpace::shared && window != base::window_number(shared_window)) ||
        offset > bytes || bytes - offset < i.access_bytes) {
      say("an offset in the " + std::to_string(bytes) + " bytes of the CTA");
    }
  }
}

void WarpRecorder::addresses(const std::uint64_t* by_lane) {
  if (active_ == 0) return;
  if (!addresses_left_) refuse("addresses given twice, or for an instruction that has none");
  addresses_left_ = false;
  for (LaneMask m = active_; m != 0; m &= m - 1) check_address(by_lane[first(m)], first(m));
  encoder_.addresses(by_lane);
}

void WarpRecorder::stored(const WarpValue& value) { encoder_.stored(value); }

TraceRecorder::TraceRecorder(const std::string& path, const std::string& producer) : writer_(path) {
  writer_.set_producer(producer);
}

std::uint32_t TraceRecorder::add(Kernel kernel) {
  try {
    const std::uint32_t number = writer_.add_kernel(kernel);
    kernels_.push_back(std::move(kernel));
    return number;
  } catch (const std::logic_error& e) {
    throw RecordError("kernel " + kernel.name + ": " + e.what());
  }
}

const Kernel& TraceRecorder::kernel(std::uint32_t number) const {
  if (number >= kernels_.size()) {
    throw RecordError("kernel " + std::to_string(number) + ", and the trace has " + std::to_string(kernels_.size()));
  }
  return kernels_[number];
}

void TraceRecorder::end_launch() {
  if (in_cta_) throw RecordError("CTA " + std::to_string(next_cta_ - 1) + " has not ended");
  if (in_launch_ && next_cta_ != ctas_) {
    throw RecordError("launch " + std::to_string(launches_ - 1) + ": " + std::to_string(next_cta_) +
                      " CTAs were recorded, expected " + std::to_string(ctas_));
  }
  in_launch_ = false;
}

void TraceRecorder::launch(std::uint32_t kernel, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
                           std::uint32_t dynamic_shared_bytes, std::uint64_t ctas) {
  end_launch();
  launch_ = Launch{};
  launch_.kernel = kernel;
  launch_.grid = grid;
  launch_.block = block;
  launch_.dynamic_shared_bytes = dynamic_shared_bytes;
  launch_.shared_bytes_per_cta = this->kernel(kernel).static_shared_bytes + dynamic_shared_bytes;
  try {
    writer_.begin_launch(launch_);
  } catch (const std::logic_error& e) {
    throw RecordError("launch " + std::to_string(launches_) + " of grid " + text_of(grid) + " and block " +
                      text_of(block) + ": " + e.what());
  }
  const std::uint64_t all = std::uint64_t{grid[0]} * grid[1] * grid[2];
  if (ctas > all) {
    throw RecordError("launch " + std::to_string(launches_) + ": " + std::to_string(ctas) + " CTAs of a grid of " +
                      std::to_string(all));
  }
  ctas_ = ctas == 0 ? all : ctas;
  next_cta_ = 0;
  in_launch_ = true;
  ++launches_;
}

std::uint64_t TraceRecorder::begin_cta() {
  if (!in_launch_) throw RecordError("a CTA without a launch");
  if (in_cta_) throw RecordError("CTA " + std::to_string(next_cta_ - 1) + " has not ended");
  if (next_cta_ == ctas_) {
    throw RecordError("launch " + std::to_string(launches_ - 1) + " has " + std::to_string(ctas_) +
                      " CTAs, and one more begins");
  }
  const Kernel& k = kernels_[launch_.kernel];
  warps_.clear();
  for (std::uint32_t w = 0; w < launch_.warps_per_cta(k.warp_size); ++w) {
    warps_.push_back(WarpRecorder(k, launch_, next_cta_, w));
  }
  in_cta_ = true;
  return next_cta_++;
}

WarpRecorder& TraceRecorder::warp(std::uint32_t number) {
  if (!in_cta_ || number >= warps_.size()) {
    throw RecordError("warp " + std::to_string(number) + ", expected one of " +
                      (in_cta_ ? "the " + std::to_string(warps_.size()) + " of the CTA" : "a CTA that has begun"));
  }
  WarpRecorder& w = warps_[number];
  if (w.encoder_.bytes() > segment_bytes && writer_.takes_segments() && w.results_left_ == 0 &&
      w.predicates_left_ == 0 && !w.addresses_left_) {
    WarpColumns segment = w.encoder_.take_segment();
    segment.cta = w.cta_;
    segment.warp = number;
    writer_.add_segment(std::move(segment));
  }
  return w;
}

void TraceRecorder::end_cta() {
  if (!in_cta_) throw RecordError("no CTA has begun that could end");
  Cta cta;
  cta.launch = launches_ - 1;
  cta.index = next_cta_ - 1;
  for (WarpRecorder& w : warps_) {
    w.finish();
    if (w.steps_ == 0) w.refuse("executes nothing, expected an exit of its lanes");
    if (w.live() != 0) w.refuse("the CTA ends, and lanes " + hex(w.live()) + " have not exited");
    if (w.encoder_.has_segments()) {
      WarpColumns segment = w.encoder_.take_segment();
      segment.cta = w.cta_;
      segment.warp = w.warp_;
      if (segment.warp_instructions != 0) writer_.add_segment(std::move(segment));
    }
    cta.warps.push_back(w.encoder_.finish());
  }
  writer_.add_cta(std::move(cta));
  in_cta_ = false;
}

void TraceRecorder::finish() {
  end_launch();
  writer_.finish();
}

}  // namespace regatta::trace
