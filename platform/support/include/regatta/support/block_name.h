// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <systemc>
#include <typeinfo>

namespace regatta::support {

/// A class as C++ source names it, "new_block::OperandCache", without the anonymous namespaces around it.
std::string class_name(const std::type_info& type);

/// A block as messages name it: its path in the module hierarchy, or its class where it is no module.
template <class Block>
std::string block_name(const Block& block) {
  const auto* object = dynamic_cast<const sc_core::sc_object*>(&block);
  return object != nullptr ? std::string(object->name()) : class_name(typeid(block));
}

}  // namespace regatta::support
