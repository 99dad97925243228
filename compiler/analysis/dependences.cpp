// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/dependences.h>

#include <algorithm>

namespace regatta::analysis {

namespace {

using ir::Opcode;
using ir::Operand;
using trace::MemorySpace;

/// Accesses remembered between two ordering points. One more than this becomes an ordering point itself, which keeps
/// a block of thousands of accesses from costing the square of their number.
constexpr std::size_t most_open_accesses = 256;

bool touches_memory(const ir::Instruction& i) {
  return ir::accesses_memory(i.op) || i.op == Opcode::suld || i.op == Opcode::sust || i.op == Opcode::wgmma;
}

bool is_read_only(MemorySpace s) { return s == MemorySpace::param || s == MemorySpace::constant; }

}  // namespace

bool orders_memory(const ir::Instruction& i) {
  if (ir::is_asynchronous(i.op)) return true;
  switch (i.op) {
    case Opcode::atom:
    case Opcode::red:
    case Opcode::bar:
    case Opcode::warp_sync:
    case Opcode::membar:
    case Opcode::trap:
    case Opcode::print:
      return true;
    default:
      return i.mod.is_volatile || i.mod.order != ir::MemoryOrder::weak;
  }
}

bool orders_everything(const ir::Instruction& i) {
  // What is live on its two sides has different numbers of registers.
  if (i.op == Opcode::set_registers) return true;
  return std::any_of(i.sources.begin(), i.sources.end(), [](const Operand& o) {
    if (o.kind != Operand::Kind::special) return false;
    const auto s = static_cast<ir::Special>(o.value);
    return s >= ir::Special::clock && s <= ir::Special::globaltimer_hi;
  });
}

Dependences::Dependences(const ir::Function& f, bool read_only_passes)
    : function_(&f),
      read_only_passes_(read_only_passes),
      variables_(f),
      carry_(static_cast<std::uint32_t>(variables_.count())),
      last_(variables_.count() + 1) {}

void Dependences::edge(std::size_t from, std::size_t to, DependenceKind kind) {
  later_[from].push_back({static_cast<std::uint32_t>(to), kind});
  ++earlier_count_[to];
}

Dependences::LastAccess& Dependences::last(std::uint32_t variable) {
  LastAccess& l = last_[variable];
  if (l.write < 0 && l.reads.empty()) touched_.push_back(variable);
  return l;
}

void Dependences::read(std::uint32_t variable, std::size_t n) {
  LastAccess& l = last(variable);
  if (!l.reads.empty() && l.reads.back() == n) return;
  if (l.write >= 0) edge(static_cast<std::size_t>(l.write), n, DependenceKind::flow);
  l.reads.push_back(static_cast<std::uint32_t>(n));
}

void Dependences::write(std::uint32_t variable, std::size_t n) {
  LastAccess& l = last(variable);
  if (l.write == static_cast<std::int32_t>(n)) return;
  for (std::uint32_t r : l.reads)
    if (r != n) edge(r, n, DependenceKind::anti);
  // A reader of the last value stands between the two writers already, unless there was none.
  if (l.write >= 0 && (l.reads.empty() || l.reads == std::vector<std::uint32_t>{static_cast<std::uint32_t>(n)}))
    edge(static_cast<std::size_t>(l.write), n, DependenceKind::output);
  l.write = static_cast<std::int32_t>(n);
  l.reads.clear();
  ++l.version;
}

void Dependences::registers(const ir::Instruction& i, std::size_t n) {
  variables_.for_each_read(i, [&](std::uint32_t v) { read(v, n); });
  if (ir::reads_carry(i)) read(carry_, n);
  variables_.for_each_write(i, [&](std::uint32_t v) { write(v, n); });
  if (ir::writes_carry(i)) write(carry_, n);
}

/// To be called before the instruction's own writes are counted.
Dependences::Access Dependences::access_of(const ir::Instruction& i, std::size_t n) {
  Access a;
  a.instruction = static_cast<std::uint32_t>(n);
  a.space = i.mod.space == MemorySpace::none ? MemorySpace::generic : i.mod.space;
  a.writes = i.op != Opcode::ld && i.op != Opcode::suld && i.op != Opcode::ldmatrix && i.op != Opcode::wgmma;
  // Somewhere, as below: what handles and coordinates say is not compared, and rows of a matrix lie at the addresses
  // of other lanes.
  if (a.space == MemorySpace::surface || ir::is_exchange(i.op)) {
    a.has_base = true;
    a.base = ~0u;
    a.version = a.instruction;
    return a;
  }
  a.first = i.offset;
  if (!i.sources.empty()) {
    const Operand& base = i.sources[0];
    if (base.is_reg()) {
      a.has_base = true;
      a.base = base.id;
      a.version = last_[base.id].version;
      if (variables_.allocated() && base.words == 2) a.version += last_[base.id + 1].version;  // both only grow
    } else if (!base.symbol.empty()) {
      a.has_base = true;  // somewhere: no two accesses through symbols are told apart
      a.base = ~0u;
      a.version = a.instruction;
    } else {
      a.first += static_cast<std::int64_t>(base.value);
    }
  }
  a.last = a.first + static_cast<std::int64_t>(ir::size_of(i.type)) * i.mod.vector;
  return a;
}

bool Dependences::may_meet(const Access& a, const Access& b) {
  if (is_read_only(a.space) || is_read_only(b.space)) return false;
  if (a.space != b.space) return a.space == MemorySpace::generic || b.space == MemorySpace::generic;
  const bool same_base = a.has_base == b.has_base && (!a.has_base || (a.base == b.base && a.version == b.version));
  return !same_base || (a.first < b.last && b.first < a.last);
}

void Dependences::memory_order_point(std::size_t n) {
  for (const Access& a : accesses_) edge(a.instruction, n, DependenceKind::order);
  if (last_memory_point_ >= 0) edge(static_cast<std::size_t>(last_memory_point_), n, DependenceKind::order);
  accesses_.clear();
  last_memory_point_ = static_cast<std::int32_t>(n);
}

void Dependences::memory(const ir::Instruction& i, std::size_t n) {
  if (orders_memory(i)) {
    memory_order_point(n);
    return;
  }
  if (!touches_memory(i) || (read_only_passes_ && i.op == Opcode::ld && i.mod.cache == ".nc")) return;
  const Access a = access_of(i, n);
  if (is_read_only(a.space)) return;
  if (accesses_.size() == most_open_accesses) {
    memory_order_point(n);
    return;
  }
  if (last_memory_point_ >= 0) edge(static_cast<std::size_t>(last_memory_point_), n, DependenceKind::order);
  for (const Access& b : accesses_)
    if ((a.writes || b.writes) && may_meet(a, b)) edge(b.instruction, n, DependenceKind::memory);
  accesses_.push_back(a);
}

void Dependences::exchange(const ir::Instruction& i, std::size_t n) {
  // The lanes of a matrix instruction come to it together wherever it stands.
  const bool keeps_order = i.op == Opcode::shfl || i.op == Opcode::vote || i.op == Opcode::match ||
                           i.op == Opcode::redux || i.op == Opcode::elect || i.op == Opcode::warp_sync ||
                           i.op == Opcode::bar;
  if (!keeps_order) return;
  if (last_exchange_ >= 0) edge(static_cast<std::size_t>(last_exchange_), n, DependenceKind::order);
  last_exchange_ = static_cast<std::int32_t>(n);
}

void Dependences::build(std::uint32_t block) {
  const auto& code = function_->blocks[block].instructions;
  for (std::uint32_t v : touched_) last_[v] = {};
  touched_.clear();
  accesses_.clear();
  last_memory_point_ = -1;
  last_full_point_ = -1;
  last_exchange_ = -1;
  later_.assign(code.size(), {});
  earlier_count_.assign(code.size(), 0);
  for (std::size_t n = 0; n < code.size(); ++n) {
    const ir::Instruction& i = code[n];
    memory(i, n);
    registers(i, n);
    if (function_->ordered_exchanges) exchange(i, n);
    const bool is_terminator = i.op == Opcode::bra || i.op == Opcode::exit;
    if (is_terminator || orders_everything(i)) {
      for (std::size_t m = last_full_point_ < 0 ? 0 : static_cast<std::size_t>(last_full_point_); m < n; ++m)
        edge(m, n, DependenceKind::order);
      last_full_point_ = static_cast<std::int32_t>(n);
    } else if (last_full_point_ >= 0) {
      edge(static_cast<std::size_t>(last_full_point_), n, DependenceKind::order);
    }
  }
}

}  // namespace regatta::analysis
