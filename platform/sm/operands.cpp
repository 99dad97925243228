// SPDX-License-Identifier: Apache-2.0
#include "operands.h"

#include "sub_core_path.h"
#include "sub_core_writeback.h"
#include "writeback.h"

namespace regatta::sm {

Operands::Operands(Core& core, ExecutionUnits& execution) {
  if (!core.config.has_sub_cores()) {
    path_ = &collectors_.emplace("collectors", core, execution);
    return;
  }
  results_.assign(core.config.schedulers, ResultQueue(core.config.sub_core.result_queue));
  sub_cores_ = std::make_unique<SubCorePath>("sub_cores", core, execution, results_);
  path_ = sub_cores_.get();
}

Operands::~Operands() = default;

std::unique_ptr<Writeback> Operands::make_writeback(Core& core) {
  if (sub_cores_ == nullptr) return std::make_unique<Writeback>("writeback", core);
  return std::make_unique<SubCoreWriteback>("writeback", core, results_, *sub_cores_);
}

}  // namespace regatta::sm
