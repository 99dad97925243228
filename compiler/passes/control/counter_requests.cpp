// SPDX-License-Identifier: Apache-2.0
#include "counter_requests.h"

#include <algorithm>

namespace regatta::passes {

CounterRequests::CounterRequests(const Hazards& hazards) : hazards_(hazards) {
  find_pending();
  find_waiters();
}

void CounterRequests::find_pending() {
  const trace::Kernel& kernel = hazards_.kernel();
  in_.assign(kernel.blocks.size(), Pending(hazards_.variable().size()));
  std::vector<std::uint32_t> work;
  for (std::size_t b = kernel.blocks.size(); b-- > 0;) work.push_back(static_cast<std::uint32_t>(b));
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    Pending pending = in_[b];
    const trace::BasicBlock& block = kernel.blocks[b];
    for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
      const Pending needed = hazards_.needed(i, pending);
      pending.complete(needed.writes);
      pending.reads.subtract(needed.reads);
      hazards_.issue(i, pending);
    }
    for (const std::uint32_t n : hazards_.order().next[b])
      if (in_[n].merge(pending)) work.push_back(n);
  }
}

void CounterRequests::find_waiters() {
  const trace::Kernel& kernel = hazards_.kernel();
  const std::size_t variables = hazards_.variable().size();
  std::vector<std::vector<std::uint32_t>> write_waiters(variables), read_waiters(variables);
  at_raise_.assign(variables, Pending(variables));
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    Pending pending = in_[b];
    const trace::BasicBlock& block = kernel.blocks[b];
    for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
      const Pending needed = hazards_.needed(i, pending);
      needed.writes.for_each([&](std::uint32_t v) { write_waiters[v].push_back(i); });
      needed.reads.for_each([&](std::uint32_t v) { read_waiters[v].push_back(i); });
      pending.complete(needed.writes);
      pending.reads.subtract(needed.reads);
      if (hazards_.place_of(i) >= 0) at_raise_[static_cast<std::size_t>(hazards_.place_of(i))] = pending;
      hazards_.issue(i, pending);
    }
  }
  const auto all = static_cast<std::uint32_t>(kernel.instructions.size());
  const auto add = [&](std::uint32_t v, bool is_write, std::vector<std::uint32_t> waiters) {
    CounterRequest request{v, is_write, std::move(waiters), all};
    std::sort(request.waiters.begin(), request.waiters.end());
    const std::uint32_t from = hazards_.variable()[v];
    for (const std::uint32_t w : request.waiters)
      request.distance = std::min(request.distance, w > from ? w - from : w + all - from);
    requests_.push_back(std::move(request));
  };
  for (std::uint32_t v = 0; v < variables; ++v) {
    if (trace::has_result(kernel.instructions[hazards_.variable()[v]])) add(v, true, std::move(write_waiters[v]));
    if (!read_waiters[v].empty()) add(v, false, std::move(read_waiters[v]));
  }
}

bool CounterRequests::outstanding(const CounterRequest& request, std::uint32_t at_place) const {
  const Pending& pending = at_raise_[at_place];
  return (request.is_write ? pending.writes : pending.reads).test(request.place);
}

bool CounterRequests::interfere(const CounterRequest& a, const CounterRequest& b) const {
  return a.place == b.place || outstanding(a, b.place) || outstanding(b, a.place);
}

}  // namespace regatta::passes
