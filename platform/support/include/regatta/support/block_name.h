// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <systemc>
#include <typeinfo>

namespace regatta::support {

/// The name of a class in C++ source, "new_block::OperandCache", without enclosing anonymous namespaces.
std::string class_name(const std::type_info& type);

/// The name of a block in messages: its path in the module hierarchy, or its class if it is not a module.
template <class Block>
std::string block_name(const Block& block) {
  const auto* object = dynamic_cast<const sc_core::sc_object*>(&block);
  return object != nullptr ? std::string(object->name()) : class_name(typeid(block));
}

}  // namespace regatta::support
