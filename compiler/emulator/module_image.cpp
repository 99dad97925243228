// SPDX-License-Identifier: Apache-2.0
#include <regatta/emulator/module_image.h>

#include <regatta/ir/address_windows.h>
#include <regatta/trace/types.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::emulator {

using trace::MemorySpace;

ModuleImage::ModuleImage(const ir::Module& module, DeviceMemory& memory, TextureTable* textures)
    : file_(module.file), memory_(memory) {
  for (const ir::ModuleVariable& v : module.variables) {
    if (v.external) continue;  // an error only for a kernel that uses it: decode() says so
    if (v.is_texture_reference) {
      if (textures == nullptr) {
        throw trace::InputError(file_ + ": error: the module has a texture or surface reference '" + v.name +
                                "', and nothing is there to bind to it");
      }
      global_[v.name] = references_[v.name] = textures->create_reference(v.name);
      continue;
    }
    variables_[v.name] = v;
    if (v.space == MemorySpace::constant) {
      constants_.resize(std::max<std::size_t>(constants_.size(), std::size_t{v.offset} + v.bytes));
    } else {
      global_[v.name] = memory.allocate(v.name, v.bytes, true);
    }
  }
  for (const ir::ModuleVariable& v : module.variables) {
    if (v.external || v.is_texture_reference) continue;
    std::vector<std::uint8_t> bytes = v.initial;
    bytes.resize(v.bytes);
    relocate(v, bytes);
    write(v.name, bytes);
  }
}

void ModuleImage::relocate(const ir::ModuleVariable& v, std::vector<std::uint8_t>& bytes) const {
  for (const ir::Relocation& r : v.relocations) {
    std::uint64_t address = static_cast<std::uint64_t>(r.addend);
    const ir::ModuleVariable* target = variable(r.symbol);
    if (target == nullptr) {
      throw trace::InputError(file_ + ": error: the initialiser of '" + v.name + "' takes the address of '" + r.symbol +
                              "', which this module does not define");
    }
    if (target->space == MemorySpace::constant) {
      const std::uint64_t window = r.narrow ? base::narrow_first_address(base::Window::constant) : ir::constant_window;
      address += target->offset + (r.generic ? window : 0);
    } else {
      address += global_.at(r.symbol);
    }
    for (unsigned i = 0; i < r.bytes && r.offset + i < bytes.size(); ++i) {
      bytes[r.offset + i] = static_cast<std::uint8_t>(address >> (8 * (r.first_byte + i)));
    }
  }
}

TextureHandle ModuleImage::reference(const std::string& name) const {
  const auto found = references_.find(name);
  return found == references_.end() ? 0 : found->second;
}

const ir::ModuleVariable* ModuleImage::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

void ModuleImage::write(const std::string& name, const std::vector<std::uint8_t>& bytes) {
  const ir::ModuleVariable& v = variables_.at(name);
  if (bytes.size() > v.bytes) throw std::out_of_range("write beyond module variable " + name);
  if (v.space == MemorySpace::constant) {
    std::copy(bytes.begin(), bytes.end(), constants_.begin() + v.offset);
  } else {
    memory_.write(global_.at(name), bytes.data(), bytes.size());
  }
}

std::vector<std::uint8_t> ModuleImage::read(const std::string& name) const {
  const ir::ModuleVariable& v = variables_.at(name);
  std::vector<std::uint8_t> bytes(v.bytes);
  if (v.space == MemorySpace::constant) {
    std::copy_n(constants_.begin() + v.offset, v.bytes, bytes.begin());
  } else {
    memory_.read(global_.at(name), bytes.data(), bytes.size());
  }
  return bytes;
}

}  // namespace regatta::emulator
