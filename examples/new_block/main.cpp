// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with one more scheme: --scheme operand_cache puts the cache in front of the baseline's register file;
// with one more warp scheduler, --scheduler youngest, and one more residency policy, --sm.residency capped.
#include <regatta/assembly/tool.h>
#include <regatta/schemes/schemes.h>

#include "operand_cache.h"
#include "policies.h"

namespace {

class OperandCacheScheme : public regatta::assembly::Scheme {
 public:
  std::string name() const override { return "operand_cache"; }
  std::string help() const override { return "baseline with a last-value operand cache per warp"; }
  void declare(regatta::support::OptionSet& options) override { config_.declare(options); }
  regatta::assembly::SmParts build(const regatta::assembly::BuildContext& context) override {
    regatta::assembly::SmParts parts = regatta::assembly::baseline_parts(context);
    parts.storage =
        std::make_unique<new_block::OperandCache>("operand_cache", config_, std::move(parts.storage), context.clock);
    return parts;
  }

 private:
  new_block::OperandCacheConfig config_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  auto registry = regatta::schemes::all();
  registry.add(std::make_unique<OperandCacheScheme>());

  using regatta::assembly::MachineConfig;
  regatta::assembly::PolicyRegistry policies;
  policies.add(regatta::assembly::SchedulerPolicy{
      "youngest", "the ready warp that came last",
      [](const MachineConfig&) { return std::make_unique<new_block::YoungestFirst>(); }});
  unsigned cap = 1;
  policies.add(regatta::assembly::ResidencyPolicy{
      "capped", "occupancy, but no more CTAs than capped.ctas",
      [&cap](const MachineConfig&) { return std::make_unique<new_block::CappedResidency>("residency", cap); },
      [&cap](regatta::support::OptionSet& o) {
        o.add("capped.ctas", cap, "CTAs", "resident on an SM at most, under --sm.residency capped", 1, 32);
      }});
  return regatta::assembly::run_tool(argc, argv, std::move(registry), std::move(policies));
}
