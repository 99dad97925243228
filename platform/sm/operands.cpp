// SPDX-License-Identifier: Apache-2.0
#include "operands.h"

namespace regatta::sm {

Operands::Operands(Core& core, ExecutionUnits& execution) {
  path_ = &collectors_.emplace("collectors", core, execution);
}

Operands::~Operands() = default;

}  // namespace regatta::sm
