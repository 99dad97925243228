// SPDX-License-Identifier: Apache-2.0
//
// The predecoded form of a kernel: one Op per machine instruction, in program order, operands resolved to offsets
// into the register, constant and special banks, branches to positions with their reconvergence points.
#pragma once

#include "lanes.h"

#include <regatta/emulator/module_image.h>
#include <regatta/ir/ir.h>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace regatta::emulator {

/// The position behind the last instruction: where lanes go that have left the kernel.
inline constexpr std::uint32_t exit_position = 0xffffffffu;

/// Lanes of a warp as CUDA programs see it; a wavefront of 64 lanes is two of them.
inline constexpr unsigned warp_lanes = 32;

enum class Kind : std::uint8_t {
  nop,
  lane,
  select,
  compare,
  set,
  logic,
  pack,
  unpack,
  load,
  store,
  atomic,
  shuffle,
  vote,
  match,
  redux,
  activemask,
  branch,
  exit,
  barrier,
  fence,
  warp_sync,
  trap,
  print,
  texture,  ///< tex, tld4
  texture_query,
  surface_load,
  surface_store,
  elect,
  set_registers,
  asynchronous,   ///< copies, groups, and mbarriers without a wait
  mbarrier_wait,  ///< test_wait, try_wait
  matrix_product,
  matrix_load,
  matrix_store,
  matrix_move,
  group_product,
};

/// All lanes of the warp have to execute it together (.aligned).
inline bool is_aligned(Kind k) { return k >= Kind::matrix_product; }

/// A predicate operand, or a constant one.
struct PredicateSource {
  std::int16_t number = -1;  ///< -1: constant
  bool negated = false;
  bool value = false;  ///< of a constant
};

struct Op {
  LaneOp lane;
  Kind kind = Kind::nop;
  bool guarded = false;
  bool guard_negated = false;
  std::uint8_t guard = 0;

  // Registers checked before and marked after, as 32-bit halves.
  std::uint8_t read_count = 0;
  std::uint8_t write_count = 0;
  std::uint8_t reads[10] = {};
  std::uint8_t writes[8] = {};
  std::uint8_t accumulator_reads = 0;  ///< group_product: `reads` before those of C
  std::uint8_t first_half_reads = 0;   ///< select: how many of `reads` belong to the first source
  bool copies = false;                 ///< mov or integer cvt of registers: carries "never written" over

  std::uint8_t predicate_write_count = 0;
  std::uint8_t predicate_writes[2] = {};
  std::uint8_t predicate_count = 0;
  PredicateSource predicates[3];
  bool complement = false;  ///< compare: the lane function computes the opposite
  ir::Opcode op = ir::Opcode::nop;
  ir::BoolOp bool_op = ir::BoolOp::none;

  bool dynamic_special = false;      ///< reads a clock
  std::int32_t float_rounding = -1;  ///< fesetround() mode, -1: to nearest

  // Memory, pack and unpack, shuffle.
  trace::MemorySpace space = trace::MemorySpace::none;
  ir::Type type = ir::Type::none;
  std::uint8_t element_bytes = 0;
  std::uint8_t vector = 1;
  bool wide_address = false;
  bool records_addresses = false;
  bool has_result = false;
  std::int64_t offset = 0;
  std::uint8_t value_count = 0;
  LaneSource values[4];
  std::uint8_t destination_count = 0;
  std::uint32_t destinations[4] = {};  ///< word offsets
  std::uint8_t destination_words[4] = {};
  ir::AtomicOp atomic = ir::AtomicOp::none;
  ir::ShuffleMode shuffle = ir::ShuffleMode::none;
  ir::VoteMode vote = ir::VoteMode::none;
  ir::BarrierMode barrier = ir::BarrierMode::sync;
  std::uint16_t register_budget = 0;  ///< set_registers: of a thread, from here on

  std::uint32_t target = 0;                      ///< branch; asynchronous: place in Program::async_operands
  std::uint32_t reconvergence = exit_position;   ///< branch
  bool barrier_ahead = false;                    ///< some way from here, this instruction included, comes to a barrier
  const ir::Instruction* instruction = nullptr;  ///< for messages

  /// A memory access that only reads.
  bool only_loads() const { return kind == Kind::load || kind == Kind::matrix_load; }
  /// Whether lanes may go on to the next instruction. A trap ends the run.
  bool goes_on() const { return guarded || (kind != Kind::branch && kind != Kind::exit && kind != Kind::trap); }
};

/// A parameter loaded from a fixed offset: its value goes into the constant bank when a launch begins.
struct ParameterPatch {
  std::uint32_t constant = 0;  ///< word offset in the constant bank
  std::uint64_t offset = 0;    ///< in the parameter space
  ir::Type type = ir::Type::none;
  const ir::Instruction* instruction = nullptr;
};

/// The sources of an asynchronous operation, as its ir::Instruction has them. Predicates stand in Op::predicates.
struct AsyncOperands {
  static constexpr std::size_t most = 9;  ///< a copy of five dimensions
  std::uint8_t count = 0;
  std::array<LaneSource, most> source{};
  std::array<bool, most> wide{};
};

struct Program {
  const ir::Function* function = nullptr;
  unsigned lanes = 32;
  Approximations approximations = Approximations::rounded;
  std::vector<Op> ops;
  std::vector<std::uint32_t> constants;  ///< broadcast, two registers per value
  std::vector<ir::Special> specials;     ///< one slot of two registers each
  std::vector<ParameterPatch> parameters;
  std::vector<AsyncOperands> async_operands;
};

/// Throws trace::InputError for what cannot be executed.
Program decode(const ir::Function& f, const std::vector<std::int32_t>& reconvergence, const ModuleImage& image,
               unsigned lanes, Approximations approximations);

/// Resolves operands; used by decode().
class OperandDecoder {
 public:
  OperandDecoder(Program& program, const ir::Function& f, const ModuleImage& image)
      : program_(program), f_(f), image_(image) {}

  /// A value source of at least `words` registers; notes the registers read in `op`.
  LaneSource source(Op& op, const ir::Instruction& i, const ir::Operand& o, unsigned words);
  /// A register destination of exactly `words` (0: whatever it has); notes the registers written.
  std::uint32_t destination(Op& op, const ir::Instruction& i, const ir::Operand& o, unsigned words);
  PredicateSource predicate(const ir::Instruction& i, const ir::Operand& o);
  void predicate_destination(Op& op, const ir::Instruction& i, const ir::Operand& o);
  /// Word offset of a broadcast constant; equal values share one.
  std::uint32_t constant(std::uint64_t value);
  /// The slot that holds the parameter at this offset once a launch begins.
  std::uint32_t parameter(std::uint64_t offset, ir::Type type, const ir::Instruction& i);
  /// A constant slot of its own.
  std::uint32_t fresh_constant();
  [[noreturn]] void fail(const ir::Instruction& i, const std::string& what) const;

 private:
  Program& program_;
  const ir::Function& f_;
  const ModuleImage& image_;
  std::map<std::uint64_t, std::uint32_t> constants_;
};

}  // namespace regatta::emulator
