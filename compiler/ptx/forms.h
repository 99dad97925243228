// SPDX-License-Identifier: Apache-2.0
//
// The table of instruction forms: what is accepted, and which IR operation it becomes. To accept another form,
// add a row.
#pragma once

#include "ast.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::ptx {

class FunctionLowering;
struct Form;

/// Lowers a statement whose modifiers matched `form`; `proto` holds opcode, types, modifiers, guard and location.
using Handler = void (*)(FunctionLowering&, const Statement&, const Form& form, const ir::Instruction& proto);

/// One accepted form.
struct Form {
  /// Mnemonic and the modifiers that must be there, in any order: "mul.lo".
  const char* name;
  /// Modifiers that may be there, and $groups of them (options.cpp): "$rounding ftz sat".
  const char* options;
  /// Type modifiers allowed in first place, and in second (empty: the form has one type). Both empty: no type. With a
  /// '*' in front, the first are lists of types, one of which the instruction must have: "* f32.f16.f16.f32".
  const char* types;
  const char* second_types;
  ir::Opcode op;
  /// Operands, one letter each, destinations first:
  /// d destination of the type, w of twice its width, i of 32 bits, P predicate, Q predicate or p|q pair;
  /// s source of the type, S of the second type, W of twice the width, i of 32 bits, p predicate.
  /// With a handler the string only bounds the number of operands, as "min..max".
  const char* operands;
  Handler handler;
};

const std::vector<Form>& forms();

bool is_known_mnemonic(std::string_view mnemonic);

/// The form that matches a statement's modifiers and number of operands, and the instruction made from them.
/// Throws trace::InputError naming the instruction if there is none.
const Form& match_form(const Statement& s, const std::string& file, ir::Instruction& proto);

/// Words of an options string that stand for several modifiers: "$rounding".
const std::map<std::string_view, const char*>& option_groups();
/// Instructions that are refused by what they are for (refused.cpp).
struct RefusedFamily {
  const char* mnemonics;
  const char* what;
  /// Empty: every form. Else the modifiers that make a form one of these, of which one must be there, or all of those
  /// that a '+' joins: "f32+f16 f32+bf16".
  const char* modifiers = "";
  std::size_t operands = 0;  ///< if not 0, only with so many
};
const std::vector<RefusedFamily>& refused_families();

/// True if `modifier` is allowed by an options string, `$groups` expanded.
bool is_option(const char* options, std::string_view modifier);
/// Sets what a modifier means. `op` decides between the readings of .and, .or, .xor, .min ...
void apply_option(ir::Instruction& i, std::string_view modifier);

/// Whether a form of an instruction of the table belongs to a refused family.
bool is_refused_form(const Statement& s);
/// "tensor core instruction 'wmma.load...' is not supported" and the like.
std::string refusal(const Statement& s);

}  // namespace regatta::ptx
