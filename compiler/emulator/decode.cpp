// SPDX-License-Identifier: Apache-2.0
#include "decoder.h"

#include <cfenv>
#include <stdexcept>

namespace regatta::emulator {
namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Type;

/// The emulator has five compares (eq, ordered ne, lt, le, num); the others swap the sources or complement.
struct PlainCompare {
  ir::Compare compare = ir::Compare::none;
  bool swap = false;
  bool complement = false;
};

PlainCompare plain_compare(ir::Compare c, bool floating) {
  using C = ir::Compare;
  switch (c) {
    case C::eq:
      return {C::eq, false, false};
    case C::ne:
      return floating ? PlainCompare{C::ne, false, false} : PlainCompare{C::eq, false, true};
    case C::lt:
    case C::lo:
      return {C::lt, false, false};
    case C::le:
    case C::ls:
      return {C::le, false, false};
    case C::gt:
    case C::hi:
      return {C::lt, true, false};
    case C::ge:
    case C::hs:
      return {C::le, true, false};
    case C::equ:
      return {C::ne, false, true};
    case C::neu:
      return {C::eq, false, true};
    case C::ltu:
      return {C::le, true, true};
    case C::leu:
      return {C::lt, true, true};
    case C::gtu:
      return {C::le, false, true};
    case C::geu:
      return {C::lt, false, true};
    case C::num:
      return {C::num, false, false};
    case C::nan:
      return {C::num, false, true};
    case C::slow_division:
      return {C::slow_division, false, false};
    case C::none:
      break;
  }
  return {};
}

int rounding_mode(ir::Rounding r) {
  switch (r) {
    case ir::Rounding::rz:
      return FE_TOWARDZERO;
    case ir::Rounding::rm:
      return FE_DOWNWARD;
    case ir::Rounding::rp:
      return FE_UPWARD;
    default:
      return -1;
  }
}

unsigned words_of_wide(Type t) { return ir::size_of(t) >= 4 ? 2 : 1; }

}  // namespace

Op Decoder::instruction(const Instruction& i) {
  Op op;
  op.instruction = &i;
  op.op = i.op;
  op.type = i.type;
  op.lane.type = i.type;
  op.lane.source_type = i.source_type;
  op.lane.rounding = i.mod.rounding;
  op.lane.ftz = i.mod.ftz;
  op.lane.saturate = i.mod.saturate;
  op.lane.relu = i.mod.relu;
  op.lane.satfinite = i.mod.satfinite;
  op.lane.carry_out = i.mod.carry_out || i.op == Opcode::add_cc || i.op == Opcode::sub_cc;
  op.guarded = i.guarded;
  op.guard_negated = i.guard_negated;
  op.guard = static_cast<std::uint8_t>(i.guard);
  if (i.guarded && i.guard >= trace::max_predicates) operands_.fail(i, "a guard beyond P6");
  switch (i.op) {
    case Opcode::membar:
      op.kind = Kind::fence;
      break;
    case Opcode::warp_sync:
      op.kind = Kind::warp_sync;
      expect(i, 0, 1);
      values(op, i, 0, 1);
      break;
    case Opcode::elect:
      elect(op, i);
      break;
    case Opcode::set_registers:
      op.kind = Kind::set_registers;
      expect(i, 0, 1);
      op.register_budget = static_cast<std::uint16_t>(i.sources[0].value);
      break;
    case Opcode::nop:
    case Opcode::uldc:
    case Opcode::bssy:
    case Opcode::bsync:
      break;
    case Opcode::print:
      op.kind = Kind::print;
      expect(i, 1, 2);
      pointers(op, i);
      lane_destination(op, i, 1);
      break;
    case Opcode::bra:
      op.kind = Kind::branch;
      break;
    case Opcode::exit:
      op.kind = Kind::exit;
      break;
    case Opcode::trap:
      op.kind = Kind::trap;
      pointers(op, i);
      break;
    case Opcode::bar:
      barrier(op, i);
      break;
    case Opcode::ld:
      load(op, i);
      break;
    case Opcode::st:
      store(op, i);
      break;
    case Opcode::atom:
    case Opcode::red:
      atomic(op, i);
      break;
    case Opcode::tex:
    case Opcode::tld4:
      texture(op, i);
      break;
    case Opcode::txq:
    case Opcode::suq:
      texture_query(op, i);
      break;
    case Opcode::suld:
    case Opcode::sust:
      surface(op, i);
      break;
    case Opcode::mma:
    case Opcode::wgmma:
    case Opcode::ldmatrix:
    case Opcode::stmatrix:
    case Opcode::movmatrix:
      matrix(op, i);
      break;
    case Opcode::cp_async:
    case Opcode::cp_async_commit:
    case Opcode::cp_async_wait:
    case Opcode::cp_async_arrive:
    case Opcode::mbarrier:
    case Opcode::bulk_copy:
    case Opcode::bulk_tensor:
    case Opcode::bulk_commit:
    case Opcode::bulk_wait:
      asynchronous(op, i);
      break;
    case Opcode::setp:
      compare(op, i);
      break;
    case Opcode::set:
      compare(op, i);
      break;
    case Opcode::selp:
      select(op, i);
      break;
    case Opcode::pack:
    case Opcode::unpack:
      pack(op, i);
      break;
    case Opcode::shfl:
      shuffle(op, i);
      break;
    case Opcode::vote:
      vote(op, i);
      break;
    case Opcode::match:
      match(op, i);
      break;
    case Opcode::redux:
      redux(op, i);
      break;
    case Opcode::activemask:
      op.kind = Kind::activemask;
      lane_destination(op, i, 0);
      break;
    default:
      if (i.type == Type::pred) {
        logic(op, i);
      } else {
        arithmetic(op, i);
      }
  }
  return op;
}

void Decoder::expect(const Instruction& i, std::size_t destinations, std::size_t sources) const {
  if (i.destinations.size() < destinations || i.sources.size() < sources) {
    operands_.fail(i, "too few operands");
  }
}

void Decoder::lane_destination(Op& op, const Instruction& i, unsigned words) {
  expect(i, 1, 0);
  op.lane.destination = operands_.destination(op, i, i.destinations[0], words);
  op.destinations[0] = op.lane.destination;
  op.destination_words[0] = i.destinations[0].words;
  op.destination_count = 1;
}

void Decoder::bind(Op& op, const Instruction& i, LaneKey key) {
  key.op = i.op;
  key.ftz = i.mod.ftz;
  key.saturate = i.mod.saturate;
  key.wrap = i.mod.wrap;
  key.left = i.mod.left;
  key.shift_amount = i.mod.shift_amount;
  key.nan = i.mod.nan;
  key.relu = i.mod.relu;
  key.satfinite = i.mod.satfinite;
  key.xorsign = i.mod.xorsign;
  key.sources = static_cast<unsigned>(i.sources.size());
  key.rounding = i.mod.rounding;
  if (is_approximate(i)) key.approximations = program_.approximations;
  if (i.op == Opcode::div && i.mod.approximate) key.quotient = Quotient::approximate;
  if (i.op == Opcode::div && i.mod.full) key.quotient = Quotient::full;
  op.lane.function = select_lane_function(key, program_.lanes);
  if (op.lane.function == nullptr) operands_.fail(i, "the emulator has no operation '" + ir::opcode_text(i) + "'");
}

void Decoder::arithmetic(Op& op, const Instruction& i) {
  op.kind = Kind::lane;
  const unsigned words = ir::words_of(i.type);
  unsigned result = words;
  unsigned source[4] = {words, words, words, words};
  std::size_t count = 2;
  switch (i.op) {
    case Opcode::mov:
      count = 1;
      op.copies = !i.sources.empty() && i.sources[0].is_reg();
      break;
    case Opcode::cvt:
      count = i.sources.size() == 2 && ir::is_pair(i.type) ? 2 : 1;
      source[0] = source[1] = ir::words_of(i.source_type);
      op.copies = i.sources[0].is_reg() && !ir::is_float(i.type) && !ir::is_float(i.source_type);
      break;
    case Opcode::mul_wide:
      result = words_of_wide(i.type);
      break;
    case Opcode::mad_wide:
      count = 3;
      result = source[2] = words_of_wide(i.type);
      break;
    case Opcode::mad_lo:
    case Opcode::mad_hi:
    case Opcode::fma:
    case Opcode::fnma:
    case Opcode::add3:
    case Opcode::sad:
      count = 3;
      break;
    case Opcode::lea:
      count = 3;
      source[2] = 1;
      break;
    case Opcode::prmt:
    case Opcode::shf:
    case Opcode::fns:
    case Opcode::dp4a:
    case Opcode::dp2a_lo:
    case Opcode::dp2a_hi:
      count = 3;
      break;
    case Opcode::vabsdiff4:
      count = i.sources.size() > 2 ? 3 : 2;
      break;
    case Opcode::shl:
    case Opcode::shr:
      source[1] = 1;
      break;
    case Opcode::bfe:
      count = 3;
      source[1] = source[2] = 1;
      break;
    case Opcode::lop3:
      count = 4;
      break;
    case Opcode::bfi:
      count = 4;
      source[2] = source[3] = 1;
      break;
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::bfind:
      count = 1;
      result = 1;
      break;
    case Opcode::neg:
    case Opcode::abs:
    case Opcode::not_:
    case Opcode::brev:
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::ex2:
    case Opcode::lg2:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::tanh:
      count = 1;
      break;
    default:
      break;
  }
  expect(i, 1, count);
  if (i.type == Type::none) operands_.fail(i, "an instruction without a type");
  LaneKey key;
  key.type = i.type;
  key.source_type = i.source_type;
  bind_operands(op, i, source, count);
  lane_destination(op, i, result);
  bind(op, i, key);
  const bool rounds = ir::is_float(i.type) || (i.op == Opcode::cvt && ir::is_float(i.source_type));
  if (rounds) op.float_rounding = rounding_mode(i.mod.rounding);
}

void Decoder::bind_operands(Op& op, const Instruction& i, const unsigned* words, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) op.lane.source[n] = operands_.source(op, i, i.sources[n], words[n]);
}

void Decoder::compare(Op& op, const Instruction& i) {
  op.kind = i.op == Opcode::setp ? Kind::compare : Kind::set;
  expect(i, 1, 2);
  // set's own type is that of its result; setp has one type.
  const Type compared = i.op == Opcode::set && i.source_type != Type::none ? i.source_type : i.type;
  const PlainCompare plain = plain_compare(i.mod.compare, ir::is_float(compared));
  LaneKey key;
  key.type = compared;
  key.compare = plain.compare;
  op.complement = plain.complement;
  op.bool_op = i.mod.bool_op;
  const unsigned words = ir::words_of(compared);
  for (std::size_t n = 0; n < 2; ++n) {
    op.lane.source[plain.swap ? 1 - n : n] = operands_.source(op, i, i.sources[n], words);
  }
  if (i.sources.size() > 2) {
    op.predicates[op.predicate_count++] = operands_.predicate(i, i.sources[2]);
  } else if (i.mod.bool_op != ir::BoolOp::none) {
    operands_.fail(i, "a compare with a boolean operation and no predicate");
  }
  if (i.op == Opcode::setp) {
    for (const ir::Operand& d : i.destinations) operands_.predicate_destination(op, i, d);
  } else {
    lane_destination(op, i, 1);
  }
  bind(op, i, key);
}

void Decoder::select(Op& op, const Instruction& i) {
  op.kind = Kind::select;
  expect(i, 1, 3);
  const unsigned words = ir::words_of(i.type);
  op.lane.source[0] = operands_.source(op, i, i.sources[0], words);
  op.first_half_reads = op.read_count;
  op.lane.source[1] = operands_.source(op, i, i.sources[1], words);
  op.predicates[op.predicate_count++] = operands_.predicate(i, i.sources[2]);
  lane_destination(op, i, words);
  LaneKey key;
  key.type = i.type;
  bind(op, i, key);
}

void Decoder::logic(Op& op, const Instruction& i) {
  op.kind = Kind::logic;
  const bool unary = i.op == Opcode::mov || i.op == Opcode::not_;
  if (!unary && i.op != Opcode::and_ && i.op != Opcode::or_ && i.op != Opcode::xor_) {
    operands_.fail(i, "the emulator has no operation '" + ir::opcode_text(i) + "'");
  }
  expect(i, 1, unary ? 1 : 2);
  for (std::size_t n = 0; n < (unary ? 1u : 2u); ++n) {
    op.predicates[op.predicate_count++] = operands_.predicate(i, i.sources[n]);
  }
  operands_.predicate_destination(op, i, i.destinations[0]);
}

namespace {

/// Fills Op::barrier_ahead.
void find_barriers_ahead(std::vector<Op>& ops) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t at = ops.size(); at-- > 0;) {
      Op& op = ops[at];
      if (op.barrier_ahead) continue;
      op.barrier_ahead = op.kind == Kind::barrier || (op.kind == Kind::branch && ops[op.target].barrier_ahead) ||
                         (op.goes_on() && at + 1 < ops.size() && ops[at + 1].barrier_ahead);
      changed = changed || op.barrier_ahead;
    }
  }
}

}  // namespace

Program decode(const ir::Function& f, const std::vector<std::int32_t>& reconvergence, const ModuleImage& image,
               unsigned lanes, Approximations approximations) {
  if (!f.allocated) throw std::logic_error(f.name + ": the emulator runs allocated code only");
  if (reconvergence.size() != f.blocks.size()) {
    throw std::logic_error(f.name + ": the emulator needs one post-dominator per block");
  }
  if (lanes != 32 && lanes != 64) throw std::logic_error("warp size " + std::to_string(lanes));
  Program program;
  program.function = &f;
  program.lanes = lanes;
  program.approximations = approximations;
  std::vector<std::uint32_t> first;
  std::uint32_t count = 0;
  for (const ir::Block& b : f.blocks) {
    first.push_back(count);
    count += static_cast<std::uint32_t>(b.instructions.size());
  }
  Decoder decoder(program, f, image);
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    for (const Instruction& i : f.blocks[b].instructions) {
      Op op = decoder.instruction(i);
      if (op.kind == Kind::branch) {
        if (i.target >= f.blocks.size()) throw std::logic_error(f.name + ": branch to a block that is not there");
        op.target = first[i.target];
        const std::int32_t join = reconvergence[b];
        op.reconvergence = join < 0 ? exit_position : first[static_cast<std::size_t>(join)];
      }
      program.ops.push_back(op);
    }
  }
  const bool ends = !program.ops.empty() &&
                    (program.ops.back().kind == Kind::exit || program.ops.back().kind == Kind::branch) &&
                    !program.ops.back().guarded;
  if (!ends) {
    throw trace::InputError(f.ptx_file + ": error: kernel '" + f.name +
                            "' runs off its end: its last instruction is neither "
                            "an unconditional branch nor an exit");
  }
  find_barriers_ahead(program.ops);
  return program;
}

}  // namespace regatta::emulator
