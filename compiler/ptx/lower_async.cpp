// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies, mbarriers and fences between proxies. A cluster is one CTA, so that addresses of
// .shared::cluster are those of .shared::cta; what needs another CTA is refused.
#include "lowering.h"

#include <regatta/ir/address_windows.h>

namespace regatta::ptx {
namespace {

using ir::MbarrierOp;
using ir::Opcode;
using ir::Type;
using trace::MemorySpace;

constexpr const char* one_cta = "a cluster is one CTA here";

bool is_shared(Symbol::Kind k) { return k == Symbol::Kind::shared || k == Symbol::Kind::extern_shared; }

/// The value of an operand that must be a constant.
std::uint64_t constant(FunctionLowering& l, const Operand& o, const char* what) {
  if (o.kind != Operand::Kind::integer) l.error(o.at, "'" + o.text + "' is not a constant, expected " + what);
  return o.bits;
}

/// Refuses modifiers that a cluster of one CTA has no use for.
void refuse_clusters(FunctionLowering& l, const Statement& s) {
  for (const char* m : {"multicast::cluster", "cta_group::1", "cta_group::2"})
    if (has_modifier(s, m)) l.error(s.at, "'" + s.name + "': ." + m + " is not supported: " + one_cta);
}

/// Behind the operands of a copy may stand a cache policy, which has no effect.
std::size_t operands_without_policy(FunctionLowering& l, const Statement& s, const ir::Instruction& proto) {
  const std::size_t count = s.operands.size();
  if (!has_modifier(s, "L2::cache_hint")) return count;
  l.source(s.operands[count - 1], Type::b64, plain(proto));  // which checks it
  return count - 1;
}

void expect_operands(FunctionLowering& l, const Statement& s, std::size_t found, std::size_t low, std::size_t high) {
  if (found >= low && found <= high) return;
  l.error(s.at, "'" + s.name + "' has " + std::to_string(found) + " operands besides a cache policy, expected " +
                    std::to_string(low) + (high != low ? " to " + std::to_string(high) : ""));
}

}  // namespace

ir::Operand FunctionLowering::async_address(const Statement& s, const Operand& o, MemorySpace space,
                                            const ir::Instruction& bare) {
  if (o.kind != Operand::Kind::address) error(o.at, "'" + o.text + "' is not an address, expected '[...]'");
  if (!o.elements.empty()) error(o.at, "'" + s.name + "' takes no coordinates there");
  const bool shared = space == MemorySpace::shared;
  if (o.name.empty()) return ir::Operand::immediate(static_cast<std::uint64_t>(o.offset), shared ? 1 : address_words());
  const Symbol symbol = register_symbol(o);
  if (symbol.kind != Symbol::Kind::reg) {
    if (shared ? !is_shared(symbol.kind) : symbol.kind != Symbol::Kind::global)
      error(o.at, "'" + o.name + "' is not a variable in state space ." + trace::to_string(space));
    return symbol_address(symbol, o, shared ? 1 : address_words());
  }
  const unsigned size = ir::size_of(symbol.type);
  if (size < 4 || (!shared && size != 4 * address_words()))
    error(o.at, "'" + o.name + "' has type ." + ir::to_string(symbol.type) + ", expected a " +
                    (shared ? "32-bit or 64-bit" : std::to_string(address_bits_) + "-bit") + " address register" +
                    (shared ? "" : address_size_text()));
  const ir::Operand base = ir::Operand::reg(symbol.id, size / 4);
  if (o.offset == 0) return base;
  const Type type = size == 8 ? Type::u64 : Type::u32;
  const ir::Operand sum = temporary(type);
  emit(bare, Opcode::add, type, {sum},
       {base, ir::Operand::immediate(
                  size == 8 ? static_cast<std::uint64_t>(o.offset) : static_cast<std::uint32_t>(o.offset), size / 4)});
  return sum;
}

void lower_cp_async(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  if (!has_modifier(s, "shared") && !has_modifier(s, "shared::cta"))
    l.error(s.at, "'" + s.name + "' names no destination, expected .shared");
  const ir::Instruction bare = plain(proto);
  const std::size_t count = operands_without_policy(l, s, proto);
  expect_operands(l, s, count, 3, 4);
  const std::uint64_t bytes = constant(l, s.operands[2], "4, 8 or 16 bytes");
  const bool past_l1 = has_modifier(s, "cg");
  if (bytes != 16 && (past_l1 || (bytes != 4 && bytes != 8)))
    l.error(s.operands[2].at,
            "'" + s.name + "' copies " + std::to_string(bytes) + " bytes, expected " + (past_l1 ? "16" : "4, 8 or 16"));
  ir::Instruction i = proto;
  i.type = Type::b32;
  i.mod.vector = static_cast<std::uint8_t>(bytes / 4);
  i.mod.space = MemorySpace::shared;
  i.sources = {l.async_address(s, s.operands[0], MemorySpace::shared, bare),
               l.async_address(s, s.operands[1], MemorySpace::global, bare)};
  if (count == 4) {
    const Operand& last = s.operands[3];
    const std::optional<Symbol> symbol =
        last.kind == Operand::Kind::name && !last.name.empty() ? l.find(last.name) : std::nullopt;
    if (symbol && symbol->kind == Symbol::Kind::reg && symbol->type == Type::pred) {
      i.mod.async.has_ignore = true;
      i.sources.push_back(l.predicate_source(last));
    } else {
      if (last.kind == Operand::Kind::integer && last.bits > bytes)
        l.error(last.at, "'" + s.name + "' reads " + std::to_string(last.bits) + " bytes of " + std::to_string(bytes));
      // All bytes: there is nothing to fill.
      i.mod.async.has_size = last.kind != Operand::Kind::integer || last.bits != bytes;
      if (i.mod.async.has_size) i.sources.push_back(l.source(last, Type::u32, bare));
    }
  }
  l.append(std::move(i));
}

void lower_async_wait(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  ir::Instruction i = proto;
  i.mod.async.all = has_modifier(s, "wait_all");
  i.mod.async.read = has_modifier(s, "read");
  const std::uint64_t groups = i.mod.async.all ? 0 : constant(l, s.operands[0], "a number of groups");
  if (groups > 0x7fffffff)
    l.error(s.operands[0].at, "'" + s.operands[0].text + "' is not a number of groups, expected 0 to 2147483647");
  i.sources = {ir::Operand::immediate(groups)};
  l.append(std::move(i));
}

void lower_mbarrier(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  ir::Instruction i = proto;
  const bool named = has_modifier(s, "shared") || has_modifier(s, "shared::cta") || has_modifier(s, "shared::cluster");
  i.mod.space = named ? MemorySpace::shared : MemorySpace::generic;
  i.mod.async.no_increment = has_modifier(s, "noinc");
  i.mod.async.no_complete = has_modifier(s, "noComplete");
  const bool expects = has_modifier(s, "expect_tx");
  const bool drops = has_modifier(s, "arrive_drop"), arrives = has_modifier(s, "arrive");
  MbarrierOp& op = i.mod.async.barrier;
  if (proto.op == Opcode::mbarrier) {
    if (has_modifier(s, "init")) op = MbarrierOp::init;
    if (has_modifier(s, "inval")) op = MbarrierOp::inval;
    if (has_modifier(s, "complete_tx")) op = MbarrierOp::complete_tx;
    if (expects) op = MbarrierOp::expect_tx;
    if (arrives) op = expects ? MbarrierOp::arrive_expect_tx : MbarrierOp::arrive;
    if (drops) op = expects ? MbarrierOp::arrive_drop_expect_tx : MbarrierOp::arrive_drop;
  }
  const bool has_state = proto.op == Opcode::mbarrier && (arrives || drops);
  const std::size_t first = has_state ? 1 : 0;
  const Operand& address = s.operands[first];
  i.sources = {l.async_address(s, address, i.mod.space, bare)};
  if (s.operands.size() > first + 1) {
    i.sources.push_back(l.source(s.operands[first + 1], Type::u32, bare));
  } else if (has_state) {
    i.sources.push_back(ir::Operand::immediate(1));
  }
  if (has_state && s.operands[0].kind != Operand::Kind::sink)
    i.destinations = {l.destination(s.operands[0], Type::b64)};
  i.type = Type::b64;
  l.append(std::move(i));
}

void lower_mbarrier_wait(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  ir::Instruction i = proto;
  const bool named = has_modifier(s, "shared") || has_modifier(s, "shared::cta");
  i.mod.space = named ? MemorySpace::shared : MemorySpace::generic;
  i.mod.async.barrier = has_modifier(s, "try_wait") ? MbarrierOp::try_wait : MbarrierOp::test_wait;
  i.mod.async.parity = has_modifier(s, "parity");
  i.sources = {l.async_address(s, s.operands[1], i.mod.space, bare),
               l.source(s.operands[2], i.mod.async.parity ? Type::u32 : Type::b64, bare)};
  // How long a try_wait may take at most has no effect: it is as patient as the program needs.
  if (s.operands.size() == 4) l.source(s.operands[3], Type::u32, bare);
  i.destinations = {l.predicate_destination(s.operands[0], s.operands[0].name)};
  i.type = Type::b64;
  l.append(std::move(i));
}

/// The lowest bits of a state are the arrivals that its phase still waits for (emulator/mbarrier.h).
void lower_pending_count(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Operand state = l.source(s.operands[1], Type::b64, plain(proto));
  const ir::Operand low = l.temporary(Type::u32);
  l.emit(proto, Opcode::cvt, Type::u32, {low}, {state});
  l.last().source_type = Type::u64;
  l.emit(proto, Opcode::and_, Type::b32, {l.destination(s.operands[0], Type::b32)},
         {low, ir::Operand::immediate(0xfffff)});
}

void lower_bulk_copy(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  refuse_clusters(l, s);
  if (has_modifier(s, "cp_mask")) l.error(s.at, "'" + s.name + "': .cp_mask is not supported");
  const ir::Instruction bare = plain(proto);
  const std::size_t count = operands_without_policy(l, s, proto);
  const bool on_barrier = has_modifier(s, "mbarrier::complete_tx::bytes");
  const bool in_group = has_modifier(s, "bulk_group");
  if (on_barrier == in_group)
    l.error(s.at,
            "'" + s.name + "' names no way to wait for it, expected .mbarrier::complete_tx::bytes or .bulk_group");
  const bool reduces = s.modifiers.front() == "reduce";
  if (!has_modifier(s, "global") || (reduces && on_barrier))
    l.error(s.at, "'" + s.name + "': copies between shared memories of a cluster are not supported: " + one_cta);
  ir::Instruction i = proto;
  i.mod.async.direction = on_barrier ? ir::BulkDirection::to_shared
                          : reduces  ? ir::BulkDirection::reduce
                                     : ir::BulkDirection::to_global;
  const MemorySpace from = on_barrier ? MemorySpace::global : MemorySpace::shared;
  const MemorySpace to = on_barrier ? MemorySpace::shared : MemorySpace::global;
  if (!has_modifier(s, "shared::cta") && !(on_barrier && has_modifier(s, "shared::cluster")))
    l.error(s.at, "'" + s.name + "' names no shared memory, expected .shared::cta");
  expect_operands(l, s, count, on_barrier ? 4 : 3, on_barrier ? 4 : 3);
  if (reduces && i.mod.atomic == ir::AtomicOp::none)
    l.error(s.at, "'" + s.name + "' names no reduction, expected .add, .min, .max, .inc, .dec, .and, .or or .xor");
  if (reduces && ir::is_float(i.type) && i.mod.atomic != ir::AtomicOp::add)
    l.error(s.at, "'" + s.name + "' reduces floating-point numbers, expected .add");
  i.mod.space = MemorySpace::shared;
  i.sources = {l.async_address(s, s.operands[0], to, bare), l.async_address(s, s.operands[1], from, bare),
               l.source(s.operands[2], Type::u32, bare)};
  if (on_barrier) i.sources.push_back(l.async_address(s, s.operands[3], MemorySpace::shared, bare));
  if (!reduces) i.type = Type::b8;
  l.append(std::move(i));
}

/// Nothing is fetched into a cache.
void lower_bulk_prefetch(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&) {}

void FunctionLowering::tensor_place(const Statement& s, const Operand& o, ir::Instruction& i) {
  const ir::Instruction bare = plain(i);
  if (o.kind != Operand::Kind::address || o.elements.empty())
    error(o.at, "'" + o.text + "' is not a place in a tensor, expected '[map, {coordinates}]'");
  if (o.elements.size() != i.mod.async.dimensions)
    error(o.at, "'" + s.name + "' has " + std::to_string(o.elements.size()) + " coordinates, expected " +
                    std::to_string(i.mod.async.dimensions));
  Operand map = o;
  map.elements.clear();
  const Symbol symbol = o.name.empty() ? Symbol{} : register_symbol(o);
  if (!o.name.empty() && symbol.kind == Symbol::Kind::param) {
    i.sources.push_back(ir::Operand::immediate(
        window(base::Window::parameters) + symbol.offset + static_cast<std::uint64_t>(o.offset), address_words()));
  } else {
    i.sources.push_back(async_address(s, map, MemorySpace::generic, bare));
  }
  for (const Operand& c : o.elements) i.sources.push_back(source(c, Type::s32, bare));
}

void lower_bulk_tensor(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  refuse_clusters(l, s);
  for (const char* m : {"im2col", "im2col_no_offs", "im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4"})
    if (has_modifier(s, m)) l.error(s.at, "'" + s.name + "': ." + m + " is not supported, expected .tile");
  const ir::Instruction bare = plain(proto);
  const std::size_t count = operands_without_policy(l, s, proto);
  const bool on_barrier = has_modifier(s, "mbarrier::complete_tx::bytes");
  if (on_barrier == has_modifier(s, "bulk_group"))
    l.error(s.at,
            "'" + s.name + "' names no way to wait for it, expected .mbarrier::complete_tx::bytes or .bulk_group");
  expect_operands(l, s, count, on_barrier ? 3 : 2, on_barrier ? 3 : 2);
  ir::Instruction i = proto;
  i.mod.space = MemorySpace::shared;
  i.mod.async.direction = on_barrier ? ir::BulkDirection::to_shared : ir::BulkDirection::to_global;
  for (const std::string& m : s.modifiers)
    if (m.size() == 2 && m[1] == 'd') i.mod.async.dimensions = static_cast<std::uint8_t>(m[0] - '0');
  i.sources = {l.async_address(s, s.operands[on_barrier ? 0 : 1], MemorySpace::shared, bare)};
  l.tensor_place(s, s.operands[on_barrier ? 1 : 0], i);
  if (on_barrier) i.sources.push_back(l.async_address(s, s.operands[2], MemorySpace::shared, bare));
  i.type = Type::b8;
  l.append(std::move(i));
}

/// What a fence between proxies orders is the whole of the warp's accesses before and after it.
void lower_proxy_fence(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  ir::Instruction i = proto;
  i.mod.cache.clear();
  for (const std::string& m : s.modifiers) i.mod.cache += "." + m;
  i.mod.scope = ir::MemoryScope::cta;
  l.append(std::move(i));
}

}  // namespace regatta::ptx
