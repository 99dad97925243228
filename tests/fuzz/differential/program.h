// SPDX-License-Identifier: Apache-2.0
//
// A random program as a tree, before it is PTX. Its meaning is given twice: print() writes PTX for the compiler and
// the emulator, and Oracle (oracle.h) walks the same tree thread by thread in C++, so that a fault that both compiled
// codes share is seen too.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::test::differential {

/// Classes of variables, by the letter that operations and PTX names use: h b16, r b32, d b64, f f32, g f64, p
/// predicate.
inline constexpr const char* classes = "hrdfgp";
inline constexpr unsigned class_count = 6;
unsigned class_index(char c);
/// Bytes of a variable in memory; 0 for a predicate.
unsigned class_bytes(char c);

/// Bytes of a thread's own piece of each memory.
inline constexpr unsigned slot_bytes = 64;

struct Operand {
  char type = 'r';
  bool immediate = false;
  unsigned variable = 0;
  std::uint64_t bits = 0;  ///< immediate
};

enum class Space : std::uint8_t { global, shared, local };

/// One cp.async.
struct CopyPart {
  enum class Mode : std::uint8_t { all_levels, global_level, cut, ignored };
  Mode mode = Mode::all_levels;  ///< .ca; .cg; with a size that `operand` chooses; without a source if `operand` holds
  unsigned bytes = 4;            ///< 4, 8 or 16
  unsigned from = 0, to = 0;     ///< bytes in the slots
  Operand operand;
};

struct Statement {
  enum class Kind : std::uint8_t {
    operation,  ///< row of the table of operations
    branch,     ///< if and else on predicate `guard`
    loop,       ///< body runs `trips` times, or (variable & 3) times
    leave,      ///< out of the innermost loop, if the guard holds
    load,       ///< from the thread's own slot of a memory
    store,
    call,      ///< of a .func
    shuffle,   ///< top level only: with all threads of the warp
    vote,      ///< top level only; also match.any
    exchange,  ///< top level only: through shared memory and barriers, with the thread `distance` away
    reduce,    ///< top level only: atomic sum over the CTA, read back behind a barrier
    exit,      ///< the thread ends, if the guard holds
    // Only in programs with modern instructions; all but `copy` top level only.
    copy,            ///< cp.async from the thread's slot of global memory to that of shared memory; `body` in between
    product,         ///< mma.sync; `row` of matrix_forms()
    transpose,       ///< movmatrix
    matrix_load,     ///< ldmatrix from rows that the lanes have written
    matrix_store,    ///< stmatrix to rows that the lanes read then
    memory_product,  ///< wmma: load, mma, store; `row` of wmma_forms()
    bulk_load,       ///< cp.async.bulk from the slot of thread `distance` to shared memory, which all threads read then
    bulk_store,      ///< cp.async.bulk from shared memory to the slot of thread `distance`
  };
  static constexpr unsigned kinds = static_cast<unsigned>(Kind::bulk_store) + 1;
  Kind kind = Kind::operation;
  int guard = -1;  ///< predicate; -1: none
  bool guard_negated = false;
  std::size_t row = 0;        ///< operation
  std::size_t function = 0;   ///< call
  std::vector<Operand> to;    ///< variables written
  std::vector<Operand> from;  ///< read
  std::vector<Statement> body, other;
  unsigned trips = 0;  ///< loop; 0: from[0] & 3
  unsigned distance =
      0;  ///< shuffle: the segment's lanes, 2 to 32; exchange: threads; matrix_store: row is lane ^ this
  /// shuffle: up, down, bfly, idx; vote: all, any, uni, ballot, match; reduce: row; exchange: ExchangeMode; of matrices
  /// in memory: bits of MatrixMode.
  unsigned mode = 0;
  // load and store
  Space space = Space::global;
  bool generic = false;         ///< by a generic address
  bool indexed = false;         ///< from[0] chooses the element
  const char* element = "u32";  ///< type in memory
  unsigned element_bytes = 4;
  unsigned count = 1;   ///< elements: 1, 2 or 4
  unsigned offset = 0;  ///< bytes in the slot, if not indexed
  std::vector<CopyPart> copies;
};

/// What orders the two sides of an exchange.
enum ExchangeMode : unsigned {
  by_barrier,  ///< bar.sync
  by_parity,   ///< mbarrier, try_wait.parity
  by_state,    ///< mbarrier, try_wait with the state of the arrival
  by_test,     ///< test_wait with the state, arrival with a count
  by_copy,     ///< cp.async from the own slot, cp.async.mbarrier.arrive, try_wait.parity
};
inline constexpr unsigned exchange_modes = by_copy + 1;

enum MatrixMode : unsigned {
  transposed = 1,    ///< ldmatrix, stmatrix: .trans; wmma: A by columns
  generic_rows = 2,  ///< of ldmatrix, stmatrix
  warp_barrier = 4,  ///< bar.warp.sync in place of bar.sync
  b_by_columns = 8,  ///< wmma
  c_by_columns = 16,
  d_by_columns = 32,
  upper_half = 64,  ///< wmma: the half of its 32 bytes of D that a lane reads
};

/// What the variables begin with: variable i of class c with initial[c][i]. In a kernel the number of the thread in the
/// grid is mixed in (first_value), in a function it is the value itself.
using Initial = std::array<std::vector<std::uint64_t>, class_count>;

struct Function {
  Initial initial;
  std::vector<Statement> body;
  std::vector<char> parameters;  ///< classes; parameter i is variable i of its class
  char result = 'r';             ///< class; its variable 0 is returned
};

struct Program {
  Initial initial;
  std::vector<Function> functions;
  std::vector<Statement> body;
  bool modern = false;  ///< with matrices and asynchronous copies: for sm_90
};

/// The multiplier by which a thread's number enters its first values.
inline constexpr std::uint32_t thread_multiplier = 0x9e3779b1u;
/// Floating variables whose number is a multiple of this begin with random bits, NaN and infinity among them; the
/// others with a small number times the thread's.
inline constexpr unsigned wild_floats = 3;
/// Bits of the first value of a kernel's variable in thread `thread` of the grid.
std::uint64_t first_value(char c, unsigned variable, std::uint64_t initial, std::uint32_t thread);

/// What one atomic reduction in shared memory does, from 0.
struct Reduction {
  const char* name;
  std::uint32_t (*apply)(std::uint32_t, std::uint32_t);
};
const std::vector<Reduction>& reductions();

inline constexpr std::array<unsigned, 3> block{32, 3, 1};  ///< 3 warps of 32, and one and a half of 64
inline constexpr unsigned threads_per_cta = block[0] * block[1];
inline constexpr unsigned ctas = 2;

/// Bytes of one thread's results: its slots of global, shared and local memory, then every variable in 8 bytes.
unsigned result_bytes(const Program& program);

/// Bytes of shared memory that a warp has for matrices: 1 KiB of what it reads, then 1 KiB of D.
inline constexpr unsigned matrix_bytes = 2048;
/// Bytes of shared memory that bulk copies come to.
inline constexpr unsigned inbox_bytes = slot_bytes;

std::string print(const Program& program);

std::size_t statement_count(const Program& program);

}  // namespace regatta::test::differential
