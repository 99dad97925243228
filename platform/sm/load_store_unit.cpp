// SPDX-License-Identifier: Apache-2.0
#include "load_store_unit.h"

#include "async_unit.h"
#include "writeback.h"

#include <string>

namespace regatta::sm {

using protocol::AccessClass;
using trace::MemorySpace;
using trace::OpClass;

LoadStoreUnit::LoadStoreUnit(const sc_core::sc_module_name& name, Core& core, Writeback& writeback, AsyncUnit& async)
    : sc_module(name),
      memory_socket("memory_socket"),
      shared_socket("shared_socket"),
      core_(core),
      writeback_(writeback),
      async_(async),
      pool_(core.config.line_bytes),
      address_passes_((core.config.lanes + core.config.lsu_lanes - 1) / core.config.lsu_lanes),
      last_sent_(protocol::never),
      texture_cache_("texture_cache", core.config.texture, core.config.line_bytes),
      last_lookup_(protocol::never),
      accesses_of_(core, "memory", "access"),
      remapped_(trace::max_lanes) {
  memory_socket.bind(*this);
  shared_socket.bind(no_backward_path_);
  contents_payload_.set_extension(&contents_access_);
}

LoadStoreUnit::~LoadStoreUnit() { contents_payload_.clear_extension(&contents_access_); }

void LoadStoreUnit::kernel_started() {
  stores_in_flight_.assign(core_.warps.size(), 0);
  texture_cache_.invalidate();
  has_async_ = trace::is_asynchronous(*core_.kernel.kernel);
  async_.kernel_started(has_async_);
  const std::size_t kernel = core_.kernel.launch->kernel;
  if (accesses_.size() <= kernel) accesses_.resize(kernel + 1);
  accesses_[kernel].resize(core_.kernel.kernel->instructions.size());
  of_kernel_ = accesses_[kernel].data();
  core_.stored_values = !contents_.empty() && core_.kernel.kernel->shared_values;
}

tlm::tlm_sync_enum LoadStoreUnit::NoBackwardPath::nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                                                  sc_core::sc_time&) {
  SC_REPORT_ERROR("regatta/shared_contents", "a backward call; expected that b_transport() answers each access");
  return tlm::TLM_COMPLETED;
}

void LoadStoreUnit::transfer_contents(tlm::tlm_command command, protocol::SharedWords& words) {
  tlm::tlm_generic_payload& p = contents_payload_;
  const protocol::SharedAccess& access = contents_access_;
  p.set_command(command);
  p.set_address(access.offset(static_cast<unsigned>(__builtin_ctzll(access.lanes))));
  p.set_data_ptr(reinterpret_cast<unsigned char*>(words.data()));
  p.set_data_length(static_cast<unsigned>(access.words() * sizeof(protocol::WarpValue)));
  p.set_streaming_width(p.get_data_length());
  p.set_byte_enable_ptr(nullptr);
  p.set_dmi_allowed(false);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time no_time;
  shared_socket->b_transport(p, no_time);
  if (!p.is_response_ok() || no_time != sc_core::SC_ZERO_TIME) {
    broken_contract(core_, "shared_contents", contents_,
                    "answers " + p.get_response_string() + " after " + no_time.to_string() + " to the access of " +
                        describe(core_, *access.instruction) + " at offset " + hex(p.get_address()),
                    "TLM_OK_RESPONSE without time");
  }
  core_.observers.notify_few(protocol::Event::shared_accessed, [&](protocol::Observer& o) {
    o.shared_accessed(core_.now, access, command == tlm::TLM_WRITE_COMMAND, words);
  });
}

void LoadStoreUnit::access_contents(DynamicInstruction& d, LaneMask lanes) {
  protocol::SharedAccess& access = contents_access_;
  access.cta = d.cta;
  access.warp = d.warp;
  access.lanes = lanes;
  access.bytes = d.info->access_bytes;
  access.addresses = d.addresses.data();
  access.instruction = &d;
  if (d.info->reads_memory) transfer_contents(tlm::TLM_READ_COMMAND, delivered_);
  if (d.info->writes_memory) transfer_contents(tlm::TLM_WRITE_COMMAND, d.stored);
}

std::uint64_t LoadStoreUnit::local_address(const DynamicInstruction& d, std::uint64_t address, unsigned lane) const {
  // Local memory is interleaved by word, so that the lanes of a warp at one offset share lines.
  const std::uint64_t frame = std::max(4u, (core_.kernel.kernel->local_bytes_per_thread + 3) & ~3u);
  const std::uint64_t offset =
      (address - trace::local_window) % std::max(1u, core_.kernel.kernel->local_bytes_per_thread);
  const std::uint64_t warp = std::uint64_t{core_.sm} << 16 | d.warp.value();
  return trace::local_window + (warp * (frame / 4) + offset / 4) * core_.kernel.warp_size * 4 + lane * 4 + offset % 4;
}

Cycle LoadStoreUnit::move_context(unsigned bytes) {
  constexpr unsigned bank_bytes = 4;
  const unsigned row = core_.config.shared_banks * bank_bytes;
  const unsigned passes = (bytes + row - 1) / row;
  shared_free_ = std::max(core_.now, shared_free_) + passes;
  context_passes_ += passes;
  return shared_free_;
}

bool LoadStoreUnit::start(DynamicInstruction& d) {
  if (core_.now < addresses_free_) {
    core_.at(addresses_free_, Work::Kind::tick, 0);
    return false;
  }
  const trace::StaticInstruction& info = *d.info;
  if (__builtin_expect(static_cast<int>(trace::has_texels(info)), 0) != 0) {
    if (info.space == MemorySpace::asynchronous) return start_async(d);
    start_texture(d);
    return true;
  }
  const bool atomic = info.op_class == OpClass::atomic;
  LaneMask shared = 0;
  LaneMask beyond = 0;
  if (info.space == MemorySpace::shared) {
    shared = d.active;
  } else if (info.space == MemorySpace::generic || info.space == MemorySpace::local) {
    for (LaneMask m = d.active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
      const std::uint64_t window = d.addresses[lane] >> 48;
      if (window == base::window_number(trace::shared_window)) {
        shared |= LaneMask{1} << lane;
      } else {
        beyond |= LaneMask{1} << lane;
        remapped_[lane] = window == base::window_number(trace::local_window) ? local_address(d, d.addresses[lane], lane)
                                                                             : d.addresses[lane];
      }
    }
  } else {
    beyond = d.active;
  }
  if (shared != 0 && core_.now < shared_free_) {
    core_.at(shared_free_, Work::Kind::tick, 0);
    return false;
  }
  started_ = true;
  addresses_from_ = core_.now;
  addresses_free_ = core_.now + address_passes_;
  next_line_ = 0;
  lines_.count = 0;
  d.completed = core_.now + 1;
  unsigned passes = 0;
  if (shared != 0) {
    const unsigned banks = core_.config.shared_banks;
    passes = d.affine_addresses && !atomic
                 ? shared_passes_affine(d.addresses.data(), shared, info.access_bytes, core_.kernel.warp_size, banks)
                 : shared_passes(d.addresses.data(), shared, info.access_bytes, core_.kernel.warp_size, banks, atomic);
    if (__builtin_expect(static_cast<int>(core_.stored_values), 0) != 0) access_contents(d, shared);
    ++shared_instructions_;
    shared_passes_ += passes;
    shared_conflicts_ += passes > 1 ? 1 : 0;
    shared_free_ = core_.now + passes;
    // The banks start with the first addresses. Their last pass is no earlier than the pass that generates the last
    // addresses.
    d.completed = core_.now + (core_.config.shared_latency + std::max(passes, address_passes_) - 1);
  }
  if (beyond != 0) {
    const bool plain = info.space == MemorySpace::global;
    const bool crosses_words = info.space == MemorySpace::local && info.access_bytes > 4;
    // The words of a local access wider than a word are a warp's width of words apart.
    const unsigned pieces = crosses_words ? info.access_bytes / 4 : 1;
    const unsigned bytes = crosses_words ? 4 : info.access_bytes;
    const unsigned line_bytes = core_.config.line_bytes;
    const std::uint64_t* const addresses = plain ? d.addresses.data() : remapped_.data();
    if (pieces == 1) {
      (plain && d.affine_addresses ? coalesce_affine : coalesce)(addresses, beyond, bytes, line_bytes, lines_);
      if (address_passes_ != 1) address_passes(addresses, beyond, bytes, line_bytes, core_.config.lsu_lanes, lines_);
    } else {
      LineList piece;
      for (unsigned p = 0; p < pieces; ++p) {
        coalesce(addresses, beyond, bytes, line_bytes, piece);
        if (address_passes_ != 1) address_passes(addresses, beyond, bytes, line_bytes, core_.config.lsu_lanes, piece);
        for (unsigned i = 0; i < piece.count; ++i) lines_.lines[lines_.count++] = piece.lines[i];
        for (LaneMask m = beyond; m != 0; m &= m - 1) remapped_[__builtin_ctzll(m)] += core_.kernel.warp_size * 4;
      }
    }
    ++(info.space == MemorySpace::local ? local_instructions_ : global_instructions_);
  }
  AccessCounts& counts = of_kernel_[d.traits->index];
  ++counts.executions;
  counts.passes += passes;
  counts.lanes += static_cast<unsigned>(__builtin_popcountll(d.active));
  if (d.active == 0) ++empty_instructions_;
  return true;
}

Cycle LoadStoreUnit::filtered(const DynamicInstruction& d, Cycle when) const {
  return d.info->space == MemorySpace::texture ? when + core_.config.texture.latency : when;
}

void LoadStoreUnit::start_texture(DynamicInstruction& d) {
  const trace::StaticInstruction& info = *d.info;
  const bool fetch = info.space == MemorySpace::texture;
  started_ = true;
  next_line_ = 0;
  lines_.count = 0;
  addresses_from_ = core_.now;
  unsigned passes = address_passes_;
  if (d.active != 0) {
    const unsigned texels = d.further_texels + 1;
    // The texture units make the addresses of up to four texels of a lane at once.
    constexpr unsigned at_once = 4;
    const unsigned lanes = fetch ? core_.config.texture.lanes : core_.config.lsu_lanes;
    const unsigned turn = (core_.config.lanes + lanes - 1) / lanes;
    passes = turn * ((texels + at_once - 1) / at_once);
    // A texel lies in one sector, whatever its size.
    const unsigned bytes = fetch ? 1 : info.access_bytes;
    for (unsigned n = 0; n < texels; ++n) {
      coalesce_texels(d.texel(n), d.active, bytes, core_.config.line_bytes, lanes, n / at_once * turn, lines_);
    }
    const auto active = static_cast<unsigned>(__builtin_popcountll(d.active));
    if (fetch) {
      texture_texels_ += active * texels;
      texture_passes_ += passes;
      texture_lines_ += lines_.count;
    }
  }
  addresses_free_ = core_.now + passes;
  d.completed = filtered(d, core_.now + passes);
  ++(fetch ? texture_instructions_ : surface_instructions_);
  AccessCounts& counts = of_kernel_[d.traits->index];
  ++counts.executions;
  counts.lanes += static_cast<unsigned>(__builtin_popcountll(d.active));
  if (d.active == 0) ++empty_instructions_;
}

bool LoadStoreUnit::look_up_next(DynamicInstruction& d) {
  const LineList::Line& line = lines_.lines[next_line_];
  if (last_lookup_ == core_.now) {
    core_.progress = true;
    return false;
  }
  missing_ = 0;
  // A miss that cannot be sent now is looked up when it can.
  if (!channel_.open(core_.now)) {
    ++held_attempts_;
    return false;
  }
  if (!has_slot()) {
    core_.progress = true;
    return false;
  }
  const TextureCache::Lookup found = texture_cache_.look_up(line.address, line.sectors, d, texture_mshr_, missing_);
  if (found == TextureCache::Lookup::refused) return false;
  last_lookup_ = core_.now;
  core_.progress = true;
  texture_sectors_ += static_cast<unsigned>(__builtin_popcount(line.sectors));
  if (found == TextureCache::Lookup::request) {
    send_next(d);
    return true;
  }
  if (found == TextureCache::Lookup::merged) {
    ++d.accesses_pending;
  } else {
    d.completed = std::max(d.completed, filtered(d, core_.now + texture_cache_.hit_latency()));
  }
  AccessCounts& counts = of_kernel_[d.traits->index];
  ++counts.lines;
  counts.sectors += static_cast<unsigned>(__builtin_popcount(line.sectors));
  ++next_line_;
  return true;
}

void LoadStoreUnit::send_next(DynamicInstruction& d) {
  const LineList::Line& line = lines_.lines[next_line_];
  const trace::StaticInstruction& info = *d.info;
  const bool atomic = info.op_class == OpClass::atomic;
  const bool answers = info.reads_memory;  // loads and atomics are waited for
  tlm::tlm_generic_payload* payload = pool_.take(
      info.writes_memory && info.space != MemorySpace::asynchronous ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
      line.address);
  protocol::MemoryAccess& access = *payload->get_extension<protocol::MemoryAccess>();
  const bool local = base::window_number(line.address) == base::window_number(trace::local_window);
  access.access = atomic    ? AccessClass::atomic
                  : local   ? (answers ? AccessClass::local_load : AccessClass::local_store)
                  : answers ? AccessClass::data_load
                            : AccessClass::data_store;
  const bool texture = info.space == MemorySpace::texture;
  const bool own_cache = texture && texture_cache_.enabled();
  if (texture) access.access = AccessClass::texture;
  access.sm = static_cast<std::uint16_t>(core_.sm);
  access.bypass_l1 = info.bypasses_l1 && !local;  // local memory is private to a thread
  access.sectors = own_cache ? missing_ : line.sectors;
  access.instruction = answers ? &d : nullptr;
  access.tag = own_cache ? texture_mshr_ : d.warp.value();
  access.partial = __builtin_expect(static_cast<int>(core_.config.store_masks), 0) != 0 && info.writes_memory &&
                   (info.space == MemorySpace::global || info.space == MemorySpace::surface) &&
                   leaves_bytes(d.addresses.data(), d.active, info.access_bytes, core_.config.line_bytes, line);
  const unsigned sectors = access.sector_count();
  (atomic ? atomic_sectors_ : answers ? load_sectors_ : store_sectors_) += sectors;
  if (texture && !own_cache) texture_sectors_ += sectors;
  AccessCounts& counts = of_kernel_[d.traits->index];
  ++counts.lines;
  counts.sectors += sectors;
  ++requests_;
  ++outstanding_;
  take_slot();
  if (answers) {
    ++d.accesses_pending;
  } else {
    ++stores_in_flight_[d.warp.value()];
  }
  ++next_line_;
  transport(*payload);
}

void LoadStoreUnit::send_line() {
  if (!channel_.open(core_.now)) return;
  if (!has_slot()) {
    core_.progress = true;
    return;
  }
  const LineRequest r = line_requests_.front();
  line_requests_.pop();
  tlm::tlm_generic_payload* payload = pool_.take(tlm::TLM_READ_COMMAND, r.address);
  protocol::MemoryAccess& access = *payload->get_extension<protocol::MemoryAccess>();
  access.access = r.access;
  access.sm = static_cast<std::uint16_t>(core_.sm);
  access.sectors = r.sectors;
  access.tag = r.tag;
  ++line_requests_sent_;
  ++outstanding_;
  take_slot();
  core_.progress = true;
  transport(*payload);
}

void LoadStoreUnit::transport(tlm::tlm_generic_payload& payload) {
  const std::uint64_t cycles = send_request(memory_socket, payload, accesses_of_, channel_, core_);
  if (cycles != not_completed) answered(payload, core_.now + cycles);
}

void LoadStoreUnit::answered(tlm::tlm_generic_payload& payload, Cycle when) {
  const protocol::MemoryAccess access = *payload.get_extension<protocol::MemoryAccess>();
  payload.release();
  --outstanding_;
  if (access.access == AccessClass::instruction || access.access == AccessClass::constant) {
    core_.at(when, Work::Kind::line_arrived, access.tag);
    if (core_.current() < when) core_.wake(when);
    return;
  }
  ++answers_;
  if (__builtin_expect(static_cast<int>(has_async_), 0) != 0 && access.instruction != nullptr &&
      access.instruction->info->async != trace::AsyncKind::none) {
    return arrived_async(*access.instruction, when);
  }
  if (access.instruction == nullptr) {
    if (--stores_in_flight_[access.tag] == 0 || outstanding_ == 0) {
      // A fence may be waiting for this warp's last store; the SM looks again when it has arrived.
      core_.at(when, Work::Kind::fence_reached, access.tag);
      if (core_.current() < when) core_.wake(when);
    }
    return;
  }
  if (__builtin_expect(static_cast<int>(access.access == AccessClass::texture && texture_cache_.enabled()), 0) != 0) {
    texture_cache_.fill(access.tag, [&](DynamicInstruction& waiting) { arrived(waiting, when); });
    if (texture_cache_.take_refused()) {
      core_.at(when, Work::Kind::tick, 0);
      if (core_.current() < when) core_.wake(when);
    }
    return;
  }
  arrived(*access.instruction, when);
}

void LoadStoreUnit::arrived(DynamicInstruction& d, Cycle when) {
  const Cycle done = filtered(d, when);
  if (d.completed < done) d.completed = done;
  --d.accesses_pending;
  finish_if_answered(d);
}

void LoadStoreUnit::finish_if_answered(DynamicInstruction& d) {
  if (d.accesses_pending != 0) return;
  // The head still has lines to send, or has just sent its last one and finishes in cycle().
  if (!queue_.empty() && queue_.front() == &d) return;
  core_.at(d.completed, Work::Kind::executed, d.pool_index);
  core_.wake(d.completed);
}

tlm::tlm_sync_enum LoadStoreUnit::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  const Cycle when = accesses_of_.arrival(payload, phase, delay, payload.get_ref_count() > 0, channel_.holds(payload));
  if (phase == tlm::END_REQ) {
    channel_.answered(payload, when);
    core_.schedule_tick(when);
    return tlm::TLM_ACCEPTED;
  }
  if (channel_.answered(payload, when)) core_.schedule_tick(when);
  answered(payload, when);
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

void LoadStoreUnit::serve() {
  DynamicInstruction& d = *queue_.front();
  if (writeback_.full()) {
    core_.progress = true;
    return;
  }
  if (!started_ && !start(d)) return;
  const bool looks_up = d.info->space == MemorySpace::texture && texture_cache_.enabled();
  while (next_line_ < lines_.count) {
    if (__builtin_expect(static_cast<int>(looks_up), 0) != 0) {
      if (const Cycle made = addresses_from_ + lines_.lines[next_line_].pass; core_.now < made) {
        core_.at(made, Work::Kind::tick, 0);
        return;
      }
      if (!look_up_next(d)) return;
      continue;
    }
    if (!channel_.open(core_.now)) {
      ++held_attempts_;
      return;
    }
    if (!has_slot()) {
      core_.progress = true;
      return;
    }
    if (const Cycle made = addresses_from_ + lines_.lines[next_line_].pass; core_.now < made) {
      core_.at(made, Work::Kind::tick, 0);
      return;
    }
    send_next(d);
    core_.progress = true;
  }
  // One instruction leaves the address stage per cycle.
  queue_.pop();
  Warp& w = core_.warp(d.warp);
  ++w.accesses_made;
  if (__builtin_expect(w.waits_at_fence(), 0)) core_.at(core_.now + 1, Work::Kind::fence_reached, d.warp.value());
  started_ = false;
  core_.progress = true;
  if (__builtin_expect(static_cast<int>(has_async_), 0) != 0 && d.info->async != trace::AsyncKind::none) {
    return leave_async(d);
  }
  if (d.accesses_pending == 0) core_.at(std::max(d.completed, core_.now + 1), Work::Kind::executed, d.pool_index);
}

void LoadStoreUnit::register_stats(support::StatGroup& g) {
  g.counter("global_instructions", global_instructions_, "warp instructions", "global, generic and atomic accesses");
  g.counter("local_instructions", local_instructions_, "warp instructions", "local memory accesses");
  g.counter("shared_instructions", shared_instructions_, "warp instructions", "shared memory accesses");
  g.counter("empty_instructions", empty_instructions_, "warp instructions", "accesses without an active lane");
  g.counter("requests", requests_, "lines", "line requests sent to the L1 after coalescing");
  g.counter("cache_lines", line_requests_sent_, "lines", "lines requested by the instruction and constant caches");
  g.counter("load_sectors", load_sectors_, "sectors", "32-byte sectors requested by loads");
  g.counter("store_sectors", store_sectors_, "sectors", "32-byte sectors written by stores");
  g.counter("atomic_sectors", atomic_sectors_, "sectors", "32-byte sectors touched by atomics");
  g.counter("texture_instructions", texture_instructions_, "warp instructions", "texture fetches");
  g.counter("texture_texels", texture_texels_, "texels", "addressed by texture fetches, a linear filter's all");
  g.counter("texture_passes", texture_passes_, "cycles", "in which the texture units made addresses");
  g.counter("texture_lines", texture_lines_, "lines", "lines that texture fetches touch");
  g.counter("texture_sectors", texture_sectors_, "sectors", "32-byte sectors that texture fetches want");
  g.counter("surface_instructions", surface_instructions_, "warp instructions", "surface loads and stores");
  g.counter("shared_passes", shared_passes_, "cycles", "in which shared memory banks were occupied");
  g.counter("shared_conflicts", shared_conflicts_, "warp instructions", "shared accesses that took more than one pass");
  g.counter("held_attempts", held_attempts_, "attempts", "to send a request that the L1's back-pressure refused");
}

}  // namespace regatta::sm
