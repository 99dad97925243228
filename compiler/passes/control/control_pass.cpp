// SPDX-License-Identifier: Apache-2.0
#include "control_pass.h"

namespace regatta::passes {

namespace {

constexpr const char* latency_option = "control-latencies";

std::vector<Figure> mean_stalls(const ControlUse& use) {
  std::vector<Figure> means;
  for (std::size_t c = 0; c < trace::op_class_count; ++c) {
    const auto op_class = static_cast<trace::OpClass>(c);
    if (op_class == trace::OpClass::metadata) continue;
    const double mean =
        use.of_class[c] == 0 ? 0 : static_cast<double>(use.stalls[c]) / static_cast<double>(use.of_class[c]);
    means.push_back({trace::to_string(op_class), mean});
  }
  return means;
}

}  // namespace

void ControlPass::declare(PassOptions& options) {
  options.flag("control", asked_,
               "control bits of modern NVIDIA GPUs: stall counts, dependence counters, wait masks and reuse flags, for "
               "machines without a scoreboard");
  options.text(latency_option, changed_latencies_, "NAME=CYCLES,...",
               "control bits for other latencies than Ampere's: classes of instructions such as int64=8, half, "
               "predicate or constant_pair; each 1 to 14 cycles; implies --control");
}

void ControlPass::validate() const { latencies(); }

ControlLatencies ControlPass::latencies() const {
  ControlLatencies latencies;
  if (changed_latencies_) latencies.set(*changed_latencies_, latency_option);
  return latencies;
}

void ControlPass::run(trace::Kernel& kernel, analysis::FunctionAnalyses& /*analyses*/) {
  if (!is_asked_for()) return;
  control_ = plan_control(kernel, latencies());
  passes::add_control(kernel, control_);
}

PassSummary ControlPass::summary(const trace::Kernel& kernel) const {
  PassSummary summary;
  if (!is_asked_for()) return summary;
  // A kernel that was refused has no bits.
  const ControlUse use = use_of(kernel, control_);
  summary.figures = {{"control", std::vector<Figure>{{"instructions", use.instructions},
                                                     {"fixed_latency", use.fixed},
                                                     {"write_counters", use.write_counters},
                                                     {"read_counters", use.read_counters},
                                                     {"waits", use.waits},
                                                     {"yields", use.yields},
                                                     {"reuse", use.reuse},
                                                     {"mean_stall", mean_stalls(use)}}}};
  summary.columns = {{"waits", use.waits}, {"reuse", use.reuse}};
  summary.text = std::to_string(use.write_counters + use.read_counters) + " counters raised, " +
                 std::to_string(use.waits) + " waits, " + std::to_string(use.reuse) + " reuses";
  return summary;
}

std::string ControlPass::listing_head() const {
  if (!is_asked_for()) return "";
  return "control: B, counters waited for; R and W, read and write counter raised; Y, yield; S, stall count";
}

std::string ControlPass::listing_column() const { return is_asked_for() ? "control bits" : ""; }

std::string ControlPass::listing_note(const trace::Kernel& /*kernel*/, std::uint32_t index) const {
  return is_asked_for() ? trace::to_string(control_.bits.at(index)) : "";
}

}  // namespace regatta::passes
