// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores. The common case, all lanes within one allocation and aligned, is checked once per warp; anything
// else goes lane by lane, which also finds the lane to blame.
#include "access_log.h"
#include "cta.h"
#include "diagnostics.h"
#include "lane_memory.h"
#include "memory_space.h"
#include "race_detector.h"

#include <algorithm>
#include <cstring>

namespace regatta::emulator {

using trace::LaneMask;
using trace::MemorySpace;

void CtaRunner::find_addresses(Warp& w, const Op& op) {
  helpers_.addresses(op.lane, w.regs, op.wide_address, op.offset, op.element_bytes);
  AddressSummary& a = w.regs.addresses;
  if (op.wide_address || op.space != MemorySpace::generic || a.highest < base::narrow_windows) return;
  a.lowest = ~std::uint64_t{0};
  a.highest = 0;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    std::uint64_t& lane = a.lane[static_cast<unsigned>(__builtin_ctzll(rest))];
    lane = base::widened(lane);
    a.lowest = std::min(a.lowest, lane);
    a.highest = std::max(a.highest, lane);
  }
  a.consecutive = a.consecutive && base::window_number(a.lowest) == base::window_number(a.highest);
}

void CtaRunner::log_range(const Warp& w, const Op& op, const Allocation& a) {
  const AddressSummary& s = w.regs.addresses;
  const bool writes = !op.only_loads();
  const std::uint64_t bytes = std::uint64_t{op.element_bytes} * op.vector;
  if (s.lowest == s.highest || (s.consecutive && op.vector == 1)) {
    const std::uint64_t all = s.highest - s.lowest + bytes;
    writes ? log_->write(a, s.lowest - a.base, all) : log_->read(a, s.lowest - a.base, all);
  } else {
    log_->lanes(a, s.lane, w.regs.active, bytes, writes);
  }
}

bool CtaRunner::whole_range(Warp& w, const Op& op, Place& place, std::uint64_t& base) {
  const AddressSummary& a = w.regs.addresses;
  const std::uint64_t bytes = std::uint64_t{op.element_bytes} * op.vector;
  if ((a.low_bits & (bytes - 1)) != 0 || (bytes & (bytes - 1)) != 0) return false;
  const MemorySpace space = space_of(op, a.lowest);
  if (op.space == MemorySpace::generic && (a.lowest >> ir::window_shift) != (a.highest >> ir::window_shift))
    return false;
  const std::uint64_t highest = offset_in(op, space, a.highest);
  const auto fits = [&](std::size_t size) { return highest < size && bytes <= size - highest; };
  base = op.space == MemorySpace::generic && space != MemorySpace::global ? a.lowest & ~ir::window_offset_mask : 0;
  switch (space) {
    case MemorySpace::global: {
      Allocation* hit = memory_.find(a.lowest, last_hit_);
      if (hit == nullptr || highest >= hit->end() || bytes > hit->end() - highest) return false;
      place = {hit->data.data(), hit->written.empty() ? nullptr : hit->written.data()};
      base = hit->base;
      if (!op.only_loads()) Allocation::set(hit->changed);
      if (log_ != nullptr) log_range(w, op, *hit);
      return true;
    }
    case MemorySpace::shared:
      place = {shared_.data(), tracks_ ? shared_written_.data() : nullptr};
      return fits(shared_.size());
    case MemorySpace::local:
      place = {local_.data() + std::size_t{w.first_thread()} * f_.local_bytes, nullptr};
      return fits(f_.local_bytes);
    case MemorySpace::constant:
      place = {constants_.data(), nullptr};
      return op.only_loads() && fits(constants_.size());
    case MemorySpace::param:
      place = {parameters_.data(), nullptr};
      return op.only_loads() && fits(parameters_.size());
    case MemorySpace::none:
    case MemorySpace::generic:
    case MemorySpace::texture:
    case MemorySpace::surface:
    case MemorySpace::asynchronous:
      break;
  }
  return false;
}

void CtaRunner::bad_address(Warp& w, const Op& op, unsigned lane, const char* verb, const std::string& where) {
  const unsigned bytes = unsigned{op.element_bytes} * op.vector;
  const std::string what = "out-of-bounds " + std::string(verb) + " of " + std::to_string(bytes) +
                           (bytes == 1 ? " byte at " : " bytes at ") + where;
  const std::uint64_t address = w.regs.addresses.lane[lane];
  if (op.only_loads() && space_of(op, address) == MemorySpace::global && memory_.is_mapped(address)) {
    const auto thread = unflatten(w.first_thread() + lane, request_.block);
    throw StrayReadError(message_at(f_, *op.instruction, cta_, &thread, what));
  }
  fail(w, op, lane, what, FaultKind::address);
}

Place CtaRunner::stray_place(Warp& w, const Op& op, unsigned lane) {
  const std::uint64_t address = w.regs.addresses.lane[lane];
  const unsigned bytes = unsigned{op.element_bytes} * op.vector;
  const auto [known, is_new] = strays_->index.try_emplace(position(op), strays_->found.size());
  Allocation* a = memory_.find(address, last_hit_);
  if (is_new) {
    const auto thread = unflatten(w.first_thread() + lane, request_.block);
    const std::string near = a == nullptr ? memory_.describe(address) : "whose end lies " + memory_.describe(a->end());
    strays_->found.push_back(
        {message_at(f_, *op.instruction, cta_, &thread,
                    "out-of-bounds read of " + std::to_string(bytes) + (bytes == 1 ? " byte at " : " bytes at ") +
                        "global address " + hex_text(address) + ", " + near + ", gives zero",
                    "warning"),
         0});
  }
  ++strays_->found[known->second].lanes;
  stray_.fill(0);
  stray_written_.fill(1);
  if (a == nullptr) return {stray_.data(), nullptr, true};
  const std::uint64_t at = address - a->base, inside = a->end() - address;
  std::memcpy(stray_.data(), a->data.data() + at, inside);
  if (!a->written.empty()) std::memcpy(stray_written_.data(), a->written.data() + at, inside);
  return {stray_.data(), stray_written_.data(), true};
}

Place CtaRunner::resolve(Warp& w, const Op& op, unsigned lane, Use use) {
  const char* const verb = use == Use::read ? "read" : use == Use::write ? "write" : "atomic access";
  const std::uint64_t address = w.regs.addresses.lane[lane];
  const unsigned bytes = unsigned{op.element_bytes} * op.vector;
  const MemorySpace space = space_of(op, address);
  const std::uint64_t offset = offset_in(op, space, address);
  const bool is_global = space == MemorySpace::global;
  // Text for a message only: this runs for every lane of a gather or an atomic.
  const auto where = [&] {
    return std::string(trace::to_string(space)) +
           (is_global ? " address " + hex_text(address) : " offset " + std::to_string(offset));
  };
  if (address % bytes != 0) {
    fail(w, op, lane,
         "misaligned " + std::string(verb) + " of " + std::to_string(bytes) + " bytes at " + where() +
             ", expected a multiple of " + std::to_string(bytes),
         FaultKind::misaligned);
  }
  Place place;
  std::size_t size = 0;
  const char* owner = "";
  switch (space) {
    case MemorySpace::global: {
      Allocation* a = memory_.find(address, last_hit_);
      const bool is_whole = a != nullptr && bytes <= a->end() - address;
      if (!is_whole && strays_ != nullptr && op.only_loads() && memory_.is_mapped(address)) {
        place = stray_place(w, op, lane);
        break;
      }
      if (a == nullptr) bad_address(w, op, lane, verb, where() + ", " + memory_.describe(address));
      if (bytes > a->end() - address)
        bad_address(w, op, lane, verb, where() + ", whose end lies " + memory_.describe(a->end()));
      if (use != Use::read) Allocation::set(a->changed);
      if (log_ != nullptr) {
        if (use != Use::write) log_->read(*a, address - a->base, bytes);
        if (use != Use::read) log_->write(*a, address - a->base, bytes);
      }
      place = {a->data.data() + (address - a->base),
               a->written.empty() ? nullptr : a->written.data() + (address - a->base), true};
      break;
    }
    case MemorySpace::shared:
      size = shared_.size();
      owner = "the CTA has ";
      place = {shared_.data() + offset, shared_written_.data() + offset};
      break;
    case MemorySpace::local:
      size = f_.local_bytes;
      owner = "the thread has ";
      place = {local_.data() + std::size_t{w.first_thread() + lane} * f_.local_bytes + offset, nullptr};
      break;
    case MemorySpace::constant:
      size = constants_.size();
      owner = "the module has ";
      place = {constants_.data() + offset, nullptr};
      break;
    default:
      size = parameters_.size();
      owner = "the kernel has ";
      place = {parameters_.data() + offset, nullptr};
      break;
  }
  if (!is_global && (offset >= size || bytes > size - offset)) {
    // The stack of frames ends at 0.
    const bool is_below = op.space == MemorySpace::local && static_cast<std::int32_t>(offset) < 0;
    if (f_.stack_bytes != 0 && is_below) fail(w, op, lane, ir::stack_overflow_text(f_.stack_bytes), FaultKind::trap);
    bad_address(w, op, lane, verb, where() + ", " + owner + std::to_string(size) + " bytes");
  }
  if (use != Use::read && (space == MemorySpace::constant || space == MemorySpace::param)) {
    fail(w, op, lane, std::string(verb) + " to read-only " + where(), FaultKind::address);
  }
  const auto good = [&] {
    return use == Use::read ? some_written(place.written, bytes) : all_written(place.written, bytes);
  };
  if (use != Use::write && place.written != nullptr && !good()) {
    const std::string what = std::string(verb) + " of " + where() + ", which was never written" +
                             (is_global ? ", " + memory_.describe(address) : "");
    if (races_ == nullptr) fail(w, op, lane, what);
    const auto thread = unflatten(w.first_thread() + lane, request_.block);
    races_->postpone(message_at(f_, *op.instruction, cta_, &thread, what));
  }
  return place;
}

void CtaRunner::load(Warp& w, const Op& op) {
  find_addresses(w, op);
  load_from(w, op);
}

void CtaRunner::load_from(Warp& w, const Op& op) {
  if (races_ != nullptr) note_access(w, op);
  const unsigned lanes = program_.lanes;
  Place place;
  std::uint64_t base = 0;
  if (whole_range(w, op, place, base)) {
    const bool local = space_of(op, w.regs.addresses.lowest) == MemorySpace::local;
    const Region region{place.data, place.written, base, local ? f_.local_bytes : 0u};
    bool good = true;
    if (op.element_bytes == 4 && op.vector == 1 && op.destination_words[0] == 1 && w.regs.addresses.consecutive &&
        !local) {
      const std::uint64_t at = w.regs.addresses.lowest - base;
      std::memcpy(w.regs.bank[0] + op.destinations[0], region.data + at, std::size_t{4} * lanes);
      if (region.written != nullptr) good = all_written(region.written + at, std::size_t{4} * lanes);
    } else {
      switch (op.element_bytes) {
        case 1:
          good = load_lanes<std::uint8_t>(region, op, w.regs, lanes);
          break;
        case 2:
          good = load_lanes<std::uint16_t>(region, op, w.regs, lanes);
          break;
        case 4:
          good = load_lanes<std::uint32_t>(region, op, w.regs, lanes);
          break;
        default:
          good = load_lanes<std::uint64_t>(region, op, w.regs, lanes);
          break;
      }
    }
    if (good) return;
  }
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const Place at = resolve(w, op, lane, Use::read);
    for (unsigned v = 0; v < op.vector; ++v) {
      std::uint64_t value = 0;
      std::memcpy(&value, at.data + std::size_t{v} * op.element_bytes, op.element_bytes);
      if (sign_extends(op.type)) {
        const unsigned shift = 64 - 8u * op.element_bytes;
        value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
      }
      put(w, op.destinations[v], op.destination_words[v], lane, value);
    }
    // When races are checked, a race may be the reason for the uninitialised value. The race is reported, not its
    // consequence.
    if (races_ != nullptr || at.written == nullptr || !tracks_) continue;
    if (!all_written(at.written, std::size_t{op.element_bytes} * op.vector)) {
      note_part_loaded(w, op, lane, at.written);
    }
  }
}

void CtaRunner::store(Warp& w, const Op& op) {
  find_addresses(w, op);
  store_to(w, op);
}

void CtaRunner::store_to(Warp& w, const Op& op) {
  if (races_ != nullptr) note_access(w, op);
  if (spins_.watching() && changes_memory(w, op)) spins_.changed();
  const LaneMask missing = tracks_ ? unwritten_values(w, op, w.regs.active) : 0;
  if (missing != 0 && op.space != MemorySpace::local) return store_part_written(w, op, missing);
  const unsigned lanes = program_.lanes;
  Place place;
  std::uint64_t base = 0;
  if (whole_range(w, op, place, base)) {
    const bool local = space_of(op, w.regs.addresses.lowest) == MemorySpace::local;
    const Region region{place.data, place.written, base, local ? f_.local_bytes : 0u};
    if (op.element_bytes == 4 && op.vector == 1 && w.regs.addresses.consecutive && !local) {
      const std::uint64_t at = w.regs.addresses.lowest - base;
      const LaneSource& s = op.values[0];
      std::memcpy(region.data + at, w.regs.bank[static_cast<unsigned>(s.bank)] + s.offset, std::size_t{4} * lanes);
      if (region.written != nullptr) std::memset(region.written + at, 1, std::size_t{4} * lanes);
      return;
    }
    switch (op.element_bytes) {
      case 1:
        store_lanes<std::uint8_t>(region, op, w.regs, lanes);
        break;
      case 2:
        store_lanes<std::uint16_t>(region, op, w.regs, lanes);
        break;
      case 4:
        store_lanes<std::uint32_t>(region, op, w.regs, lanes);
        break;
      default:
        store_lanes<std::uint64_t>(region, op, w.regs, lanes);
        break;
    }
    return;
  }
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const Place at = resolve(w, op, lane, Use::write);
    for (unsigned v = 0; v < op.vector; ++v) {
      const std::uint64_t value = get(w, op.values[v], lane, op.element_bytes == 8);
      std::memcpy(at.data + std::size_t{v} * op.element_bytes, &value, op.element_bytes);
      if (at.written != nullptr) std::memset(at.written + std::size_t{v} * op.element_bytes, 1, op.element_bytes);
    }
  }
}

void CtaRunner::note_access(Warp& w, const Op& op) {
  WarpMemoryAccess a;
  a.op = &op;
  a.position = position(op);
  a.warp = w.number();
  a.active = w.regs.active;
  a.together = w.top().mask;
  a.live = w.live();
  a.address = w.regs.addresses.lane;
  if (op.kind == Kind::store || op.kind == Kind::matrix_store) {
    for (unsigned v = 0; v < op.vector; ++v) {
      for (unsigned i = 0; i < program_.lanes; ++i) a.values[v][i] = get(w, op.values[v], i, op.element_bytes == 8);
    }
  }
  races_->access(a);
}

void CtaRunner::record_addresses(Warp& w, const Op& op, LaneMask active) {
  if (op.kind == Kind::asynchronous || op.kind == Kind::mbarrier_wait || op.space >= MemorySpace::texture)
    return w.encoder->texels(texels_.data(), texel_count_);
  const std::uint64_t* address = w.regs.addresses.lane;
  if (op.space != MemorySpace::local && op.space != MemorySpace::generic) return w.encoder->addresses(address);
  const std::uint64_t thread = cta_index_ * threads_ + w.first_thread();
  std::uint64_t moved[trace::max_lanes];
  bool local = false;
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    moved[lane] = address[lane];
    const MemorySpace space = space_of(op, address[lane]);
    if (space != MemorySpace::local) continue;
    local = true;
    moved[lane] = ir::local_window + (thread + lane) * f_.local_bytes + offset_in(op, space, address[lane]);
  }
  w.encoder->addresses(local ? moved : address);
}

void CtaRunner::record_stored(Warp& w, const Op& op, LaneMask active) {
  LaneMask lanes = 0;
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    if (space_of(op, w.regs.addresses.lane[lane]) == MemorySpace::shared) lanes |= rest & (0 - rest);
  }
  if (lanes == 0) return;
  const unsigned bytes = unsigned{op.element_bytes} * op.vector;
  trace::WarpValue value;
  for (unsigned done = 0; done < bytes; done += trace::bytes_per_lane) {
    const unsigned part = std::min(bytes - done, trace::bytes_per_lane);
    for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
      const std::uint64_t offset = offset_in(op, MemorySpace::shared, w.regs.addresses.lane[lane]);
      std::uint32_t word = 0;
      std::memcpy(&word, shared_.data() + offset + done, part);
      value.lane[lane] = word;
    }
    w.encoder->stored(value);
  }
}

}  // namespace regatta::emulator
