// SPDX-License-Identifier: Apache-2.0
//
// Faults planted in RegLess: words edited, and an interposer between a shard's compressor and the L1. Each is caught by
// the value checker with kernel, warp, PC, register, lanes and where the value came from.
#include "harness.h"
#include "regless_support.h"

#include <regatta/regless/patterns.h>
#include <regatta/schemes/schemes.h>
#include <regatta/trace/region_words.h>

#include <cstring>
#include <utility>
#include <vector>

using namespace regatta;
using Catch::Matchers::Contains;
using protocol::AccessClass;
using trace::LastUse;
using trace::OpClass;
using trace::RegionEntry;

namespace {

enum class Words { right, lost_preload, erased_too_early };

/// 24 warps define R0 and R1, meet, and use them: more values than the 16 lines that run() gives them.
std::string two_regions(const std::string& name, Words kind, bool uniform) {
  test::TraceBuilder b;
  b.uniform_values = uniform;
  b.op(OpClass::constant_load, {0}, {});                         // PC 0x0: region A
  b.op(OpClass::int_add, {1}, {0});                              // 0x8
  b.barrier();                                                   // 0x10
  b.op(OpClass::fp32_mul, {2}, {0, 1});                          // 0x18: region B
  b.op(OpClass::fp32_mul, {3}, {2});                             // 0x20
  b.exit();                                                      // 0x28
  for (trace::StaticInstruction& i : b.kernel().instructions) {  // what marks name
    const auto add = [&](unsigned reg) {
      trace::Operand o;
      o.kind = trace::Operand::Kind::reg;
      o.value = reg;
      o.words = 1;
      i.operands.push_back(o);
    };
    for (unsigned d = 0; d < i.destination_count; ++d) add(i.destinations[d]);
    i.operand_destinations = i.destination_count;
    for (unsigned k = 0; k < i.source_count; ++k) add(i.sources[k]);
  }
  trace::RegionWords a;
  a.lines = {1, 1};
  a.uses.resize(3);
  a.uses[1] = {kind == Words::erased_too_early ? LastUse::erase : LastUse::evict, LastUse::evict, LastUse::none};
  test::add_region(b, 0, a);
  trace::RegionWords c;
  c.lines = {1, 1, 1, 1};
  c.entries = {{RegionEntry::Kind::invalidating_preload, 0}, {RegionEntry::Kind::invalidating_preload, 1}};
  if (kind == Words::lost_preload) c.entries.pop_back();
  c.uses.resize(3);
  c.uses[0] = {LastUse::erase, LastUse::erase, LastUse::none};
  c.uses[1] = {LastUse::erase, LastUse::erase, LastUse::none};
  test::add_region(b, 3, c);
  b.launch(6, 128);
  b.run_all();
  return b.write(name);
}

/// Between what leaves a shard and the L1.
class Interposer : public sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
 public:
  /// Sees a request before it is passed on; true: it is answered here, and nobody else hears of it.
  using Spoil = std::function<bool(tlm::tlm_generic_payload&)>;
  protocol::MemoryTargetSocket in{"in"};
  protocol::MemoryInitiatorSocket out{"out"};
  Interposer(const sc_core::sc_module_name& name, Spoil spoil) : sc_module(name), spoil_(std::move(spoil)) {
    in.bind(*this);
    out.bind(*this);
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ && spoil_(p)) {
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    return out->nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return in->nb_transport_bw(p, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override { out->b_transport(p, delay); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override { return out->transport_dbg(p); }
  Spoil spoil_;
};

/// One shard of 16 lines; with `compressor`, one of a single line.
assembly::SimulationResult run(const std::string& trace, bool compressor, const Interposer::Spoil& spoil) {
  assembly::SchemeRegistry registry = schemes::all();
  assembly::Scheme& regless = registry.get("regless");
  support::OptionSet options;
  regless.declare(options);
  options.set("osu.entries", "16", "test", "");
  options.set("compressor.enabled", compressor ? "true" : "false", "test", "");
  options.set("compressor.lines", "1", "test", "");
  test::FunctionScheme scheme([&](const assembly::BuildContext& c) {
    assembly::SmParts parts = regless.build(c);
    for (protocol::MemoryInitiatorSocket*& client : parts.l1_clients) {
      auto between = std::make_unique<Interposer>("between", spoil);
      client->bind(between->in);
      client = &between->out;
      parts.modules.push_back(std::move(between));
    }
    return parts;
  });
  assembly::MachineConfig machine;
  machine.sm.schedulers = 1;
  return test::simulate(trace, scheme, machine);
}

bool pass(tlm::tlm_generic_payload&) { return false; }

/// The location that a mismatch is reported with.
void require_caught(const assembly::SimulationResult& r, const std::string& pc, const std::string& reg,
                    const std::string& origin) {
  INFO(r.message);
  REQUIRE(r.ending == assembly::Ending::value_mismatch);
  CHECK_THAT(r.message, Contains("value mismatch: kernel hand_made launch 0 CTA "));
  CHECK_THAT(r.message, Contains(" PC " + pc + " "));
  CHECK_THAT(r.message, Contains(" register " + reg));
  CHECK_THAT(r.message, Contains(" from " + origin));
}

}  // namespace

TEST_CASE("regless faults: the interposer alone changes nothing") {
  unsigned writes = 0;
  test::require_clean(run(two_regions("rf_none", Words::right, false), false, [&](tlm::tlm_generic_payload& p) {
    writes += protocol::memory_access(p).access == AccessClass::register_write;
    return false;
  }));
  CHECK(writes > 10);
}

TEST_CASE("regless faults: the same with compressors") {
  unsigned writes = 0;
  test::require_clean(run(two_regions("rf_none_c", Words::right, true), true, [&](tlm::tlm_generic_payload& p) {
    writes += protocol::memory_access(p).access == AccessClass::register_write;
    return false;
  }));
  CHECK(writes > 2);  // lines of compressed registers
}

TEST_CASE("regless faults: a dirty eviction is dropped") {
  unsigned writes = 0;
  const auto r = run(two_regions("rf_drop", Words::right, false), false, [&](tlm::tlm_generic_payload& p) {
    return protocol::memory_access(p).access == AccessClass::register_write && ++writes == 3;
  });
  require_caught(r, "0x18", "R", "staging bank ");
}

TEST_CASE("regless faults: two patterns of the compressor are swapped") {
  const auto r = run(two_regions("rf_swap", Words::right, true), true, [](tlm::tlm_generic_payload& p) {
    if (protocol::memory_access(p).access != AccessClass::register_write) return false;
    unsigned char* line = p.get_data_ptr();
    for (unsigned i = 0; i < models::line_slots; ++i) {
      const models::Pattern was = models::state_of(line, i);
      if (was == models::Pattern::constant) models::set_state(line, i, models::Pattern::stride1);
      if (was == models::Pattern::stride1) models::set_state(line, i, models::Pattern::constant);
    }
    return false;
  });
  // Lane 0 is the base of either pattern: the others differ.
  require_caught(r, "0x18", "R", "staging bank ");
  CHECK_THAT(r.message, Contains(" lanes 0xfffffffe: lane 1 "));
}

TEST_CASE("regless faults: a preload is lost") {
  const auto r = run(two_regions("rf_preload", Words::lost_preload, false), false, pass);
  require_caught(r, "0x18", "R1", "not staged, bank ");
}

TEST_CASE("regless faults: a register is given up one use too early") {
  const auto r = run(two_regions("rf_early", Words::erased_too_early, false), false, pass);
  require_caught(r, "0x18", "R0", "unwritten line of staging bank ");
}
