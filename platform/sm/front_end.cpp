// SPDX-License-Identifier: Apache-2.0
#include "front_end.h"

#include <regatta/sm/decode.h>

#include "contract.h"

#include <algorithm>
#include <utility>

namespace regatta::sm {

using protocol::Event;
using protocol::Observer;

namespace {

// Code and constants have addresses beyond the windows of the trace. Code of different kernels, and constants of
// different launches, are `apart` bytes apart.
constexpr std::uint64_t code_window = base::first_address(base::Window::code);
constexpr std::uint64_t constant_window = base::first_address(base::Window::constant_lines);
constexpr std::uint64_t apart = std::uint64_t{1} << 24;  // bytes

}  // namespace

FrontEnd::FrontEnd(const sc_core::sc_module_name& name, Core& core, LoadStoreUnit& lsu, ReadOnlyCache& icache,
                   ReadOnlyCache& constants)
    : sc_module(name),
      core_(core),
      lsu_(lsu),
      icache_(icache),
      constants_(constants),
      wanting_(core.config.schedulers),
      next_(core.config.schedulers),
      slots_(core.config.schedulers) {}

void FrontEnd::connect(protocol::DecodePoint* point, std::vector<protocol::FetchListener*> listeners,
                       const std::vector<protocol::InsertedStream*>& streams) {
  decode_point_ = point;
  if (point != nullptr) insertion_cache_ = point->cache();
  listeners_ = std::move(listeners);
  for (const protocol::InsertedStream* gate : streams) {
    std::string scheme = gate->inserted_scheme();
    if (!scheme.empty()) streams_.push_back({gate, std::move(scheme)});
  }
}

void FrontEnd::kernel_started() {
  with_inserted_ = false;
  const trace::Kernel& kernel = *core_.kernel.kernel;
  if (icache_.enabled()) use_code_of(core_.kernel.launch->kernel);
  without_room_ = 0;
  schemes_.clear();
  for (const Stream& stream : streams_) {
    if (stream.gate->takes_inserted()) schemes_.push_back(stream.scheme);
  }
  // Also where this launch takes none: the launch before may have.
  if (decode_point_ != nullptr || !streams_.empty()) find_inserted(kernel);
  if (!constants_.enabled()) return;
  // A launch has parameters of its own.
  constant_base_ = core_.kernel.launch_index * (apart / constants_.line_bytes());
  constant_of_.assign(kernel.instructions.size(), no_constant);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    for (const trace::Operand& o : kernel.instructions[i].operands) {
      if (o.kind != trace::Operand::Kind::constant_bank) continue;
      constant_of_[i] = static_cast<std::uint32_t>((o.value % apart) / constants_.line_bytes());
      break;
    }
  }
}

bool FrontEnd::wants(const Warp& w) const {
  return w.active && !w.fetching && !w.fetch_blocked && !w.line_pending && !w.decode_full && !w.path.at_end() &&
         w.held + core_.config.fetch_width <= w.buffer.size();
}

void FrontEnd::suspend(Warp& w, ReadOnlyCache& cache, std::uint64_t line) {
  ++line_waits;
  w.line_pending = true;
  w.fetch_since = core_.now;
  wanting_[w.scheduler] &= ~(WarpMask{1} << w.local);
  std::uint32_t mshr = 0;
  if (cache.miss(line, w.info.warp, mshr) != ReadOnlyCache::Miss::request) return;
  const bool constant = &cache == &constants_;
  const Fetch fetch = fetch_of((constant ? constant_window : code_window) + line * cache.line_bytes(), cache);
  lsu_.request_line(constant ? protocol::AccessClass::constant : protocol::AccessClass::instruction, fetch.line_start,
                    fetch.sectors, mshr | (constant ? constant_tag : 0));
}

FrontEnd::Fetch FrontEnd::fetch_of(std::uint64_t address, const ReadOnlyCache& cache) const {
  const std::uint64_t line_start = address & ~std::uint64_t{core_.config.line_bytes - 1};
  const unsigned first = static_cast<unsigned>(address - line_start) / protocol::sector_bytes;
  const unsigned sectors = cache.line_bytes() / protocol::sector_bytes;
  return {line_start, static_cast<std::uint8_t>(((1u << sectors) - 1) << first)};
}

void FrontEnd::warm_code(const trace::Kernel& kernel, std::uint32_t kernel_index, const std::vector<bool>& executed,
                         const std::function<void(std::uint64_t, std::uint8_t)>& missed) {
  if (!icache_.enabled()) return;
  use_code_of(kernel_index);
  // Which gates will take inserted instructions is known when a launch starts; here, all that name a scheme do.
  schemes_.clear();
  for (const Stream& stream : streams_) schemes_.push_back(stream.scheme);
  const bool named = decode_point_ != nullptr || !schemes_.empty();
  if (named) find_inserted(kernel);
  std::uint64_t last = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < executed.size(); ++i) {
    if (!executed[i]) continue;
    const std::uint64_t line = code_line(named ? places_[i].position : i);
    if (line == last) continue;
    last = line;
    if (icache_.warm(line)) continue;
    const Fetch fetch = fetch_of(code_window + line * icache_.line_bytes(), icache_);
    missed(fetch.line_start, fetch.sectors);
  }
}

void FrontEnd::use_code_of(std::uint32_t kernel_index) {
  code_shift_ = icache_.shift(core_.config.instruction_bytes);
  code_base_ = kernel_index * (apart / icache_.line_bytes());
}

void FrontEnd::line_arrived(std::uint32_t tag) {
  const bool constant = (tag & constant_tag) != 0;
  const auto go_on = [this](protocol::WarpSlot slot) -> Warp& {
    Warp& w = core_.warp(slot);
    w.line_pending = false;
    if (w.active) update(w);
    return w;
  };
  // The warps that waited get the line even if it is evicted at once.
  (constant ? constants_ : icache_)
      .fill(
          tag & ~constant_tag,
          [&](protocol::WarpSlot slot, std::uint64_t line) {
            Warp& w = go_on(slot);
            (constant ? w.constant_line : w.code_line) = line;
          },
          go_on);
}

void FrontEnd::update(Warp& w) {
  const WarpMask bit = WarpMask{1} << w.local;
  slots_[w.scheduler][w.local] = w.info.warp;
  if (wants(w)) {
    wanting_[w.scheduler] |= bit;
  } else {
    wanting_[w.scheduler] &= ~bit;
  }
}

void FrontEnd::removed(Warp& w) { wanting_[w.scheduler] &= ~(WarpMask{1} << w.local); }

void FrontEnd::unblocked(Warp& w) {
  w.fetch_blocked = false;
  if (w.active) update(w);
}

DynamicInstruction& FrontEnd::offer(Warp& w, DynamicInstruction& d, std::uint64_t sequence, Cycle fetched) {
  d.warp = w.info.warp;
  d.cta = w.info.cta;
  d.scheduler = w.scheduler;
  d.sequence = sequence;
  d.fetched = fetched;
  w.next = &d;
  return d;
}

DynamicInstruction& FrontEnd::decode(Warp& w) {
  const FetchedInstruction& fetched = *w.front();
  if (__builtin_expect(static_cast<int>(issues_inserted_), 0) != 0 && is_inserted(*fetched.traits)) {
    return decode_inserted(w, fetched);
  }
  if (__builtin_expect(static_cast<int>(w.cursor_ahead), 0) == 0) w.cursor.next();
  w.cursor_ahead = false;
  DynamicInstruction& d = core_.pool.take();
  sm::decode(w.cursor, *fetched.traits, d, core_.stored_values);
  ++w.sequence;
  return offer(w, d, w.sequence, fetched.fetched);
}

DynamicInstruction& FrontEnd::decode_inserted(Warp& w, const FetchedInstruction& fetched) {
  const auto number = static_cast<std::size_t>(fetched.traits - inserted_traits_.data());
  const trace::InsertedInstruction& inserted = core_.kernel.kernel->inserted[inserted_[number].index];
  // On an edge the cursor is still at the instruction that the edge leaves.
  if (inserted.after < 0 && !w.cursor_ahead) {
    w.cursor.next();
    w.cursor_ahead = true;
  }
  const LaneMask lanes = inserted.after < 0 ? w.cursor.simt_mask() : crossing(w, inserted);
  DynamicInstruction& d = core_.pool.take();
  outside_program(d, *fetched.traits, lanes);
  return offer(w, d, w.sequence + 1, fetched.fetched);
}

std::uint32_t FrontEnd::next_of_program(const Warp& w) const {
  for (unsigned i = 0; i < w.held; ++i) {
    const InstructionTraits& traits = *w.buffer[(w.head + i) % w.buffer.size()].traits;
    if (!is_inserted(traits)) return traits.index;
  }
  return w.path.at_end() ? static_cast<std::uint32_t>(core_.traits.size()) : w.path.peek_index();
}

template <bool with_inserted>
[[gnu::always_inline]] inline FrontEnd::Coming FrontEnd::coming(Warp& w) const {
  const std::uint32_t index = w.path.peek_index();
  if constexpr (!with_inserted) return Coming{index};
  if (__builtin_expect(static_cast<int>(!edges_.empty()), 0) != 0 && w.path.position() != 0) {
    const Edges& edges = edges_[w.path.index()];
    // A branch or exit has issued when the warp fetches again, so the lanes that cross an edge are known. After any
    // other instruction, all lanes of the path continue.
    const bool known = core_.traits[w.path.index()].is_control;
    for (; w.edges_done < edges.count; ++w.edges_done) {
      const std::uint32_t number = on_edges_[edges.first + w.edges_done];
      const Inserted& inserted = inserted_[number];
      if (!known || crossing(w, core_.kernel.kernel->inserted[inserted.index]) != 0) {
        return Coming{inserted.position, number};
      }
    }
  }
  const Place& place = places_[index];
  if (w.insertions_done >= place.insertions) return Coming{place.position};
  const std::uint32_t number = place.first + w.insertions_done;
  return Coming{inserted_[number].position, number};
}

void FrontEnd::queue_insertion(Warp& w, std::uint32_t number) {
  if (w.insertions.empty() || w.insertions.back().first + w.insertions.back().count != number ||
      w.insertions.back().sequence != w.fetched_sequence + 1) {
    w.insertions.push_back(FetchedInsertions{number, 0, w.fetched_sequence + 1});
  }
  ++w.insertions.back().count;
}

FrontEnd::Coming FrontEnd::take_held(Warp& w, Coming next, unsigned& room, std::uint32_t& last) {
  while (insertion_cache_ != nullptr && next.inserted != Coming::none && room != 0) {
    const Inserted& inserted = inserted_[next.inserted];
    if (inserted.issues || !insertion_cache_->held(w.info.warp, inserted.index)) break;
    --room;
    ++held_insertions;
    queue_insertion(w, next.inserted);
    ++(inserted.on_edge ? w.edges_done : w.insertions_done);
    if (in_code_ && next.position == last + 1) ++last;
    next = coming<true>(w);
  }
  return next;
}

[[gnu::always_inline]] inline bool FrontEnd::fetch_inserted(Warp& w, std::uint32_t number, bool first, unsigned& room) {
  const Inserted& inserted = inserted_[number];
  if (inserted.issues) {
    w.push(inserted_traits_[number], core_.now);
    w.fetch_blocked = inserted_traits_[number].is_control;
  } else {
    if (room == 0) {
      if (first) {
        w.decode_full = true;
        w.fetch_since = core_.now;
        ++without_room_;
        wanting_[w.scheduler] &= ~(WarpMask{1} << w.local);
      }
      return false;
    }
    --room;
    queue_insertion(w, number);
  }
  ++(inserted.on_edge ? w.edges_done : w.insertions_done);
  ++instructions;
  return !w.fetch_blocked;
}

template <bool with_inserted>
void FrontEnd::fetch(Warp& w) {
  unsigned latency = core_.config.fetch_latency;
  const bool cached = icache_.enabled();
  Coming next = coming<with_inserted>(w);
  unsigned room = 0;
  std::uint32_t last = 0;
  if constexpr (with_inserted) {
    room = decode_point_ == nullptr ? 0 : decode_point_->room(w.info.warp);
    next = take_held(w, next, room, last);
    // Held ones in front of all others come at once, and the point may have acted on them at once.
    while (room == 0 && next.inserted != Coming::none && !w.insertions.empty()) {
      hand_over(w);
      room = decode_point_->room(w.info.warp);
      next = take_held(w, next, room, last);
    }
  }
  if (cached) {
    const std::uint64_t line = code_line(next.position);
    if (line != w.code_line) {
      if (!icache_.find(line)) {
        // Those that the decode point held need no fetch.
        if constexpr (with_inserted) hand_over(w);
        return suspend(w, icache_, line);
      }
      w.code_line = line;
      latency += icache_.latency();
    }
  }
  const std::uint64_t before = instructions;
  for (unsigned i = 0; i < core_.config.fetch_width && !w.path.at_end(); ++i) {
    // A fetch brings in consecutive instructions of a line only; the first may be anywhere.
    if (i != 0) {
      next = coming<with_inserted>(w);
      if constexpr (with_inserted) next = take_held(w, next, room, last);
      if (next.position != last + 1 || (cached && code_line(next.position) != w.code_line)) break;
    }
    last = next.position;
    if constexpr (with_inserted) {
      if (next.inserted != Coming::none) {
        if (!fetch_inserted(w, next.inserted, i == 0, room)) break;
        continue;
      }
    }
    if (constants_.enabled() && constant_of_[w.path.peek_index()] != no_constant) {
      const std::uint64_t line = constant_base_ + constant_of_[w.path.peek_index()];
      if (line != w.constant_line) {
        if (!constants_.find(line)) {
          suspend(w, constants_, line);
          break;
        }
        w.constant_line = line;
        latency += constants_.latency();
      }
    }
    w.path.next();
    if constexpr (with_inserted) {
      w.edges_done = 0;
      w.insertions_done = 0;
      ++w.fetched_sequence;
    }
    const InstructionTraits& traits = core_.traits[w.path.index()];
    w.push(traits, core_.now);
    for (protocol::FetchListener* l : listeners_) l->fetched(w.info, traits);
    core_.observers.notify_few(Event::fetched, [&](Observer& o) { o.fetched(core_.now, w.info, traits); });
    ++instructions;
    if (traits.is_control) {
      w.fetch_blocked = true;
      break;
    }
  }
  if (instructions == before) {
    if constexpr (with_inserted) hand_over(w);
    return;
  }
  ++fetches;
  w.fetching = true;
  core_.at(core_.now + latency, Work::Kind::fetched, w.info.warp.value());
  wanting_[w.scheduler] &= ~(WarpMask{1} << w.local);
}

void FrontEnd::check_room(const Warp& w) const {
  unsigned coming = 0;
  for (const FetchedInsertions& taken : w.insertions) coming += taken.count;
  const unsigned room = decode_point_->room(w.info.warp);
  if (room >= coming) return;
  broken_contract(core_, "decode_point", support::block_name(*decode_point_),
                  "room() for " + describe(core_, w.info.warp) + " is " + std::to_string(room) + " when " +
                      std::to_string(coming) + " instructions come that it had room for when they were fetched",
                  "room that only decoded() takes");
}

void FrontEnd::hand_over(Warp& w) {
  if (w.insertions.empty()) return;
  check_room(w);
  for (const FetchedInsertions& taken : w.insertions) {
    inserted_instructions += taken.count;
    for (std::uint32_t i = 0; i < taken.count; ++i) {
      decode_point_->decoded(w.info, inserted_[taken.first + i].index, taken.sequence);
    }
  }
  w.insertions.clear();
}

void FrontEnd::more_room() {
  if (without_room_ == 0) return;
  without_room_ = 0;
  for (Warp& w : core_.warps) {
    if (!w.decode_full) continue;
    w.decode_full = false;
    if (w.active) update(w);
  }
}

void FrontEnd::fetched(Warp& w) {
  w.fetching = false;
  hand_over(w);
  w.buffered = w.held;
  for (protocol::FetchListener* l : listeners_) l->arrived(w.info);
  core_.observers.notify_few(Event::arrived, [&](Observer& o) { o.arrived(core_.now, w.info); });
  if (w.active) update(w);
}

void FrontEnd::cycle() {
  for (unsigned s = 0; s < wanting_.size(); ++s) {
    const WarpMask mask = wanting_[s];
    if (mask == 0) continue;
    const WarpMask after = next_[s] >= 64 ? 0 : mask & (~WarpMask{0} << next_[s]);
    const auto local = static_cast<unsigned>(__builtin_ctzll(after != 0 ? after : mask));
    next_[s] = local + 1;
    Warp& w = core_.warp(slots_[s][local]);
    if (with_inserted_) {
      fetch<true>(w);
    } else {
      fetch<false>(w);
    }
    core_.progress = true;
  }
}

}  // namespace regatta::sm
