// SPDX-License-Identifier: Apache-2.0
#include <regatta/greener/power_plan.h>

#include <regatta/support/config.h>

#include <stdexcept>

namespace regatta::models {

using protocol::GeneralRegisters;
using protocol::InstructionTraits;
using protocol::RegisterId;
using trace::RegisterPower;

namespace {

trace::PowerStates states_of(const trace::Kernel& kernel, unsigned& threshold) {
  const trace::AnnotationSection* section = trace::find_power_section(kernel);
  if (section == nullptr) {
    throw support::UnfitTrace("GREENER needs the power states of kernel '" + kernel.name +
                              "', and its trace has no section '" + trace::power_section + "' of version " +
                              std::to_string(trace::power_section_version) +
                              ": write the trace anew with this version's regatta-annotate");
  }
  trace::PowerStates states;
  try {
    states = trace::decode_power_states(kernel, section->payload);
  } catch (const std::invalid_argument& e) {
    throw support::ConfigError("kernel '" + kernel.name + "': " + e.what());
  }
  if (threshold == 0) threshold = states.threshold;
  if (threshold > states.bound) {
    throw support::ConfigError("greener.threshold = " + std::to_string(threshold) + ", but the trace of kernel '" +
                               kernel.name + "' tells distances up to " + std::to_string(states.bound) +
                               " apart: expected 1 to " + std::to_string(states.bound));
  }
  return states;
}

PowerPlan plan_of(const InstructionTraits& t, const trace::PowerFields& fields, std::uint8_t bits,
                  const PowerPlanOptions& options) {
  PowerPlan plan;
  GeneralRegisters written{};
  unsigned recorded = 0;
  const auto record = [&](RegisterId r) {
    if (contains(plan.recorded, r) || recorded == options.table_registers) return;
    ++recorded;
    add(plan.recorded, r);
  };
  for (unsigned k = 0; k < t.write_count; ++k) {
    add(written, t.writes[k]);
    record(t.writes[k]);
    const RegisterPower state = trace::power_state(fields, bits, t.writes[k].value());
    plan.after_write = static_cast<std::uint8_t>(plan.after_write | static_cast<unsigned>(state) << (2 * k));
  }
  for (unsigned k = 0; k < t.read_count; ++k) {
    const RegisterId r = t.reads[k];
    record(r);
    if (contains(written, r)) continue;  // on until it is written: 0 is on
    const RegisterPower state = trace::power_state(fields, bits, r.value());
    plan.after_read |= static_cast<std::uint32_t>(state) << (2 * k);
    if (options.reserve_all || state != RegisterPower::on) add(plan.reserved, r);
  }
  return plan;
}

}  // namespace

std::vector<PowerPlan> make_power_plans(const protocol::KernelContext& context, const PowerPlanOptions& options) {
  const trace::Kernel& kernel = *context.kernel;
  unsigned threshold = options.threshold;
  trace::PowerStates states;
  if (options.look_ahead) states = states_of(kernel, threshold);
  std::vector<PowerPlan> plans;
  plans.reserve(context.traits->size());
  trace::PowerFields none;
  none.fill(-1);
  for (const InstructionTraits& t : *context.traits) {
    // Without a field a register sleeps.
    const trace::PowerFields fields = options.look_ahead ? trace::power_fields_of(*t.info) : none;
    const std::uint8_t bits = options.look_ahead ? trace::power_bits(*t.info, states.next[t.index], threshold) : 0;
    plans.push_back(plan_of(t, fields, bits, options));
  }
  return plans;
}

}  // namespace regatta::models
