// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/verify_control.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

namespace regatta::trace {

namespace {

bool writes_register(const StaticInstruction& i, unsigned reg) {
  return std::find(i.destinations.begin(), i.destinations.begin() + i.destination_count, reg) !=
         i.destinations.begin() + i.destination_count;
}
bool reads_register(const StaticInstruction& i, unsigned reg) {
  return std::find(i.sources.begin(), i.sources.begin() + i.source_count, reg) != i.sources.begin() + i.source_count;
}
bool writes_predicate(const StaticInstruction& i, unsigned p) {
  const auto end = i.destination_predicates.begin() + i.destination_predicate_count;
  return std::find(i.destination_predicates.begin(), end, p) != end;
}
bool reads_predicate(const StaticInstruction& i, unsigned p) {
  const auto end = i.source_predicates.begin() + i.source_predicate_count;
  return i.guard.predicate == static_cast<int>(p) || std::find(i.source_predicates.begin(), end, p) != end;
}

/// The edges of the program itself, without those to waiting lanes.
std::vector<std::uint32_t> edges_of(const StaticInstruction& i, std::uint32_t index, std::size_t count) {
  std::vector<std::uint32_t> edges;
  const bool leaves = i.op_class == OpClass::exit || i.op_class == OpClass::branch;
  if ((!leaves || i.guard.predicate >= 0) && index + 1 < count) edges.push_back(index + 1);
  const auto target = static_cast<std::uint32_t>(i.branch_target);
  if (i.branch_target >= 0 && (edges.empty() || edges[0] != target)) edges.push_back(target);
  return edges;
}

/// How an instruction meets a result of an older one.
struct Meeting {
  std::string name;         ///< "R4", "P1", "the carry flag"
  bool reads_late = false;  ///< a general register, read after issue
  bool reads_at_issue = false;
  bool writes = false;
  bool any() const { return reads_late || reads_at_issue || writes; }
};

/// Calls visit(Meeting) for each result of `producer` that `i` reads or writes.
template <typename Visit>
void for_each_meeting(const StaticInstruction& producer, const StaticInstruction& i, Visit&& visit) {
  const auto look = [&](const Meeting& m) {
    if (m.any()) visit(m);
  };
  for (unsigned d = 0; d < producer.destination_count; ++d) {
    const unsigned r = producer.destinations[d];
    look({"R" + std::to_string(r), reads_register(i, r), false, writes_register(i, r)});
  }
  for (unsigned d = 0; d < producer.destination_predicate_count; ++d) {
    const unsigned p = producer.destination_predicates[d];
    look({"P" + std::to_string(p), false, reads_predicate(i, p), writes_predicate(i, p)});
  }
  if (producer.writes_carry) look({"the carry flag", false, i.reads_carry, i.writes_carry});
}

}  // namespace

ControlVerifier::ControlVerifier(const Kernel& kernel, const ControlSection& control)
    : kernel_(kernel), control_(control), marks_(path_states * kernel.instructions.size(), 0) {
  link();
}

bool ControlVerifier::mark(std::uint32_t index, unsigned state) {
  std::uint64_t& marked = marks_[std::size_t{path_states} * index + state];
  if (marked == marks_now_) return false;
  marked = marks_now_;
  return true;
}

std::string ControlVerifier::find_fault() {
  for (std::uint32_t i = 0; i < kernel_.instructions.size() && fault_.empty(); ++i) {
    control_.latency[i] != 0 ? follow_fixed(i) : follow_variable(i);
    follow_reuse(i);
  }
  for (unsigned c = 0; c < control_counters && fault_.empty(); ++c) count(c);
  return fault_;
}

void ControlVerifier::link() {
  for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i)
    next_.push_back(edges_of(kernel_.instructions[i], i, kernel_.instructions.size()));
  const std::vector<std::vector<std::uint32_t>> edges = next_;
  for (const BasicBlock& b : kernel_.blocks) {
    const std::uint32_t end = b.first + b.count - 1;
    if (b.count == 0 || edges[end].size() != 2) continue;
    const auto nowhere = static_cast<std::uint32_t>(kernel_.instructions.size());
    const std::uint32_t join =
        b.reconvergence < 0 ? nowhere : kernel_.blocks[static_cast<std::uint32_t>(b.reconvergence)].first;
    link_waiting_lanes(end, join);
  }
}

/// One side runs until its lanes are at the join or have left. Then the other side runs if this was the fall-through
/// side; else, or if there is no other side, the lanes that wait at the join go on.
void ControlVerifier::link_waiting_lanes(std::uint32_t branch, std::uint32_t join) {
  const auto none = static_cast<std::uint32_t>(kernel_.instructions.size());
  const auto taken = static_cast<std::uint32_t>(kernel_.instructions[branch].branch_target);
  for (const std::uint32_t start : {branch + 1, taken}) {
    const std::uint32_t resume = start == branch + 1 ? taken : join;
    if (start == join || resume == none) continue;
    begin_marks();
    mark(start, 0);
    std::vector<std::uint32_t> work{start};
    while (!work.empty()) {
      const std::uint32_t i = work.back();
      work.pop_back();
      const StaticInstruction& s = kernel_.instructions[i];
      bool ends = s.op_class == OpClass::exit;
      for (const std::uint32_t n : edges_of(s, i, kernel_.instructions.size())) {
        if (n == join)
          ends = true;
        else if (mark(n, 0))
          work.push_back(n);
      }
      if (ends && std::find(next_[i].begin(), next_[i].end(), resume) == next_[i].end()) next_[i].push_back(resume);
    }
  }
}

/// The least cycles from the issue of `producer` to that of any instruction, as long as they can matter.
void ControlVerifier::follow_fixed(std::uint32_t producer) {
  const StaticInstruction& p = kernel_.instructions[producer];
  if (!has_result(p) && !p.writes_carry) return;
  const unsigned enough = control_.latency[producer] + 1u;
  std::map<std::uint32_t, unsigned> least;
  std::set<std::pair<unsigned, std::uint32_t>> front;
  const auto reach = [&](std::uint32_t from, unsigned cycles) {
    for (const std::uint32_t n : next_[from]) {
      const auto known = least.find(n);
      if (cycles >= enough || (known != least.end() && known->second <= cycles)) continue;
      if (known != least.end()) front.erase({known->second, n});
      least[n] = cycles;
      front.insert({cycles, n});
    }
  };
  reach(producer, control_.bits[producer].issue_distance());
  while (!front.empty() && fault_.empty()) {
    const auto [cycles, index] = *front.begin();
    front.erase(front.begin());
    check_cycles(producer, index, cycles);
    reach(index, cycles + control_.bits[index].issue_distance());
  }
}

void ControlVerifier::check_cycles(std::uint32_t producer, std::uint32_t index, unsigned cycles) {
  const unsigned latency = control_.latency[producer], own = control_.latency[index];
  for_each_meeting(kernel_.instructions[producer], kernel_.instructions[index], [&](const Meeting& m) {
    const auto need = [&](const char* what, unsigned expected) {
      if (cycles >= expected) return;
      fault(at(index) + what + m.name + " of " + at(producer) + " after " + std::to_string(cycles) +
            " cycles, expected " + std::to_string(expected));
    };
    if (m.reads_at_issue) need(" reads ", latency);
    if (m.reads_late) need(" reads ", own != 0 ? latency : latency + 1);
    if (m.writes && (own == 0 || own <= latency)) need(" overwrites ", own == 0 ? latency : latency - own + 1);
  });
}

/// All paths from `producer` until its counters have been waited for.
void ControlVerifier::follow_variable(std::uint32_t producer) {
  const ControlBits& raised = control_.bits[producer];
  // Instruction, cycles since the counters were raised (2 stands for more), what is pending.
  using State = std::tuple<std::uint32_t, unsigned, bool, bool>;
  std::vector<State> work;
  begin_marks();
  const auto reach = [&](std::uint32_t from, unsigned cycles, bool write_pending, bool read_pending) {
    for (const std::uint32_t n : next_[from]) {
      const bool visible = cycles >= counter_raise_delay;
      if (mark(n, (visible ? 4u : 0u) | (write_pending ? 2u : 0u) | (read_pending ? 1u : 0u)))
        work.emplace_back(n, std::min(cycles, counter_raise_delay), write_pending, read_pending);
    }
  };
  const StaticInstruction& p = kernel_.instructions[producer];
  reach(producer, raised.issue_distance(), has_result(p), p.source_count != 0);
  while (!work.empty() && fault_.empty()) {
    auto [index, cycles, write_pending, read_pending] = work.back();
    work.pop_back();
    const ControlBits& b = control_.bits[index];
    const bool sees = cycles >= counter_raise_delay;
    const bool written = sees && raised.write_counter != no_counter && b.waits_for(raised.write_counter);
    const bool read = sees && raised.read_counter != no_counter && b.waits_for(raised.read_counter);
    write_pending = write_pending && !written;
    read_pending = read_pending && !written && !read;
    if (!write_pending && !read_pending) continue;
    check_counted(producer, index, write_pending, read_pending);
    reach(index, cycles + b.issue_distance(), write_pending, read_pending);
  }
}

void ControlVerifier::check_counted(std::uint32_t producer, std::uint32_t index, bool write_pending,
                                    bool read_pending) {
  const StaticInstruction& p = kernel_.instructions[producer];
  const auto counter = [](unsigned c) {
    return c == no_counter ? std::string(", which raises no counter for it")
                           : ", expected a wait for counter " + std::to_string(c);
  };
  if (write_pending)
    for_each_meeting(p, kernel_.instructions[index], [&](const Meeting& m) {
      fault(at(index) + (m.writes && !m.reads_late && !m.reads_at_issue ? " overwrites " : " reads ") + m.name +
            " of " + at(producer) + " without waiting" + counter(control_.bits[producer].write_counter));
    });
  if (!read_pending) return;
  for (unsigned s = 0; s < p.source_count; ++s)
    if (writes_register(kernel_.instructions[index], p.sources[s]))
      fault(at(index) + " overwrites R" + std::to_string(p.sources[s]) + " before " + at(producer) + " has read it" +
            counter(control_.bits[producer].read_counter));
}

void ControlVerifier::follow_reuse(std::uint32_t index) {
  const StaticInstruction& i = kernel_.instructions[index];
  const auto positions = source_positions(i);
  for (unsigned s = 0; s < i.source_count; ++s)
    if (positions[s] >= 0 && control_.bits[index].reuses(static_cast<unsigned>(positions[s])))
      follow_entry(index, static_cast<unsigned>(positions[s]), i.sources[s]);
}

/// All paths from the instruction that stores a register in an entry until another one looks at the entry.
void ControlVerifier::follow_entry(std::uint32_t index, unsigned position, unsigned reg) {
  constexpr unsigned banks = 2;
  using State = std::pair<std::uint32_t, bool>;  // whether the register has been written since
  std::vector<State> work;
  begin_marks();
  const auto reach = [&](std::uint32_t from, bool stale) {
    stale = stale || writes_register(kernel_.instructions[from], reg);
    for (const std::uint32_t n : next_[from])
      if (mark(n, stale ? 1 : 0)) work.emplace_back(n, stale);
  };
  const std::string entry = "R" + std::to_string(reg) + " that " + at(index) + " left in the register file cache";
  reach(index, false);
  while (!work.empty() && fault_.empty()) {
    const auto [here, stale] = work.back();
    work.pop_back();
    const StaticInstruction& i = kernel_.instructions[here];
    bool looked = false;
    if (uses_register_cache(i)) {
      const auto positions = source_positions(i);
      for (unsigned s = 0; s < i.source_count; ++s) {
        if (positions[s] != static_cast<int>(position) || i.sources[s] % banks != reg % banks) continue;
        looked = true;
        if (i.sources[s] == reg && stale) fault(at(here) + " reads an old " + entry);
      }
    }
    if (looked) continue;
    if (i.op_class == OpClass::exit) fault(at(here) + " leaves behind " + entry);
    reach(here, stale);
  }
}

/// The most that a counter may stand at behind each instruction.
void ControlVerifier::count(unsigned counter) {
  std::vector<unsigned> most(kernel_.instructions.size(), 0);
  std::vector<std::uint32_t> work;
  for (std::size_t i = kernel_.instructions.size(); i-- > 0;) work.push_back(static_cast<std::uint32_t>(i));
  while (!work.empty()) {
    const std::uint32_t i = work.back();
    work.pop_back();
    const ControlBits& b = control_.bits[i];
    unsigned value = b.waits_for(counter) ? 0 : most[i];
    value += (b.write_counter == counter ? 1u : 0u) + (b.read_counter == counter ? 1u : 0u);
    if (value > max_counter_value) {
      fault(at(i) + " may raise counter " + std::to_string(counter) + " to " + std::to_string(value) +
            ", expected at most " + std::to_string(max_counter_value) + ": no instruction on the path waits for it");
      return;
    }
    for (const std::uint32_t n : next_[i]) {
      if (value <= most[n]) continue;
      most[n] = value;
      work.push_back(n);
    }
  }
}

std::string ControlVerifier::at(std::uint32_t index) const {
  return "instruction " + std::to_string(index) + " (" + kernel_.instructions[index].opcode + ")";
}

void verify_control(const Kernel& kernel, const ControlSection& control) {
  const std::string fault = ControlVerifier(kernel, control).find_fault();
  if (!fault.empty()) throw std::invalid_argument("control: " + fault);
}

}  // namespace regatta::trace
