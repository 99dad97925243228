// SPDX-License-Identifier: Apache-2.0
//
// The machine IR: a control-flow graph of guarded instructions over 32-bit general registers and predicates.
// The PTX front end lowers into it with virtual registers; register allocation renames those in place to
// physical ones; the emulator runs it; conversion to trace::Kernel (to_trace.h) is its last stop.
#pragma once

#include <regatta/ir/modifiers.h>
#include <regatta/ir/opcode.h>
#include <regatta/trace/kernel.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace regatta::ir {

/// A general register operand names a virtual register before allocation (index into
/// Function::registers) and a physical base register after it; a predicate likewise.
struct Operand {
  /// `parameter` is a kernel parameter read where it is used, from the constant bank it lies in: `value` is its byte
  /// offset in the parameter space, `words` its size.
  enum class Kind : std::uint8_t { none, reg, predicate, immediate, special, parameter };
  Kind kind = Kind::none;
  std::uint8_t words = 1;   ///< registers and parameters: 1 or 2
  bool negated = false;     ///< predicates only
  std::uint32_t id = 0;     ///< virtual or physical register number
  std::uint64_t value = 0;  ///< immediate bits (floats: their encoding in the operand's width), special id, offset
  /// Immediates only: the name of a module-level .global variable whose address (known when it is loaded) is to be
  /// added to `value`. Empty otherwise.
  std::string symbol;
  /// Immediates only, before allocation: 1 + the index of the shared variable whose offset is part of `value`; 0: none.
  std::uint32_t shared_variable = 0;

  static Operand reg(std::uint32_t id, unsigned words) {
    Operand o;
    o.kind = Kind::reg;
    o.id = id;
    o.words = static_cast<std::uint8_t>(words);
    return o;
  }
  static Operand predicate(std::uint32_t id, bool negated = false) {
    Operand o;
    o.kind = Kind::predicate;
    o.id = id;
    o.negated = negated;
    return o;
  }
  static Operand immediate(std::uint64_t bits, unsigned words = 1) {
    Operand o;
    o.kind = Kind::immediate;
    o.value = bits;
    o.words = static_cast<std::uint8_t>(words);
    return o;
  }
  static Operand special(Special s) {
    Operand o;
    o.kind = Kind::special;
    o.value = static_cast<std::uint64_t>(s);
    return o;
  }
  static Operand parameter(std::uint64_t offset, unsigned words) {
    Operand o;
    o.kind = Kind::parameter;
    o.value = offset;
    o.words = static_cast<std::uint8_t>(words);
    return o;
  }
  bool is_reg() const { return kind == Kind::reg; }
  bool is_predicate() const { return kind == Kind::predicate; }
};

/// Where an instruction came from. PTX position is 1-based; source_line 0 means no .loc was seen. Code of an inlined
/// function has its own line, and the line of the kernel that calls it as well; code of a header of the toolkit has the
/// line that calls it as its own.
struct Location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t source_file = 0;  ///< index into Function::source_files
  std::uint32_t source_line = 0;
  std::uint32_t caller_file = 0;  ///< likewise
  std::uint32_t caller_line = 0;  ///< in the kernel; 0: the line is of the kernel itself
};

/// One instruction.
///
/// Memory operands: `ld` has sources {address}, `st` {address, value...}, `atom`/`red` {address, operand[, operand2]}.
/// The address is a register (1 or 2 words) or an immediate; `offset` is added to it. In spaces shared, local,
/// param and constant addresses are byte offsets from the space's own base; in global and generic they are the
/// emulator's 64-bit addresses. `ld.param` is op ld, space param, an immediate address.
/// Vector accesses list one register operand per element, of consecutive registers after allocation.
/// `setp` writes predicates destinations[0] (and optionally [1], the complement); `bar` has sources
/// {id immediate or register [, thread count] [, predicate]} and, with a predicate, one destination; `shfl` has
/// {value, lane, clamp [, membermask]} and may write a predicate destinations[1]; `vote` {predicate [, membermask]};
/// `redux` {value, membermask}. `tex`, `tld4`, `suld` and `sust` have sources {handle, coordinates...} (a layer first,
/// x of a surface in bytes, `offset` is added to it), then a level of detail or the values; `txq` and `suq` {handle}. A
/// handle is the lower half of a texture or surface object, or an immediate whose symbol is a texture reference.
/// `ldmatrix` has sources {address} and a destination for each matrix, `stmatrix` {address, registers...}; their type
/// is b32, and mod.vector the number of matrices. `mma` has sources {A..., B..., C...}, destinations {D...}; `wgmma`
/// {A... or its descriptor, descriptor of B, C..., predicate or immediate: add C, first column}. `print` has sources
/// {format, arguments}, generic addresses, and an s32 destination; `trap` none, {message, file, line} of a failed
/// assertion, addresses and an integer, or {value, immediate index into Function::trap_texts}.
/// Asynchronous copies have sources {destination, source, ...}: `cp_async` {shared, global [, bytes read] [,
/// predicate]}, `bulk_copy` {destination, source, bytes [, mbarrier]}, `bulk_tensor` {shared, generic address of the
/// tensor map, coordinates... [, mbarrier]}; `mbarrier` {shared [, count, state or parity]} and one destination.
struct Instruction {
  Opcode op = Opcode::nop;
  Type type = Type::none;         ///< operation type; for memory, the element type
  Type source_type = Type::none;  ///< cvt, set
  Modifiers mod;
  bool guarded = false;
  std::uint32_t guard = 0;  ///< predicate number (virtual before allocation)
  bool guard_negated = false;
  std::vector<Operand> destinations;
  std::vector<Operand> sources;
  std::int64_t offset = 0;   ///< memory operands, bytes
  std::uint32_t target = 0;  ///< bra: block index
  /// Memory operands: bit v is set if the access may touch shared variable v (analysis/shared_accesses.h). Empty unless
  /// analysis::mark_shared_accesses() has run.
  std::uint64_t shared_accesses = 0;
  /// The class of where a target executes it, if not where its operation says; nop: as the operation says.
  trace::OpClass target_class = trace::OpClass::nop;
  Location where;
};

/// A virtual register. Words 1 or 2; predicates have words 0.
struct VirtualRegister {
  std::uint8_t words = 1;
  bool is_predicate = false;
  std::string name;  ///< PTX name, for messages
};

/// Straight-line code; only the last instruction may be bra or exit (guarded or not). A block whose last
/// instruction is not an unguarded bra or exit falls through to the next block in order.
struct Block {
  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> successors;  ///< filled by build_edges(): taken target first, then fall-through
  std::vector<std::uint32_t> predecessors;
  std::string label;
  bool keeps_loop = false;  ///< the loop that it is the header of is not to be unrolled
};

struct SharedVariable {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;  ///< 0: extern (dynamic)
  bool reserved = false;    ///< the system's own: zero when a CTA begins, and no part of %total_smem_size
  std::uint32_t alignment = 1;
};

/// Where the shared variables of a function lie.
struct SharedPlacement {
  std::vector<std::uint32_t> offsets;  ///< bytes, by index in Function::shared_variables
  std::uint32_t static_bytes = 0;      ///< Function::static_shared_bytes; dynamic shared memory begins here
};

/// A kernel parameter: `offset` in the parameter space, size and alignment in bytes.
struct Parameter {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 1;
  Type type = Type::none;  ///< as declared; of a structure b8, mostly
  bool is_array = false;
};

/// What a kernel was compiled for: PTX's performance directives. 0: not there.
struct LaunchBounds {
  std::array<std::uint32_t, 3> block{0, 0, 0};  ///< .maxntid, whose product bounds the threads, or .reqntid
  bool exact = false;                           ///< .reqntid: every dimension of a launch must be that
  std::uint32_t max_registers = 0;              ///< .maxnreg, per thread
  std::uint32_t min_ctas = 0;                   ///< .minnctapersm
  bool explicit_cluster = false;                ///< .explicitcluster, .reqnctapercluster: of one CTA
  Location where;                               ///< of the kernel's name

  std::uint64_t threads() const { return std::uint64_t{block[0]} * block[1] * block[2]; }
};

/// One kernel: entry is block 0.
struct Function {
  std::string name;
  std::string ptx_file;
  std::uint32_t target = 0;  ///< of .target sm_75: 75; 0 unknown
  std::vector<std::string> source_files;
  std::vector<Parameter> parameters;
  std::vector<SharedVariable> shared_variables;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< stack frame per thread, spills included after allocation
  /// Of local_bytes, the first: for the frames of recursive functions, from the end of these bytes downwards.
  std::uint32_t stack_bytes = 0;
  std::vector<VirtualRegister> registers;
  std::vector<Block> blocks;
  LaunchBounds bounds;
  std::vector<std::string> trap_texts;  ///< what is wrong where a trap ends the run; '%' stands for a value

  bool uses_heap = false;  ///< calls malloc() or free()
  /// Exchanges between lanes (.sync) keep their order, because lanes may come to them on several paths.
  bool ordered_exchanges = false;
  bool allocated = false;            ///< operands hold physical numbers
  std::uint32_t registers_used = 0;  ///< after allocation: highest general register + 1
  /// Registers of a thread when the kernel begins, where it changes them (setmaxnreg); 0: it does not.
  std::uint32_t entry_registers = 0;
  std::uint32_t predicates_used = 0;
  std::uint32_t spilled_registers = 0;  ///< virtual registers that went to local memory
  std::uint32_t spill_bytes = 0;        ///< part of local_bytes

  std::size_t instruction_count() const;
};

/// For Function::stack_bytes.
inline constexpr std::uint32_t default_stack_bytes = 4096, least_stack_bytes = 16, most_stack_bytes = 256 << 10;
/// Of a kernel with Function::stack_bytes.
std::string stack_overflow_text(std::uint32_t stack_bytes);

/// A pointer inside a variable's initialiser: `bytes` at `offset` hold the address of `symbol` plus `addend`.
/// `generic` asks for the generic address (address_windows.h), otherwise the address in the symbol's own space;
/// the two differ for .const and .shared symbols only.
struct Relocation {
  std::uint32_t offset = 0;
  std::uint8_t bytes = 8;
  std::uint8_t first_byte = 0;  ///< of the address, for an initialiser that holds it byte by byte
  bool generic = false;
  bool narrow = false;  ///< generic: an address of 32 bits
  std::string symbol;
  std::int64_t addend = 0;
};

/// A module-level .global or .const variable, or a texture reference, which is a .global variable of no bytes whose
/// "address" is a texture handle.
struct ModuleVariable {
  std::string name;
  trace::MemorySpace space = trace::MemorySpace::global;
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 1;
  std::vector<std::uint8_t> initial;  ///< empty: zero; else `bytes` long
  std::uint32_t offset = 0;           ///< constant space only: byte offset from the space's base 0
  bool is_texture_reference = false;
  bool external = false;  ///< declared .extern here and defined nowhere in this module
  std::vector<Relocation> relocations;
};

struct Module {
  std::string file;
  std::vector<ModuleVariable> variables;
  std::vector<Function> functions;
};

/// Recomputes successors and predecessors from the terminators. Throws std::logic_error on a bad target.
void build_edges(Function& f);

/// Moves the shared variables of a function that is not allocated yet, with every operand that contains one of their
/// offsets. Throws std::logic_error for an allocated function or a placement of another number of variables.
void move_shared_variables(Function& f, const SharedPlacement& placement);

/// Takes out blocks without instructions; who went there goes to the block behind. An empty last block gets an exit.
/// Edges are to be built anew.
void remove_empty_blocks(Function& f);

/// General registers (virtual ids, or physical numbers expanded to 32-bit halves when allocated) and
/// predicates that an instruction reads and writes. The guard counts as a read predicate.
struct Accesses {
  std::vector<std::uint32_t> reads, writes;
  std::vector<std::uint32_t> predicate_reads, predicate_writes;
};
Accesses accesses(const Instruction& i, bool allocated);

/// Operands of an instruction that are consecutive registers after allocation, the first a multiple of their number.
struct OperandGroup {
  bool destinations = false;  ///< else sources
  std::uint8_t first = 0, count = 0;
};
/// At most four.
struct OperandGroups {
  std::array<OperandGroup, 4> group;
  unsigned count = 0;
  const OperandGroup* begin() const { return group.data(); }
  const OperandGroup* end() const { return group.data() + count; }
};
/// Those of more than one operand.
OperandGroups operand_groups(const Instruction& i);

/// Whether an instruction does something besides giving its destinations their values: to memory, to control flow, to
/// other threads, or to the carry flag. Loads do not, as far as the operation tells: a volatile one may.
bool has_other_effects(Opcode op);

/// Whether source 0 is the address of a memory access: loads, stores and atomics, of matrices too.
bool accesses_memory(Opcode op);

/// Whether it takes or leaves values in other lanes of its warp: shuffles, votes, matrix products. All lanes of the
/// warp that take part have to come to it together.
bool is_exchange(Opcode op);

/// Whether it takes the handle of a texture or surface, its source 0.
bool takes_texture(Opcode op);

/// Whether it is an asynchronous copy, a wait for some, or an operation on a mbarrier.
bool is_asynchronous(Opcode op);

/// Whether the carry flag, which no operand names, is an input or a result.
bool reads_carry(const Instruction& i);
bool writes_carry(const Instruction& i);

/// Full opcode text with modifiers, e.g. "ld.global.nc.f32", "setp.lt.and.s32".
std::string opcode_text(const Instruction& i);
/// One line of assembly, e.g. "@!P0 add.s32 R4, R5, 0x10;".
std::string to_text(const Instruction& i, bool allocated);
trace::OpClass op_class(const Instruction& i);

/// Linear static form for the trace: block order is program order, the static index is the position.
/// Requires f.allocated and edges; `reconvergence` per block comes from the analysis.
trace::Kernel to_trace(const Function& f, const std::vector<std::int32_t>& reconvergence, unsigned warp_size);
/// Adds the addresses of module-level variables, known when they are loaded, to the operands that name them.
/// `kernel` is to_trace() of `f`.
void place_variables(const Function& f, const std::function<std::uint64_t(const std::string&)>& address,
                     trace::Kernel& kernel);

}  // namespace regatta::ir
