// SPDX-License-Identifier: Apache-2.0
//
// The parts of register allocation, in the order they run: legalize once; then per round interference, nodes
// (coalescing), colouring, and, when a colour is missing, spill code and the next round.
#pragma once

#include <regatta/analysis/function_analyses.h>
#include <regatta/passes/register_allocation.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::passes {

/// A set of unordered pairs of ids below a bound: adjacency. A triangular bit matrix while that is small, open
/// addressing beyond.
class PairSet {
 public:
  explicit PairSet(std::size_t ids);
  /// True when the pair was new.
  bool insert(std::uint32_t a, std::uint32_t b);
  bool contains(std::uint32_t a, std::uint32_t b) const;

 private:
  /// Ids up to which the matrix is used: 18 MiB of bits.
  static constexpr std::size_t largest_matrix = 17000;
  static std::size_t bit(std::uint32_t a, std::uint32_t b) {
    const std::size_t high = a > b ? a : b, low = a > b ? b : a;
    return high * (high + 1) / 2 + low;
  }
  static std::uint64_t key(std::uint32_t a, std::uint32_t b);
  std::size_t find(std::uint64_t key) const;
  std::vector<std::uint64_t> bits_;   // empty: hashed
  std::vector<std::uint64_t> slots_;  // 0: empty
  std::size_t used_ = 0;
};

/// Elements of one vector access: virtual registers that must sit side by side, in order.
using Tuple = std::vector<std::uint32_t>;

/// Facts about the function that outlive a round.
struct AllocationState {
  ir::Function* f = nullptr;
  AllocationOptions options;
  std::vector<Tuple> tuples;
  /// Per virtual register, 1 + the tuple that it is in without copies, and where there, in registers; 0: in none. They
  /// are the operands of matrix instructions, whose lives are long and whose copies would outnumber the products.
  std::vector<std::uint32_t> tuple_of;
  std::vector<std::uint8_t> place_in_tuple;
  /// Registers that exist only around one instruction: spilling them would gain nothing. Their guarded
  /// definitions kill, since every use stands under the same condition.
  std::vector<bool> pinned;
  std::uint32_t original_local_bytes = 0;

  std::uint32_t new_register(unsigned words, bool is_predicate, const std::string& name);
};

[[noreturn]] void refuse(const ir::Function& f, const ir::Location& where, const std::string& what);

/// merge_copies.cpp: gives the two ends of a copy one name wherever their values never compete for it in the order the
/// program has, and drops the copy; a loop's variable and its next value above all. Done before scheduling, which would
/// otherwise compute the next value while the old one is in use. Nothing is merged when the function needs more than
/// `max_registers`: shorter lives spill better. Returns the number of names that went.
std::uint32_t merge_copies(ir::Function& f, unsigned max_registers);

/// legalize.cpp: splits the operands of vector accesses off into tuples, and gives an instruction that overwrites
/// its own guard a copy of it, so that code inserted after it can stand under the same guard.
void legalize(AllocationState& state);
/// Takes tuples apart that have one of `registers` as an operand without a copy: it is to be spilled, and the others
/// with it need not stand side by side any more.
void dissolve_tuples(AllocationState& state, const std::vector<std::uint32_t>& registers);

/// Estimated executions of a block inside `depth` loops, in units of the function's entry.
double loop_weight(std::uint32_t depth);

/// A copy by which two virtual registers want the same place: word `word_a` of a on word `word_b` of b.
struct Copy {
  std::uint32_t a = 0, b = 0;
  std::uint8_t word_a = 0, word_b = 0;
  double weight = 0;
};

/// Two general registers read by one instruction: best in different banks.
struct BankPair {
  std::uint32_t other = 0;
  double weight = 0;
};

/// interference.cpp: who is live when whom is written, between virtual registers of one class.
class Interference {
 public:
  Interference(const ir::Function& f, const std::vector<bool>& pinned);

  bool interferes(std::uint32_t a, std::uint32_t b) const { return pairs_.contains(a, b); }
  const std::vector<std::uint32_t>& neighbours(std::uint32_t v) const { return neighbours_[v]; }
  /// Most general registers live at once.
  unsigned pressure() const { return pressure_; }
  const std::vector<Copy>& copies() const { return copies_; }  ///< heaviest first
  const std::vector<BankPair>& bank_pairs(std::uint32_t v) const { return bank_pairs_[v]; }
  /// Estimated executions of instructions that touch the register, in units of the function's entry.
  double weight(std::uint32_t v) const { return weight_[v]; }
  bool appears(std::uint32_t v) const { return weight_[v] > 0; }
  /// Registers below which a general register has to lie: the least limit of all places where it has a value.
  unsigned limit(std::uint32_t v) const { return limit_.empty() ? trace::max_general_registers : limit_[v]; }

 private:
  void add(const ir::Function& f, std::uint32_t a, std::uint32_t b);
  void collect(const ir::Instruction& i, double weight, const ir::Function& f);
  void find_limits(const ir::Function& f, const analysis::Liveness& liveness);

  PairSet pairs_;
  std::vector<std::vector<std::uint32_t>> neighbours_;
  std::vector<Copy> copies_;
  std::vector<std::vector<BankPair>> bank_pairs_;
  std::vector<double> weight_;
  std::vector<unsigned> limit_;  ///< per virtual register; empty: the function sets no limits
  unsigned pressure_ = 0;
};

struct Member {
  std::uint32_t vreg = 0;
  unsigned offset = 0;  ///< registers from the node's base
};

/// Virtual registers that share one place: a base aligned to `width` registers (1, 2 or 4) or one predicate.
struct Node {
  unsigned width = 1;
  unsigned limit = trace::max_general_registers;  ///< the members' registers lie below
  bool is_predicate = false;
  bool alive = true;  ///< false: merged into another
  std::vector<Member> members;
  std::vector<std::uint32_t> adjacent;  ///< may name dead nodes
  unsigned blocked = 0;                 ///< aligned places that live neighbours can take at worst
};

/// nodes.cpp: nodes and the graph between them, and conservative coalescing over it.
class Nodes {
 public:
  Nodes(const AllocationState& state, const Interference& graph);

  /// Merges copy-related nodes while the Briggs or the George test says it cannot cause a spill.
  void coalesce();

  std::vector<Node> node;
  std::vector<std::uint32_t> node_of;  ///< per virtual register
  std::vector<unsigned> offset_of;     ///< per virtual register

  unsigned words(std::uint32_t vreg) const;
  /// Aligned places for a node.
  unsigned places(const Node& n) const;
  /// Places of `of` that one neighbour takes.
  static unsigned takes(const Node& neighbour, const Node& of) {
    return neighbour.width > of.width ? neighbour.width / of.width : 1;
  }
  bool is_easy(const Node& n) const { return n.blocked < places(n); }

 private:
  bool try_merge(const Copy& copy);
  bool is_safe(std::uint32_t big, std::uint32_t small);
  void merge(std::uint32_t big, std::uint32_t small, unsigned offset);
  void add_edge(std::uint32_t a, std::uint32_t b);

  const AllocationState& state_;
  const Interference& graph_;
  PairSet edges_;
  std::vector<std::uint32_t> stamp_;
  std::uint32_t stamp_value_ = 0;
};

/// colouring.cpp
struct Colouring {
  std::vector<std::int32_t> assignment;  ///< per virtual register, -1 none
  std::vector<std::uint32_t> spilled;    ///< nodes to spill; empty: done
  std::int32_t impossible = -1;          ///< a node that found no place though none can be spilled for it
};
Colouring colour(const AllocationState& state, const Interference& graph, const Nodes& nodes);

/// spill.cpp: whether a register can be recomputed at each use instead of being kept.
class Rematerialization {
 public:
  explicit Rematerialization(const ir::Function& f);
  /// The defining instruction, or null.
  const ir::Instruction* definition(std::uint32_t vreg) const;

 private:
  std::vector<std::uint32_t> definitions_;
  std::unordered_map<std::uint32_t, ir::Instruction> candidates_;
};

/// Rewrites the function so that the members of the given nodes live in local memory (predicates: in a general
/// register) or are recomputed at each use. Counts what it did into `result`.
void insert_spills(AllocationState& state, const Nodes& nodes, const std::vector<std::uint32_t>& spilled,
                   AllocationResult& result);

}  // namespace regatta::passes
