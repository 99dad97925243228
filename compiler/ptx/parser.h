// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent (of bounded depth) from tokens to the AST.
#pragma once

#include "ast.h"

namespace regatta::ptx {

/// Parses a module. Wrong text inside a function's body is recorded in Function::error and skipped; wrong text
/// anywhere else throws trace::InputError.
Module parse(std::string_view text, const std::string& file);

/// The type named by `name` without its dot ("u32"); Type::none if the IR has no such type.
ir::Type type_named(std::string_view name);

class Parser {
 public:
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
  void skip_line();
  void skip_braces();

  // Module level (parser.cpp).
  void directive();
  void file_directive();
  void location();
  void function(bool is_extern);
  void header_directives(Function& f);
  std::vector<Variable> parameters();
  Variable::Space variable_space(const Token& t) const;
  std::vector<Variable> variables(Variable::Space space, bool is_extern);
  void dimensions(Variable& v);
  void initialiser(Variable& v, const std::vector<std::uint64_t>& dimensions);
  InitialValue initial_value();

  // Bodies (parser_body.cpp).
  void body(Function& f);
  void statement(Function& f, unsigned& depth);
  void registers(Statement& s);
  void instruction(Statement& s);
  void call(Statement& s);
  std::vector<Operand> call_list();
  Operand operand(unsigned depth);
  Operand address();
  Operand number(bool minus);

  std::string file_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  Module module_;
  std::map<std::uint64_t, std::uint32_t> file_index_;  ///< .file number to Module::source_files
  std::uint32_t source_file_ = 0;                      ///< .file number of the last .loc
  std::uint32_t source_line_ = 0;
  std::vector<std::uint64_t> dimensions_;  ///< of the variable being parsed; 0: left open
};

/// Reads a number token. Real: `real` is set, and `single` for the 0f form. False if it is malformed.
bool read_number(std::string_view text, std::uint64_t& bits, bool& real, bool& single);

}  // namespace regatta::ptx
