// SPDX-License-Identifier: Apache-2.0
//
// The access logic of the register management unit between its tables, a file of pending registers, places, and a
// register file that takes its time: some accesses are served at once, some later.
#pragma once

#include <regatta/finereg/cta_places.h>
#include <regatta/finereg/pending_register_file.h>
#include <regatta/finereg/register_mover.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <regatta/test/clock.h>
#include <regatta/test/slow_file.h>

namespace regatta::test::cta_blocks {

using models::PendingChain;
using models::PendingTag;
using models::RegisterMover;
using Decision = protocol::WritebackPoint::Decision;

/// What is live, as the test says.
class FakeLiveSets : public sc_core::sc_module, public models::LiveSets {
 public:
  sc_core::sc_export<models::LiveSets> out{"out"};
  explicit FakeLiveSets(const sc_core::sc_module_name& name) : sc_module(name) { out.bind(*this); }
  std::map<unsigned, std::uint64_t> sets;  ///< by warp slot
  unsigned warps = 1;
  bool known = true;
  bool counted(CtaSlot) const override { return known; }
  unsigned count(CtaSlot cta) const override {
    unsigned all = 0;
    for (unsigned i = 0; i < warps; ++i)
      all += static_cast<unsigned>(__builtin_popcountll(live(warp_at(cta.value() * warps + i))));
    return all;
  }
  std::uint64_t live(WarpSlot warp) const override {
    const auto found = sets.find(warp.value());
    return found == sets.end() ? 0 : found->second;
  }
};

struct MoverUser : sc_core::sc_module {
  sc_core::sc_port<models::RegisterTransfer> transfer{"transfer"};
  explicit MoverUser(const sc_core::sc_module_name& name) : sc_module(name) {}
};

struct MoverBench {
  static constexpr unsigned slots = 6;
  MoverBench(unsigned places, unsigned entries, unsigned warps_per_cta = 2, unsigned registers_per_warp = 8,
             unsigned seed = 1)
      : warps(warps_per_cta),
        registers(registers_per_warp),
        file("file", seed),
        free_space("free_space", entries),
        pending("pending", entries, test::clock(period)),
        mover("mover", 4, slots, test::clock(period)),
        launch(slots, warps_per_cta, registers_per_warp) {
    mover.file_reads.bind(file.reads);
    mover.file_writes.bind(file.writes);
    mover.places.bind(windows.places);
    mover.pending.bind(pending.access);
    mover.free_space.bind(free_space.access);
    mover.pointers.bind(pointers.access);
    mover.live_sets.bind(live.out);
    user.transfer.bind(mover.transfer);
    watch.on(mover.changed());
    live.warps = warps;
    run_to(0);
    const std::uint32_t rows = places * warps * registers;
    file.rows.resize(rows);
    file.mapping.start(rows, registers);
    windows.connect(file.mapping, [this] { return held; });
    windows.kernel_started(rows, registers);
    windows.kernel_started(launch.context);
    mover.kernel_started(launch.context);
    write.active = 0xffffffff;
    write.traits = &traits;
    run_to(1);
  }

  /// A CTA is launched: its warps have rows.
  void start(unsigned cta) {
    mover.cta_launched(launch.cta(cta));
    launch.for_warps(cta, [&](const WarpInfo& w) {
      REQUIRE(file.mapping.map(w.warp, windows.assign(w.warp)).empty());
      mover.warp_started(w);
    });
    mover.cta_switched(launch.cta(cta), true);
  }
  void end_warp(unsigned w) {
    if (file.mapping.mapped(warp_at(w))) file.mapping.unmap(warp_at(w));
    windows.release(warp_at(w));
    mover.warp_finished(launch.warp(w));
  }
  void end(unsigned cta) {
    for (unsigned i = 0; i < warps; ++i) end_warp(cta * warps + i);
    mover.cta_finished(launch.cta(cta));
  }
  void switch_out(unsigned cta) { mover.cta_switched(launch.cta(cta), false); }
  void switch_in(unsigned cta) { mover.cta_switched(launch.cta(cta), true); }
  void move(std::optional<unsigned> out, std::optional<unsigned> in) {
    user.transfer->move(out ? std::make_optional(cta_at(*out)) : std::nullopt,
                        in ? std::make_optional(cta_at(*in)) : std::nullopt);
  }
  /// Until the move has ended: its cycles.
  std::uint64_t finish(std::uint64_t most = 3000) {
    const std::uint64_t from = cycle();
    while (mover.moving()) {
      REQUIRE(cycle() - from < most);
      run_for(1);
    }
    CHECK(mover.check().empty());
    return cycle() - from;
  }
  /// The result of a load comes to write-back.
  Decision result(unsigned warp, unsigned reg, const Row& value, protocol::LaneMask lanes = 0xffffffff) {
    write.warp = warp_at(warp);
    write.cta = cta_at(warp / warps);
    write.active = lanes;
    traits.writes[0] = protocol::RegisterId(static_cast<std::uint8_t>(reg));
    for (unsigned lane = 0; lane < 32; ++lane) write.results[0].lane[lane] = value[lane];
    return mover.decide(write, 0);
  }
  void fill(unsigned warp, std::uint32_t seed) {
    for (unsigned r = 0; r < registers; ++r) file.row(warp, r) = pattern(seed + r);
  }
  static Row pattern(std::uint32_t seed) {
    Row row{};
    for (unsigned lane = 0; lane < 32; ++lane) row[lane] = seed * 2654435761u + lane * 97;
    return row;
  }
  double stat(const std::string& name) { return stat_of(mover, name); }

  const unsigned warps, registers;
  SlowFile file;
  models::CtaPlaceWindows windows{"windows", 1};
  models::FreeSpaceMonitor free_space;
  models::PointerTable pointers{"pointers", slots};
  models::PendingRegisterFile pending;
  FakeLiveSets live{"live"};
  RegisterMover mover;
  MoverUser user{"user"};
  Watch watch{"watch"};
  Launch launch;
  const protocol::WarpAccess* held = nullptr;  ///< a result that waits at a bank of the file
  protocol::DynamicInstruction write;
  protocol::InstructionTraits traits;
};

}  // namespace regatta::test::cta_blocks
