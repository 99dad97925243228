// SPDX-License-Identifier: Apache-2.0
#include "front_end.h"

#include <regatta/sm/decode.h>

#include "contract.h"

namespace regatta::sm {

using protocol::Event;
using protocol::Observer;

namespace {

// Where code and constants lie in the address space: beyond the windows of the trace. Kernels and launches are this far
// apart.
constexpr std::uint64_t code_window = base::first_address(base::Window::code);
constexpr std::uint64_t constant_window = base::first_address(base::Window::constant_lines);
constexpr std::uint64_t apart = std::uint64_t{1} << 24;  // bytes

}  // namespace

FrontEnd::FrontEnd(Core& core, LoadStoreUnit& lsu)
    : core_(core),
      lsu_(lsu),
      icache_("icache", core.config.icache),
      constants_("constant_cache", core.config.constant_cache),
      wanting_(core.config.schedulers),
      next_(core.config.schedulers),
      slots_(core.config.schedulers) {}

void FrontEnd::kernel_started() {
  const trace::Kernel& kernel = *core_.kernel.kernel;
  if (icache_.enabled()) {
    code_shift_ = icache_.shift(trace::bytes_per_instruction);
    code_base_ = core_.kernel.launch->kernel * (apart / icache_.line_bytes());
  }
  without_room_ = 0;
  if (decode_point_ != nullptr) find_inserted(kernel);
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

void FrontEnd::find_inserted(const trace::Kernel& kernel) {
  const std::string scheme = decode_point_->scheme();
  if (scheme.empty()) {
    broken_contract(core_, "decode_point", support::block_name(*decode_point_), "scheme() answers an empty text",
                    "the name of the scheme whose instructions it takes");
  }
  inserted_.clear();
  places_.assign(kernel.instructions.size(), Place{});
  std::uint32_t position = 0;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    places_[i].position = position;
    places_[i].first = static_cast<std::uint32_t>(inserted_.size());
    for (; next < kernel.inserted.size() && kernel.inserted[next].before == i; ++next) {
      if (kernel.inserted[next].instruction.scheme == scheme) inserted_.push_back(static_cast<std::uint32_t>(next));
    }
    places_[i].words = static_cast<std::uint32_t>(inserted_.size()) - places_[i].first;
    position += places_[i].words + 1;
  }
}

bool FrontEnd::wants(const Warp& w) const {
  return w.active && !w.fetching && !w.fetch_blocked && !w.line_pending && !w.decode_full && !w.path.at_end() &&
         w.held + core_.config.fetch_width <= w.buffer.size();
}

void FrontEnd::wait(Warp& w, ReadOnlyCache& cache, std::uint64_t line) {
  ++line_waits;
  w.line_pending = true;
  w.fetch_since = core_.now;
  wanting_[w.scheduler] &= ~(WarpMask{1} << w.local);
  std::uint32_t mshr = 0;
  if (cache.miss(line, w.info.warp, mshr) != ReadOnlyCache::Miss::request) return;
  const bool constant = &cache == &constants_;
  const std::uint64_t address = (constant ? constant_window : code_window) + line * cache.line_bytes();
  const std::uint64_t line_start = address & ~std::uint64_t{core_.config.line_bytes - 1};
  const unsigned first = static_cast<unsigned>(address - line_start) / protocol::sector_bytes;
  const unsigned sectors = cache.line_bytes() / protocol::sector_bytes;
  lsu_.request_line(constant ? protocol::AccessClass::constant : protocol::AccessClass::instruction, line_start,
                    static_cast<std::uint8_t>(((1u << sectors) - 1) << first), mshr | (constant ? constant_tag : 0));
}

void FrontEnd::line_arrived(std::uint32_t tag) {
  const bool constant = (tag & constant_tag) != 0;
  const auto go_on = [this](protocol::WarpSlot slot) -> Warp& {
    Warp& w = core_.warp(slot);
    w.line_pending = false;
    if (w.active) update(w);
    return w;
  };
  // Whoever waited has the line even if it is evicted at once.
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

DynamicInstruction& FrontEnd::decode(Warp& w) {
  const FetchedInstruction& fetched = *w.front();
  w.cursor.next();
  DynamicInstruction& d = core_.pool.take();
  sm::decode(w.cursor, *fetched.traits, d);
  d.warp = w.info.warp;
  d.cta = w.info.cta;
  d.scheduler = w.scheduler;
  d.sequence = ++w.sequence;
  d.fetched = fetched.fetched;
  w.next = &d;
  return d;
}

template <bool with_inserted>
void FrontEnd::fetch(Warp& w) {
  unsigned latency = core_.config.fetch_latency;
  const bool cached = icache_.enabled();
  if (cached) {
    const std::uint64_t line = code_line(position<with_inserted>(w));
    if (line != w.code_line) {
      if (!icache_.find(line)) return wait(w, icache_, line);
      w.code_line = line;
      latency += icache_.latency();
    }
  }
  const std::uint64_t before = instructions;
  unsigned room = 0;
  if constexpr (with_inserted) room = decode_point_->room(w.info.warp);
  for (unsigned i = 0; i < core_.config.fetch_width && !w.path.at_end(); ++i) {
    const std::uint32_t index = w.path.peek_index();
    // A fetch brings in consecutive instructions of a line only; the first may be anywhere.
    if (i != 0) {
      const bool follows = index == w.path.index() + 1 || (with_inserted && w.words_done != 0);
      if (!follows || (cached && code_line(position<with_inserted>(w)) != w.code_line)) break;
    }
    if constexpr (with_inserted) {
      const Place& place = places_[index];
      if (w.words_done < place.words) {
        if (room == 0) {
          if (i == 0) {
            w.decode_full = true;
            w.fetch_since = core_.now;
            ++without_room_;
            wanting_[w.scheduler] &= ~(WarpMask{1} << w.local);
          }
          break;
        }
        --room;
        if (w.words_done == 0 || i == 0) {
          w.words.push_back(FetchedWords{place.first + w.words_done, 0, w.fetched_sequence + 1});
        }
        ++w.words.back().count;
        ++w.words_done;
        ++instructions;
        continue;
      }
    }
    if (constants_.enabled() && constant_of_[index] != no_constant) {
      const std::uint64_t line = constant_base_ + constant_of_[index];
      if (line != w.constant_line) {
        if (!constants_.find(line)) {
          wait(w, constants_, line);
          break;
        }
        w.constant_line = line;
        latency += constants_.latency();
      }
    }
    w.path.next();
    if constexpr (with_inserted) {
      w.words_done = 0;
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
  if (instructions == before) return;
  ++fetches;
  w.fetching = true;
  core_.at(core_.now + latency, Work::Kind::fetched, w.info.warp.value());
  wanting_[w.scheduler] &= ~(WarpMask{1} << w.local);
}

void FrontEnd::check_room(const Warp& w) const {
  unsigned coming = 0;
  for (const FetchedWords& words : w.words) coming += words.count;
  const unsigned room = decode_point_->room(w.info.warp);
  if (room >= coming) return;
  broken_contract(core_, "decode_point", support::block_name(*decode_point_),
                  "room() for " + describe(core_, w.info.warp) + " is " + std::to_string(room) + " when " +
                      std::to_string(coming) + " instructions come that it had room for when they were fetched",
                  "room that only decoded() takes");
}

void FrontEnd::hand_over(Warp& w) {
  check_room(w);
  for (const FetchedWords& words : w.words) {
    inserted_instructions += words.count;
    for (std::uint32_t i = 0; i < words.count; ++i) {
      decode_point_->decoded(w.info, inserted_[words.first + i], words.sequence);
    }
  }
  w.words.clear();
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
  if (!w.words.empty()) hand_over(w);
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
    if (decode_point_ != nullptr) {
      fetch<true>(w);
    } else {
      fetch<false>(w);
    }
    core_.progress = true;
  }
}

}  // namespace regatta::sm
