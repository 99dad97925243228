// SPDX-License-Identifier: Apache-2.0
#include "block_schedule.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

namespace regatta::passes {

namespace {

using analysis::Dependence;
using Value = BlockModel::Value;

/// Ready instructions looked at for each decision, the first ones in the block's own order: enough for any choice that
/// matters, and a bound on the work in blocks of thousands of independent instructions.
constexpr unsigned window = 96;

void add_if_new(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// Which values are live while instructions are placed from the first to the last.
class DownwardLiveness {
 public:
  explicit DownwardLiveness(const BlockModel& model) : model_(model), now_(model.at_start()) {
    left_.reserve(model.values().size());
    for (const Value& v : model.values()) left_.push_back(v.readers);
  }
  const Pressure& now() const { return now_; }

  /// The pressure just after instruction n, were it next; `peak` also counts results that nobody reads.
  Pressure after(std::size_t n, Pressure& peak) const {
    Pressure p = now_;
    const auto add = [](Pressure& to, const Value& v, int sign) {
      to.general += sign * v.words;
      to.predicates += v.is_predicate ? sign : 0;
    };
    for (std::uint32_t v : model_.uses(n).reads)
      if (left_[v] == 1 && !model_.values()[v].live_at_end) add(p, model_.values()[v], -1);
    peak = p;
    for (std::uint32_t v : model_.uses(n).defines) {
      const Value& value = model_.values()[v];
      add(peak, value, 1);
      if (value.readers > 0 || value.live_at_end) add(p, value, 1);
    }
    return p;
  }
  void place(std::size_t n) {
    Pressure peak;
    now_ = after(n, peak);
    for (std::uint32_t v : model_.uses(n).reads) --left_[v];
  }

 private:
  const BlockModel& model_;
  Pressure now_;
  std::vector<std::uint32_t> left_;
};

}  // namespace

BlockModel::BlockModel(const ir::Function& f, std::uint32_t block, const analysis::Liveness& liveness,
                       const analysis::Dependences& dependences, const LatencyTable& latency)
    : dependences_(&dependences) {
  const auto& code = f.blocks[block].instructions;
  const analysis::Variables& variables = liveness.variables();
  uses_.resize(code.size());
  std::unordered_map<std::uint32_t, std::uint32_t> current;  // variable -> value it holds here
  const auto new_value = [&](std::uint32_t variable) {
    Value v;
    v.words = f.registers[variable].words;
    v.is_predicate = f.registers[variable].is_predicate;
    values_.push_back(v);
    current[variable] = static_cast<std::uint32_t>(values_.size() - 1);
    return current[variable];
  };
  liveness.live_in(block).for_each([&](std::uint32_t v) { values_[new_value(v)].live_at_start = true; });
  for (std::size_t n = 0; n < code.size(); ++n) {
    const ir::Instruction& i = code[n];
    variables.for_each_read(i, [&](std::uint32_t v) {
      // A value that is read but never written holds no register before this point.
      const auto found = current.find(v);
      add_if_new(uses_[n].reads, found == current.end() ? new_value(v) : found->second);
    });
    variables.for_each_write(i, [&](std::uint32_t v) {
      const auto found = current.find(v);
      if (i.guarded && found != current.end()) {
        add_if_new(uses_[n].reads, found->second);  // lanes whose guard is false keep the old one
      } else {
        add_if_new(uses_[n].defines, new_value(v));
      }
    });
  }
  liveness.live_out(block).for_each([&](std::uint32_t v) {
    const auto found = current.find(v);
    values_[found == current.end() ? new_value(v) : found->second].live_at_end = true;
  });
  for (const Uses& u : uses_)
    for (std::uint32_t v : u.reads) ++values_[v].readers;
  for (const Value& v : values_) {
    if (v.live_at_start) {
      at_start_.general += v.words;
      at_start_.predicates += v.is_predicate ? 1 : 0;
    }
    if (v.live_at_end) {
      at_end_.general += v.words;
      at_end_.predicates += v.is_predicate ? 1 : 0;
    }
  }
  for (const ir::Instruction& i : code) latency_.push_back(latency.of(i));
  height_.assign(code.size(), 0);
  for (std::size_t n = code.size(); n-- > 0;)
    for (const Dependence& d : later(n)) height_[n] = std::max(height_[n], height_[d.other] + delay(n, d.kind));
}

Order BlockModel::measure(std::vector<std::uint32_t> sequence) const {
  Order order;
  order.peak = at_start_;
  DownwardLiveness live(*this);
  std::vector<std::uint64_t> ready(size(), 0);
  std::uint64_t cycle = 0;
  for (std::uint32_t n : sequence) {
    Pressure peak;
    live.after(n, peak);
    live.place(n);
    order.peak.general = std::max(order.peak.general, peak.general);
    order.peak.predicates = std::max(order.peak.predicates, peak.predicates);
    cycle = std::max(cycle + 1, ready[n]);
    for (const Dependence& d : later(n)) ready[d.other] = std::max(ready[d.other], cycle + delay(n, d.kind));
  }
  order.cycles = cycle;
  order.sequence = std::move(sequence);
  return order;
}

Order BlockModel::least_pressure() const {
  std::vector<std::vector<std::uint32_t>> earlier(size());
  std::vector<std::uint32_t> open(size(), 0);  // later instructions not placed yet
  for (std::size_t n = 0; n < size(); ++n)
    for (const Dependence& d : later(n)) {
      earlier[d.other].push_back(static_cast<std::uint32_t>(n));
      ++open[n];
    }
  std::vector<bool> live(values_.size());
  for (std::size_t v = 0; v < values_.size(); ++v) live[v] = values_[v].live_at_end;
  std::set<std::uint32_t, std::greater<>> ready;
  for (std::size_t n = 0; n < size(); ++n)
    if (open[n] == 0) ready.insert(static_cast<std::uint32_t>(n));
  std::vector<std::uint32_t> sequence;
  const auto registers = [&](std::uint32_t v) { return values_[v].is_predicate ? 1 : int{values_[v].words}; };
  while (!ready.empty()) {
    std::uint32_t best = *ready.begin();
    std::tuple<int, std::size_t> best_key{1 << 20, 0};
    unsigned looked = 0;
    for (std::uint32_t n : ready) {  // last in the block first
      if (++looked > window) break;
      int growth = 0;
      for (std::uint32_t v : uses_[n].reads) growth += live[v] ? 0 : registers(v);
      for (std::uint32_t v : uses_[n].defines) growth -= live[v] ? registers(v) : 0;
      const std::tuple<int, std::size_t> key{growth, looked};
      if (key < best_key) {
        best_key = key;
        best = n;
      }
    }
    ready.erase(best);
    sequence.push_back(best);
    for (std::uint32_t v : uses_[best].defines) live[v] = false;
    for (std::uint32_t v : uses_[best].reads) live[v] = true;
    for (std::uint32_t e : earlier[best])
      if (--open[e] == 0) ready.insert(e);
  }
  std::reverse(sequence.begin(), sequence.end());
  return measure(std::move(sequence));
}

Order BlockModel::latency_first(const Pressure& limit) const {
  DownwardLiveness live(*this);
  std::vector<std::uint32_t> open(size());
  std::vector<std::uint64_t> earliest(size(), 0);
  std::set<std::uint32_t> ready;
  for (std::size_t n = 0; n < size(); ++n) {
    open[n] = earlier_count(n);
    if (open[n] == 0) ready.insert(static_cast<std::uint32_t>(n));
  }
  std::vector<std::uint32_t> sequence;
  std::uint64_t cycle = 0;
  while (!ready.empty()) {
    // Smaller is better: how far over the limit; how far the registers grow, when over it; cycles of stall; then the
    // slowest chain; then the block's own order.
    using Key = std::tuple<int, int, std::uint64_t, std::uint64_t, std::uint32_t>;
    Key best{1 << 20, 0, 0, 0, 0};
    unsigned looked = 0;
    for (std::uint32_t n : ready) {
      if (++looked > window) break;
      Pressure peak;
      const Pressure after = live.after(n, peak);
      const int excess = std::max(0, peak.general - limit.general) + std::max(0, peak.predicates - limit.predicates);
      const int growth =
          excess == 0 ? 0 : after.general + after.predicates - live.now().general - live.now().predicates;
      const std::uint64_t stall = earliest[n] > cycle + 1 ? earliest[n] - cycle - 1 : 0;
      best = std::min(best, Key{excess, growth, stall, ~height_[n], n});
    }
    const std::uint32_t n = std::get<4>(best);
    ready.erase(n);
    live.place(n);
    sequence.push_back(n);
    cycle = std::max(cycle + 1, earliest[n]);
    for (const Dependence& d : later(n)) {
      earliest[d.other] = std::max(earliest[d.other], cycle + delay(n, d.kind));
      if (--open[d.other] == 0) ready.insert(d.other);
    }
  }
  return measure(std::move(sequence));
}

}  // namespace regatta::passes
