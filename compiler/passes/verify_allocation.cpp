// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/liveness.h>
#include <regatta/passes/register_allocation.h>

#include <stdexcept>
#include <vector>

namespace regatta::passes {

namespace {

using analysis::BitSet;
using ir::Instruction;
using ir::Operand;

/// State: the virtual registers whose assigned place holds their value on every path, or that no path has defined
/// yet (any place holds an undefined value). Each virtual register has one place, so a bit each is enough.
class Verifier {
 public:
  Verifier(const AllocationResult& result, const ir::Function& after)
      : result_(result),
        before_(result.before),
        after_(after),
        cfg_(before_),
        certain_(certain(result)),
        liveness_(before_, cfg_, nullptr, &certain_) {}

  void run() {
    if (result_.origin.size() != before_.blocks.size() || after_.blocks.size() != before_.blocks.size())
      fail("the result keeps no copy of the function before renaming");
    index_places();
    match();
    const std::size_t count = before_.registers.size();
    std::vector<BitSet> in(cfg_.size(), BitSet(count, true));
    std::vector<std::uint32_t> work(cfg_.reverse_post_order().rbegin(), cfg_.reverse_post_order().rend());
    std::vector<bool> queued(cfg_.size(), true);
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      queued[b] = false;
      BitSet state = in[b];
      walk(b, state, false);
      for (std::uint32_t s : cfg_.successors(b))
        if (in[s].intersect(state) && !queued[s]) {
          queued[s] = true;
          work.push_back(s);
        }
    }
    for (std::uint32_t b : cfg_.reverse_post_order()) {
      BitSet state = in[b];
      walk(b, state, true);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::logic_error("register allocation of " + after_.name + ": " + what);
  }
  [[noreturn]] void fail(std::uint32_t b, std::size_t n, const std::string& what) const {
    fail("block " + std::to_string(b) + ", '" + ir::to_text(before_.blocks[b].instructions[n], false) + "': " + what);
  }
  bool is_predicate(std::uint32_t v) const { return before_.registers[v].is_predicate; }
  unsigned words(std::uint32_t v) const { return is_predicate(v) ? 1 : before_.registers[v].words; }
  std::uint32_t place(std::uint32_t v) const { return static_cast<std::uint32_t>(result_.assignment[v]); }
  static bool names_register(const Operand& o) { return o.is_reg() || o.is_predicate(); }

  static BitSet certain(const AllocationResult& result) {
    BitSet set(result.before.registers.size());
    for (std::uint32_t v = 0; v < result.temporaries.size(); ++v)
      if (result.temporaries[v]) set.set(v);
    return set;
  }

  void index_places() {
    for (std::uint32_t v = 0; v < before_.registers.size(); ++v) {
      if (result_.assignment[v] < 0) continue;
      auto& table = is_predicate(v) ? predicates_at_ : registers_at_;
      if (place(v) + words(v) > table.size()) fail("place of " + before_.registers[v].name + " is out of range");
      if (place(v) % words(v) != 0) fail("pair " + before_.registers[v].name + " is not aligned");
      for (unsigned w = 0; w < words(v); ++w) table[place(v) + w].push_back(v);
    }
  }

  void match_operands(std::uint32_t b, std::size_t n, const std::vector<Operand>& virtuals,
                      const std::vector<Operand>& physicals) const {
    if (virtuals.size() != physicals.size()) fail(b, n, "operands were lost");
    for (std::size_t o = 0; o < virtuals.size(); ++o) {
      if (virtuals[o].kind != physicals[o].kind) fail(b, n, "an operand changed its kind");
      if (names_register(virtuals[o]) && physicals[o].id != place(virtuals[o].id))
        fail(b, n, "operand " + std::to_string(o) + " names the wrong register");
    }
  }

  /// Checks that every instruction of `after` is its renamed origin and that every missing one is a copy onto itself.
  void match() const {
    for (std::uint32_t b = 0; b < before_.blocks.size(); ++b) {
      const auto& old = before_.blocks[b].instructions;
      const auto& code = after_.blocks[b].instructions;
      const auto& origin = result_.origin[b];
      if (origin.size() != code.size()) fail("block " + std::to_string(b) + " changed after allocation");
      std::size_t next = 0;
      for (std::size_t k = 0; k <= code.size(); ++k) {
        const std::size_t stop = k < code.size() ? origin[k] : old.size();
        for (; next < stop; ++next)
          if (!copies_onto_itself(old[next], 0) || !copies_onto_itself(old[next], 1))
            fail(b, next, "was removed but is no copy onto itself");
        if (k == code.size()) break;
        next = stop + 1;
        const Instruction &v = old[stop], &p = code[k];
        if (v.guarded != p.guarded || (v.guarded && p.guard != place(v.guard))) fail(b, stop, "guard changed");
        if (v.op == p.op) {
          match_operands(b, stop, v.destinations, p.destinations);
          match_operands(b, stop, v.sources, p.sources);
          match_groups(b, stop, p);
        } else if (p.op != ir::Opcode::mov || (!copies_onto_itself(v, 0) && !copies_onto_itself(v, 1))) {
          fail(b, stop, "became another operation");
        } else {
          match_half(b, stop, v, p);
        }
      }
    }
  }

  void match_groups(std::uint32_t b, std::size_t n, const Instruction& p) const {
    for (const ir::OperandGroup& g : ir::operand_groups(p)) {
      const auto& operands = g.destinations ? p.destinations : p.sources;
      std::uint32_t expected = operands[g.first].id;
      unsigned total = 0;
      for (std::size_t o = g.first; o < std::size_t{g.first} + g.count; ++o) {
        if (operands[o].id != expected) fail(b, n, "vector elements are not consecutive");
        expected += operands[o].words;
        total += operands[o].words;
      }
      if (operands[g.first].id % total != 0) fail(b, n, "vector is not aligned");
    }
  }

  /// A pack or unpack of which one half is in place: the move must be the other half.
  void match_half(std::uint32_t b, std::size_t n, const Instruction& v, const Instruction& p) const {
    const unsigned moved = copies_onto_itself(v, 0) ? 1 : 0;
    const bool is_pack = v.op == ir::Opcode::pack;
    const std::uint32_t whole = place(is_pack ? v.destinations[0].id : v.sources[0].id) + moved;
    const Operand& half = is_pack ? v.sources[moved] : v.destinations[moved];
    const Operand &to = p.destinations[0], &from = p.sources[0];
    const Operand &part = is_pack ? to : from, &other = is_pack ? from : to;
    if (part.id != whole || other.kind != half.kind || (names_register(half) && other.id != place(half.id)) ||
        (!names_register(half) && other.value != half.value))
      fail(b, n, "half of it was lost");
  }

  /// Whether word `w` that a copy moves lies in its place already; true for words a copy does not have.
  bool copies_onto_itself(const Instruction& i, unsigned w) const {
    using ir::Opcode;
    if (i.op == Opcode::mov && i.sources.size() == 1 && i.destinations.size() == 1)
      return names_register(i.sources[0]) && i.sources[0].kind == i.destinations[0].kind && !i.sources[0].negated &&
             i.sources[0].words == i.destinations[0].words && place(i.sources[0].id) == place(i.destinations[0].id);
    if (i.op == Opcode::pack && i.sources.size() == 2 && i.destinations[0].words == 2)
      return i.sources[w].is_reg() && place(i.sources[w].id) == place(i.destinations[0].id) + w;
    if (i.op == Opcode::unpack && i.destinations.size() == 2 && i.sources[0].words == 2)
      return i.destinations[w].kind == Operand::Kind::none ||
             (i.destinations[w].is_reg() && place(i.destinations[w].id) == place(i.sources[0].id) + w);
    return false;
  }

  /// Whether the value of u at this copy is the copied one, so that u's place may be shared.
  bool holds_copied_value(const Instruction& i, std::uint32_t u) const {
    return i.op == ir::Opcode::mov && i.sources.size() == 1 && names_register(i.sources[0]) && !i.sources[0].negated &&
           i.sources[0].id == u && copies_onto_itself(i, 0);
  }

  void walk(std::uint32_t b, BitSet& state, bool check) {
    const auto& code = before_.blocks[b].instructions;
    const analysis::Variables& variables = liveness_.variables();
    std::vector<std::uint8_t> dead_before;  // per instruction, bit d: nobody needs the old value of destination d
    collect_dead(b, dead_before);
    for (std::size_t n = 0; n < code.size(); ++n) {
      const Instruction& i = code[n];
      if (check)
        variables.for_each_read(i, [&](std::uint32_t v) {
          if (!state.test(v)) fail(b, n, "reads " + before_.registers[v].name + ", whose place was overwritten");
        });
      const bool identity = copies_onto_itself(i, 0) && i.op == ir::Opcode::mov;
      for (std::size_t k = 0; k < i.destinations.size(); ++k) {
        const Operand& d = i.destinations[k];
        if (!names_register(d)) continue;
        const auto& table = is_predicate(d.id) ? predicates_at_ : registers_at_;
        // Lanes whose guard is false keep the old value, so it must have been there if anyone needs it.
        const bool good = !i.guarded || state.test(d.id) || ((dead_before[n] >> k) & 1) != 0;
        for (unsigned w = 0; w < words(d.id); ++w)
          for (std::uint32_t u : table[place(d.id) + w])
            if (u != d.id && !holds_copied_value(i, u) && !identity) state.reset(u);
        if (good) state.set(d.id);
      }
    }
  }

  void collect_dead(std::uint32_t b, std::vector<std::uint8_t>& dead_before) {
    const auto& code = before_.blocks[b].instructions;
    dead_before.assign(code.size(), 0);
    analysis::LivenessWalker walker(liveness_);
    walker.start(b);
    while (walker.more()) {
      const std::size_t n = walker.index();
      walker.step();
      if (!code[n].guarded) continue;
      for (std::size_t k = 0; k < code[n].destinations.size(); ++k) {
        const Operand& d = code[n].destinations[k];
        if (names_register(d) && !walker.live().test(d.id))
          dead_before[n] = static_cast<std::uint8_t>(dead_before[n] | 1u << k);
      }
    }
  }

  const AllocationResult& result_;
  const ir::Function& before_;
  const ir::Function& after_;
  analysis::Cfg cfg_;
  BitSet certain_;
  analysis::Liveness liveness_;
  std::vector<std::vector<std::uint32_t>> registers_at_{trace::max_general_registers};
  std::vector<std::vector<std::uint32_t>> predicates_at_{trace::max_predicates};
};

}  // namespace

void verify_allocation(const AllocationResult& result, const ir::Function& after) { Verifier(result, after).run(); }

}  // namespace regatta::passes
