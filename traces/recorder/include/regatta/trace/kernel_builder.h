// SPDX-License-Identifier: Apache-2.0
//
// The static part of a trace, written instruction by instruction: for programs that emit traces (trace_recorder.h).
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace regatta::trace {

/// A call of KernelBuilder or TraceRecorder that cannot be a part of a trace. The message names the kernel, the place,
/// what was given and what was expected.
class RecordError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Static indices, from and to, that control takes besides branch targets and the next instruction: indirect branches.
using ExtraEdges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Fills in Kernel::blocks from the instructions: leaders, successors, and the immediate post-dominator of each block
/// as its reconvergence. The next instruction of a guarded branch or exit is a successor, of one without a guard it is
/// not.
void find_blocks(Kernel& kernel, const ExtraEdges& extra = {});

/// Builds a kernel. Each of op(), load() ... adds an instruction; the object that it returns says more about it and
/// converts to its static index:
///
///   KernelBuilder code("scale");
///   code.op("mov.u32 %tid", OpClass::int_add).writes({0});
///   code.load("ld.global.f32", MemorySpace::global, 4).writes({1}).reads({2, 3});
class KernelBuilder {
 public:
  /// An instruction under construction. It is valid while its builder is.
  class Line {
   public:
    /// 32-bit registers, 0 to 254, in operand order; values of 64 bits list both halves, the low one first. At most 4
    /// are written and 6 are read. A store reads its address register first.
    Line& writes(std::initializer_list<unsigned> registers);
    Line& reads(std::initializer_list<unsigned> registers);
    Line& writes(const std::vector<unsigned>& registers);
    Line& reads(const std::vector<unsigned>& registers);
    /// Predicates, 0 to 6; at most 2 are written and 4 are read, besides the guard.
    Line& writes_predicates(std::initializer_list<unsigned> predicates);
    Line& reads_predicates(std::initializer_list<unsigned> predicates);
    /// Only lanes in which `predicate` is true execute it, or, `negated`, false.
    Line& guard(unsigned predicate, bool negated = false);
    /// An operand that no register holds. Schemes that reuse results tell instructions apart by it.
    Line& immediate(std::uint64_t bits);
    /// A special register (thread, CTA, clock ...) as an operand; `id` is a number of your own. An instruction whose
    /// result follows from more than its registers and immediates has one, or schemes that reuse results take it for
    /// another.
    Line& special(std::uint64_t id = 0);
    /// Bytes added to the address register of a memory access.
    Line& offset(std::int64_t bytes);
    /// The target of a branch whose target was not known when it was added.
    Line& target(std::uint32_t index);
    /// Line of the source, from 1, for listings.
    Line& at_line(std::uint32_t line);
    /// Any other property.
    StaticInstruction& instruction();
    operator std::uint32_t() const { return index_; }  // NOLINT: a static index is what it stands for

   private:
    friend class KernelBuilder;
    Line(KernelBuilder& builder, std::uint32_t index) : builder_(&builder), index_(index) {}
    KernelBuilder* builder_;
    std::uint32_t index_;
  };

  /// `warp_size`: 32 or 64 lanes.
  explicit KernelBuilder(std::string name, unsigned warp_size = 32);

  /// An instruction that computes. `opcode`: with all modifiers; equal opcodes mean equal operations.
  Line op(const std::string& opcode, OpClass op_class);
  /// Memory accesses of `bytes` per lane, 1 to 32, all elements of a vector together. Global, shared, local and generic
  /// space have addresses (types.h says of which form), constants and parameters have none.
  Line load(const std::string& opcode, MemorySpace space, unsigned bytes);
  Line store(const std::string& opcode, MemorySpace space, unsigned bytes);
  Line atomic(const std::string& opcode, MemorySpace space, unsigned bytes);
  /// `target`: a static index; -1: Line::target() follows.
  Line branch(const std::string& opcode, std::int64_t target = -1);
  /// A barrier of the CTA. `threads`: 0 for all.
  Line barrier(const std::string& opcode = "bar.sync", unsigned id = 0, unsigned threads = 0);
  Line exit(const std::string& opcode = "exit");

  /// The static index of the instruction that is added next.
  std::uint32_t next() const { return static_cast<std::uint32_t>(kernel_.instructions.size()); }
  /// Registers that a thread is given, if more than are used. Static shared memory of a CTA, local memory of a thread.
  void set_registers(unsigned count);
  void set_shared_bytes(unsigned bytes) { kernel_.static_shared_bytes = bytes; }
  void set_local_bytes(unsigned bytes) { kernel_.local_bytes_per_thread = bytes; }
  /// A jump of the branch `from`, besides its target: of an indirect branch.
  void add_edge(std::uint32_t from, std::uint32_t to) { extra_.emplace_back(from, to); }

  /// The kernel, with opcode numbers, register counts and basic blocks. Throws RecordError if a branch has no target.
  Kernel build() const;

 private:
  Line add(const std::string& opcode, OpClass op_class);
  Line access(const std::string& opcode, OpClass op_class, MemorySpace space, unsigned bytes);
  [[noreturn]] void refuse(std::uint32_t index, const std::string& what) const;

  /// Operands in the order of their kinds as they were given.
  struct Operands {
    std::vector<Operand> destinations, sources;
  };
  Kernel kernel_;
  std::vector<Operands> operands_;
  ExtraEdges extra_;
  unsigned registers_ = 0;
};

}  // namespace regatta::trace
