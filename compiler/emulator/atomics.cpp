// SPDX-License-Identifier: Apache-2.0
//
// Read-modify-write, lane after lane in ascending order: the order of a warp's own updates is deterministic.
#include "cta.h"

#include <regatta/ir/half.h>

#include <cstring>

namespace regatta::emulator {
namespace {

using ir::AtomicOp;

template <class To, class From>
To as(From from) {
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <class U, class S>
U combine(AtomicOp op, bool is_signed, U old, U a, U b) {
  switch (op) {
    case AtomicOp::add:
      return static_cast<U>(old + a);
    case AtomicOp::min:
      return (is_signed ? static_cast<S>(a) < static_cast<S>(old) : a < old) ? a : old;
    case AtomicOp::max:
      return (is_signed ? static_cast<S>(a) > static_cast<S>(old) : a > old) ? a : old;
    case AtomicOp::and_:
      return old & a;
    case AtomicOp::or_:
      return old | a;
    case AtomicOp::xor_:
      return old ^ a;
    case AtomicOp::exch:
      return a;
    case AtomicOp::cas:
      return old == a ? b : old;
    case AtomicOp::inc:
      return old >= a ? U{0} : static_cast<U>(old + 1);
    case AtomicOp::dec:
      return old == 0 || old > a ? a : static_cast<U>(old - 1);
    case AtomicOp::none:
    case AtomicOp::allocate:
    case AtomicOp::release:
      break;
  }
  return old;
}

/// Most have four bytes, and a copy of a size that is known takes no call.
void copy_element(void* to, const void* from, std::size_t bytes) {
  if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else {
    std::memcpy(to, from, bytes);
  }
}

float flush(float v) {
  const auto bits = as<std::uint32_t>(v);
  return as<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

std::uint32_t add_halves(ir::Type one, std::uint64_t a, std::uint64_t b) {
  return ir::double_to_small(one,
                             ir::small_to_double(one, static_cast<std::uint32_t>(a & 0xffffu)) +
                                 ir::small_to_double(one, static_cast<std::uint32_t>(b & 0xffffu)),
                             ir::Rounding::rn);
}

/// Sums of floats. f32 in global memory flushes subnormals, elsewhere it does not (PTX ISA, atom).
std::uint64_t add_floats(ir::Type type, bool in_global, std::uint64_t a, std::uint64_t b) {
  switch (type) {
    case ir::Type::f16:
    case ir::Type::bf16:
      return add_halves(type, a, b);
    case ir::Type::f16x2:
    case ir::Type::bf16x2: {
      const ir::Type one = type == ir::Type::f16x2 ? ir::Type::f16 : ir::Type::bf16;
      return add_halves(one, a, b) | (add_halves(one, a >> 16, b >> 16) << 16);
    }
    case ir::Type::f32: {
      const auto x = as<float>(static_cast<std::uint32_t>(a)), y = as<float>(static_cast<std::uint32_t>(b));
      const float sum = in_global ? flush(flush(x) + flush(y)) : x + y;
      return sum != sum ? 0x7fffffffu : as<std::uint32_t>(sum);
    }
    default: {
      const double sum = as<double>(a) + as<double>(b);
      return sum != sum ? 0xfff8000000000000u : as<std::uint64_t>(sum);
    }
  }
}

}  // namespace

std::uint64_t combine_values(const Op& op, std::uint64_t old, std::uint64_t a, std::uint64_t b) {
  const bool is_signed = ir::is_signed(op.type);
  switch (ir::size_of(op.type)) {
    case 2:
      return combine<std::uint16_t, std::int16_t>(op.atomic, is_signed, static_cast<std::uint16_t>(old),
                                                  static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
    case 4:
      return combine<std::uint32_t, std::int32_t>(op.atomic, is_signed, static_cast<std::uint32_t>(old),
                                                  static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
    default:
      return combine<std::uint64_t, std::int64_t>(op.atomic, is_signed, old, a, b);
  }
}

void reduce_range(const Op& op, std::uint8_t* to, const std::uint8_t* from, std::uint32_t bytes) {
  const std::uint32_t size = op.element_bytes;
  for (std::uint32_t at = 0; at + size <= bytes; at += size) {
    std::uint64_t old = 0, with = 0;
    std::memcpy(&old, to + at, size);
    std::memcpy(&with, from + at, size);
    const std::uint64_t value =
        ir::is_float(op.type) ? add_floats(op.type, true, old, with) : combine_values(op, old, with, 0);
    std::memcpy(to + at, &value, size);
  }
}

void CtaRunner::atomic(Warp& w, const Op& op) {
  if (op.atomic >= AtomicOp::allocate) return heap(w, op);
  find_addresses(w, op);
  if (races_ != nullptr) note_access(w, op);
  const bool wide = op.element_bytes == 8;
  const std::uint64_t element = wide ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * op.element_bytes)) - 1;
  const bool floating = ir::is_float(op.type);
  // exch does not look at what it replaces.
  const Use use = op.atomic == ir::AtomicOp::exch && !op.has_result ? Use::write : Use::atomic;
  for (trace::LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const Place at = resolve(w, op, lane, use);
    const std::uint64_t a = get(w, op.values[0], lane, wide);
    const std::uint64_t b = op.value_count > 1 ? get(w, op.values[1], lane, wide) : 0;
    std::uint64_t old = 0;
    copy_element(&old, at.data, op.element_bytes);
    const std::uint64_t value = floating ? add_floats(op.type, at.is_global, old, a) : combine_values(op, old, a, b);
    if (((value ^ old) & element) != 0) spins_.changed();
    copy_element(at.data, &value, op.element_bytes);
    if (at.written != nullptr) std::memset(at.written, 1, op.element_bytes);
    if (op.has_result) put(w, op.destinations[0], op.destination_words[0], lane, old);
  }
}

}  // namespace regatta::emulator
