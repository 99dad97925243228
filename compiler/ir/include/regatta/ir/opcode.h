// SPDX-License-Identifier: Apache-2.0
//
// Types and operations of the machine IR.
#pragma once

#include <cstdint>

namespace regatta::ir {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  u16x2,
  s16x2,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  // Of conversions alone: no register or variable has them.
  e4m3x2,  ///< two floats of 8 bits: 4 of exponent, 3 of fraction
  e5m2x2,
  tf32  ///< an f32 with 10 bits of fraction
};
/// Size of a value in bytes; pred is 0.
unsigned size_of(Type t);
/// 32-bit registers a value takes in the register file (8- and 16-bit values take one).
inline unsigned words_of(Type t) { return size_of(t) > 4 ? 2 : 1; }
bool is_float(Type t);
inline bool is_pair(Type t) { return t == Type::f16x2 || t == Type::bf16x2 || t == Type::e4m3x2 || t == Type::e5m2x2; }
/// Whether registers and variables may have the type.
inline bool is_storable(Type t) { return t <= Type::f64; }
bool is_signed(Type t);         ///< s8..s64; pairs are neither
const char* to_string(Type t);  ///< "f32"

enum class Opcode : std::uint8_t {
  nop,
  mov,     ///< dst = src0 (register, immediate, special, predicate)
  pack,    ///< 64-bit dst = {src0 low, src1 high} (mov.b64 {a,b}); b32 from two b16 likewise
  unpack,  ///< {dst0 low, dst1 high} = src0
  add,
  sub,
  add_cc,
  addc,
  sub_cc,
  subc,  ///< carry chain; the carry lives in emulator state per lane
  mul_lo,
  mul_hi,
  mul_wide,  ///< type = type of the sources (PTX convention); mul_wide doubles it
  mad_lo,
  mad_hi,
  mad_wide,
  mul,
  fma,  ///< floating point
  div,
  rem,
  neg,
  abs,
  min,
  max,
  and_,
  or_,
  xor_,
  not_,  ///< on registers, or on predicates when type is pred
  shl,
  shr,   ///< amounts clamp at the width, as PTX
  setp,  ///< dst predicate(s) = compare [and/or/xor src predicate]
  selp,  ///< dst = src2 ? src0 : src1
  set,   ///< as setp, with a register result
  cvt,   ///< type <- source_type, rounding, saturation; a pair from two numbers: upper half, lower half
  ld,
  st,
  atom,
  red,
  rcp,
  sqrt,
  rsqrt,
  ex2,
  lg2,
  sin,
  cos,
  tanh,
  popc,
  clz,
  brev,
  bfe,
  bfi,
  bfind,
  fns,  ///< the lane that source 2 counts to, among the ones of source 0 from bit source 1 on
  prmt,
  shf,
  sad,
  lop3,  ///< bit by bit, the entry of an eight-bit table (source 3) at 4a + 2b + c
  dp4a,  ///< source 2 plus the dot product of four bytes each: of type in source 0, of source_type in source 1
  dp2a_lo,
  dp2a_hi,  ///< likewise of the two halves of source 0 and the lower, or upper, two bytes of source 1
  shfl,
  vote,
  match,
  redux,  ///< reduction over the lanes of a member mask; the operation is mod.atomic
  activemask,
  bra,
  exit,
  bar,
  membar,
  warp_sync,  ///< bar.warp.sync: source {membermask}; lanes meet anyway, but it orders their memory accesses
  trap,
  print,  ///< vprintf
  tex,    ///< texture fetch
  tld4,   ///< one channel of the four texels that a linear filter would use
  txq,
  suq,   ///< a property of a texture or surface
  suld,  ///< surface load, unformatted
  sust,
  elect,          ///< destinations: the lowest lane of the member mask (source 0); whether this lane is the one
  set_registers,  ///< setmaxnreg: source 0 is the registers of a thread from here on
  mma,            ///< D = A * B + C of a warp (modifiers.h: TensorModifiers)
  wgmma,          ///< 16 x 8 elements of a product of a group of warps, whose matrices may lie in shared memory
  ldmatrix,       ///< matrices of 8 x 8 halves from memory, a row of 16 bytes at the address of each lane
  stmatrix,
  movmatrix,  ///< dst = src0, a matrix of 8 x 8 halves, transposed
  vabsdiff4,  ///< absolute differences of four bytes each: packed, or with source 2 their sum plus that
  // Asynchronous copies, and barriers in shared memory that count arrivals and bytes.
  cp_async,         ///< each lane copies 4, 8 or 16 bytes from global to shared memory
  cp_async_commit,  ///< a thread's copies since the last one become a group
  cp_async_wait,    ///< until at most source 0 of the thread's latest groups are on their way
  cp_async_arrive,  ///< on a mbarrier, once the thread's copies so far are complete
  mbarrier,         ///< what it does is mod.async.barrier
  bulk_copy,        ///< between global and shared memory, of a range
  bulk_tensor,      ///< likewise, of a box of a tensor
  bulk_commit,
  bulk_wait,  ///< as cp_async_wait, for copies from shared to global memory
  // Of machine code alone: no PTX lowers to them before a target's instructions are selected.
  fnma,  ///< floating point: source 2 minus the product of 0 and 1, rounded once
  add3,  ///< the sum of three integers
  lea,   ///< (source 0 << source 2) + source 1
  uldc,  ///< loads a uniform register with a constant (source 0), which stays an operand of those who read it
  bssy,  ///< lanes that part at the next branch meet at the next bsync
  bsync,
};
const char* to_string(Opcode op);

}  // namespace regatta::ir
