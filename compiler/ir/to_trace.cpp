// SPDX-License-Identifier: Apache-2.0
//
// The linear static form of an allocated function.
#include <regatta/ir/ir.h>

#include <stdexcept>
#include <unordered_map>

namespace regatta::ir {
namespace {

class Converter {
 public:
  Converter(const Function& f, trace::Kernel& kernel) : f_(f), kernel_(kernel) {
    first_.reserve(f.blocks.size());
    std::uint32_t at = 0;
    for (const Block& b : f.blocks) {
      first_.push_back(at);
      at += static_cast<std::uint32_t>(b.instructions.size());
    }
    kernel_.instructions.reserve(at);
  }

  void block(std::size_t index, std::int32_t post_dominator) {
    const Block& b = f_.blocks[index];
    trace::BasicBlock out;
    out.first = first_[index];
    out.count = static_cast<std::uint32_t>(b.instructions.size());
    out.successors = b.successors;
    out.reconvergence = post_dominator;
    kernel_.blocks.push_back(std::move(out));
    for (const Instruction& i : b.instructions) instruction(i);
  }

 private:
  void instruction(const Instruction& i) {
    trace::StaticInstruction s;
    s.opcode = opcode_text(i);
    s.opcode_id = opcode_ids_.emplace(s.opcode, static_cast<std::uint32_t>(opcode_ids_.size())).first->second;
    s.op_class = op_class(i);
    if (i.guarded) {
      s.guard.predicate = static_cast<std::int8_t>(predicate_number(i, i.guard));
      s.guard.negated = i.guard_negated;
    }
    for (const Operand& o : i.destinations) {
      if (o.is_reg()) registers(i, o, s.destinations, s.destination_count, "destination registers");
      if (o.is_predicate())
        put(i, predicate_number(i, o.id), s.destination_predicates, s.destination_predicate_count,
            "destination predicates");
    }
    for (const Operand& o : i.sources) {
      if (o.is_reg()) registers(i, o, s.sources, s.source_count, "source registers");
      if (o.is_predicate())
        put(i, predicate_number(i, o.id), s.source_predicates, s.source_predicate_count, "source predicates");
    }
    memory(i, s);
    if (i.op == Opcode::bra) s.branch_target = static_cast<std::int32_t>(first_.at(i.target));
    if (i.op == Opcode::bar) {
      s.barrier_arrives = i.mod.barrier == BarrierMode::arrive;
      if (!i.sources.empty() && i.sources[0].kind == Operand::Kind::immediate)
        s.barrier_id = static_cast<std::uint8_t>(i.sources[0].value);
      if (i.sources.size() > 1 && i.sources[1].kind == Operand::Kind::immediate)
        s.barrier_threads = static_cast<std::uint32_t>(i.sources[1].value);
    }
    if (i.op == Opcode::bar && is_of_cluster(i.mod.barrier)) {
      s.barrier_arrives = i.mod.barrier == BarrierMode::cluster_arrive;
      s.barrier_half = s.barrier_arrives ? trace::BarrierHalf::arrive : trace::BarrierHalf::wait;
    }
    if (i.op == Opcode::set_registers) {
      s.register_budget = static_cast<std::uint16_t>(i.sources[0].value);
      s.raises_budget = i.mod.raises;
    }
    for (const Operand& o : i.destinations) operand(i, o, false, s);
    s.operand_destinations = static_cast<std::uint8_t>(s.operands.size());
    bool address = accesses_memory(i.op);
    for (const Operand& o : i.sources) {
      operand(i, o, address, s);
      address = false;
    }
    s.reads_carry = reads_carry(i);
    s.writes_carry = writes_carry(i);
    s.ptx_line = i.where.line;
    s.source_file = i.where.source_file;
    s.source_line = i.where.source_line;
    kernel_.instructions.push_back(std::move(s));
  }

  /// What threads of other SMs have to see, or may have written (PTX ISA, cache operators and memory consistency). An
  /// atomic goes to the L2 in any case.
  static bool bypasses_l1(const Instruction& i) {
    if (i.op != Opcode::ld && i.op != Opcode::st) return false;
    const bool beyond_cta = i.mod.is_volatile && i.mod.scope != MemoryScope::cta;
    return beyond_cta || i.mod.cache == ".cg" || i.mod.cache == ".cv" || i.mod.cache == ".wt";
  }

  void memory(const Instruction& i, trace::StaticInstruction& s) const {
    s.is_volatile = i.mod.is_volatile;
    const bool load = i.op == Opcode::ld || i.op == Opcode::ldmatrix;
    const bool store = i.op == Opcode::st || i.op == Opcode::stmatrix;
    const bool atomic = i.op == Opcode::atom || i.op == Opcode::red;
    if (takes_texture(i.op)) return texture(i, s);
    if (is_asynchronous(i.op)) return asynchronous(i, s);
    if (!load && !store && !atomic) return;
    s.space = i.mod.space == trace::MemorySpace::none ? trace::MemorySpace::generic : i.mod.space;
    s.access_bytes = static_cast<std::uint8_t>(size_of(i.type) * i.mod.vector);
    s.bypasses_l1 = bypasses_l1(i);
    if (!i.sources.empty() && i.sources[0].is_reg()) s.address_offset = i.offset;
    s.reads_memory = load || atomic;
    s.writes_memory = store || atomic;
  }

  static trace::AsyncKind async_kind(const Instruction& i) {
    using trace::AsyncKind;
    const AsyncModifiers& mod = i.mod.async;
    switch (i.op) {
      case Opcode::cp_async:
        return AsyncKind::copy;
      case Opcode::cp_async_commit:
        return AsyncKind::commit;
      case Opcode::cp_async_wait:
        return mod.all ? AsyncKind::wait_all : AsyncKind::wait;
      case Opcode::cp_async_arrive:
        return AsyncKind::arrive_copies;
      case Opcode::bulk_commit:
        return AsyncKind::bulk_commit;
      case Opcode::bulk_wait:
        return mod.read ? AsyncKind::bulk_wait_read : AsyncKind::bulk_wait;
      case Opcode::mbarrier:
        if (mod.barrier == MbarrierOp::init) return AsyncKind::barrier_init;
        if (mod.barrier == MbarrierOp::inval) return AsyncKind::barrier_inval;
        return mod.barrier >= MbarrierOp::test_wait ? AsyncKind::barrier_wait : AsyncKind::barrier_update;
      default:
        return mod.direction == BulkDirection::to_shared   ? AsyncKind::bulk_load
               : mod.direction == BulkDirection::to_global ? AsyncKind::bulk_store
                                                           : AsyncKind::bulk_reduce;
    }
  }

  static void asynchronous(const Instruction& i, trace::StaticInstruction& s) {
    s.async = async_kind(i);
    if (i.op == Opcode::cp_async_wait || i.op == Opcode::bulk_wait)
      s.async_value = static_cast<std::uint32_t>(i.sources[0].value);
    if (trace::async_lists(s.async) == 0) return;
    s.space = trace::MemorySpace::asynchronous;
    s.access_bytes = static_cast<std::uint8_t>(size_of(i.type) * i.mod.vector);
    s.bypasses_l1 = i.mod.cache == ".cg";
    s.reads_memory = true;
    s.writes_memory = true;
  }

  /// Texels have their own size, which the texture object decides: what a lane moves are the registers.
  static void texture(const Instruction& i, trace::StaticInstruction& s) {
    const bool surface = i.op == Opcode::suld || i.op == Opcode::sust;
    const bool fetch = i.op == Opcode::tex || i.op == Opcode::tld4;
    if (!surface && !fetch) return;
    s.space = surface ? trace::MemorySpace::surface : trace::MemorySpace::texture;
    s.reads_memory = i.op != Opcode::sust;
    s.writes_memory = i.op == Opcode::sust;
    s.access_bytes =
        static_cast<std::uint8_t>(surface ? size_of(i.type) * i.mod.texture.elements : 4 * i.destinations.size());
    if (surface) s.address_offset = i.offset;
  }

  void operand(const Instruction& i, const Operand& o, bool address, trace::StaticInstruction& s) const {
    trace::Operand t;
    t.words = o.words;
    t.value = o.value;
    switch (o.kind) {
      case Operand::Kind::none:
        return;
      case Operand::Kind::reg:
        t.kind = trace::Operand::Kind::reg;
        t.value = o.id;
        break;
      case Operand::Kind::predicate:
        t.kind = trace::Operand::Kind::predicate;
        t.value = o.id;
        t.negated = o.negated;
        break;
      case Operand::Kind::special:
        t.kind = trace::Operand::Kind::special;
        break;
      case Operand::Kind::parameter:
        t.kind = trace::Operand::Kind::constant_bank;
        break;
      case Operand::Kind::immediate: {
        const bool bank =
            address && (i.mod.space == trace::MemorySpace::param || i.mod.space == trace::MemorySpace::constant);
        t.kind = bank ? trace::Operand::Kind::constant_bank : trace::Operand::Kind::immediate;
        if (address) t.value = o.value + static_cast<std::uint64_t>(i.offset);
        break;
      }
    }
    s.operands.push_back(t);
  }

  std::uint8_t predicate_number(const Instruction& i, std::uint32_t id) const {
    if (id >= trace::max_predicates) fail(i, "predicate P" + std::to_string(id));
    return static_cast<std::uint8_t>(id);
  }

  template <typename Array>
  void registers(const Instruction& i, const Operand& o, Array& out, std::uint8_t& count, const char* what) const {
    for (unsigned w = 0; w < o.words; ++w) {
      if (o.id + w >= trace::max_general_registers) fail(i, "register R" + std::to_string(o.id + w));
      put(i, static_cast<std::uint8_t>(o.id + w), out, count, what);
    }
  }

  template <typename Array>
  void put(const Instruction& i, std::uint8_t number, Array& out, std::uint8_t& count, const char* what) const {
    if (count == out.size()) fail(i, std::string("more than ") + std::to_string(out.size()) + " " + what);
    out[count++] = number;
  }

  [[noreturn]] void fail(const Instruction& i, const std::string& what) const {
    throw std::logic_error(f_.name + ": " + what + " in '" + to_text(i, true) + "'");
  }

  const Function& f_;
  trace::Kernel& kernel_;
  std::vector<std::uint32_t> first_;
  std::unordered_map<std::string, std::uint32_t> opcode_ids_;
};

}  // namespace

trace::Kernel to_trace(const Function& f, const std::vector<std::int32_t>& reconvergence, unsigned warp_size) {
  if (!f.allocated) throw std::logic_error(f.name + ": to_trace before register allocation");
  if (reconvergence.size() != f.blocks.size())
    throw std::logic_error(f.name + ": to_trace needs one post-dominator per block");
  trace::Kernel kernel;
  kernel.name = f.name;
  kernel.ptx_file = f.ptx_file;
  kernel.source_files = f.source_files;
  kernel.warp_size = warp_size;
  kernel.registers_per_thread = f.registers_used;
  kernel.launch_registers = f.entry_registers;
  kernel.predicates = f.predicates_used;
  kernel.static_shared_bytes = f.static_shared_bytes;
  kernel.local_bytes_per_thread = f.local_bytes;
  kernel.spilled_registers = f.spilled_registers;
  for (const SharedVariable& v : f.shared_variables) kernel.shared_variables.push_back({v.name, v.offset, v.bytes});
  Converter converter(f, kernel);
  for (std::size_t b = 0; b < f.blocks.size(); ++b) converter.block(b, reconvergence[b]);
  return kernel;
}

void place_variables(const Function& f, const std::function<std::uint64_t(const std::string&)>& address,
                     trace::Kernel& kernel) {
  std::size_t n = 0;
  for (const Block& b : f.blocks) {
    for (const Instruction& i : b.instructions) {
      // As they were put there: destinations first, without empty ones.
      std::vector<trace::Operand>& operands = kernel.instructions.at(n++).operands;
      std::size_t at = 0;
      for (const Operand& o : i.destinations) at += o.kind == Operand::Kind::none ? 0 : 1;
      for (const Operand& o : i.sources) {
        if (o.kind == Operand::Kind::none) continue;
        if (!o.symbol.empty()) operands.at(at).value += address(o.symbol);
        ++at;
      }
    }
  }
}

}  // namespace regatta::ir
