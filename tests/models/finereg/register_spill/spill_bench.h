// SPDX-License-Identifier: Apache-2.0
//
// Registers in DRAM, between places, a register file that takes its time, and a memory of lines.
#pragma once

#include <regatta/finereg/cta_places.h>
#include <regatta/finereg/register_spill.h>

#include <map>
#include <optional>
#include <string>

#include <regatta/test/clock.h>
#include <regatta/test/line_memory.h>
#include <regatta/test/slow_file.h>

namespace regatta::test::cta_blocks {

using models::RegisterSpill;
using models::RegisterSpillConfig;
using Decision = protocol::WritebackPoint::Decision;

struct SpillUser : sc_core::sc_module {
  sc_core::sc_port<models::RegisterTransfer> transfer{"transfer"};
  explicit SpillUser(const sc_core::sc_module_name& name) : sc_module(name) {}
};

/// Warps that have executed their last instruction, as the test says.
class ExitControl : public FakeControl {
 public:
  void context(WarpSlot warp, protocol::WarpContext& c) override {
    c = protocol::WarpContext{};
    c.exited = exited[warp.value()];
  }
  std::map<unsigned, bool> exited;  ///< by warp slot
};

struct SpillBench {
  static constexpr unsigned slots = 6;
  explicit SpillBench(unsigned places, unsigned warps_per_cta = 2, unsigned registers_per_warp = 8,
                      const RegisterSpillConfig& config = {}, unsigned seed = 1, unsigned sm = 0)
      : warps(warps_per_cta),
        registers(registers_per_warp),
        file("file", seed),
        memory("memory", test::clock(period), seed),
        spill("spill", config, models::LineMemory{128, sm}, test::clock(period)),
        launch(slots, warps_per_cta, registers_per_warp) {
    spill.file_reads.bind(file.reads);
    spill.file_writes.bind(file.writes);
    spill.places.bind(windows.places);
    spill.memory().bind(memory.socket);
    user.transfer.bind(spill.transfer);
    changed.on(spill.changed());
    ended.on(spill.ended());
    spill.attach(control);
    run_to(0);
    const std::uint32_t rows = places * warps * registers;
    file.rows.resize(rows);
    file.mapping.start(rows, registers);
    windows.connect(file.mapping, [this] { return held; });
    windows.kernel_started(rows, registers);
    windows.kernel_started(launch.context);
    spill.kernel_started(launch.context);
    write.active = 0xffffffff;
    write.traits = &traits;
    run_to(1);
  }

  /// A CTA is launched: its warps have rows.
  void start(unsigned cta) {
    spill.cta_launched(launch.cta(cta));
    launch.for_warps(cta, [&](const WarpInfo& w) {
      REQUIRE(file.mapping.map(w.warp, windows.assign(w.warp)).empty());
      control.exited[w.warp.value()] = false;
      spill.warp_started(w);
    });
    spill.cta_switched(launch.cta(cta), true);
  }
  void end_warp(unsigned w) {
    if (file.mapping.mapped(warp_at(w))) file.mapping.unmap(warp_at(w));
    windows.release(warp_at(w));
    spill.warp_finished(launch.warp(w));
  }
  void end(unsigned cta) {
    for (unsigned i = 0; i < warps; ++i) end_warp(cta * warps + i);
    spill.cta_finished(launch.cta(cta));
  }
  void switch_out(unsigned cta) { spill.cta_switched(launch.cta(cta), false); }
  void switch_in(unsigned cta) { spill.cta_switched(launch.cta(cta), true); }
  void move(std::optional<unsigned> out, std::optional<unsigned> in) {
    user.transfer->move(out ? std::make_optional(cta_at(*out)) : std::nullopt,
                        in ? std::make_optional(cta_at(*in)) : std::nullopt);
  }
  bool has_room(unsigned out, std::optional<unsigned> in = std::nullopt) {
    return user.transfer->room_for(cta_at(out), in ? std::make_optional(cta_at(*in)) : std::nullopt) ==
           models::RegisterTransfer::Room::yes;
  }
  /// Until the move has ended: its cycles.
  std::uint64_t finish(std::uint64_t most = 5000) {
    const std::uint64_t from = cycle();
    while (spill.moving()) {
      REQUIRE(cycle() - from < most);
      run_for(1);
    }
    return cycle() - from;
  }
  /// The result of a load comes to write-back. What the file gets, it gets at once.
  Decision result(unsigned warp, unsigned reg, const Row& value, protocol::LaneMask lanes = 0xffffffff) {
    write.warp = warp_at(warp);
    write.cta = cta_at(warp / warps);
    write.active = lanes;
    traits.writes[0] = protocol::RegisterId(static_cast<std::uint8_t>(reg));
    for (unsigned lane = 0; lane < 32; ++lane) write.results[0].lane[lane] = value[lane];
    const Decision d = spill.decide(write, 0);
    if (d == Decision::write) merge(file.row(warp, reg), value, lanes);
    return d;
  }
  static void merge(Row& row, const Row& value, protocol::LaneMask lanes) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((lanes >> lane) & 1) row[lane] = value[lane];
    }
  }
  void fill(unsigned cta, std::uint32_t seed) {
    for (unsigned i = 0; i < warps; ++i) {
      for (unsigned r = 0; r < registers; ++r) file.row(cta * warps + i, r) = pattern(seed + i * registers + r);
    }
  }
  void check_filled(unsigned cta, std::uint32_t seed) {
    for (unsigned i = 0; i < warps; ++i) {
      for (unsigned r = 0; r < registers; ++r) {
        INFO("warp " << i << " R" << r);
        CHECK(file.row(cta * warps + i, r) == pattern(seed + i * registers + r));
      }
    }
  }
  static Row pattern(std::uint32_t seed) {
    Row row{};
    for (unsigned lane = 0; lane < 32; ++lane) row[lane] = seed * 2654435761u + lane * 97;
    return row;
  }
  /// Of the register's line, of the SM with this number.
  static std::uint64_t address(unsigned warp, unsigned reg, unsigned sm = 0) {
    return base::first_address(base::Window::registers) + (std::uint64_t{sm} << 32) + (warp * 256ull + reg) * 128;
  }
  Row line(unsigned warp, unsigned reg) {
    Row row{};
    const auto& bytes = memory.lines.at(address(warp, reg));
    std::memcpy(row.data(), bytes.data(), sizeof row);
    return row;
  }
  double stat(const std::string& name) { return stat_of(spill, name); }

  const unsigned warps, registers;
  SlowFile file;
  LineMemory memory;
  models::CtaPlaceWindows windows{"windows", 1};
  RegisterSpill spill;
  SpillUser user{"user"};
  Watch changed{"changed"}, ended{"ended"};
  ExitControl control;
  Launch launch;
  const protocol::WarpAccess* held = nullptr;  ///< a result that waits at a bank of the file
  protocol::DynamicInstruction write;
  protocol::InstructionTraits traits;
};

}  // namespace regatta::test::cta_blocks
