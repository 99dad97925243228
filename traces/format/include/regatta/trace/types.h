// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary that compiler and platform share: lanes, warp values, opcode classes, spaces.
// Header only and free of any library, so that a model can use it without linking the trace reader.
#pragma once

#include <regatta/base/address_map.h>
#include <regatta/base/error.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace regatta::trace {

/// Widest warp (wavefront) regatta handles, in lanes.
inline constexpr unsigned max_lanes = 64;

/// One bit per lane; bit i is lane i. A 32-lane warp leaves the upper half zero.
using LaneMask = std::uint64_t;

/// Mask with the lowest `lanes` bits set; lanes is 1..64.
constexpr LaneMask all_lanes(unsigned lanes) { return lanes >= 64 ? ~LaneMask{0} : ((LaneMask{1} << lanes) - 1); }

/// One warp register: a 32-bit value per lane. A 32-lane warp uses lanes 0..31 only.
struct alignas(64) WarpValue {
  std::array<std::uint32_t, max_lanes> lane;
};

/// Copies the `bytes` of a warp register that a warp uses. Of 32 lanes almost always: a constant size needs no call.
inline void copy_value(void* to, const void* from, std::size_t bytes) {
  if (bytes == 128) {
    std::memcpy(to, from, 128);
  } else {
    std::memcpy(to, from, bytes);
  }
}

/// Bytes one lane contributes to a warp register.
inline constexpr unsigned bytes_per_lane = 4;
/// Bytes of code one static instruction occupies (RegLess, section 4.2: 64-bit instructions).
inline constexpr unsigned bytes_per_instruction = 8;

/// Texels that a lane reads in one texture fetch at most: those of a linear filter in three dimensions.
inline constexpr unsigned max_texels = 8;
/// Address of a texel that lies in no memory: the border of a texture, a place outside of a surface.
inline constexpr std::uint64_t no_texel = 0;

/// What an instruction of class `async` does. Instead of addresses the columns have lists of numbers for it, one number
/// per active lane and list. Places in shared memory are offsets in the CTA's.
enum class AsyncKind : std::uint8_t {
  none,
  copy,            ///< {global address, offset, bytes read of access_bytes}: from global to shared memory
  commit,          ///< the warp's copies since the last one are a group; no lists
  wait,            ///< until at most `async_value` of the latest groups are on their way; no lists
  wait_all,        ///< for copies in no group too; no lists
  arrive_copies,   ///< {offset, 1 if it makes the phase expect one arrival more}: on a mbarrier, behind the copies
  barrier_init,    ///< {offset, arrivals}
  barrier_inval,   ///< {offset}
  barrier_update,  ///< {offset, arrivals, of these dropped, bytes expected (negative: completed)}
  barrier_wait,    ///< {offset, parity of the phase that it waits for; 2: it went on without}
  bulk_load,       ///< from global to shared memory: BulkList
  bulk_store,      ///< from shared to global memory: BulkList
  bulk_reduce,     ///< likewise, a reduction
  bulk_commit,     ///< no lists
  bulk_wait,       ///< until at most `async_value` of the latest groups are incomplete; no lists
  bulk_wait_read,  ///< until their sources have been read; no lists
};
inline constexpr unsigned async_kind_count = static_cast<unsigned>(AsyncKind::bulk_wait_read) + 1;
/// "barrier_wait".
const char* to_string(AsyncKind k);

/// The lists of a bulk copy. In global memory it has rows of `row_bytes` from `address` on: count[0] of them stride[0]
/// bytes apart, that count[1] times, and so on. Parts outside of a tensor are not among them.
enum BulkList : std::uint8_t {
  bulk_offset,    ///< in shared memory
  bulk_address,   ///< in global memory
  bulk_bytes,     ///< in shared memory, and what its mbarrier counts
  bulk_mbarrier,  ///< offset; bulk_load
  bulk_row_bytes,
  bulk_count,                   ///< of four dimensions, ...
  bulk_stride = bulk_count + 4  ///< ... and their strides
};
/// Lists of an instruction at most.
inline constexpr unsigned max_async_lists = bulk_stride + 4;
/// How many an operation has.
constexpr unsigned async_lists(AsyncKind k) {
  switch (k) {
    case AsyncKind::copy:
      return 3;
    case AsyncKind::arrive_copies:
    case AsyncKind::barrier_init:
    case AsyncKind::barrier_wait:
      return 2;
    case AsyncKind::barrier_inval:
      return 1;
    case AsyncKind::barrier_update:
      return 4;
    case AsyncKind::bulk_load:
    case AsyncKind::bulk_store:
    case AsyncKind::bulk_reduce:
      return max_async_lists;
    default:
      return 0;
  }
}

/// Limits of one machine instruction, in 32-bit registers.
/// Ten sources: mma.m16n8k16 with four registers of A, two of B and four of C. Four destinations: the same, ld.v4.b32.
inline constexpr unsigned max_source_registers = 10;
/// Of an instruction that is no matrix product, and no tensor copy (of five dimensions: nine): st.v4.b32 or
/// atom.cas.b64 with a 64-bit address.
inline constexpr unsigned max_plain_source_registers = 6;
inline constexpr unsigned max_destination_registers = 4;
/// 32-bit words that one instruction writes to memory per lane: st.v4.b32.
inline constexpr unsigned max_stored_words = 4;
inline constexpr unsigned max_destination_predicates = 2;
inline constexpr unsigned max_source_predicates = 4;
/// General registers R0..R254 of one thread; predicates P0..P6.
inline constexpr unsigned max_general_registers = 255;
/// The fewest that a kernel can be compiled for.
inline constexpr unsigned min_register_budget = 16;
inline constexpr unsigned max_predicates = 7;

/// What an instruction costs and which unit runs it; a machine maps each class to a unit, a latency
/// and an initiation interval, in cycles. The classes follow the rows of the machine tables.
enum class OpClass : std::uint8_t {
  nop,
  int_add,   ///< 32-bit integer add, logic, shift, move, select, compare
  int_max,   ///< 32-bit integer min and max
  int_mul,   ///< 32-bit integer multiply
  int_mad,   ///< 32-bit integer multiply-add, and 32-bit multiplies with a 64-bit result
  int_div,   ///< integer divide and remainder
  int64,     ///< 64-bit integer add, logic, shift, move, compare, multiplication of 64-bit factors
  convert,   ///< conversions between types
  fp32_add,  ///< f32 (and f16) add, compare, negate, absolute
  fp32_max,
  fp32_mul,
  fp32_mad,
  fp32_div,
  fp64_add,
  fp64_max,
  fp64_mul,
  fp64_mad,
  fp64_div,
  sfu,            ///< reciprocal, root, transcendental
  shuffle,        ///< lane exchange, vote, match
  constant_load,  ///< parameter and constant bank reads, special registers
  load,           ///< global, local, shared, generic loads
  store,
  atomic,  ///< read-modify-write with or without a result
  fence,
  barrier,
  branch,
  exit,
  metadata,  ///< instruction inserted for a scheme: removed at decode, or issued to its gate
  tensor,    ///< matrix product of a warp
  async,     ///< asynchronous copies, their groups, mbarriers
};
inline constexpr unsigned op_class_count = static_cast<unsigned>(OpClass::async) + 1;
/// Lower-case name of a class ("fp32_mad"), stable: it appears in option names and in the trace.
const char* to_string(OpClass c);

/// texture and surface: global memory, by way of a texture or surface object.
/// asynchronous: of operations that say themselves which memories they access (AsyncKind).
enum class MemorySpace : std::uint8_t {
  none,
  global,
  shared,
  local,
  constant,
  param,
  generic,
  texture,
  surface,
  asynchronous
};
const char* to_string(MemorySpace s);

/// Where a trace's addresses lie. Global memory is below both windows. Shared accesses carry the byte offset in the
/// CTA's shared memory, generic ones to shared memory that offset plus the window. Local accesses carry
/// local_window + linear thread of the grid * Kernel::local_bytes_per_thread + offset in the thread's frame.
inline constexpr std::uint64_t shared_window = base::first_address(base::Window::shared);
inline constexpr std::uint64_t local_window = base::first_address(base::Window::local);

/// Bad input: a message that names the file, the place, what was found and what was expected.
/// The tools print it as it is and exit with status 2.
class InputError : public base::InputError {
 public:
  using base::InputError::InputError;
};

}  // namespace regatta::trace
