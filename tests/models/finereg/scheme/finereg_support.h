// SPDX-License-Identifier: Apache-2.0
//
// FineReg put together part by part, so that a test can put something between them, on a program that stalls.
#pragma once

#include <regatta/assembly/connect_lookup.h>
#include <regatta/tool/annotate.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "harness.h"
#include "scheme_finereg.h"

namespace regatta::test {

using LiveVectorTarget = protocol::LookupTarget<std::uint32_t, std::uint64_t>;

/// What stands between the parts. All are owned by the SM's parts.
struct FineRegFaults {
  /// Gets the cache's side, returns what the counter is bound to.
  std::function<LiveVectorTarget&(assembly::SmParts&, LiveVectorTarget&)> vectors;
  std::function<models::PendingEntries&(assembly::SmParts&, models::PendingEntries&)> entries;
  std::function<models::ChainPointers&(assembly::SmParts&, models::ChainPointers&)> pointers;
  std::function<std::unique_ptr<protocol::WritebackPoint>(std::unique_ptr<models::RegisterMover>)> results;
  /// Sees the finished mover.
  std::function<void(assembly::SmParts&, models::RegisterMover&)> mover;
};

class PartsOfFineReg : public schemes::SwitchingScheme {
 public:
  PartsOfFineReg(FineRegFaults faults, unsigned active, unsigned pending)
      : SwitchingScheme("finereg_in_test", "FineReg with other parts"),
        faults_(std::move(faults)),
        active_(active),
        pending_(pending) {}

  void prepare(assembly::MachineConfig& machine) const override {
    SwitchingScheme::prepare(machine);
    machine.register_file.registers = active_;
  }
  void add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) override {
    const PlacedFile file = divide_file(c, parts);
    auto pending = std::make_unique<models::PendingRegisterFile>("pending_register_file", pending_, c.clock);
    auto vectors = std::make_unique<models::LiveVectorCache>(
        "vectors", 32, models::LineMemory{c.machine.l1.line_bytes, c.sm_index}, c.clock);
    auto counter = std::make_unique<models::RegisterCounter>("counter", c.clock);
    auto pointers = std::make_unique<models::PointerTable>("pointers", models::monitored_ctas);
    auto free_space = std::make_unique<models::FreeSpaceMonitor>("free_space", pending_);
    auto mover = std::make_unique<models::RegisterMover>("mover", 4, models::monitored_ctas, c.clock);
    models::PendingEntries* entries = pending.get();
    if (faults_.entries) entries = &faults_.entries(parts, *entries);
    models::ChainPointers* chains = pointers.get();
    if (faults_.pointers) chains = &faults_.pointers(parts, *chains);
    LiveVectorTarget* lists = &vectors->lookups;
    if (faults_.vectors) lists = &faults_.vectors(parts, *lists);
    mover->places.bind(file.places.places);
    mover->pending.bind(*entries);
    mover->free_space.bind(free_space->access);
    mover->pointers.bind(*chains);
    mover->live_sets.bind(counter->live_sets);
    mover->file_reads.bind(file.file.move_read_socket());
    mover->file_writes.bind(file.file.move_write_socket());
    assembly::connect_lookup(c, parts, "live_vectors", counter->vectors, *lists);
    models::SwitchEngine& engine = add_engine(c, parts);
    engine.places.bind(file.places.places);
    engine.transfer.bind(mover->transfer);
    assembly::connect_lookup(c, parts, "register_counts", engine.counts, counter->counts);
    add_l1_client(parts, vectors->memory());
    parts.listeners.insert(parts.listeners.end(), {vectors.get(), counter.get()});
    if (faults_.mover) faults_.mover(parts, *mover);
    if (faults_.results) {
      parts.writeback_point = faults_.results(std::move(mover));
    } else {
      parts.writeback_point = std::move(mover);
    }
    parts.modules.push_back(std::move(vectors));
    parts.modules.push_back(std::move(counter));
    parts.modules.push_back(std::move(pointers));
    parts.modules.push_back(std::move(free_space));
    parts.modules.push_back(std::move(pending));
  }

 protected:
  void register_own(support::StatGroup&, const std::vector<support::StatGroup>&) override {}

 private:
  FineRegFaults faults_;
  unsigned active_, pending_;
};

/// Loads that depend on loads, with values that live across them, and a branch that some lanes take: 16 CTAs of two
/// warps.
inline std::string stalling_trace(const std::string& name, unsigned ctas = 16, unsigned rounds = 6,
                                  unsigned launches = 1) {
  std::ofstream(name + ".ptx") << R"(
.version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %p<4>;
  .reg .b32 %r<24>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r9, [rounds];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 64, %r1;
  mul.wide.u32 %d2, %r3, 4;
  add.s64 %d3, %d1, %d2;
  mul.lo.u32 %r4, %r3, 17;
  mul.lo.u32 %r5, %r3, 23;
  mov.u32 %r6, 0;
LOOP:
  ld.global.u32 %r8, [%d3];
  ld.global.u32 %r13, [%d3+8192];
  and.b32 %r11, %r1, 3;
  setp.eq.u32 %p1, %r11, 1;
  @%p1 bra ODD;
  add.u32 %r4, %r4, %r8;
  xor.b32 %r4, %r4, %r6;
  bra JOIN;
ODD:
  ld.global.u32 %r10, [%d3+16384];
  add.u32 %r5, %r5, %r10;
JOIN:
  add.u32 %r4, %r4, %r5;
  add.u32 %r4, %r4, %r13;
  st.global.u32 [%d3], %r4;
  add.s64 %d3, %d3, 4096;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, %r9;
  @%p2 bra LOOP;
  st.global.u32 [%d3], %r5;
  ret;
}
)";
  std::ofstream(name + ".toml") << "ptx = \"" << name << ".ptx\"\n"
                                << "[[buffer]]\nname = \"out\"\nbytes = " << 4096 * rounds + 32768
                                << "\ninit = \"uniform\"\ntype = \"u32\"\nlow = 0\nhigh = 1000000\nseed = 3\n"
                                << "[[launch]]\nname = \"a\"\nentry = \"k\"\ngrid = [" << ctas
                                << "]\nblock = [64]\nparams = [{ buffer = \"out\" }, { scalar = " << rounds
                                << ", type = \"u32\" }]\n[[step]]\nrepeat = " << launches
                                << "\nsteps = [{ run = \"a\" }]\n";
  tool::AnnotateOptions o;
  o.launch = name + ".toml";
  o.out = name + ".rgt";
  tool::annotate(o);
  return o.out;
}

/// Registers of all warps of a CTA of the trace.
inline unsigned rows_of_cta(const std::string& path) {
  const trace::Reader reader(path);
  const unsigned registers = (reader.kernels().at(0).registers_per_thread + 7) / 8 * 8;
  return registers * reader.launches().at(0).warps_per_cta(32);
}

/// On one SM: a register file for `places` CTAs, pending registers of two, and at most `active` CTAs active.
inline assembly::SimulationResult simulate_finereg(const std::string& path, FineRegFaults faults, unsigned places = 2,
                                                   unsigned lookup_delay = 0, unsigned active = 32) {
  const unsigned rows = rows_of_cta(path);
  PartsOfFineReg scheme(std::move(faults), places * rows, 2 * rows);
  assembly::MachineConfig machine = named_machine("finereg");
  machine.sm.max_ctas = active;
  return simulate(path, scheme, machine, 1, true, lookup_delay);
}

}  // namespace regatta::test
