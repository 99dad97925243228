// SPDX-License-Identifier: Apache-2.0
#include "parallel_grid.h"

#include <regatta/emulator/program_fault.h>

#include <algorithm>
#include <thread>

namespace regatta::emulator {

namespace {

/// Warp instructions: fewer are not worth a thread, and after so many logs are compared and begin anew.
constexpr std::uint64_t least_work = 100'000, wave_work = std::uint64_t{1} << 26;

}  // namespace

bool may_run_in_parallel(const Program& program) {
  return std::none_of(program.ops.begin(), program.ops.end(), [](const Op& op) {
    switch (op.kind) {
      case Kind::atomic:
        return op.space == trace::MemorySpace::global;
      case Kind::asynchronous:
        return op.atomic != ir::AtomicOp::none;
      case Kind::fence:
        return op.instruction->mod.scope != ir::MemoryScope::cta;
      case Kind::print:
      case Kind::texture:  // of memory that another CTA may write
      case Kind::surface_load:
      case Kind::surface_store:
        return true;
      default:
        return false;
    }
  });
}

ParallelGrid::ParallelGrid(const GridContext& context, unsigned threads) : context_(context), start_(context.memory) {
  for (const std::uint32_t n : context.request.grid) ctas_ *= n;
  workers_.resize(std::min<std::uint64_t>(threads, ctas_));
}

void ParallelGrid::work(Worker& w, std::uint64_t end, std::uint64_t block) {
  try {
    while (!stop_) {
      const std::uint64_t first = next_.fetch_add(block);
      if (first >= end) return;
      w.grid.run_range(first, std::min(end, first + block), {});
    }
  } catch (...) {
    // Perhaps because of what another CTA should have done before. In order it will happen again, or not.
    stop_ = true;
  }
}

bool ParallelGrid::any_conflict() const {
  for (std::size_t a = 0; a < workers_.size(); ++a) {
    for (std::size_t b = a + 1; b < workers_.size(); ++b) {
      if (workers_[a]->log.conflicts(workers_[b]->log)) return true;
    }
  }
  return false;
}

bool ParallelGrid::run_wave(std::uint64_t first, std::uint64_t end) {
  for (auto& w : workers_) {
    if (w == nullptr) w = std::make_unique<Worker>(context_, start_);
  }
  next_ = first;
  stop_ = false;
  const std::uint64_t block = std::max<std::uint64_t>(1, (end - first) / (workers_.size() * 8));
  std::vector<std::thread> threads;
  for (std::size_t n = 1; n < workers_.size(); ++n) {
    threads.emplace_back([this, n, end, block] { work(*workers_[n], end, block); });
  }
  work(*workers_[0], end, block);
  for (std::thread& t : threads) t.join();
  const bool good = !stop_ && !any_conflict();
  if (!good) start_.restore();
  start_.clear();
  for (auto& w : workers_) w->log.clear();
  return good;
}

RunCounts ParallelGrid::run(const std::function<void(std::uint64_t)>& progress) {
  GridRunner in_order(context_, 1);
  in_order.run_range(0, 1, progress);
  const std::uint64_t work = std::max<std::uint64_t>(1, in_order.counts().warp_instructions);
  RunCounts parallel;
  std::uint64_t done = 1;
  while (done < ctas_ && workers_.size() > 1 && work * (ctas_ - done) >= least_work) {
    const std::uint64_t end = std::min(ctas_, done + std::max<std::uint64_t>(workers_.size() * 8, wave_work / work));
    if (!run_wave(done, end)) {
      found_conflict_ = true;
      break;
    }
    parallel = {};
    for (const auto& w : workers_) parallel += w->grid.counts();
    done = end;
    if (progress) progress(done);
  }
  in_order.run_range(done, ctas_, progress);
  parallel += in_order.counts();
  return parallel;
}

}  // namespace regatta::emulator
