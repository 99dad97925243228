// SPDX-License-Identifier: Apache-2.0
#include "heap.h"

#include "cta.h"
#include "diagnostics.h"
#include "race_detector.h"

#include <algorithm>
#include <cstring>

namespace regatta::emulator {

namespace {

constexpr std::uint64_t magic = 0x70616568'61747461;
constexpr std::uint64_t granule = 16, taken_bit = 1;

}  // namespace

Heap::Heap(Allocation& memory) : memory_(memory), end_(memory.bytes / granule * granule) {
  if (word(magic_word) == magic) return;
  set_word(magic_word, magic);
  set_word(next_word, own_bytes);
  write({own_bytes, end_ - own_bytes, false});
}

std::uint64_t Heap::word(std::uint64_t offset) const {
  std::uint64_t value = 0;
  std::memcpy(&value, memory_.data.data() + offset, sizeof value);
  return value;
}

void Heap::set_word(std::uint64_t offset, std::uint64_t value) {
  std::memcpy(memory_.data.data() + offset, &value, sizeof value);
}

std::uint64_t Heap::check_of(std::uint64_t at, std::uint64_t size) { return (magic ^ size) + at * 0x9e3779b97f4a7c15u; }

std::optional<Heap::Block> Heap::block(std::uint64_t at) const {
  const std::uint64_t size = word(at);
  const Block b{at, size & ~taken_bit, (size & taken_bit) != 0};
  if (word(at + sizeof size) != check_of(at, size) || b.bytes < header_bytes || b.bytes > end_ - at)
    return std::nullopt;
  return b;
}

Heap::Block Heap::require(std::uint64_t at) {
  if (const auto b = block(at)) return *b;
  fault_ = "the heap is broken: what stands in front of the block at " + hex_text(memory_.base + at + header_bytes) +
           " was overwritten, by a store behind the block before it";
  return {at, end_ - at, true};
}

void Heap::write(const Block& b) {
  const std::uint64_t size = b.bytes | (b.taken ? taken_bit : 0);
  set_word(b.at, size);
  set_word(b.at + sizeof size, check_of(b.at, size));
}

void Heap::forget(std::uint64_t from, std::uint64_t to) {
  if (!memory_.written.empty()) std::memset(memory_.written.data() + from, 0, to - from);
}

Heap::Block Heap::joined(Block b) {
  const std::uint64_t alone = b.end();
  while (b.end() < end_ && fault_.empty()) {
    const Block behind = require(b.end());
    if (behind.taken) break;
    set_word(behind.at + sizeof(std::uint64_t), 0);
    if (word(next_word) == behind.at) set_word(next_word, b.at);
    b.bytes += behind.bytes;
  }
  if (b.end() != alone) write(b);
  return b;
}

std::uint64_t Heap::take(Block b, std::uint64_t bytes) {
  if (b.bytes != bytes) {
    write({b.at + bytes, b.bytes - bytes, false});
    b.bytes = bytes;
  }
  b.taken = true;
  write(b);
  forget(b.at, b.end());
  set_word(next_word, b.end() < end_ ? b.end() : own_bytes);
  set_word(taken_word, word(taken_word) + b.bytes);
  set_word(count_word, word(count_word) + 1);
  return memory_.base + b.at + header_bytes;
}

std::uint64_t Heap::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > end_) return 0;
  bytes = (bytes + granule - 1) / granule * granule + header_bytes;
  const std::uint64_t first = std::clamp(word(next_word), own_bytes, end_ - header_bytes);
  const auto search = [&](std::uint64_t from, std::uint64_t to) -> std::uint64_t {
    for (std::uint64_t at = from; at < to && fault_.empty();) {
      Block b = require(at);
      if (!b.taken) b = joined(b);
      if (!fault_.empty()) return 0;
      if (!b.taken && b.bytes >= bytes) return take(b, bytes);
      at = b.end();
    }
    return 0;
  };
  const std::uint64_t behind = search(first, end_);
  return behind != 0 ? behind : search(own_bytes, first);
}

std::optional<std::string> Heap::release(std::uint64_t address) {
  if (address == 0) return std::nullopt;
  const std::uint64_t at = address - memory_.base - header_bytes;
  const bool inside = address >= memory_.base + own_bytes + header_bytes && at < end_ - header_bytes;
  const auto b = inside && address % granule == 0 ? block(at) : std::nullopt;
  if (!b) return "free() of " + hex_text(address) + ", where no block of malloc() begins";
  if (!b->taken) return "free() of " + hex_text(address) + ", which is free already";
  set_word(taken_word, word(taken_word) - b->bytes);
  set_word(count_word, word(count_word) - 1);
  write({b->at, b->bytes, false});
  forget(b->at, b->end());
  return std::nullopt;
}

/// One instruction for all lanes, which are served one after the other: atomic operations on the heap's first word.
void CtaRunner::heap(Warp& w, const Op& op) {
  const std::uint64_t base = memory_.heap();
  AddressSummary& addresses = w.regs.addresses;
  for (trace::LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) addresses.lane[__builtin_ctzll(rest)] = base;
  addresses.lowest = addresses.highest = base;
  if (races_ != nullptr) note_access(w, op);
  Allocation& memory = *memory_.find(base);
  Allocation::set(memory.changed);
  Heap heap(memory);
  for (trace::LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint64_t operand = get(w, op.values[0], lane, true);
    if (op.atomic == ir::AtomicOp::allocate) {
      const std::uint64_t block = heap.allocate(operand);
      if (op.has_result) put(w, op.destinations[0], op.destination_words[0], lane, block);
    } else if (const auto wrong = heap.release(operand)) {
      fail(w, op, lane, *wrong);
    }
    if (!heap.fault().empty()) fail(w, op, lane, heap.fault());
  }
  spins_.changed();
}

}  // namespace regatta::emulator
