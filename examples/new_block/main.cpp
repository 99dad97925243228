// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with one more scheme: --scheme operand_cache puts the cache in front of the baseline's register file.
#include <regatta/assembly/tool.h>

#include "operand_cache.h"

namespace {

class OperandCacheScheme : public regatta::assembly::Scheme {
 public:
  std::string name() const override { return "operand_cache"; }
  std::string help() const override { return "baseline with a last-value operand cache per warp"; }
  void declare(regatta::support::OptionSet& options) override { config_.declare(options); }
  regatta::assembly::SmParts build(const regatta::assembly::BuildContext& context) override {
    regatta::assembly::SmParts parts = regatta::assembly::baseline_parts(context);
    parts.storage = std::make_unique<new_block::OperandCache>("operand_cache", config_, std::move(parts.storage),
                                                              context.clock_period);
    return parts;
  }

 private:
  new_block::OperandCacheConfig config_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  auto registry = regatta::assembly::SchemeRegistry::with_builtin();
  registry.add(std::make_unique<OperandCacheScheme>());
  return regatta::assembly::run_tool(argc, argv, std::move(registry));
}
