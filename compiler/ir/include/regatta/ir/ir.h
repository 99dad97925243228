// SPDX-License-Identifier: Apache-2.0
//
// The machine IR: a control-flow graph of guarded instructions over 32-bit general registers and predicates.
// The PTX front end lowers into it with virtual registers; register allocation renames those in place to
// physical ones; the emulator runs it; conversion to trace::Kernel (to_trace.h) is its last stop.
#pragma once

#include <regatta/trace/kernel.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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
  f64
};
/// Size of a value in bytes; pred is 0.
unsigned size_of(Type t);
/// 32-bit registers a value takes in the register file (8- and 16-bit values take one).
inline unsigned words_of(Type t) { return size_of(t) > 4 ? 2 : 1; }
bool is_float(Type t);
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
  cvt,   ///< type <- source_type, rounding, saturation
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
  // Of machine code alone: no PTX lowers to them before a target's instructions are selected.
  fnma,  ///< floating point: source 2 minus the product of 0 and 1, rounded once
  add3,  ///< the sum of three integers
  lea,   ///< (source 0 << source 2) + source 1
  uldc,  ///< loads a uniform register with a constant (source 0), which stays an operand of those who read it
  bssy,  ///< lanes that part at the next branch meet at the next bsync
  bsync,
};
const char* to_string(Opcode op);

enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rni, rzi, rmi, rpi };
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
/// What a barrier does besides waiting; arrive does not wait.
enum class BarrierMode : std::uint8_t { sync, arrive, popc, and_, or_ };

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
  bool is_volatile = false;   ///< volatile, relaxed, acquire, release: not cached
  bool wrap = false;          ///< shf.wrap, else clamp
  bool left = false;          ///< shf.l
  bool shift_amount = false;  ///< bfind.shiftamt
  bool uniform = false;       ///< bra.uni
  TextureModifiers texture;
  bool carry_out = false;  ///< addc.cc, subc.cc: write the carry too (add_cc and sub_cc always do)
  std::string cache;       ///< ".nc", ".cg", ... for the opcode text
};

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
/// `print` has sources {format, arguments}, generic addresses, and an s32 destination; `trap` none, {message, file,
/// line} of a failed assertion, addresses and an integer, or {value, immediate index into Function::trap_texts}.
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

/// Whether an instruction does something besides giving its destinations their values: to memory, to control flow, to
/// other threads, or to the carry flag. Loads do not, as far as the operation tells: a volatile one may.
bool has_other_effects(Opcode op);

/// Whether it takes the handle of a texture or surface, its source 0.
bool takes_texture(Opcode op);

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
