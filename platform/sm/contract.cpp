// SPDX-License-Identifier: Apache-2.0
#include "contract.h"

#include <sstream>
#include <stdexcept>
#include <systemc>

namespace regatta::sm {

void broken_contract(const char* point, const std::string& what) {
  SC_REPORT_ERROR((std::string("regatta/") + point).c_str(), what.c_str());
  throw std::logic_error(std::string(point) + ": " + what);
}

std::string describe(const protocol::DynamicInstruction& d) {
  std::ostringstream text;
  text << "warp " << d.warp.value() << "'s 0x" << std::hex << d.traits->index * trace::bytes_per_instruction << " "
       << d.info->opcode;
  return text.str();
}

}  // namespace regatta::sm
