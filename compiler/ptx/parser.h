// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent (of bounded depth) from tokens to the AST.
#pragma once

#include "ast.h"
#include "source_places.h"

#include <array>
#include <string>
#include <vector>

namespace regatta::ptx {

/// Parses a module. Wrong text inside a function's body is recorded in Function::error and skipped; wrong text
/// anywhere else throws trace::InputError.
Module parse(std::string_view text, const std::string& file);

/// The type named by `name` without its dot ("u32"); Type::none if the IR has no such type.
ir::Type type_named(std::string_view name);

class Parser {
 public:
  // Precedences of constant expressions.
  static constexpr unsigned additive = 9, multiplicative = 10;

  Parser(std::string_view text, const std::string& file) : file_(file), tokens_(lex(text, file)) {}
  Module run();

 private:
  // Tokens.
  const Token& peek(std::size_t ahead = 0) const {
    const std::size_t i = next_ + ahead;
    return i < tokens_.size() ? tokens_[i] : tokens_.back();
  }
  const Token& take() { return next_ + 1 < tokens_.size() ? tokens_[next_++] : tokens_.back(); }
  bool accept(char c);
  const Token& expect(char c, const char* where);
  const Token& expect_identifier(const char* what);
  std::uint64_t expect_integer(const char* what);
  [[noreturn]] void unexpected(const Token& found, const std::string& expected) const;
  void skip_statement();
  void named_by_label(const Function& f, Statement& s, const char* what, const char* directive) const;
  void targets(const Function& f, Statement& s);
  void prototype(const Function& f, Statement& s);
  void find_call_list(const Function& f, Statement& s) const;
  void skip_braces();

  // Module level (parser.cpp).
  void directive();
  bool starts_declaration() const;
  void version();
  void file_directive();
  void location();
  SourcePlaces::Position position();
  void function(bool is_extern);
  std::string header_directives(Function& f);
  std::array<std::uint32_t, 3> dimension_list(const std::string& directive);
  std::uint32_t positive(const std::string& directive);
  std::vector<Variable> parameters();
  Variable::Space variable_space(const Token& t) const;
  std::vector<Variable> variables(Variable::Space space, bool is_extern, bool is_parameter = false);
  void dimensions(Variable& v);
  void initialiser(Variable& v, const std::vector<std::uint64_t>& dimensions);
  InitialValue initial_value();
  void address_constant(InitialValue& v);

  // Bodies (parser_body.cpp).
  void body(Function& f);
  void statement(Function& f, unsigned& depth);
  std::vector<RegisterDeclaration> registers();
  void instruction(Statement& s);
  void call(Statement& s);
  std::vector<Operand> call_list();
  Operand operand(unsigned depth);
  Operand address();
  void coordinates(Operand& o);
  std::int64_t sum();

  // Constant expressions (constants.cpp).
  bool starts_constant() const;
  /// One whose operators bind at least as tightly as that of `least_precedence`; 0: any.
  Constant constant(unsigned least_precedence = 0);
  Constant constant(unsigned least_precedence, unsigned depth);
  Constant unary(unsigned depth);
  std::uint64_t whole_constant(unsigned least_precedence);

  std::string file_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  Module module_;
  std::map<std::uint64_t, std::uint32_t> file_index_;  ///< .file number to Module::source_files
  SourcePlaces places_;
  std::vector<std::uint64_t> dimensions_;  ///< of the variable being parsed; 0: left open
};

/// Sets Module::address_bits and those of the functions of a module without .address_size (address_size.cpp).
void infer_address_size(Module& module);

/// Reads a number token. Real: `real` is set, and `single` for the 0f form. False if it is malformed.
bool read_number(std::string_view text, std::uint64_t& bits, bool& real, bool& single);

}  // namespace regatta::ptx
