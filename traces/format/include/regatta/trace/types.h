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

/// Limits of one machine instruction, in 32-bit registers.
/// Ten sources: mma.m16n8k16 with four registers of A, two of B and four of C. Four destinations: the same, ld.v4.b32.
inline constexpr unsigned max_source_registers = 10;
/// Of an instruction that is no matrix product: st.v4.b32 or atom.cas.b64 with a 64-bit address.
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
};
inline constexpr unsigned op_class_count = static_cast<unsigned>(OpClass::tensor) + 1;
/// Lower-case name of a class ("fp32_mad"), stable: it appears in option names and in the trace.
const char* to_string(OpClass c);

/// texture and surface: global memory, by way of a texture or surface object.
enum class MemorySpace : std::uint8_t { none, global, shared, local, constant, param, generic, texture, surface };
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
