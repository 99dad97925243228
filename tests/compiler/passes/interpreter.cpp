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

  Run run(std::size_t most_blocks) {
    std::uint32_t b = 0;
    while (r_.path.size() < most_blocks) {
      if (b >= f_.blocks.size()) throw std::runtime_error("fell off the end");
      r_.path.push_back(b);
      std::uint32_t next = b + 1;
      for (const Instruction& i : f_.blocks[b].instructions) {
        if (i.guarded && predicates_.at(i.guard) == i.guard_negated) continue;
        if (i.op == Opcode::exit) {
          r_.finished = true;
          return std::move(r_);
        }
        if (i.op == Opcode::bra) {
          next = i.target;
          break;
        }
        execute(i);
      }
      b = next;
    }
    return std::move(r_);
  }

 private:
  std::uint64_t get(const Operand& o) {
    if (o.kind == Operand::Kind::immediate || o.kind == Operand::Kind::special) return o.value;
    if (o.is_predicate()) return predicates_.at(o.id) != o.negated;
    if (o.kind == Operand::Kind::parameter) return load(trace::MemorySpace::param, o.value, 4 * o.words);
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

  std::uint8_t load_byte(trace::MemorySpace space, std::uint64_t at) {
    if (space == trace::MemorySpace::local) return local_[at];
    if (space == trace::MemorySpace::param) return static_cast<std::uint8_t>(hash(~at));
    const auto found = r_.memory.find(at);
    return found == r_.memory.end() ? static_cast<std::uint8_t>(hash(at)) : found->second;
  }
  void store_byte(trace::MemorySpace space, std::uint64_t at, std::uint8_t value) {
    (space == trace::MemorySpace::local ? local_ : r_.memory)[at] = value;
  }
  std::uint64_t load(trace::MemorySpace space, std::uint64_t at, unsigned bytes) {
    std::uint64_t v = 0;
    for (unsigned k = 0; k < bytes; ++k) v |= std::uint64_t{load_byte(space, at + k)} << (8 * k);
    return v;
  }
  void store(trace::MemorySpace space, std::uint64_t at, unsigned bytes, std::uint64_t value) {
    for (unsigned k = 0; k < bytes; ++k) store_byte(space, at + k, static_cast<std::uint8_t>(value >> (8 * k)));
  }

  void memory(const Instruction& i) {
    std::uint64_t address = get(i.sources[0]) + static_cast<std::uint64_t>(i.offset);
    if (i.sources[0].is_reg() && i.sources[0].words == 1) address &= 0xffffffffu;
    const unsigned bytes = ir::size_of(i.type);
    std::vector<std::uint64_t> values;
    for (unsigned e = 0; e < i.mod.vector; ++e)
      values.push_back(i.op == Opcode::st ? get(i.sources[1 + e]) : load(i.mod.space, address + e * bytes, bytes));
    for (unsigned e = 0; e < i.mod.vector; ++e) {
      if (i.mod.is_volatile || i.op == Opcode::atom)
        r_.events.insert(r_.events.end(), {address + e * bytes, values[e]});
      if (i.op == Opcode::atom) store(i.mod.space, address, bytes, values[e] + get(i.sources[1]));
      if (i.op == Opcode::st) {
        store(i.mod.space, address + e * bytes, bytes, values[e]);
      } else {
        set(i.destinations[e], values[e]);
      }
    }
  }

  static std::uint64_t extend(std::uint64_t v, ir::Type type) {
    if (type == ir::Type::s32) return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(v)});
    return v & 0xffffffffu;
  }
  std::uint64_t wide_product(const Instruction& i) {
    return extend(get(i.sources[0]), i.type) * extend(get(i.sources[1]), i.type);
  }

  static bool holds(ir::Compare c, std::int64_t a, std::int64_t b) {
    switch (c) {
      case ir::Compare::eq:
        return a == b;
      case ir::Compare::ne:
        return a != b;
      case ir::Compare::le:
      case ir::Compare::ls:
        return a <= b;
      case ir::Compare::gt:
      case ir::Compare::hi:
        return a > b;
      case ir::Compare::ge:
      case ir::Compare::hs:
        return a >= b;
      default:
        return a < b;
    }
  }
  static bool joined(ir::BoolOp how, bool a, bool b) {
    switch (how) {
      case ir::BoolOp::and_:
        return a && b;
      case ir::BoolOp::or_:
        return a || b;
      case ir::BoolOp::xor_:
        return a != b;
      default:
        return a;
    }
  }
  /// Of 32-bit numbers.
  void compare(const Instruction& i) {
    const auto number = [&](std::size_t n) { return static_cast<std::int64_t>(extend(get(i.sources.at(n)), i.type)); };
    const bool v = holds(i.mod.compare, number(0), number(1));
    const bool other = i.sources.size() > 2 && get(i.sources[2]) != 0;
    set(i.destinations[0], joined(i.mod.bool_op, v, other));
    if (i.destinations.size() > 1) set(i.destinations[1], joined(i.mod.bool_op, !v, other));
  }
  static std::uint64_t by_table(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t table) {
    std::uint64_t v = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      const std::uint64_t entry = 4 * (a >> bit & 1) + 2 * (b >> bit & 1) + (c >> bit & 1);
      v |= (table >> entry & 1) << bit;
    }
    return v;
  }

  /// 32-bit sums whose carry is kept.
  void add(const Instruction& i, bool carry_in, bool carry_out) {
    const std::uint64_t sum =
        (get(i.sources[0]) & 0xffffffffu) + (get(i.sources[1]) & 0xffffffffu) + (carry_in && carry_);
    set(i.destinations[0], sum & 0xffffffffu);
    if (carry_out) carry_ = sum >> 32 != 0;
  }

  void execute(const Instruction& i) {
    const auto s = [&](std::size_t n) { return get(i.sources.at(n)); };
    switch (i.op) {
      case Opcode::mov:
        return set(i.destinations[0], s(0));
      case Opcode::add:
        return set(i.destinations[0], s(0) + s(1));
      case Opcode::sub:
        return set(i.destinations[0], s(0) - s(1));
      case Opcode::add3:
        return set(i.destinations[0], s(0) + s(1) + s(2));
      case Opcode::lea:
        return set(i.destinations[0], (s(0) << s(2)) + s(1));
      case Opcode::and_:
        return set(i.destinations[0], s(0) & s(1));
      case Opcode::or_:
        return set(i.destinations[0], s(0) | s(1));
      case Opcode::xor_:
        return set(i.destinations[0], s(0) ^ s(1));
      case Opcode::not_:
        return set(i.destinations[0], ~s(0));
      case Opcode::lop3:
        return set(i.destinations[0], by_table(s(0), s(1), s(2), s(3)));
      case Opcode::mul_lo:
        return set(i.destinations[0], s(0) * s(1));
      case Opcode::mul_wide:
        return set(i.destinations[0], wide_product(i));
      case Opcode::mad_wide:
        return set(i.destinations[0], wide_product(i) + s(2));
      case Opcode::shl:
        return set(i.destinations[0], s(1) > 63 ? 0 : s(0) << s(1));
      case Opcode::cvt:
        return set(i.destinations[0], extend(s(0), i.source_type));
      case Opcode::mad_lo:
        return set(i.destinations[0], s(0) * s(1) + s(2));
      case Opcode::pack:
        return set(i.destinations[0], (s(0) & 0xffffffffu) | s(1) << 32);
      case Opcode::unpack: {
        const std::uint64_t v = s(0);
        set(i.destinations[0], v & 0xffffffffu);
        return set(i.destinations[1], v >> 32);
      }
      case Opcode::setp:
        return compare(i);
      case Opcode::selp:
        return set(i.destinations[0], s(2) ? s(0) : s(1));
      case Opcode::ld:
      case Opcode::st:
      case Opcode::atom:
        return memory(i);
      case Opcode::add_cc:
        return add(i, false, true);
      case Opcode::addc:
        return add(i, true, i.mod.carry_out);
      case Opcode::set_registers:
        // What a dec takes away, and what an inc gives, is not defined.
        for (std::size_t r = i.sources[0].value; f_.allocated && r < registers_.size(); ++r)
          registers_[r] = 0xdead0000u + r;
        break;
      case Opcode::bar:
      case Opcode::nop:
      case Opcode::uldc:
      case Opcode::bssy:
      case Opcode::bsync:
        return;
      default:
        throw std::runtime_error(std::string("no interpretation of ") + ir::to_string(i.op));
    }
  }

  const ir::Function& f_;
  std::vector<std::uint64_t> registers_;
  std::vector<bool> predicates_;
  std::map<std::uint64_t, std::uint8_t> local_;
  bool carry_ = false;
  Run r_;
};

}  // namespace

Run interpret(const ir::Function& f, std::size_t most_blocks) { return Thread(f).run(most_blocks); }

}  // namespace regatta::test
