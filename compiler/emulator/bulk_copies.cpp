// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies and boxes of tensors between global and shared memory. A copy to shared memory is made when a wait for
// its mbarrier needs it; one from shared memory reads and writes when its group is waited for, or at the CTA's end.
#include "async_state.h"
#include "cta.h"
#include "diagnostics.h"
#include "mbarrier.h"
#include "memory_space.h"
#include "race_detector.h"
#include "tensor_box.h"

#include <algorithm>
#include <cstring>

namespace regatta::emulator {

using ir::BulkDirection;
using trace::LaneMask;
using trace::MemorySpace;

namespace {

constexpr unsigned bulk_alignment = 16, tensor_alignment = 128, map_alignment = 64;

/// The element that stands outside of a tensor, repeated over 8 bytes.
std::uint64_t fill_of(const ir::TensorMap& map) {
  if (!map.fills_nan) return 0;
  switch (ir::size_of(map.type)) {
    case 2:
      return 0x7fff'7fff'7fff'7fffu;
    case 4:
      return 0x7fff'ffff'7fff'ffffu;
    default:
      return 0x7fff'ffff'ffff'ffffu;
  }
}

}  // namespace

ir::TensorMap CtaRunner::tensor_map(Warp& w, const Op& op, unsigned lane) {
  std::uint64_t address = async_source(w, op, 1, lane);
  if (!program_.async_operands[op.target].wide[1]) address = base::widened(address);
  const std::string where = "tensor map at generic address " + hex_text(address);
  if (address % map_alignment != 0)
    fail(w, op, lane, "misaligned " + where + ", expected a multiple of 64", FaultKind::misaligned);
  const std::uint8_t* from = nullptr;
  const auto in = [&](const std::vector<std::uint8_t>& memory) {
    const std::uint64_t offset = address & ir::window_offset_mask;
    return offset <= memory.size() && ir::TensorMap::bytes <= memory.size() - offset ? memory.data() + offset : nullptr;
  };
  switch (address >> ir::window_shift) {
    case ir::param_window >> ir::window_shift:
      from = in(parameters_);
      break;
    case ir::constant_window >> ir::window_shift:
      from = in(constants_);
      break;
    case 0:
      from = async_place(w, op, lane,
                         {MemorySpace::global, address, ir::TensorMap::bytes, map_alignment, Use::read, "tensor map"})
                 .data;
      break;
    default:
      break;
  }
  if (from == nullptr)
    fail(w, op, lane, where + ", which is in no parameter, constant or global memory", FaultKind::address);
  const std::optional<ir::TensorMap> map = ir::TensorMap::decode(from);
  if (!map) fail(w, op, lane, "no " + where + " (a launch file makes one: tensor_map)");
  if (map->dimensions != op.instruction->mod.async.dimensions)
    fail(w, op, lane,
         where + " has " + std::to_string(map->dimensions) + " dimensions, the copy has " +
             std::to_string(op.instruction->mod.async.dimensions));
  return *map;
}

void CtaRunner::copy_bulk(Warp& w, const Op& op) {
  const ir::AsyncModifiers& mod = op.instruction->mod.async;
  const bool tensor = op.op == ir::Opcode::bulk_tensor;
  const bool to_shared = mod.direction == BulkDirection::to_shared;
  const Use shared_use = to_shared ? Use::write : Use::read;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    BulkCopy c;
    c.op = &op;
    c.warp = w.number();
    c.lane = lane;
    c.to_shared = to_shared;
    c.number = async_->next++;
    c.group = async_->warps[w.number()].bulk_group[lane];
    unsigned mbarrier_source = 3;
    TensorRows rows;
    const char* const shared_what = to_shared ? "destination" : "source";
    std::uint32_t shared_at = 0;
    if (tensor) {
      const ir::TensorMap map = tensor_map(w, op, lane);
      const auto shared = static_cast<std::uint32_t>(async_source(w, op, 0, lane));
      std::array<std::int32_t, ir::TensorMap::most_dimensions> at{};
      for (unsigned d = 0; d < map.dimensions; ++d) at[d] = static_cast<std::int32_t>(async_source(w, op, 2 + d, lane));
      mbarrier_source = 2 + map.dimensions;
      shared_at = shared;
      c.bytes = map.box_bytes();
      c.fill = fill_of(map);
      rows = box_rows(map, at);
      async_place(w, op, lane, {MemorySpace::shared, shared, c.bytes, tensor_alignment, shared_use, shared_what});
      for (const TensorRun& run : box_runs(map, at, shared)) {
        BulkRun r;
        r.shared = run.shared;
        r.bytes = run.bytes;
        if (std::uint64_t{run.shared} + run.bytes > shared_.size())
          fail(w, op, lane, "swizzled box ends outside of the CTA's shared memory", FaultKind::address);
        if (run.inside) {
          const Place p = async_place(
              w, op, lane,
              {MemorySpace::global, run.address, run.bytes, 1, to_shared ? Use::read : Use::write, "row of a tensor"});
          r.global = p.data;
          r.written = p.written;
          r.address = run.address;
        }
        c.runs.push_back(r);
      }
    } else {
      const std::uint64_t to = async_source(w, op, 0, lane), from = async_source(w, op, 1, lane);
      c.bytes = static_cast<std::uint32_t>(async_source(w, op, 2, lane));
      if (c.bytes % bulk_alignment != 0)
        fail(w, op, lane, "bulk copy of " + std::to_string(c.bytes) + " bytes, expected a multiple of 16");
      BulkRun r;
      r.shared = static_cast<std::uint32_t>(to_shared ? to : from);
      shared_at = r.shared;
      r.address = to_shared ? from : to;
      r.bytes = c.bytes;
      async_place(w, op, lane, {MemorySpace::shared, r.shared, r.bytes, bulk_alignment, shared_use, shared_what});
      const Place p = async_place(w, op, lane,
                                  {MemorySpace::global, r.address, r.bytes, bulk_alignment,
                                   to_shared ? Use::read : Use::write, to_shared ? "source" : "destination"});
      r.global = p.data;
      r.written = p.written;
      if (r.bytes != 0) c.runs.push_back(r);
      rows.address = r.address;
      rows.bytes = r.bytes;
    }
    if (to_shared) {
      c.mbarrier = mbarrier_place(w, op, mbarrier_source, lane, false);
      if (c.bytes > static_cast<std::uint32_t>(Mbarrier::most_bytes))
        fail(w, op, lane,
             "bulk copy of " + std::to_string(c.bytes) + " bytes, expected at most the " +
                 std::to_string(Mbarrier::most_bytes) + " that a mbarrier counts");
    }
    if (trace_ != nullptr) note_bulk_lists(c, shared_at, rows);
    if (races_ != nullptr) note_bulk_issue(w, op, c);
    async_->bulk.push_back(std::move(c));
  }
}

void CtaRunner::note_bulk_lists(const BulkCopy& c, std::uint32_t shared, const TensorRows& rows) {
  note_list(trace::bulk_offset, c.lane, shared);
  note_list(trace::bulk_address, c.lane, rows.address);
  note_list(trace::bulk_bytes, c.lane, c.bytes);
  note_list(trace::bulk_mbarrier, c.lane, c.mbarrier);
  note_list(trace::bulk_row_bytes, c.lane, rows.bytes);
  for (unsigned d = 0; d < rows.count.size(); ++d) {
    note_list(trace::bulk_count + d, c.lane, rows.count[d]);
    note_list(trace::bulk_stride + d, c.lane, rows.stride[d]);
  }
}

void CtaRunner::read_bulk(BulkCopy& c) {
  if (c.was_read) return;
  c.was_read = true;
  c.data.resize(c.bytes);
  std::uint8_t* to = c.data.data();
  for (const BulkRun& r : c.runs) {
    std::memcpy(to, shared_.data() + r.shared, r.bytes);
    to += r.bytes;
  }
}

void CtaRunner::write_bulk(BulkCopy& c, bool awaited) {
  if (c.to_shared) {
    for (const BulkRun& r : c.runs) {
      std::uint8_t* to = shared_.data() + r.shared;
      std::uint8_t* known = shared_written_.data() + r.shared;
      if (r.global == nullptr) {
        for (std::uint32_t n = 0; n < r.bytes; ++n) to[n] = static_cast<std::uint8_t>(c.fill >> (8 * (n % 8)));
      } else {
        std::memcpy(to, r.global, r.bytes);
      }
      if (r.global != nullptr && r.written != nullptr) {
        std::memcpy(known, r.written, r.bytes);
      } else {
        std::memset(known, 1, r.bytes);
      }
    }
  } else {
    if (races_ != nullptr && awaited && !c.was_read) note_bulk_read(c);
    read_bulk(c);
    const std::uint8_t* from = c.data.data();
    for (const BulkRun& r : c.runs) {
      if (r.global != nullptr) {
        if (c.op->atomic == ir::AtomicOp::none) {
          std::memcpy(r.global, from, r.bytes);
        } else {
          reduce_range(*c.op, r.global, from, r.bytes);
        }
        if (r.written != nullptr) std::memset(r.written, 1, r.bytes);
      }
      from += r.bytes;
    }
  }
  if (races_ != nullptr && awaited) note_bulk_end(c);
  spins_.changed();
}

void CtaRunner::wait_bulk(Warp& w, const Op& op) {
  const auto allowed = static_cast<std::uint32_t>(op.instruction->sources[0].value);
  const bool read_only = op.instruction->mod.async.read;
  const auto& open = async_->warps[w.number()].bulk_group;
  const auto is_due = [&](const BulkCopy& c) {
    return !c.to_shared && c.warp == w.number() && (w.regs.active >> c.lane & 1u) != 0 &&
           c.group < open[c.lane] - std::min(open[c.lane], allowed);
  };
  for (BulkCopy& c : async_->bulk) {
    if (!is_due(c)) continue;
    if (read_only) {
      if (races_ != nullptr && !c.was_read) note_bulk_read(c);
      read_bulk(c);
    } else {
      write_bulk(c, true);
    }
  }
  if (read_only) return;
  async_->bulk.erase(std::remove_if(async_->bulk.begin(), async_->bulk.end(), is_due), async_->bulk.end());
}

void CtaRunner::finish_bulk() {
  for (BulkCopy& c : async_->bulk) {
    if (c.to_shared) continue;
    if (races_ != nullptr && !c.was_read) note_bulk_unread(c);
    write_bulk(c, false);
  }
  async_->bulk.clear();
}

}  // namespace regatta::emulator
