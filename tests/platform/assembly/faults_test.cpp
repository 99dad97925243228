// SPDX-License-Identifier: Apache-2.0
//
// Faults planted in the operand storage: each is caught by the value checker with warp, PC, register, lanes, expected
// and got.
#include <regatta/protocol/interposed_storage.h>

#include "harness.h"

#include <cstring>
#include <map>

using namespace regatta;
using assembly::BuildContext;
using assembly::SmParts;
using trace::OpClass;

namespace {

enum class Fault { none, drop_write, wrong_mask, stale_read, garbage_in_two_lanes };

/// Stands between the SM and a register file and spoils one access of R3.
class FaultyStorage : public protocol::InterposedStorage {
 public:
  FaultyStorage(const sc_core::sc_module_name& name, const BuildContext& c, Fault fault)
      : InterposedStorage(name, std::in_place_type<models::RegisterFile>, "register_file", c.machine.register_file,
                          c.clock),
        fault_(fault),
        period_(c.clock.period()) {}

 private:
  static bool is_target(Payload& p) {
    const protocol::WarpAccess& a = protocol::warp_access(p);
    return a.reg == protocol::RegisterId(3) && a.warp == protocol::WarpSlot(1);
  }
  tlm::tlm_sync_enum write(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (!is_target(p)) return InterposedStorage::write(p, phase, delay);
    ++writes_seen_;
    if (fault_ == Fault::drop_write && writes_seen_ == 2) {
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      delay += period_;
      return tlm::TLM_COMPLETED;
    }
    if (fault_ == Fault::wrong_mask && writes_seen_ == 2) {
      std::memset(enables_, 0xff, sizeof enables_);
      std::memset(enables_ + 4 * 4, 0, 3 * 4);  // lanes 4, 5 and 6 are lost
      p.set_byte_enable_ptr(enables_);
      p.set_byte_enable_length(p.get_data_length());
    }
    return InterposedStorage::write(p, phase, delay);
  }
  tlm::tlm_sync_enum read(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    const tlm::tlm_sync_enum answer = InterposedStorage::read(p, phase, delay);
    if (!is_target(p)) return answer;
    trace::WarpValue now{};
    std::memcpy(&now, p.get_data_ptr(), p.get_data_length());
    if (fault_ == Fault::stale_read && writes_seen_ == 2) std::memcpy(p.get_data_ptr(), &before_, p.get_data_length());
    if (fault_ == Fault::garbage_in_two_lanes) std::memset(p.get_data_ptr(), 0x5a, 2 * trace::bytes_per_lane);
    before_ = now;
    return answer;
  }

  Fault fault_;
  sc_core::sc_time period_;
  unsigned writes_seen_ = 0;
  unsigned char enables_[256];
  trace::WarpValue before_{};
};

/// R3 is written twice and read after each write, in one CTA of two warps. `part`: under a guard, which keeps lanes 0
/// and 1 from ever writing it.
std::string write_read_trace(const std::string& name, bool part) {
  test::TraceBuilder b;
  const auto write = [&](OpClass c, std::vector<unsigned> sources) {
    if (part) {
      b.guarded_op(c, 0, {3}, std::move(sources));
    } else {
      b.op(c, {3}, std::move(sources));
    }
  };
  b.op(OpClass::constant_load, {0}, {});
  write(OpClass::int_add, {0});          // PC 0x8
  b.op(OpClass::fp32_mul, {4}, {3});     // PC 0x10
  write(OpClass::fp32_mad, {4, 0});      // PC 0x18
  b.op(OpClass::fp32_add, {5}, {3, 0});  // PC 0x20
  b.exit();
  b.launch(1, 64);
  b.begin_cta();
  for (unsigned w = 0; w < 2; ++w) {
    b.begin_warp();
    for (std::uint32_t i = 0; i < 6; ++i) b.execute(i, part && (i == 1 || i == 3) ? 0xfffffffcu : 0xffffffffu);
    b.end_warp();
  }
  b.end_cta();
  return b.write(name);
}

// Without the protocol checkers, which would object to the spoilt byte enables before the value checker sees them.
assembly::SimulationResult run(Fault fault, const std::string& name, bool part = false) {
  test::FunctionScheme scheme([fault](const BuildContext& c) {
    SmParts parts = assembly::baseline_parts(c);
    parts.storage.reset();
    parts.storage = std::make_unique<FaultyStorage>("faulty", c, fault);
    return parts;
  });
  return test::simulate(write_read_trace(name, part), scheme, {}, 1, false);
}

void require_message(const assembly::SimulationResult& r, const std::string& lanes, unsigned first_lane) {
  REQUIRE(r.ending == assembly::Ending::value_mismatch);
  REQUIRE(r.mismatches >= 1);
  INFO(r.message);
  const std::string head =
      "value mismatch: kernel hand_made launch 0 CTA 0 warp 1 (slot 1) PC 0x20 fp32_add (PTX line 5) "
      "register R3 lanes " +
      lanes + ": lane " + std::to_string(first_lane) + " expected 0x";
  REQUIRE(r.message.substr(0, head.size()) == head);
  REQUIRE(r.message.find(" got 0x") != std::string::npos);
  REQUIRE(r.message.find(" from bank 4 at cycle ") != std::string::npos);
}

}  // namespace

TEST_CASE("the interposer alone changes nothing") { test::require_clean(run(Fault::none, "fault_none")); }

TEST_CASE("fault: a register write dropped") { require_message(run(Fault::drop_write, "fault_drop"), "0xffffffff", 0); }

TEST_CASE("fault: a wrong lane mask") { require_message(run(Fault::wrong_mask, "fault_mask"), "0x70", 4); }

TEST_CASE("fault: a stale bank read") { require_message(run(Fault::stale_read, "fault_stale"), "0xffffffff", 0); }

TEST_CASE("a register that is not written in all lanes, and no fault") {
  test::require_clean(run(Fault::none, "part_none", true));
}

TEST_CASE("fault: garbage in lanes that were never written is none") {
  test::require_clean(run(Fault::garbage_in_two_lanes, "part_garbage", true));
}

TEST_CASE("fault: garbage in lanes that were written") {
  const auto r = run(Fault::garbage_in_two_lanes, "whole_garbage");
  REQUIRE(r.ending == assembly::Ending::value_mismatch);
  REQUIRE(r.message.find("register R3 lanes 0x3: lane 0 expected 0x") != std::string::npos);
}

TEST_CASE("fault: a write dropped of a register that is not written in all lanes") {
  require_message(run(Fault::drop_write, "part_drop", true), "0xfffffffc", 2);
}

TEST_CASE("fault: a stale read of a register that is not written in all lanes") {
  require_message(run(Fault::stale_read, "part_stale", true), "0xfffffffc", 2);
}
