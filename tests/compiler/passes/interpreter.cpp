// SPDX-License-Identifier: Apache-2.0
#include "interpreter.h"

#include <map>
#include <stdexcept>

namespace regatta::test {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;

std::uint64_t hash(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Thread {
 public:
  explicit Thread(const ir::Function& f)
      : f_(f),
        registers_(f.allocated ? f.registers_used : f.registers.size(), 0),
        predicates_(f.allocated ? f.predicates_used : f.registers.size(), false) {}

  Run run(std::size_t most_steps, std::size_t most_events) {
    Run r;
    std::uint32_t b = 0;
    while (b < f_.blocks.size()) {
      std::uint32_t next = b + 1;
      for (const Instruction& i : f_.blocks[b].instructions) {
        if (++r.steps > most_steps || r.events.size() >= most_events) return r;
        if (i.guarded && predicates_.at(i.guard) == i.guard_negated) continue;
        if (i.op == Opcode::exit) {
          r.finished = true;
          return r;
        }
        if (i.op == Opcode::bra) {
          next = i.target;
          break;
        }
        execute(i, r);
      }
      b = next;
      if (++r.steps > most_steps) return r;
    }
    throw std::runtime_error("fell off the end");
  }

 private:
  std::uint64_t get(const Operand& o) const {
    if (o.kind == Operand::Kind::immediate || o.kind == Operand::Kind::special) return o.value;
    if (o.is_predicate()) return predicates_.at(o.id) != o.negated;
    if (!f_.allocated) return o.words == 2 ? registers_.at(o.id) : registers_.at(o.id) & 0xffffffffu;
    std::uint64_t v = registers_.at(o.id);
    if (o.words == 2) v |= registers_.at(o.id + 1) << 32;
    return v;
  }
  void set(const Operand& o, std::uint64_t v) {
    if (o.is_predicate()) {
      predicates_.at(o.id) = v & 1;
    } else if (!f_.allocated) {
      registers_.at(o.id) = o.words == 2 ? v : v & 0xffffffffu;
    } else {
      registers_.at(o.id) = v & 0xffffffffu;
      if (o.words == 2) registers_.at(o.id + 1) = v >> 32;
    }
  }

  void memory(const Instruction& i, Run& r) {
    const std::uint64_t address = get(i.sources[0]) + static_cast<std::uint64_t>(i.offset);
    const unsigned bytes = ir::size_of(i.type);
    std::vector<std::uint64_t> values;
    for (unsigned e = 0; e < i.mod.vector; ++e) {
      const std::uint64_t at = address + e * bytes;
      if (i.op == Opcode::st) {
        values.push_back(get(i.sources[1 + e]));
      } else if (i.mod.space == trace::MemorySpace::local) {
        std::uint64_t v = 0;
        for (unsigned k = 0; k < bytes; ++k) v |= std::uint64_t{local_[at + k]} << (8 * k);
        values.push_back(v);
      } else {
        values.push_back(hash(at));
      }
    }
    for (unsigned e = 0; e < i.mod.vector; ++e) {
      const std::uint64_t at = address + e * bytes;
      if (i.op == Opcode::ld) {
        set(i.destinations[e], values[e]);
      } else if (i.mod.space == trace::MemorySpace::local) {
        for (unsigned k = 0; k < bytes; ++k) local_[at + k] = static_cast<std::uint8_t>(values[e] >> (8 * k));
      } else {
        r.events.push_back(at);
        r.events.push_back(values[e]);
      }
    }
  }

  void execute(const Instruction& i, Run& r) {
    const auto s = [&](std::size_t n) { return get(i.sources.at(n)); };
    switch (i.op) {
      case Opcode::mov:
        return set(i.destinations[0], s(0));
      case Opcode::add:
        return set(i.destinations[0], s(0) + s(1));
      case Opcode::xor_:
        return set(i.destinations[0], s(0) ^ s(1));
      case Opcode::mad_lo:
        return set(i.destinations[0], s(0) * s(1) + s(2));
      case Opcode::pack:
        return set(i.destinations[0], (s(0) & 0xffffffffu) | s(1) << 32);
      case Opcode::unpack: {
        const std::uint64_t v = s(0);
        set(i.destinations[0], v & 0xffffffffu);
        return set(i.destinations[1], v >> 32);
      }
      case Opcode::setp: {
        const std::uint64_t a = s(0), b = s(1);
        const bool v = i.mod.compare == ir::Compare::ne ? a != b : a < b;
        set(i.destinations[0], v);
        if (i.destinations.size() > 1) set(i.destinations[1], !v);
        return;
      }
      case Opcode::selp:
        return set(i.destinations[0], s(2) ? s(0) : s(1));
      case Opcode::ld:
      case Opcode::st:
        return memory(i, r);
      case Opcode::nop:
        return;
      default:
        throw std::runtime_error(std::string("no interpretation of ") + ir::to_string(i.op));
    }
  }

  const ir::Function& f_;
  std::vector<std::uint64_t> registers_;
  std::vector<bool> predicates_;
  std::map<std::uint64_t, std::uint8_t> local_;
};

}  // namespace

Run interpret(const ir::Function& f, std::size_t most_steps, std::size_t most_events) {
  return Thread(f).run(most_steps, most_events);
}

}  // namespace regatta::test
