// SPDX-License-Identifier: Apache-2.0
//
// A module loaded onto the device: its .global variables have addresses in DeviceMemory, its .const variables
// lie in the constant space, and the pointers in initialisers are filled in.
#pragma once

#include <regatta/emulator/device_memory.h>
#include <regatta/emulator/texture_table.h>
#include <regatta/ir/ir.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regatta::emulator {

/// Throws trace::InputError for a variable that is declared .extern and defined nowhere, and for an initialiser that
/// names an unknown symbol.
class ModuleImage {
 public:
  /// `textures` gets the texture and surface references of the module; nullptr: a module that has some is refused.
  ModuleImage(const ir::Module& module, DeviceMemory& memory, TextureTable* textures = nullptr);

  /// The handle of a texture or surface reference (.texref, .surfref); 0 if there is none of that name.
  TextureHandle reference(const std::string& name) const;

  /// Address of a .global variable, or handle of a reference; throws std::out_of_range when there is none of that name.
  std::uint64_t global_address(const std::string& name) const { return global_.at(name); }
  bool has_global(const std::string& name) const { return global_.count(name) != 0; }

  /// The variable called `name`, of either space; nullptr if the module has none.
  const ir::ModuleVariable* variable(const std::string& name) const;
  /// Overwrites the start of a variable, as cudaMemcpyToSymbol does. `bytes` must not exceed the variable.
  void write(const std::string& name, const std::vector<std::uint8_t>& bytes);
  /// Copies a variable's bytes out.
  std::vector<std::uint8_t> read(const std::string& name) const;

  /// The constant space, from offset 0.
  const std::vector<std::uint8_t>& constants() const { return constants_; }

 private:
  void relocate(const ir::ModuleVariable& v, std::vector<std::uint8_t>& bytes) const;

  std::string file_;
  DeviceMemory& memory_;
  std::map<std::string, ir::ModuleVariable> variables_;
  std::map<std::string, std::uint64_t> global_;
  std::map<std::string, TextureHandle> references_;
  std::vector<std::uint8_t> constants_;
};

}  // namespace regatta::emulator
