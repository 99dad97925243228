// SPDX-License-Identifier: Apache-2.0
//
// What an instruction of the machine IR says besides its operation, types and operands.
#pragma once

#include <regatta/ir/opcode.h>
#include <regatta/trace/types.h>

#include <cstdint>
#include <string>

namespace regatta::ir {

enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rni, rzi, rmi, rpi, rna };
enum class Compare : std::uint8_t {
  none,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
  slow_division  ///< f32: the quotient cannot be had by refining a reciprocal (passes/target/sequences.h)
};
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };
enum class AtomicOp : std::uint8_t {
  none,
  add,
  min,
  max,
  and_,
  or_,
  xor_,
  exch,
  cas,
  inc,
  dec,
  allocate,  ///< malloc() of so many bytes, on the heap wherever that is: the address operand is 0
  release    ///< free()
};
enum class ShuffleMode : std::uint8_t { none, up, down, bfly, idx };
enum class VoteMode : std::uint8_t { none, all, any, uni, ballot };
/// What a barrier does besides waiting; arrive does not wait. cluster_arrive and cluster_wait are the two halves of the
/// barrier of a cluster, which has no number.
enum class BarrierMode : std::uint8_t { sync, arrive, popc, and_, or_, cluster_arrive, cluster_wait };
inline bool is_of_cluster(BarrierMode m) { return m >= BarrierMode::cluster_arrive; }

/// How a memory access is ordered (PTX ISA, memory consistency model). Atomics without a word are relaxed.
enum class MemoryOrder : std::uint8_t { weak, volatile_, relaxed, acquire, release, acq_rel };
/// Which threads a strong access or a fence is about; none: the form's default (gpu).
enum class MemoryScope : std::uint8_t { none, cta, gpu, sys };

/// What the coordinates of a texture or surface access are: one to three dimensions, a layer and one or two, or a
/// direction that a face of a cube and a place on it lie in.
enum class TextureGeometry : std::uint8_t { none, d1, d2, d3, a1d, a2d, cube };
const char* to_string(TextureGeometry g);  ///< "a2d"
/// Operands of a coordinate, the layer included.
unsigned coordinates_of(TextureGeometry g);
inline bool has_layer(TextureGeometry g) { return g == TextureGeometry::a1d || g == TextureGeometry::a2d; }

enum class TextureQuery : std::uint8_t {
  none,
  width,
  height,
  depth,
  channel_data_type,
  channel_order,
  normalized_coords,
  filter_mode,
  addr_mode_0,
  addr_mode_1,
  addr_mode_2,
  array_size,
  num_mipmap_levels,
  num_samples,
  memory_layout
};
const char* to_string(TextureQuery q);  ///< "width"

/// What a surface access outside of its surface does.
enum class SurfaceBounds : std::uint8_t { none, trap, clamp, zero };

/// Textures and surfaces.
struct TextureModifiers {
  TextureGeometry geometry = TextureGeometry::none;
  TextureQuery query = TextureQuery::none;
  SurfaceBounds bounds = SurfaceBounds::none;
  bool has_level = false;         ///< tex: the last source is a level of detail. There is one level.
  std::uint8_t channels = 0;      ///< tex, tld4: bit c is set if a destination takes element c of the result
  std::uint8_t gathered = 0;      ///< tld4: the channel, 0 to 3
  std::uint8_t elements = 1;      ///< suld, sust: of the vector
  std::uint8_t access_bytes = 0;  ///< suld, sust: of the access in the PTX, of which this may be a part
};

/// Formats of the elements of a matrix. tf32: the upper 19 bits of an f32.
enum class TensorFormat : std::uint8_t { none, f16, bf16, tf32, f32, f64, e4m3, e5m2, s32, u8, s8, u4, s4, b1 };
const char* to_string(TensorFormat f);  ///< "e4m3"
/// Bits of an element in a fragment: 32 of tf32.
unsigned bits_of(TensorFormat f);
/// Of b1, what stands for the product.
enum class TensorProduct : std::uint8_t { multiply, xor_popc, and_popc };

/// Matrices: a product of A, m x k, B, k x n, and C and D, m x n; n is always 8. Each lane holds parts of all of them,
/// in consecutive registers: its operands are D's, A's, B's and C's, in this order.
struct TensorModifiers {
  std::uint8_t m = 0;
  std::uint16_t k = 0;
  TensorFormat a = TensorFormat::none, b = TensorFormat::none;
  TensorFormat accumulator = TensorFormat::none;  ///< of C and D
  TensorProduct product = TensorProduct::multiply;
  bool transposed = false;  ///< ldmatrix, stmatrix: as columns
  // wgmma
  bool a_in_memory = false, b_in_memory = false;  ///< a descriptor of 64 bits says where
  bool a_across = false, b_across = false;        ///< rows of A, or columns of B, are consecutive there, not k
  bool negates_a = false, negates_b = false;
};
/// 32-bit registers that a lane holds of A, B, and C or D.
unsigned a_words(const TensorModifiers& t);
unsigned b_words(const TensorModifiers& t);
unsigned accumulator_words(const TensorModifiers& t);
std::string shape_text(const TensorModifiers& t);  ///< "m16n8k16"

/// What an operation on a mbarrier does (PTX ISA, mbarrier).
enum class MbarrierOp : std::uint8_t {
  none,
  init,  ///< source 1: arrivals that a phase expects
  inval,
  arrive,  ///< source 1: how many arrivals
  arrive_drop,
  expect_tx,  ///< source 1: bytes
  complete_tx,
  arrive_expect_tx,  ///< source 1: bytes; one arrival
  arrive_drop_expect_tx,
  test_wait,  ///< source 1: a state, or a parity
  try_wait
};
const char* to_string(MbarrierOp op);  ///< "arrive.expect_tx"

/// Of a bulk copy.
enum class BulkDirection : std::uint8_t { none, to_shared, to_global, reduce };

/// Asynchronous copies and mbarriers.
struct AsyncModifiers {
  MbarrierOp barrier = MbarrierOp::none;
  BulkDirection direction = BulkDirection::none;
  bool no_complete = false;     ///< arrive.noComplete: may not end the phase
  bool no_increment = false;    ///< cp.async.mbarrier.arrive.noinc
  bool parity = false;          ///< test_wait, try_wait: source 1 is a parity
  bool read = false;            ///< bulk_wait: only until the sources have been read
  bool all = false;             ///< cp.async.wait_all: copies in no group too
  bool has_size = false;        ///< cp.async: source 2 says how many bytes are read; the rest is zero
  bool has_ignore = false;      ///< cp.async: the last source is a predicate that gives zeros instead of the source
  std::uint8_t dimensions = 0;  ///< of a tensor
};

/// Special registers readable by mov; x/y/z of one group are consecutive.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  dynamic_shared_size,
  total_shared_size,
  envreg,  ///< %envreg0 to %envreg31, which a driver fills: all but 1 and 2 read 0
  // Of machine code alone: words of the constant bank below the parameters, which the emulator has no use for (read 0).
  stack_pointer,
  memory_descriptor,
  grid_barrier_high,  ///< %envreg1 and %envreg2: the address of the barrier of a cooperative launch's grid, 0 in others
  grid_barrier_low
};
const char* to_string(Special s);  ///< "%tid.x"

/// Rounding, comparison, cache and space modifiers of one instruction. Defaults mean "not written".
struct Modifiers {
  Rounding rounding = Rounding::none;
  Compare compare = Compare::none;
  BoolOp bool_op = BoolOp::none;
  AtomicOp atomic = AtomicOp::none;
  ShuffleMode shuffle = ShuffleMode::none;
  VoteMode vote = VoteMode::none;
  MemoryOrder order = MemoryOrder::weak;
  MemoryScope scope = MemoryScope::none;
  BarrierMode barrier = BarrierMode::sync;
  trace::MemorySpace space = trace::MemorySpace::none;
  std::uint8_t vector = 1;  ///< elements of a vector memory access
  bool ftz = false;
  bool saturate = false;
  bool approximate = false;
  bool full = false;          ///< div.full
  bool nan = false;           ///< min.NaN, max.NaN: a NaN operand gives NaN
  bool relu = false;          ///< cvt: what is negative becomes +0
  bool satfinite = false;     ///< cvt: what is beyond the largest number, infinity included, becomes that number
  bool xorsign = false;       ///< min.xorsign.abs, max.xorsign.abs: of the magnitudes, with the product's sign
  bool is_volatile = false;   ///< volatile, relaxed, acquire, release: not cached
  bool wrap = false;          ///< shf.wrap, else clamp
  bool left = false;          ///< shf.l
  bool shift_amount = false;  ///< bfind.shiftamt
  bool uniform = false;       ///< bra.uni
  bool raises = false;        ///< setmaxnreg.inc
  TextureModifiers texture;
  TensorModifiers tensor;
  AsyncModifiers async;
  bool carry_out = false;  ///< addc.cc, subc.cc: write the carry too (add_cc and sub_cc always do)
  std::string cache;       ///< ".nc", ".cg", ... for the opcode text
};

}  // namespace regatta::ir
