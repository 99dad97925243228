// SPDX-License-Identifier: Apache-2.0
#include <regatta/regless/osu.h>
#include <algorithm>

#include "shard.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace regatta::models {

using protocol::WarpAccess;

void OsuConfig::declare(support::OptionSet& o) {
  o.add("osu.entries", entries, "warp registers",
        "warp registers in the operand staging units of an SM (RegLess section 6.2: 512)", 1, 1 << 16);
  o.add("osu.banks", banks, "banks", "banks per shard (RegLess section 5.2)", 1, 64);
  o.add("osu.latency", latency, "cycles", "latency of a bank access", 1, 1000);
  o.add("osu.arbitration", arbitration, "cycles", "cycles from a read request to the earliest bank access", 0, 32);
  o.add("osu.write_queue", write_queue, "cycles", "cycles of queued work at which a bank accepts no more writes", 1,
        48);
  o.add("osu.writeback_buffer", writeback_buffer, "lines",
        "lines of a shard that may wait to leave for memory; at least as many as an instruction has destinations",
        trace::max_destination_registers, 64);
  o.add("osu.request_queue", request_queue, "requests",
        "preloads and invalidations of a shard that may wait to leave for memory", 1, 4096);
  o.add("osu.backed_registers", backed_registers, "warp registers",
        "warp registers of an SM's resident warps that memory can back, which limits occupancy; 0: "
        "register_file.registers, for the occupancy of the baseline",
        0, 1 << 20);
}

void OsuConfig::validate(const RegisterSpace& space) const {
  const unsigned shards = space.shards, parts = shards * banks;
  if (parts == 0 || entries % parts != 0) {
    throw support::ConfigError("configuration: osu.entries = " + std::to_string(entries) + " is divided among " +
                               std::to_string(shards) + " shards (sm.schedulers) of osu.banks = " +
                               std::to_string(banks) + ": expected a multiple of " + std::to_string(parts));
  }
  if (entries / shards >= 0xffff) {
    throw support::ConfigError("configuration: osu.entries = " + std::to_string(entries) + " gives a shard " +
                               std::to_string(entries / shards) + " lines: expected fewer than 65535");
  }
}

Osu::Osu(const sc_core::sc_module_name& name, const OsuConfig& config, const RegisterSpace& space,
         support::ClockDomain& clock)
    : sc_module(name),
      reads("reads"),
      writes("writes"),
      rules_(reads, writes),
      config_(config),
      space_(space),
      clock_(clock),
      room_(
          clock, [](void* m) { static_cast<Osu*>(m)->release_held(); }, this) {
  config.validate(space);
  for (unsigned s = 0; s < space.shards; ++s) {
    shards_.push_back(std::make_unique<OsuShard>(("shard" + std::to_string(s)).c_str(), s, config, space, clock));
  }
  for (unsigned w = 0; w < space.warps; ++w) {
    homes_.push_back(Home{shards_[w % space.shards].get(), static_cast<std::uint16_t>(w / space.shards)});
  }
  reads.bind(*this);
  writes.bind(*this);
}

Osu::~Osu() = default;

StagingUnit& Osu::shard(unsigned s) { return *shards_.at(s); }
protocol::MemoryInitiatorSocket& Osu::memory(unsigned s) { return shards_.at(s)->memory; }
void Osu::connect_below(unsigned s, BackingStore& below) { shards_.at(s)->connect_below(below); }
OsuBank& Osu::bank(unsigned s, unsigned bank) { return shards_.at(s)->bank_module(bank); }

void Osu::kernel_started(const protocol::KernelContext& context) {
  const unsigned bytes = context.warp_size * trace::bytes_per_lane;
  if (bytes != space_.line_bytes) {
    throw support::ConfigError("configuration: a warp register of " + std::to_string(context.warp_size) +
                               " lanes has " + std::to_string(bytes) +
                               " bytes, and l1.line_bytes = " + std::to_string(space_.line_bytes) +
                               ": operand staging needs lines as large as a warp register");
  }
  rules_.set_lanes(context.warp_size);
  for (auto& s : shards_) s->kernel_started(std::max(context.registers_per_warp, context.most_registers_per_warp));
}

void Osu::warp_started(const protocol::WarpInfo& warp) { home_of(warp.warp).shard->warp_started(warp.warp); }
void Osu::warp_finished(const protocol::WarpInfo& warp) { home_of(warp.warp).shard->warp_finished(warp.warp); }

tlm::tlm_sync_enum Osu::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  WarpAccess* const request = rules_.begin(payload, phase, delay, clock_);
  if (request == nullptr) return tlm::TLM_COMPLETED;  // END_RESP
  WarpAccess& access = *request;
  const Home& home = home_of(access.warp);
  if (payload.is_read()) {
    home.shard->read(payload, access, home.warp, delay);
  } else if (!home.shard->write(payload, access, home.warp, delay, config_.write_queue)) {
    hold(payload, access, home, delay);
    return tlm::TLM_ACCEPTED;
  }
  return tlm::TLM_COMPLETED;
}

void Osu::refuse(protocol::WarpSlot warp) const {
  SC_REPORT_ERROR("regatta/osu", ("warp " + std::to_string(warp.value()) + ": the staging units serve " +
                                  std::to_string(homes_.size()) + " warps")
                                     .c_str());
  throw std::logic_error("an error that SystemC reported was ignored");
}

void Osu::hold(tlm::tlm_generic_payload& payload, const WarpAccess& access, const Home& home,
               const sc_core::sc_time& delay) {
  const std::uint64_t work = home.shard->backlog(access, home.warp, delay) + clock_.cycles(delay);
  held_ = &payload;
  ++held_writes_;
  room_.request(clock_.now() + work - config_.write_queue);
}

// The bank has room, so the write is taken and answered in the same call (BEGIN_RESP implies END_REQ).
void Osu::release_held() {
  tlm::tlm_generic_payload& payload = *held_;
  const WarpAccess& access = protocol::warp_access(payload);
  const Home home = home_of(access.warp);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (!home.shard->write(payload, access, home.warp, delay, config_.write_queue)) {  // a read came before it
    room_.request(clock_.now() + home.shard->backlog(access, home.warp, delay) - config_.write_queue);
    return;
  }
  held_ = nullptr;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  writes->nb_transport_bw(payload, phase, delay);
}

void Osu::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  WarpAccess& access = rules_.whole(payload);
  const Home home = home_of(access.warp);
  if (payload.is_read()) {
    home.shard->read(payload, access, home.warp, delay);
  } else {
    home.shard->write(payload, access, home.warp, delay, ~std::uint64_t{0});
  }
}

std::string Osu::check() const {
  for (const auto& s : shards_) {
    const std::string wrong = s->check();
    if (!wrong.empty()) return std::string(s->name()) + ": " + wrong;
  }
  return "";
}

bool Osu::idle() const {
  for (const auto& s : shards_) {
    if (!s->idle()) return false;
  }
  return held_ == nullptr;
}

void Osu::register_stats(support::StatGroup& g) {
  g.counter("held_writes", held_writes_, "warp registers", "writes held back because their bank had too much to do");
}

}  // namespace regatta::models
