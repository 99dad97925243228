// SPDX-License-Identifier: Apache-2.0
#include "bench.h"
#include <regatta/test/clock.h>

#include <utility>

namespace regatta::test {

using protocol::RegisterId;
using protocol::WarpSlot;

const sc_core::sc_time Bench::period(1, sc_core::SC_NS);

RegionSpec region_of(unsigned instructions, unsigned lines, std::vector<std::uint8_t> preloads) {
  RegionSpec spec;
  spec.words.lines[0] = static_cast<std::uint8_t>(lines);
  for (const std::uint8_t reg : preloads) spec.words.entries.push_back({trace::RegionEntry::Kind::preload, reg});
  spec.words.uses.resize(instructions);
  return spec;
}

/// Counts notifications of the event that a front end listens to.
class Bench::Ears : public sc_core::sc_module {
 public:
  Ears(const sc_core::sc_module_name& name, Bench& bench) : sc_module(name), bench_(bench) {
    SC_HAS_PROCESS(Ears);
    SC_METHOD(room);
    sensitive << bench.manager->changed();
    dont_initialize();
  }

 private:
  void room() { ++bench_.room_notified; }
  Bench& bench_;
};

Bench::Bench(const std::vector<RegionSpec>& regions, const models::CapacityManagerConfig& config,
             unsigned lines_per_bank, unsigned shards, std::function<unsigned()> delay)
    : clock_(test::clock(period)) {
  kernel.name = "by_hand";
  kernel.registers_per_thread = trace::max_general_registers;
  for (const RegionSpec& spec : regions) {
    const auto first = static_cast<std::uint32_t>(kernel.instructions.size());
    firsts_.push_back(first);
    for (const trace::PlacedWord& placed : trace::encode(spec.words)) {
      trace::InsertedInstruction inserted;
      inserted.before = first + placed.before;
      inserted.instruction = trace::region_instruction(placed.word, 1000);
      inserted.instruction.scheme = trace::region_scheme;
      kernel.inserted.push_back(std::move(inserted));
    }
    for (std::size_t i = 0; i < spec.words.uses.size(); ++i) {
      trace::StaticInstruction s;
      s.opcode = "made";
      auto operand = [&](std::uint8_t reg) {
        trace::Operand o;
        o.value = reg;
        s.operands.push_back(o);
      };
      if (i < spec.writes.size()) {
        for (const std::uint8_t reg : spec.writes[i]) {
          s.destinations[s.destination_count++] = reg;
          ++s.operand_destinations;
          operand(reg);
        }
      }
      if (i < spec.reads.size()) {
        for (const std::uint8_t reg : spec.reads[i]) {
          s.sources[s.source_count++] = reg;
          operand(reg);
        }
      }
      kernel.instructions.push_back(std::move(s));
    }
  }
  traits.resize(kernel.instructions.size());
  for (std::uint32_t i = 0; i < traits.size(); ++i) {
    const trace::StaticInstruction& s = kernel.instructions[i];
    protocol::InstructionTraits& t = traits[i];
    t.info = &s;
    t.index = i;
    t.read_count = s.source_count;
    t.write_count = s.destination_count;
    for (unsigned n = 0; n < s.source_count; ++n) t.reads[n] = RegisterId(s.sources[n]);
    for (unsigned n = 0; n < s.destination_count; ++n) t.writes[n] = RegisterId(s.destinations[n]);
  }
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const std::size_t last = (r + 1 < regions.size() ? firsts_[r + 1] : traits.size()) - 1;
    traits[last].is_control = regions[r].end == RegionSpec::End::branch || regions[r].end == RegionSpec::End::exit;
    traits[last].is_exit = regions[r].end == RegionSpec::End::exit;
    traits[last].is_barrier = regions[r].end == RegionSpec::End::barrier;
  }
  context.kernel = &kernel;
  context.traits = &traits;
  manager = std::make_unique<models::CapacityManager>("manager", config, shards, test::clock(period));
  for (unsigned s = 0; s < shards; ++s) {
    staging.push_back(std::make_unique<FakeStaging>(("staging" + std::to_string(s)).c_str(), lines_per_bank,
                                                    test::clock(period), delay));
    manager->staging(s).bind(*staging.back());
  }
  manager->connect(*this);
  ears_ = std::make_unique<Ears>("ears", *this);
  client_ = std::make_unique<support::CycleClient>(
      test::clock(period),
      [](void* object) {
        auto& bench = *static_cast<Bench*>(object);
        while (!bench.script_.empty() && bench.script_.begin()->first <= bench.now()) {
          const std::function<void()> f = std::move(bench.script_.begin()->second);
          bench.script_.erase(bench.script_.begin());
          f();
        }
        if (!bench.script_.empty()) bench.client_->request(bench.script_.begin()->first);
      },
      this);
}

Bench::~Bench() = default;

void Bench::closed(WarpSlot warp, bool is_closed) {
  told.push_back(Told{now(), warp.value(), is_closed});
  closed_[warp.value()] = is_closed;
}

void Bench::at(std::uint64_t cycle, std::function<void()> f) {
  script_.emplace(cycle, std::move(f));
  client_->request(now(), script_.begin()->first);
}

void Bench::run() { sc_core::sc_start(); }

protocol::WarpInfo Bench::info(unsigned warp) const {
  protocol::WarpInfo info;
  info.warp = WarpSlot(static_cast<std::uint16_t>(warp));
  info.warp_in_cta = warp;
  return info;
}

void Bench::start_warp(unsigned warp) { manager->warp_started(info(warp)); }

bool Bench::decode(unsigned warp, std::uint32_t index, std::uint64_t sequence) {
  protocol::DecodePoint& point = *manager;
  for (std::uint32_t i = 0; i < kernel.inserted.size(); ++i) {
    if (kernel.inserted[i].before != index) continue;
    if (point.room(info(warp).warp) == 0) return false;
    point.decoded(info(warp), i, sequence);
  }
  return true;
}

protocol::DynamicInstruction Bench::instruction(unsigned warp, std::uint32_t index, std::uint64_t sequence) const {
  protocol::DynamicInstruction d;
  d.traits = &traits[index];
  d.info = traits[index].info;
  d.warp = info(warp).warp;
  d.sequence = sequence;
  d.active = trace::all_lanes(32);
  return d;
}

void Bench::issue(unsigned warp, std::uint32_t index, std::uint64_t sequence, bool guarded_off) {
  protocol::DynamicInstruction d = instruction(warp, index, sequence);
  if (guarded_off) d.active = 0;
  manager->issued(d);
}

bool Bench::may_issue(unsigned warp, std::uint32_t index, std::uint64_t sequence) {
  return manager->may_issue(instruction(warp, index, sequence));
}

void Bench::write_back(unsigned warp, std::uint32_t index, std::uint64_t sequence) {
  manager->written_back(instruction(warp, index, sequence));
}

std::vector<std::uint64_t> Bench::openings(unsigned warp) const {
  std::vector<std::uint64_t> cycles;
  for (const Told& t : told) {
    if (t.warp == warp && !t.closed) cycles.push_back(t.cycle);
  }
  return cycles;
}

std::vector<unsigned> Bench::stack() const {
  std::vector<unsigned> warps;
  for (const WarpSlot w : manager->shard(0).stack()) warps.push_back(w.value());
  return warps;
}

}  // namespace regatta::test
