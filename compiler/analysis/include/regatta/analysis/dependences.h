// SPDX-License-Identifier: Apache-2.0
//
// What must stay in order within a basic block.
#pragma once

#include <regatta/analysis/variables.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace regatta::analysis {

enum class DependenceKind : std::uint8_t {
  flow,    ///< reads what the other wrote: waits for its result
  anti,    ///< overwrites what the other read
  output,  ///< overwrites what the other wrote
  memory,  ///< both touch one location, or may, and one writes
  order,   ///< one is an ordering point
};

struct Dependence {
  std::uint32_t other = 0;  ///< index of the later instruction in the block
  DependenceKind kind = DependenceKind::order;
};

/// The dependence graph of one block at a time; keep one object for many blocks, its tables are reused.
///
/// Registers and predicates: all three kinds; a guarded definition counts as a definition, and as a read of the old
/// value only through its order after earlier definitions. The carry flag is one more register.
/// Memory: two accesses may meet when their spaces do (generic meets global, shared, local and itself; parameters and
/// constants are never written), unless both have the same base register with the same value, or no base register,
/// and their byte ranges are disjoint.
/// Ordering points for memory: volatile and strong accesses, atomics, barriers (bar.warp.sync too), fences, traps,
/// prints. Exchanges between lanes are in order where ir::Function::ordered_exchanges says so. Ordering points for
/// everything: reads of clocks and timers. The block's terminator comes after everything.
/// The edges suffice, transitively; not every dependent pair has one.
class Dependences {
 public:
  /// With `read_only_passes`, loads through the read-only path (.nc) are of memory that nothing writes meanwhile, as
  /// PTX demands of programs; without, they are loads like others, so that a program that breaks the rule stays as it
  /// is.
  explicit Dependences(const ir::Function& f, bool read_only_passes = false);

  void build(std::uint32_t block);
  std::size_t size() const { return later_.size(); }
  /// Instructions that must come after this one; each at most a few times.
  const std::vector<Dependence>& later(std::size_t instruction) const { return later_[instruction]; }
  /// Number of edges that end at this instruction.
  std::uint32_t earlier_count(std::size_t instruction) const { return earlier_count_[instruction]; }

 private:
  struct Access {
    std::uint32_t instruction = 0;
    trace::MemorySpace space = trace::MemorySpace::generic;
    bool writes = false;
    bool has_base = false;
    std::uint32_t base = 0, version = 0;  ///< register and how often it was written before, or the symbol's number
    std::int64_t first = 0, last = 0;     ///< byte range from the base, `last` exclusive
  };
  struct LastAccess {
    std::int32_t write = -1;
    std::vector<std::uint32_t> reads;  ///< since that write
    std::uint32_t version = 0;         ///< number of writes in this block
  };

  void edge(std::size_t from, std::size_t to, DependenceKind kind);
  void registers(const ir::Instruction& i, std::size_t n);
  void read(std::uint32_t variable, std::size_t n);
  void write(std::uint32_t variable, std::size_t n);
  LastAccess& last(std::uint32_t variable);
  void memory(const ir::Instruction& i, std::size_t n);
  void memory_order_point(std::size_t n);
  void exchange(const ir::Instruction& i, std::size_t n);
  Access access_of(const ir::Instruction& i, std::size_t n);
  static bool may_meet(const Access& a, const Access& b);

  const ir::Function* function_;
  bool read_only_passes_;
  Variables variables_;
  std::uint32_t carry_;  ///< the variable that stands for the carry flag
  std::vector<std::vector<Dependence>> later_;
  std::vector<std::uint32_t> earlier_count_;
  std::vector<LastAccess> last_;
  std::vector<std::uint32_t> touched_;  ///< variables with an entry in last_
  std::vector<Access> accesses_;        ///< since the last ordering point
  std::int32_t last_exchange_ = -1;
  std::int32_t last_memory_point_ = -1;
  std::int32_t last_full_point_ = -1;
};

/// Whether the instruction may neither pass nor be passed by an access to memory.
bool orders_memory(const ir::Instruction& i);
/// Whether the instruction reads a clock: nothing passes it.
bool orders_everything(const ir::Instruction& i);

}  // namespace regatta::analysis
