// SPDX-License-Identifier: Apache-2.0
//
// A PTX module as parsed: no meaning is given to instructions yet. Function bodies are flat statement lists in
// which nested scopes are bracketed by open and close statements, so that nothing here recurses.
#pragma once

#include "lexer.h"

#include <regatta/ir/ir.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace regatta::ptx {

/// PTX's WARP_SZ, whatever the width of the emulated warps.
inline constexpr std::uint64_t warp_constant = 32;

/// The value of a constant expression.
struct Constant {
  std::uint64_t bits = 0;    ///< integer: two's complement; real: encoding
  bool is_unsigned = false;  ///< integer: .u64, else .s64
  bool is_real = false;
  bool is_single = false;  ///< real: written as 0f, exactly `bits` as f32
  Position at;
  std::string text;  ///< as written
};

/// An instruction operand.
struct Operand {
  enum class Kind : std::uint8_t {
    name,  ///< register, special register, variable, label
    pair,  ///< p|q
    integer,
    real,
    vector,   ///< {a, b}
    address,  ///< [name + offset] or [offset], or [name, {a, b}] with coordinates in `elements`
    sink      ///< _
  };
  Kind kind = Kind::name;
  bool negated = false;     ///< !p
  bool single = false;      ///< real: written as 0f, exactly `bits` as f32
  std::string name;         ///< name, pair, address base (empty: none)
  std::string second;       ///< pair
  std::uint64_t bits = 0;   ///< integer: two's complement; real: encoding
  std::int64_t offset = 0;  ///< address, or name + offset
  bool indexed = false;     ///< name[index]: `offset` counts elements of the variable
  std::vector<Operand> elements;
  Position at;
  std::string text;  ///< as written
};

struct RegisterDeclaration {
  std::string name;
  std::uint32_t count = 0;  ///< %r<count>; 0: a single register
  unsigned vector = 1;      ///< elements of .v2 and .v4
  ir::Type type = ir::Type::none;
  Position at;
};

/// One element of an initialiser.
struct InitialValue {
  std::uint64_t index = 0;  ///< element of the flattened array
  std::uint64_t bits = 0;
  bool is_real = false;
  bool single = false;
  bool generic = false;
  int byte = -1;  ///< mask(symbol): the byte of the address that the mask selects
  std::string symbol;
  std::int64_t addend = 0;
  Position at;
};

/// A variable or parameter.
struct Variable {
  /// The name of a variable that a function declares and that the module holds: "function::name".
  std::string module_name;
  enum class Space : std::uint8_t { global, constant, shared, local, param, reg, opaque };
  Space space = Space::global;
  std::string name;
  std::string type_text;  ///< for messages, e.g. ".texref"
  ir::Type type = ir::Type::none;
  std::uint32_t alignment = 0;  ///< bytes, at least the type's own
  std::uint64_t elements = 1;
  unsigned vector = 1;  ///< of .v2 and .v4: part of `elements`
  bool is_array = false;
  bool is_extern = false;
  std::vector<InitialValue> initial;
  Position at;

  std::uint64_t bytes() const { return elements * ir::size_of(type); }
};

/// Where a statement stands in the source.
struct SourcePlace {
  std::uint32_t file = 0;  ///< index into Module::source_files
  std::uint32_t line = 0;  ///< 0: unknown
  /// Of the outermost call, if it stands in an inlined function.
  std::uint32_t caller_file = 0;
  std::uint32_t caller_line = 0;  ///< 0: none
};

struct Statement {
  /// nounroll: the loop that begins here is not to be unrolled.
  /// targets: the labels of a .branchtargets list, or the functions of a .calltargets list, as `operands`, with the
  /// list's name as `mnemonic`.
  /// prototype: of an indirect call; its results and then its parameters are `variables`.
  enum class Kind : std::uint8_t { instruction, label, registers, variable, open, close, nounroll, targets, prototype };
  Kind kind = Kind::instruction;
  Position at;

  // instruction
  std::string name;                    ///< mnemonic with modifiers as written: "ld.global.u32"
  std::vector<std::string> modifiers;  ///< without dots: {"global", "u32"}
  std::string mnemonic;                ///< "ld"; for a label its name
  std::string guard;                   ///< predicate name, empty: none
  Position guard_at;
  bool guard_negated = false;
  bool unparsed = false;  ///< of a mnemonic the table does not know: operands were skipped
  std::vector<Operand> operands;
  // call
  std::vector<Operand> call_results;
  std::vector<Operand> call_arguments;
  std::string call_list;  ///< name of a prototype or a list of targets, empty: none
  /// Where in the function's body the latest statement of that name before the call stands.
  static constexpr std::size_t nowhere = ~std::size_t{0};
  std::size_t call_list_at = nowhere;
  std::size_t result_count = 0;  ///< prototype: of `variables`, the first

  std::vector<RegisterDeclaration> registers;
  std::vector<Variable> variables;

  SourcePlace source;  ///< while the module is parsed, `file` is the number of a place (source_places.h)
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  std::vector<Variable> parameters;
  std::vector<Variable> results;  ///< .func only
  ir::LaunchBounds bounds;
  std::vector<Statement> body;
  unsigned address_bits = 64;  ///< of its generic and global addresses
  Position at;
  Position end;       ///< of the closing brace
  std::string error;  ///< why it cannot be compiled, complete message
};

/// `.alias name, target;`: a call of `name` is one of `target`.
struct Alias {
  std::string name, target;
  Position at;
};

struct Module {
  std::uint32_t version = 0;         ///< of .version 6.4: 604; 0 unknown
  std::uint32_t target = 0;          ///< of .target sm_75: 75; 0 unknown
  unsigned address_bits = 64;        ///< of .address_size, or the most that an entry has
  bool states_address_size = false;  ///< there is a .address_size
  std::vector<std::string> source_files;
  std::vector<Variable> variables;
  std::vector<RegisterDeclaration> registers;  ///< outside of functions, as PTX 1 and 2 allow
  std::vector<Function> functions;
  std::vector<Alias> aliases;
};

}  // namespace regatta::ptx
