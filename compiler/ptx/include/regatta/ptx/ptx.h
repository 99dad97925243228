// SPDX-License-Identifier: Apache-2.0
//
// PTX text to machine IR (virtual registers, before allocation).
//
// Calls of .func functions are inlined, but those of recursive functions, which have frames on a stack in local memory.
// Layered cube maps, tensor core instructions and asynchronous copies are refused by name. Every refusal is a
// trace::InputError whose message is "file:line:column: error: ..." with 1-based positions (a column is one byte of the
// line) and the offending text.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::ptx {

struct LoweringOptions {
  /// Of local memory per thread for the frames of recursive functions, in kernels that may call one: a multiple of 16.
  std::uint32_t stack_bytes = ir::default_stack_bytes;
};

/// Lowers every entry of a module. `file` is only used in messages. Throws trace::InputError on the first error.
ir::Module parse_module(const std::string& text, const std::string& file, const LoweringOptions& options = {});

struct EntryResult {
  std::string name;
  bool accepted = false;
  std::string message;    ///< why not, "file:line:column: error: ..."; empty if accepted
  ir::Function function;  ///< only if accepted
};

struct ModuleResult {
  std::string file;
  unsigned target = 0;         ///< 75 of .target sm_75
  unsigned address_bits = 64;  ///< of .address_size; without one, the fewest that an entry's addresses have
  std::vector<ir::ModuleVariable> variables;
  std::vector<EntryResult> entries;
};

/// As parse_module, but an entry that cannot be lowered does not end the work. Text that is wrong outside of
/// function bodies still throws trace::InputError.
ModuleResult parse_entries(const std::string& text, const std::string& file, const LoweringOptions& options = {});

/// What the front end accepts, as a page in Markdown: made from the tables that it works by.
std::string supported_ptx();

}  // namespace regatta::ptx
