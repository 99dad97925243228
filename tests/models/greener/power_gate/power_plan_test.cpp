// SPDX-License-Identifier: Apache-2.0
#include <regatta/greener/power_plan.h>
#include <regatta/support/config.h>

#include "made.h"

using namespace regatta;
using models::PowerPlan;
using models::PowerPlanOptions;
using test::dead;
using trace::RegisterPower;

namespace {

constexpr trace::NextAccess near{2, true}, far{5, true};

std::vector<unsigned> members(const protocol::GeneralRegisters& set) {
  std::vector<unsigned> registers;
  for (unsigned r = 0; r < 256; ++r)
    if (((set[r / 64] >> (r % 64)) & 1) != 0) registers.push_back(r);
  return registers;
}

std::string refusal(const test::MadeKernel& k, const PowerPlanOptions& options) {
  try {
    models::make_power_plans(k.context, options);
  } catch (const support::ConfigError& e) {
    return e.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("plan: fields by the threshold, the rest sleeps, written sources keep their state") {
  test::MadeKernel k;
  k.add({1, 2}, {3, 4, 3, 1, 70}, {near, dead, far, dead, far, near, dead});
  k.finish();
  const PowerPlan p = models::make_power_plans(k.context, {}).at(0);
  CHECK(p.state_after_write(0) == RegisterPower::on);
  CHECK(p.state_after_write(1) == RegisterPower::sleep);  // no field
  // Reads: R3, R4, R1, R70.
  CHECK(p.state_after_read(0) == RegisterPower::sleep);
  CHECK(p.state_after_read(1) == RegisterPower::off);
  CHECK(p.state_after_read(2) == RegisterPower::on);     // is written by the same instruction
  CHECK(p.state_after_read(3) == RegisterPower::sleep);  // no field
  CHECK(members(p.reserved) == std::vector<unsigned>{3, 4, 70});
  CHECK(members(p.recorded) == std::vector<unsigned>{1, 2, 3, 4, 70});

  PowerPlanOptions wider;
  wider.threshold = 5;
  wider.reserve_all = false;
  wider.table_registers = 3;
  const PowerPlan q = models::make_power_plans(k.context, wider).at(0);
  CHECK(q.state_after_read(0) == RegisterPower::on);
  CHECK(members(q.reserved) == std::vector<unsigned>{4, 70});
  CHECK(members(q.recorded) == std::vector<unsigned>{1, 2, 3});

  PowerPlanOptions sleepy;
  sleepy.look_ahead = false;
  const PowerPlan s = models::make_power_plans(k.context, sleepy).at(0);
  CHECK(s.state_after_write(0) == RegisterPower::sleep);
  CHECK(s.state_after_read(1) == RegisterPower::sleep);
  CHECK(s.state_after_read(2) == RegisterPower::on);
}

TEST_CASE("plan: what is missing or out of reach is refused") {
  test::MadeKernel k;
  k.add({1}, {2});
  k.finish();
  PowerPlanOptions options;
  options.threshold = 32;
  CHECK(
      says(refusal(k, options),
           "greener.threshold = 32, but the trace of kernel 'made' tells distances up to 31 apart: expected 1 to 31"));
  options.threshold = 31;
  CHECK(refusal(k, options).empty());
  k.kernel.annotations[0].version = 2;
  CHECK(says(refusal(k, options), "GREENER needs the power states of kernel 'made'"));
  k.kernel.annotations[0].version = 1;
  k.kernel.annotations[0].payload += "x";
  CHECK(says(refusal(k, options), "kernel 'made': power states: 5 bytes, expected 4"));
  k.kernel.annotations.clear();
  CHECK(says(refusal(k, options), "no section 'power' of version 1"));
  options.look_ahead = false;
  CHECK(refusal(k, options).empty());
}
