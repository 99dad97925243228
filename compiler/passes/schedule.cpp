// SPDX-License-Identifier: Apache-2.0
#include "block_schedule.h"
#include "register_limits.h"

#include <regatta/passes/schedule.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace regatta::passes {

namespace {

/// Blocks below this length have nothing to reorder.
constexpr std::size_t shortest_block = 3;

/// Greedy schedules are tried with limits that are this much tighter than the bound, because choices near the bound can
/// force the schedule over it later.
constexpr int limit_cuts[] = {0, 2, 5, 10};

/// Registers per thread that cost no occupancy on a machine of 65,536 registers and 32 CTAs, if the kernel says how
/// many threads a CTA has at most.
unsigned free_registers(const ir::LaunchBounds& bounds) {
  constexpr std::uint64_t registers = 65536, ctas = 32, granularity = 8, most_threads = 2048;
  if (bounds.threads() == 0) return 0;
  const std::uint64_t threads = std::min(most_threads, (bounds.threads() + 31) / 32 * 32 * ctas);
  return static_cast<unsigned>(
      std::min<std::uint64_t>(registers / threads / granularity * granularity, trace::max_general_registers));
}

class Scheduler {
 public:
  Scheduler(ir::Function& f, const ScheduleOptions& options)
      : f_(f), options_(options), cfg_(f), liveness_(f, cfg_), dependences_(f, options.read_only_passes) {}

  ScheduleResult run() {
    find_bound();
    if (sets_registers(f_)) limits_.emplace(f_);
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) schedule_block(b);
    return result_;
  }

 private:
  BlockModel model(std::uint32_t b) {
    dependences_.build(b);
    return BlockModel(f_, b, liveness_, dependences_, options_.latency);
  }
  static Order original(const BlockModel& m) {
    std::vector<std::uint32_t> sequence(m.size());
    for (std::uint32_t n = 0; n < sequence.size(); ++n) sequence[n] = n;
    return m.measure(std::move(sequence));
  }

  /// The tightest point of the function when every block is ordered for few registers, and the slack.
  void find_bound() {
    int needed = 0, predicates = 0;
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) {
      const BlockModel m = model(b);
      originals_.push_back(original(m));
      tightest_.push_back(m.size() < shortest_block ? originals_.back() : m.least_pressure());
      const Order& best = better(tightest_.back(), originals_.back()) ? tightest_.back() : originals_.back();
      needed = std::max(needed, best.peak.general);
      predicates = std::max(predicates, best.peak.predicates);
      result_.pressure_before =
          std::max(result_.pressure_before, static_cast<unsigned>(originals_.back().peak.general));
      result_.cycles_before += originals_.back().cycles;
    }
    const unsigned free = options_.fills_occupancy ? std::max(options_.free_registers, free_registers(f_.bounds))
                                                   : options_.free_registers;
    const int slack = static_cast<int>(options_.slack) + static_cast<int>(options_.slack_share * needed);
    const int wanted = std::max(needed + slack, static_cast<int>(free));
    bound_.general = std::max(needed, std::min(wanted, static_cast<int>(options_.max_registers)));
    bound_.predicates = std::max(predicates, static_cast<int>(trace::max_predicates));
    result_.bound = static_cast<unsigned>(bound_.general);
  }

  static bool better(const Order& a, const Order& b) {
    return std::make_pair(a.peak.general + 4 * std::max(0, a.peak.predicates - int{trace::max_predicates}), a.cycles) <
           std::make_pair(b.peak.general + 4 * std::max(0, b.peak.predicates - int{trace::max_predicates}), b.cycles);
  }

  /// bound_, and where setmaxnreg sets a lower limit, that one; no less than the block needs.
  Pressure bound_of(std::uint32_t b) const {
    Pressure bound = bound_;
    if (!limits_) return bound;
    const int limit = static_cast<int>(limits_->least(b)) - static_cast<int>(options_.margin);
    const int needed = std::min(originals_[b].peak.general, tightest_[b].peak.general);
    bound.general = std::max(needed, std::min(bound.general, limit));
    return bound;
  }

  void schedule_block(std::uint32_t b) {
    const Pressure bound = bound_of(b);
    Order best = std::move(originals_[b]);
    const BlockModel m = model(b);
    if (m.size() >= shortest_block) {
      const auto consider = [&](Order order) {
        const bool fits = within(order.peak, bound), best_fits = within(best.peak, bound);
        if (fits && best_fits ? order.cycles < best.cycles : fits || (!best_fits && better(order, best)))
          best = std::move(order);
      };
      consider(std::move(tightest_[b]));
      consider_latency_first(m, bound, consider);
    }
    result_.pressure_after = std::max(result_.pressure_after, static_cast<unsigned>(best.peak.general));
    result_.cycles_after += best.cycles;
    apply(b, best.sequence);
  }

  template <class Consider>
  void consider_latency_first(const BlockModel& m, const Pressure& bound, Consider&& consider) const {
    const int most = options_.spares_predicates ? 4 : 0;
    for (int predicates = 0; predicates <= most; predicates += 2)
      for (int cut : limit_cuts) {
        Pressure limit = bound;
        limit.general -= cut;
        limit.predicates -= predicates;
        Order order = m.latency_first(limit);
        const bool fits = within(order.peak, bound), is_of_registers = order.peak.general > bound.general;
        consider(std::move(order));
        if (fits) return;
        if (most != 0 && !is_of_registers) break;  // fewer registers would not help
      }
  }

  void apply(std::uint32_t b, const std::vector<std::uint32_t>& sequence) {
    auto& code = f_.blocks[b].instructions;
    if (sequence.size() != code.size())
      throw std::logic_error("scheduling of " + f_.name + ": block " + std::to_string(b) + " has cyclic dependences");
    std::vector<ir::Instruction> ordered;
    ordered.reserve(code.size());
    for (std::uint32_t place = 0; place < sequence.size(); ++place) {
      result_.moved += sequence[place] != place;
      ordered.push_back(std::move(code[sequence[place]]));
    }
    code = std::move(ordered);
  }

  ir::Function& f_;
  const ScheduleOptions& options_;
  analysis::Cfg cfg_;
  analysis::Liveness liveness_;  // at block borders, which scheduling does not change
  analysis::Dependences dependences_;
  std::vector<Order> originals_, tightest_;
  std::optional<RegisterLimits> limits_;
  Pressure bound_;
  ScheduleResult result_;
};

}  // namespace

ScheduleResult schedule(ir::Function& f, const ScheduleOptions& options) {
  if (f.allocated) throw std::logic_error("kernel " + f.name + " is allocated already: its registers bind the order");
  return Scheduler(f, options).run();
}

}  // namespace regatta::passes
