// SPDX-License-Identifier: Apache-2.0
//
// One entry from AST to IR. Instructions are collected in a line with labels between them (Draft) and cut into
// blocks at the end (blocks.cpp). Calls are inlined by lowering the callee's statements into the same line.
#pragma once

#include "ast.h"
#include "call_graph.h"
#include "draft.h"
#include "forms.h"
#include "saved_registers.h"

#include <regatta/base/address_map.h>
#include <regatta/ptx/ptx.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace regatta::ptx {

/// The two names of each element of a vector register: "%v.x" is "%v.r".
inline constexpr char vector_elements[] = "xyzw", vector_colours[] = "rgba";

/// The least multiple of `to` that is not below n.
constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

/// The module's variables with their places.
class ModuleSymbols {
 public:
  ModuleSymbols(const Module& module, const std::string& file);
  const Variable* find(const std::string& name) const;
  const Function* function(const std::string& name) const;
  /// Byte offset of a .const variable.
  std::uint32_t constant_offset(const std::string& name) const { return constant_offsets_.at(name); }
  const CallGraph& calls() const { return *calls_; }
  /// Fails for a variable whose initial value holds the address of an entry, or of such a variable.
  void require_data(const std::string& name, const std::string& file) const;
  std::vector<ir::ModuleVariable> take_variables() { return std::move(lowered_); }

 private:
  void lower(const Variable& v, const std::string& file);
  void initialise(ir::ModuleVariable& m, const Variable& v, const std::string& file);
  /// Where a variable gets the address of an entry.
  struct Taint {
    Position at;
    std::string function;
  };

  std::unordered_map<std::string, const Variable*> variables_;
  FunctionNames functions_;
  std::optional<CallGraph> calls_;
  std::unordered_map<std::string, std::uint32_t> constant_offsets_;
  std::vector<ir::ModuleVariable> lowered_;
  std::unordered_map<std::string, Taint> tainted_;  ///< by variable
  std::uint32_t constant_end_ = 0;
  unsigned address_bits_;
};

/// What a name in a function's body stands for.
struct Symbol {
  enum class Kind : std::uint8_t {
    reg,
    range,
    shared,
    extern_shared,
    local,
    global,
    constant,
    param,
    call_param,
    vector,     ///< a register of several elements, which have the names "%v.x" and so on
    reference,  ///< .texref, .surfref
    opaque,     ///< .samplerref
    function    ///< whose address is `offset`
  };
  Kind kind = Kind::reg;
  ir::Type type = ir::Type::none;
  std::uint32_t id = 0;      ///< reg: virtual register; range: count; call_param: index; vector: elements
  std::uint32_t offset = 0;  ///< variables: in their space
  std::uint32_t bytes = 0;
  bool in_frame = false;              ///< local: `offset` counts from the stack pointer
  std::uint32_t shared_variable = 0;  ///< shared: 1 + its index in ir::Function::shared_variables, 0: not an address
  const std::string* module_name = nullptr;  ///< global: in the module, where a function gives it another name
};

class FunctionLowering {
 public:
  FunctionLowering(const Module& module, const ModuleSymbols& symbols, const std::string& file,
                   const LoweringOptions& options)
      : module_(module), symbols_(symbols), file_(file), options_(options) {}
  ir::Function run(const Function& entry);

  // For handlers.
  [[noreturn]] void error(Position at, const std::string& message) const { fail(file_, at, message); }
  /// Of a generic address, or one of global memory.
  ir::Type address_type() const { return address_bits_ == 32 ? ir::Type::u32 : ir::Type::u64; }
  std::string address_size_text() const;
  unsigned address_words() const { return ir::words_of(address_type()); }
  /// The generic address of a space's offset 0.
  std::uint64_t window(base::Window w) const {
    return address_bits_ == 32 ? base::narrow_first_address(w) : base::first_address(w);
  }
  /// A source operand as `type`: register, immediate, or a temporary that special registers are moved into.
  ir::Operand source(const Operand& o, ir::Type type, const ir::Instruction& proto);
  /// As source(), but a register may be wider than the type (ld, st, cvt): its low part is taken.
  ir::Operand relaxed_source(const Operand& o, ir::Type type, const ir::Instruction& proto);
  ir::Operand predicate_source(const Operand& o);
  ir::Operand destination(const Operand& o, ir::Type type);
  ir::Operand predicate_destination(const Operand& o, const std::string& name);
  /// A destination that may be wider than the type: `widen` says so, and finish_wide() emits the extension.
  struct RelaxedDestination {
    ir::Operand operand;
    ir::Operand wide;
    bool widen = false;
  };
  RelaxedDestination relaxed_destination(const Operand& o, ir::Type type);
  void finish_wide(const RelaxedDestination& d, ir::Type type, const ir::Instruction& proto);
  ir::Operand temporary(ir::Type type);
  /// Appends `proto` with another operation and operands.
  void emit(const ir::Instruction& proto, ir::Opcode op, ir::Type type, std::vector<ir::Operand> destinations,
            std::vector<ir::Operand> sources);
  void append(ir::Instruction i);
  ir::Instruction& last() { return draft_.instructions.back(); }  ///< appended last
  /// Destination d, or d|p.
  void destinations_with_predicate(const Operand& o, ir::Type type, ir::Instruction& i);
  std::optional<Symbol> find(const std::string& name);
  Symbol register_symbol(const Operand& o);
  /// The address of a variable, of the given size in words: an immediate, or, in the frame of a recursive function, a
  /// register that gets it.
  ir::Operand symbol_address(const Symbol& s, const Operand& o, unsigned words);
  ir::Operand frame_address(std::uint64_t offset, unsigned words);
  /// Moves special register `s`, which `o` names, into `to`.
  void read_special(const Operand& o, ir::Special s, const ir::Operand& to, ir::Type type,
                    const ir::Instruction& proto);

  /// The address of an asynchronous operation in `space` (generic: whatever the window says), with its offset in it.
  ir::Operand async_address(const Statement& s, const Operand& o, trace::MemorySpace space,
                            const ir::Instruction& bare);
  /// Of one that names no place: the tensor map of a tensor copy and its coordinates.
  void tensor_place(const Statement& s, const Operand& o, ir::Instruction& i);

  /// Refuses a lane exchange without .sync where PTX has removed it.
  void require_sync(const Statement& s) const;
  void memory(const Statement& s, ir::Instruction proto);
  /// Fills in the address of an access: source 0, offset and space.
  void memory_address(const Statement& s, const Operand& address, ir::Instruction& proto);
  /// The registers or values that an instruction with `count` elements in an operand names.
  std::vector<Operand> data_elements(const Statement& s, const Operand& o, unsigned count) const;
  /// All different.
  std::vector<ir::Operand> matrix_destinations(const Statement& s, const Operand& o, unsigned count, ir::Type type);
  /// The sources of a lop3: three values and the table, which is part of the instruction.
  std::vector<ir::Operand> lop3_sources(const Statement& s, const ir::Instruction& bare);
  void texture(const Statement& s, ir::Instruction proto);
  void texture_query(const Statement& s, ir::Instruction proto);
  void surface(const Statement& s, ir::Instruction proto);
  void branch(const Statement& s, const ir::Instruction& proto);
  void indexed_branch(const Statement& s, const ir::Instruction& proto);
  void leave(const Statement& s, const ir::Instruction& proto);
  void call(const Statement& s, const ir::Instruction& proto);
  /// A call of a function of the device runtime (vprintf, __assertfail); false if it is none.
  bool runtime_call(const Statement& s, const ir::Instruction& proto);
  void generic(const Statement& s, const Form& form, const ir::Instruction& proto);
  static std::optional<ir::Special> special_named(const std::string& name);
  /// The value of a special register that is the same in every cluster of one CTA.
  static std::optional<std::uint32_t> cluster_constant(const std::string& name);
  void map_rank(const Statement& s, const ir::Instruction& proto);

 private:
  struct Scope {
    std::unordered_map<std::string, Symbol> names;
    std::unordered_map<std::string, std::uint32_t> labels;  ///< to Draft::labels
    std::unordered_map<std::string, const Statement*> target_lists;
  };
  /// Storage of a .param variable of a call: one register, or (arrays) a piece of local memory.
  struct CallParam {
    ir::Type type = ir::Type::none;
    bool in_memory = false;
    ir::Operand value;
    bool upper_bytes = false;  ///< a single byte has been stored behind the first one of a word
    bool in_frame = false;     ///< in memory: `offset` counts from the stack pointer
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  /// What a call still has to do when the callee has returned.
  struct ResultCopy {
    Operand to;  ///< a register of the caller
    ir::Operand from;
    ir::Type type = ir::Type::none;
  };
  struct Frame {
    const Function* function = nullptr;
    std::size_t first_scope = 0;
    std::uint32_t return_label = 0;
  };

  /// A recursive function. Its code stands once in the kernel, behind the kernel's own. Calls leave the parameters in
  /// its registers (arrays: in local memory at a fixed place), the number of the call in `return_index`, and jump; its
  /// end takes its frame off the stack and jumps back by that number.
  struct Body {
    const Function* function = nullptr;
    std::uint32_t entry = 0;                         ///< label
    std::uint32_t way_back = 0;                      ///< label, if the jumps back stand elsewhere
    std::vector<std::uint32_t> parameters, results;  ///< in call_params_
    ir::Operand return_index;
    std::vector<std::uint32_t> return_labels;
    ir::Location where;  ///< of the first call
    CodeRange code;
    std::uint32_t frame_bytes = 0;  ///< of its variables, while it is lowered
    std::size_t push = 0, pop = 0;  ///< the instructions that move the stack pointer
  };

  void jump(const ir::Instruction& proto, std::uint32_t label);
  /// Lowers what a direct call, or one way of an indirect call, does. `bare` has no guard.
  void call_function(const Function& callee, const Statement& s, const ir::Instruction& bare);
  void inline_call(const Function& callee, const Statement& s, const ir::Instruction& bare);
  void require_operands(const Function& callee, const Statement& s) const;
  void indirect_call(const Statement& s, const ir::Instruction& bare);
  /// One of the functions that an indirect call may reach; the call's address is that of it.
  void call_target(const Function& callee, const Statement& s, const ir::Instruction& bare, const ir::Operand& address);
  /// Why a function cannot be called, empty if it can.
  static std::string obstacle(const Function& callee);
  // lower_recursive.cpp
  void begin_stack(const Function& entry);
  void finish_stack(const Function& entry);
  void call_body(const Function& callee, const Statement& s, const ir::Instruction& bare);
  Body& body_of(const Function& callee, const ir::Instruction& bare);
  void lower_body(Body& body);
  void jump_back(const Body& body);
  void pass(const Body& body, std::size_t parameter, const Operand& actual, const ir::Instruction& bare,
            std::vector<std::pair<ir::Operand, ir::Operand>>& later);
  /// The .param array of the caller that is handed over as `formal`, or gets it.
  CallParam array_argument(const Variable& formal, const Operand& actual, const Function& callee);
  void copy_array(const CallParam& to, const CallParam& from, const ir::Instruction& bare);
  /// Gives the registers that the calls of a body save their places, and collects the instructions.
  void save_registers(Body& body, std::vector<Insertion>& insertions);
  /// Adds the address of a place in local memory to the sources.
  void add_local_address(ir::Instruction& i, bool in_frame, std::uint32_t offset) const;
  std::uint32_t position() const { return static_cast<std::uint32_t>(draft_.instructions.size()); }
  /// Its number in Draft::labels.
  std::uint32_t label_named(const Operand& o) const;
  std::uint32_t new_label(const std::string& name);
  void place_label(std::uint32_t label);
  /// For a guarded instruction that becomes several: a branch around them, whose label is to be placed behind them.
  /// What follows has no guard.
  std::optional<std::uint32_t> begin_guarded(ir::Instruction& bare, const std::string& name);
  /// Ends the run where `compare` of `value` and `limit` holds. `text`: what is wrong, with '%' for the value.
  void trap_if(const ir::Instruction& bare, ir::Compare compare, const ir::Operand& value, std::uint64_t limit,
               const std::string& text);
  /// Comparisons that find the n for which least[n] <= `value` < least[n + 1], and what `leaf` writes for each n.
  /// `least` ascends; below its first number n is 0. No leaf may go on behind itself.
  void search_tree(const ir::Instruction& bare, const ir::Operand& value, ir::Type type,
                   const std::vector<std::uint64_t>& least, const std::function<void(std::size_t)>& leaf);
  /// Branches to targets[n] where `index` is n. `checked`: an index behind the last one ends the run.
  void branch_tree(const ir::Instruction& bare, const ir::Operand& index, const std::vector<std::uint32_t>& targets,
                   bool checked = true);
  void statements(const Function& f);
  void declare_labels(const std::vector<Statement>& body, std::size_t first);
  void declare(const std::string& name, const Symbol& symbol, Position at);
  void declare_registers(const RegisterDeclaration& d);
  void declare_vector(const std::string& name, ir::Type type, unsigned elements, Position at);
  std::optional<Symbol> find_in(Scope& scope, const std::string& name);
  /// A statement with its indexed and vector operands taken apart.
  Statement resolved(const Statement& s);
  Operand resolved(const Operand& o, bool is_address);
  bool needs_resolution(const Statement& s) const;
  /// Names a formal parameter in the callee's scope, and gives it the caller's value (`actual`), or says where the
  /// result goes.
  void bind_parameter(const Function& callee, const Variable& formal, const Operand& actual, bool is_result,
                      Scope& scope, const ir::Instruction& proto, std::vector<ResultCopy>& results);
  ir::Operand register_parameter(const Variable& formal, const std::string& name, Scope& scope);
  void copy_in(const ir::Operand& to, ir::Type type, const Operand& actual, const ir::Instruction& proto);
  void copy_out(const ResultCopy& r, const ir::Instruction& proto);
  void variable(const Variable& v);
  /// In the kernel's own part of local memory, or, if `in_frame` is there to be told, in the frame of the recursive
  /// function that is being lowered.
  std::uint32_t place_local(std::uint64_t bytes, std::uint32_t alignment, Position at, bool* in_frame = nullptr);
  std::uint32_t place_shared(const Variable& v);
  std::optional<Symbol> reserved_shared(const std::string& name);
  Symbol module_symbol(const Variable& v);
  /// A function that has an address.
  std::optional<Symbol> function_symbol(const std::string& name) const;
  Symbol call_param(const Variable& v);
  void parameters(const Function& entry);
  void instruction(const Statement& s);
  void form_of(const Statement& s);
  bool flushes_subnormals(const Form& form, const ir::Instruction& proto) const;
  std::uint32_t new_register(ir::Type type, const std::string& name);
  void resolve_extern_shared();
  void call_param_access(const Statement& s, ir::Instruction proto, const Symbol& symbol, const Operand& address);
  void memory_operands(const Statement& s, ir::Instruction proto);
  /// Settles the space of an access of a variable.
  void require_space(const Operand& address, const Symbol& symbol, ir::Instruction& proto) const;
  /// The handle and the coordinates of an access as sources of `i`.
  void texture_place(const Statement& s, const Operand& o, ir::Instruction& i);
  ir::Operand texture_handle(const Operand& o, const ir::Instruction& bare);
  ir::Operand coordinate(const Operand& o, ir::Type type, const ir::Instruction& bare);
  void surface_store(ir::Instruction store, const std::vector<ir::Operand>& values);
  std::vector<ir::Operand> words_of_param(const CallParam& p, const ir::Instruction& proto);
  void load_parts(const Statement& s, const ir::Instruction& proto, const CallParam& p, unsigned offset);
  void store_parts(const Statement& s, const ir::Instruction& proto, CallParam& p, unsigned offset);

  const Module& module_;
  unsigned address_bits_ = 64;  ///< of the entry
  const ModuleSymbols& symbols_;
  const std::string& file_;
  const LoweringOptions& options_;
  ir::Function f_;
  Draft draft_;
  std::vector<Scope> scopes_;
  Scope module_registers_;
  bool has_vectors_ = false;  ///< a vector register has been declared
  std::vector<Frame> frames_;
  std::vector<CallParam> call_params_;
  std::unordered_map<std::string, Symbol> module_shared_;  ///< shared variables, and local ones of the module
  std::uint32_t reserved_variable_ = 0;                    ///< Symbol::shared_variable of the reserved shared memory
  std::map<std::string, std::uint32_t> extern_shared_;     ///< name to alignment
  std::deque<Body> bodies_;                ///< of recursive functions, in the order of their first calls
  Body* body_ = nullptr;                   ///< the one that is being lowered
  ir::Operand stack_pointer_;              ///< offset in local memory; the stack grows downwards, to 0
  ir::Location where_;                     ///< of the instruction that is being lowered
  std::optional<std::uint32_t> reserved_;  ///< offset of the system's own shared memory, where it is used
};

/// Special registers that a move reads; the places of %reserved_smem_offset_* and the name of their size.
const std::map<std::string, ir::Special>& special_registers();
const std::map<std::string, std::uint32_t>& reserved_shared_places();
const std::map<std::string, std::uint32_t>& cluster_constants();
inline constexpr const char* explicit_cluster_name = "%is_explicit_cluster";  ///< a predicate
inline constexpr std::uint32_t reserved_shared_bytes = 1024;
inline constexpr const char* reserved_shared_size = "%reserved_smem_offset_cap";
/// Functions of the device runtime that can be called.
std::vector<std::string> runtime_functions();

/// A proto without modifiers, for the instructions around the main one.
inline ir::Instruction plain(const ir::Instruction& proto) {
  ir::Instruction i;
  i.guarded = proto.guarded;
  i.guard = proto.guard;
  i.guard_negated = proto.guard_negated;
  i.where = proto.where;
  return i;
}
inline bool has_modifier(const Statement& s, const char* name) {
  for (const std::string& m : s.modifiers)
    if (m == name) return true;
  return false;
}

/// Of "m16n8k32". Zeros where no modifier is a shape.
struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
};
MatrixShape matrix_shape(const Statement& s);
/// The modifiers that are formats, in their order.
std::vector<ir::TensorFormat> tensor_formats(const Statement& s);
/// "e4m3"
std::optional<ir::TensorFormat> tensor_format_named(const std::string& name);

// Handlers (lower_special.cpp).
void lower_mov_vector(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_mov(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_memory(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_vector_atomic(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_texture(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_texture_query(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_mma(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_matrix(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_wgmma(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_wmma(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_wmma_memory(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_movmatrix(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_surface(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_cvt(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_cvt_pair(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_cvta(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_isspacep(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_branch(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_indexed_branch(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_exit(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_call(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_trap(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_barrier(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_warp_sync(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_shuffle(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_vote(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_match(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);

// Handlers (lower_async.cpp).
void lower_cp_async(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_async_wait(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_mbarrier(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_mbarrier_wait(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_pending_count(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_bulk_copy(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_bulk_prefetch(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_bulk_tensor(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_proxy_fence(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);

// Handlers (lower_expanded.cpp).
void lower_mad_carry(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_copysign(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_permute(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_bmsk(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_cnot(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_relu(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_setp_pair(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_set_half(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_slct(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_mul24(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_lop3(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_nothing(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);

// Handlers (lower_clusters.cpp).
void lower_elect(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_set_registers(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_cluster_barrier(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_map_rank(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_rank_of(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);

// Handlers (lower_packed.cpp).
void lower_cvt_pack(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_testp(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_szext(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_lop3_predicate(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);
void lower_create_policy(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);

// Handler (lower_video.cpp).
void lower_video(FunctionLowering&, const Statement&, const Form&, const ir::Instruction&);

}  // namespace regatta::ptx
