// SPDX-License-Identifier: Apache-2.0
//
// Two warps that name the same rows of the register file: a mapping that was declared and is right, one that is wrong,
// which the value checker finds, and one that was not declared, which the file refuses.
#include "harness.h"

#include <regatta/baseline/fixed_windows.h>

using namespace regatta;

namespace {

/// Warps 2n and 2n + 1 have the registers from R`split` on in common.
class PairedWindows : public models::FixedWindows {
 public:
  PairedWindows(std::uint16_t split, bool declared) : split_(split), declared_(declared) {}
  std::string name() const override { return "paired"; }
  models::RegisterWindow assign(protocol::WarpSlot warp) override {
    const auto pair = protocol::WarpSlot(static_cast<std::uint16_t>(warp.value() & ~1u));
    return {base(warp), base(pair), split_};
  }
  std::vector<protocol::WarpSlot> shares_with(protocol::WarpSlot warp) const override {
    if (!declared_) return {};
    return {protocol::WarpSlot(static_cast<std::uint16_t>(warp.value() ^ 1u))};
  }

 private:
  std::uint16_t split_;
  bool declared_;
};

assembly::SimulationResult share(const std::string& name, std::uint16_t split, bool declared) {
  return test::simulate_with(test::mixed_trace(name, 4), [=](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    parts.storage.reset();
    parts.storage = std::make_unique<models::RegisterFile>("register_file", c.machine.register_file, c.clock,
                                                           std::make_unique<PairedWindows>(split, declared));
    return parts;
  });
}

}  // namespace

TEST_CASE("shared rows: warps that share a row which neither uses run right") {
  // The program's registers are R0 to R6 of the eight that are allocated.
  test::require_clean(share("shared_right", 7, true));
}

TEST_CASE("shared rows: warps that share a row which both use are found by the checker") {
  const auto r = share("shared_wrong", 5, true);
  CHECK(r.mismatches > 0);
  CHECK(r.message.find("value mismatch") != std::string::npos);
  INFO(r.message);
  CHECK((r.message.find("register R5") != std::string::npos || r.message.find("register R6") != std::string::npos));
}

TEST_CASE("shared rows: without a declaration the file refuses them") {
  std::string said;
  try {
    share("shared_undeclared", 7, false);
  } catch (const sc_core::sc_report& report) {
    said = report.what();
  }
  CHECK(said.find("the window of warp 1 has row 7 for R7, which is warp 0's") != std::string::npos);
}
