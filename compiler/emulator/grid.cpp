// SPDX-License-Identifier: Apache-2.0
#include "grid.h"

#include "race_detector.h"

#include <algorithm>

namespace regatta::emulator {

GridRunner::GridRunner(const GridContext& context, std::uint64_t resident, const trace::Kernel* kernel, TraceSink* sink)
    : context_(context), kernel_(kernel), sink_(sink) {
  for (const std::uint32_t n : context.request.grid) ctas_ *= n;
  slots_.resize(std::min(resident, ctas_));
  for (Slot& slot : slots_) {
    slot.runner =
        std::make_unique<CtaRunner>(context.program, context.memory, context.image, context.options, context.request,
                                    context.grid_barrier, window_, context.races, context.strays);
    slot.runner->set_log(context.log);
  }
}

void GridRunner::begin(Slot& slot) {
  const std::uint64_t index = started_++;
  slot.busy = true;
  slot.traced = sink_ != nullptr && sink_->wants(index);
  if (!slot.traced) {
    slot.runner->begin(index, nullptr, {}, nullptr);
    return;
  }
  TraceSink* segments = nullptr;
  if (sink_->takes_segments()) {
    segments = sink_;
    if (slots_.size() > 1) {
      slot.segments = std::make_unique<Segments>();
      segments = slot.segments.get();
    }
  }
  slot.runner->begin(index, kernel_, sink_->storage(), segments);
}

void GridRunner::finish(Slot& slot) {
  trace::Cta cta = slot.runner->finish();
  slot.busy = false;
  ++done_;
  if (!slot.traced) return;
  ended_[slot.runner->index()] = {std::move(cta), std::move(slot.segments)};
  hand_on();
}

void GridRunner::hand_on() {
  for (; handed_on_ < started_; ++handed_on_) {
    if (!sink_->wants(handed_on_)) continue;
    const auto next = ended_.find(handed_on_);
    if (next == ended_.end()) return;
    if (next->second.segments) {
      for (trace::WarpColumns& part : next->second.segments->kept) sink_->take_segment(std::move(part));
    }
    sink_->take(std::move(next->second.cta));
    ended_.erase(next);
  }
}

void GridRunner::report_endless() {
  CtaRunner* speaker = nullptr;
  CtaRunner::Launched launched{started_, slots_.size(), 0};
  for (Slot& slot : slots_) {
    if (!slot.busy) continue;
    const SpinWatch::Outlook outlook = slot.runner->outlook();
    if (outlook == SpinWatch::Outlook::open) return;
    if (outlook != SpinWatch::Outlook::endless) continue;
    ++launched.stuck;
    if (speaker == nullptr) speaker = slot.runner.get();
  }
  if (speaker != nullptr) speaker->endless(launched);
}

void GridRunner::run_range(std::uint64_t first, std::uint64_t end, const std::function<void(std::uint64_t)>& progress) {
  started_ = done_ = handed_on_ = first;
  while (done_ < end) {
    const bool alone = slots_.size() == 1;
    if (alone && !slots_[0].busy) window_.restart();
    window_.begin_round();
    for (std::size_t n = 0; n < slots_.size(); ++n) {
      Slot& slot = slots_[n];
      if (context_.races != nullptr) context_.races->select(n);
      if (!slot.busy) {
        if (started_ == end) continue;
        begin(slot);
      }
      if (slot.runner->round()) continue;
      finish(slot);
      if (progress) progress(done_);
    }
    if (window_.watching()) report_endless();
  }
}

RunCounts GridRunner::counts() const {
  RunCounts counts;
  for (const Slot& slot : slots_) counts += slot.runner->counts();
  return counts;
}

bool GridRunner::left_stack_order() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.runner->left_stack_order(); });
}

std::uint64_t resident_ctas(const ir::Function& f, const LaunchRequest& request) {
  constexpr std::uint64_t multiprocessors = 132, registers = 65536, register_unit = 256, threads = 2048, ctas = 32;
  constexpr std::uint64_t shared = 228 << 10, reserved_shared = 1 << 10, program_warp = 32;
  std::uint64_t block = 1;
  for (const std::uint32_t n : request.block) block *= n;
  const std::uint64_t warps = (block + program_warp - 1) / program_warp;
  const auto units = [](std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit; };
  // Where warps change how many they have, a CTA starts with what its kernel is launched with.
  const std::uint64_t thread = f.entry_registers != 0 ? f.entry_registers : f.registers_used;
  const std::uint64_t per_warp = std::max<std::uint64_t>(1, units(thread * program_warp, register_unit));
  const std::uint64_t by_registers = registers / register_unit / (per_warp * warps);
  const std::uint64_t by_shared =
      shared / (std::uint64_t{f.static_shared_bytes} + request.dynamic_shared_bytes + reserved_shared);
  const std::uint64_t by_threads = threads / program_warp / warps;
  return std::max<std::uint64_t>(1, std::min({ctas, by_registers, by_shared, by_threads})) * multiprocessors;
}

}  // namespace regatta::emulator
