// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/ir.h>

namespace regatta::ir {
namespace {

using trace::OpClass;

/// The class of an operation for integers of up to 32 bits, 64-bit integers, f32 (and f16), and f64.
OpClass by_type(Type t, OpClass narrow, OpClass wide, OpClass single, OpClass dbl) {
  if (t == Type::f64) return dbl;
  if (is_float(t)) return single;
  return size_of(t) > 4 ? wide : narrow;
}

OpClass simple(Type t) { return by_type(t, OpClass::int_add, OpClass::int64, OpClass::fp32_add, OpClass::fp64_add); }

/// Moves and selects look at no value: they run where integer logic does whatever the type.
OpClass move(Type t) { return size_of(t) > 4 ? OpClass::int64 : OpClass::int_add; }

OpClass memory(const Instruction& i, OpClass otherwise) {
  const bool constant = i.mod.space == trace::MemorySpace::param || i.mod.space == trace::MemorySpace::constant;
  return constant ? OpClass::constant_load : otherwise;
}

}  // namespace

bool reads_carry(const Instruction& i) { return i.op == Opcode::addc || i.op == Opcode::subc; }

bool writes_carry(const Instruction& i) {
  return i.op == Opcode::add_cc || i.op == Opcode::sub_cc || (reads_carry(i) && i.mod.carry_out);
}

trace::OpClass op_class(const Instruction& i) {
  if (i.target_class != OpClass::nop) return i.target_class;
  switch (i.op) {
    case Opcode::nop:
      return OpClass::nop;
    case Opcode::mov:
      if (!i.sources.empty() && i.sources[0].kind == Operand::Kind::special) return OpClass::constant_load;
      return move(i.type);
    case Opcode::pack:
    case Opcode::unpack:
    case Opcode::selp:
      return move(i.type);
    case Opcode::add:
    case Opcode::sub:
    case Opcode::add3:
    case Opcode::lea:
    case Opcode::add_cc:
    case Opcode::addc:
    case Opcode::sub_cc:
    case Opcode::subc:
    case Opcode::neg:
    case Opcode::abs:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::setp:
      return simple(i.type);
    case Opcode::set:
      return simple(i.source_type);
    case Opcode::mul_lo:
    case Opcode::mul_hi:
      return size_of(i.type) > 4 ? OpClass::int64 : OpClass::int_mul;
    case Opcode::mad_lo:
    case Opcode::mad_hi:
    case Opcode::sad:
      return size_of(i.type) > 4 ? OpClass::int64 : OpClass::int_mad;
    case Opcode::mul_wide:  // a 32-bit multiplication whose product is kept whole
    case Opcode::mad_wide:
    case Opcode::dp4a:
    case Opcode::dp2a_lo:
    case Opcode::dp2a_hi:
    case Opcode::vabsdiff4:
      return OpClass::int_mad;
    case Opcode::mul:
      return i.type == Type::f64 ? OpClass::fp64_mul : OpClass::fp32_mul;
    case Opcode::fma:
    case Opcode::fnma:
      return i.type == Type::f64 ? OpClass::fp64_mad : OpClass::fp32_mad;
    case Opcode::div:
    case Opcode::rem:
      return by_type(i.type, OpClass::int_div, OpClass::int_div, OpClass::fp32_div, OpClass::fp64_div);
    case Opcode::min:
    case Opcode::max:
      return by_type(i.type, OpClass::int_max, OpClass::int64, OpClass::fp32_max, OpClass::fp64_max);
    case Opcode::cvt:
      return OpClass::convert;
    case Opcode::ld:
      return memory(i, OpClass::load);
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::suld:
    case Opcode::ldmatrix:
      return OpClass::load;
    case Opcode::sust:
    case Opcode::stmatrix:
      return OpClass::store;
    case Opcode::txq:
    case Opcode::suq:
    case Opcode::uldc:
      return OpClass::constant_load;
    case Opcode::st:
      return OpClass::store;
    case Opcode::atom:
    case Opcode::red:
      return OpClass::atomic;
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
      // f64 has no special function unit: its roots and reciprocals cost what its divide costs.
      return i.type == Type::f64 ? OpClass::fp64_div : OpClass::sfu;
    case Opcode::ex2:
    case Opcode::lg2:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::tanh:
      return OpClass::sfu;
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::brev:
    case Opcode::bfe:
    case Opcode::bfi:
    case Opcode::bfind:
    case Opcode::fns:
    case Opcode::prmt:
    case Opcode::lop3:
    case Opcode::shf:
      return size_of(i.type) > 4 ? OpClass::int64 : OpClass::int_add;
    case Opcode::shfl:
    case Opcode::vote:
    case Opcode::match:
    case Opcode::redux:
    case Opcode::activemask:
    case Opcode::elect:
    case Opcode::movmatrix:
      return OpClass::shuffle;
    case Opcode::mma:
    case Opcode::wgmma:
      return OpClass::tensor;
    case Opcode::bra:
      return OpClass::branch;
    case Opcode::exit:
      return OpClass::exit;
    case Opcode::bar:
      return OpClass::barrier;
    case Opcode::membar:
      return OpClass::fence;
    case Opcode::cp_async:
    case Opcode::cp_async_commit:
    case Opcode::cp_async_wait:
    case Opcode::cp_async_arrive:
    case Opcode::mbarrier:
    case Opcode::bulk_copy:
    case Opcode::bulk_tensor:
    case Opcode::bulk_commit:
    case Opcode::bulk_wait:
      return OpClass::async;
    case Opcode::bssy:
    case Opcode::bsync:
    case Opcode::warp_sync:
    case Opcode::trap:
    case Opcode::print:
    case Opcode::set_registers:
      return OpClass::nop;
  }
  return OpClass::nop;
}

}  // namespace regatta::ir
