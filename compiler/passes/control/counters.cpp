// SPDX-License-Identifier: Apache-2.0
#include "counters.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace regatta::passes {

namespace {

using trace::control_counters;
using trace::ControlBits;

/// A counter that a load and a store share makes the store's short wait as long as the load's. Worth as much as a
/// waiter this many instructions off.
constexpr std::uint32_t other_kind = 16;
/// Sweeps after which the sets of the data flow only grow. More waits at one place can mean more at another, so
/// nothing else bounds their number; they hardly ever need ten.
constexpr unsigned free_sweeps = 32;

/// Gives each request one of the six counters.
class CounterChoice {
 public:
  CounterChoice(const CounterRequests& requests, const Hazards& hazards, std::vector<ControlBits>& bits)
      : requests_(requests), hazards_(hazards), bits_(bits) {}

  void run() {
    for (const CounterRequest& request : requests_.requests()) {
      const unsigned counter = choose(request);
      users_[counter].push_back(&request);
      ControlBits& b = bits_[hazards_.variable()[request.place]];
      (request.is_write ? b.write_counter : b.read_counter) = static_cast<std::uint8_t>(counter);
    }
  }

 private:
  unsigned choose(const CounterRequest& request) const {
    for (unsigned c = 0; c < control_counters; ++c)
      if (shares(request, users_[c])) return c;
    unsigned best = 0;
    std::uint32_t least = ~0u;
    for (unsigned c = 0; c < control_counters; ++c) {
      const std::uint32_t cost = cost_of(request, users_[c]);
      if (cost >= least) continue;
      least = cost;
      best = c;
    }
    return best;
  }

  /// Whether a user has the same first waiters, and no other user is in the way.
  bool shares(const CounterRequest& request, const std::vector<const CounterRequest*>& users) const {
    bool same = false;
    for (const CounterRequest* user : users) {
      if (!requests_.interfere(request, *user)) continue;
      if (!request.same_waiters(*user) || request.is_write != user->is_write) return false;
      same = true;
    }
    return same;
  }

  /// 0: nobody else may use the counter when this request does. Else how far the waiters are apart: the nearer one has
  /// to wait for both.
  std::uint32_t cost_of(const CounterRequest& request, const std::vector<const CounterRequest*>& users) const {
    std::uint32_t cost = 0;
    const std::uint32_t waiter = hazards_.variable()[request.place] + request.distance;
    for (const CounterRequest* user : users) {
      if (!requests_.interfere(request, *user)) continue;
      const std::uint32_t other = hazards_.variable()[user->place] + user->distance;
      const std::uint32_t apart = other > waiter ? other - waiter : waiter - other;
      cost = std::max(cost, 1 + apart + (request.is_write == user->is_write ? 0 : other_kind));
    }
    return cost;
  }

  const CounterRequests& requests_;
  const Hazards& hazards_;
  std::vector<ControlBits>& bits_;
  std::array<std::vector<const CounterRequest*>, control_counters> users_;
};

/// Places the waits by a forward data flow over the counters as they are assigned.
class WaitPlacement {
 public:
  WaitPlacement(const Hazards& hazards, std::vector<ControlBits>& bits)
      : hazards_(hazards), bits_(bits), forced_(bits.size(), 0) {
    const std::size_t variables = hazards.variable().size();
    write_users_.fill(analysis::BitSet(variables));
    read_users_.fill(analysis::BitSet(variables));
    for (std::uint32_t v = 0; v < variables; ++v) {
      const ControlBits& b = bits_[hazards.variable()[v]];
      if (b.write_counter != trace::no_counter) write_users_[b.write_counter].set(v);
      if (b.read_counter != trace::no_counter) read_users_[b.read_counter].set(v);
    }
  }

  void run() {
    do place();
    while (force_waits());
  }

 private:
  void place() {
    const std::size_t blocks = hazards_.kernel().blocks.size();
    const Pending none(hazards_.variable().size());
    std::vector<Pending> in(blocks, none), out(blocks, none);
    unsigned sweep = 0;
    for (bool changed = true; changed; ++sweep) {
      changed = false;
      for (std::uint32_t b = 0; b < blocks; ++b) {
        if (sweep < free_sweeps) in[b] = none;
        for (const std::uint32_t p : hazards_.order().previous[b]) in[b].merge(out[p]);
        Pending state = in[b];
        const trace::BasicBlock& block = hazards_.kernel().blocks[b];
        for (std::uint32_t i = block.first; i < block.first + block.count; ++i) pass(i, state);
        if (state == out[b]) continue;
        if (sweep < free_sweeps) {
          out[b] = state;
          changed = true;
        } else if (out[b].merge(state)) {
          changed = true;
        }
      }
    }
  }

  void pass(std::uint32_t index, Pending& state) {
    const Pending needed = hazards_.needed(index, state);
    unsigned mask = forced_[index];
    needed.writes.for_each([&](std::uint32_t v) { mask |= bit_of(v, true); });
    needed.reads.for_each([&](std::uint32_t v) { mask |= bit_of(v, false); });
    bits_[index].wait_mask = static_cast<std::uint8_t>(mask);
    for (unsigned c = 0; c < control_counters; ++c) {
      if ((mask >> c & 1u) == 0) continue;
      state.complete(write_users_[c]);
      state.reads.subtract(read_users_[c]);
    }
    hazards_.issue(index, state);
  }

  unsigned bit_of(std::uint32_t place, bool is_write) const {
    const std::uint32_t index = hazards_.variable()[place];
    const unsigned counter = is_write ? bits_[index].write_counter : bits_[index].read_counter;
    if (counter == trace::no_counter)
      throw std::logic_error("control: instruction " + std::to_string(index) + " of kernel " + hazards_.kernel().name +
                             " lacks a counter that another one waits for");
    return 1u << counter;
  }

  /// Whether a path raises a counter beyond its largest value, such as a loop that raises it and does not
  /// wait for it. The instruction that raises it is then made to wait for it.
  bool force_waits() {
    using Counts = std::array<std::uint8_t, control_counters>;
    const trace::Kernel& kernel = hazards_.kernel();
    std::vector<Counts> in(kernel.blocks.size(), Counts{});
    std::vector<std::uint32_t> work;
    for (std::size_t b = kernel.blocks.size(); b-- > 0;) work.push_back(static_cast<std::uint32_t>(b));
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      Counts counts = in[b];
      const trace::BasicBlock& block = kernel.blocks[b];
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
        const ControlBits& bits = bits_[i];
        for (unsigned c = 0; c < control_counters; ++c)
          if (bits.waits_for(c)) counts[c] = 0;
        for (const unsigned counter : {unsigned{bits.write_counter}, unsigned{bits.read_counter}}) {
          if (counter == trace::no_counter || ++counts[counter] <= trace::max_counter_value) continue;
          forced_[i] = static_cast<std::uint8_t>(forced_[i] | 1u << counter);
          return true;
        }
      }
      for (const std::uint32_t n : hazards_.order().next[b]) {
        bool more = false;
        for (unsigned c = 0; c < control_counters; ++c) {
          more = more || counts[c] > in[n][c];
          in[n][c] = std::max(in[n][c], counts[c]);
        }
        if (more) work.push_back(n);
      }
    }
    return false;
  }

  const Hazards& hazards_;
  std::vector<ControlBits>& bits_;
  std::vector<std::uint8_t> forced_;  ///< per instruction: waits against overflow
  std::array<analysis::BitSet, control_counters> write_users_, read_users_;
};

}  // namespace

void assign_counters(const Hazards& hazards, std::vector<ControlBits>& bits) {
  const CounterRequests requests(hazards);
  CounterChoice(requests, hazards, bits).run();
  WaitPlacement(hazards, bits).run();
}

}  // namespace regatta::passes
