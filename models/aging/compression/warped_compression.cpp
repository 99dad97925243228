// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/warped_compression.h>

#include <algorithm>
#include <cstring>

namespace regatta::models::aging {

using protocol::Cycle;
using protocol::WarpAccess;

namespace {

constexpr std::uint32_t bit(unsigned n) { return 1u << n; }

/// Segments (warped_segments) that a form needs.
SegmentMask segments_of(PackedAs form) {
  switch (form) {
    case PackedAs::base:
      return 0x1;
    case PackedAs::bytes:
      return 0x3;
    case PackedAs::halves:
      return 0x7;
    case PackedAs::whole:
      break;
  }
  return all_segments;
}

template <class Delta>
void pack_deltas(const std::uint32_t* components, unsigned lanes, std::uint32_t* cells) {
  auto* to = reinterpret_cast<unsigned char*>(cells + 1);
  for (unsigned i = 1; i < lanes; ++i) {
    const auto delta = static_cast<Delta>(components[i] - components[0]);
    std::memcpy(to + (i - 1) * sizeof delta, &delta, sizeof delta);
  }
}

template <class Delta>
void unpack_deltas(const std::uint32_t* cells, unsigned lanes, std::uint32_t* components) {
  const std::uint32_t base = cells[0];
  const auto* from = reinterpret_cast<const unsigned char*>(cells + 1);
  for (unsigned i = 1; i < lanes; ++i) {
    Delta delta = 0;
    std::memcpy(&delta, from + (i - 1) * sizeof delta, sizeof delta);
    components[i] = base + static_cast<std::uint32_t>(static_cast<std::int32_t>(delta));
  }
  components[0] = base;
}

}  // namespace

const char* to_string(PackedAs p) {
  switch (p) {
    case PackedAs::base:
      return "base";
    case PackedAs::bytes:
      return "bytes";
    case PackedAs::halves:
      return "halves";
    case PackedAs::whole:
      break;
  }
  return "whole";
}

PackedAs smallest_form(const std::uint32_t* c, unsigned lanes) {
  // A delta fits n bits as a signed number when, with half their range added, it is less than 2^n.
  std::uint32_t any = 0;
  std::uint32_t as_byte = 0;
  std::uint32_t as_half = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    const std::uint32_t delta = c[i] - c[0];
    any |= delta;
    as_byte |= delta + bit(7);
    as_half |= delta + bit(15);
  }
  if (any == 0) return PackedAs::base;
  if (as_byte < bit(8)) return PackedAs::bytes;
  return as_half < bit(16) ? PackedAs::halves : PackedAs::whole;
}

void pack(PackedAs form, const std::uint32_t* components, unsigned lanes, std::uint32_t* cells) {
  switch (form) {
    case PackedAs::whole:
      std::copy_n(components, lanes, cells);
      return;
    case PackedAs::bytes:
      pack_deltas<std::int8_t>(components, lanes, cells);
      break;
    case PackedAs::halves:
      pack_deltas<std::int16_t>(components, lanes, cells);
      break;
    case PackedAs::base:
      break;
  }
  cells[0] = components[0];
}

void unpack(PackedAs form, const std::uint32_t* cells, unsigned lanes, std::uint32_t* components) {
  switch (form) {
    case PackedAs::whole:
      std::copy_n(cells, lanes, components);
      return;
    case PackedAs::base:
      std::fill_n(components, lanes, cells[0]);
      return;
    case PackedAs::bytes:
      unpack_deltas<std::int8_t>(cells, lanes, components);
      return;
    case PackedAs::halves:
      unpack_deltas<std::int16_t>(cells, lanes, components);
      return;
  }
}

unsigned WarpedCompression::beats_of(PackedAs form) const {
  const unsigned deltas = warp_size() - 1;
  const unsigned bytes = form == PackedAs::whole   ? 4 * warp_size()
                         : form == PackedAs::base  ? 4
                         : form == PackedAs::bytes ? 4 + deltas
                                                   : 4 + 2 * deltas;
  return (bytes + 4 * beat_lanes - 1) / (4 * beat_lanes);
}

WarpedCompression::Stored WarpedCompression::write(const WarpAccess& access, Row row, const std::uint32_t* values,
                                                   std::uint32_t* cells, Cycle) {
  ++counters_.writes;
  PackedAs form = PackedAs::whole;
  if (passes_unit(access)) {
    form = smallest_form(values, warp_size());
    counters_.compression_beats += beats();
  } else {
    if (access.lanes != all_lanes()) ++counters_.divergent_writes;
    if (access.instruction != nullptr && access.instruction->injected) ++counters_.moves;
  }
  ++writes_as_[static_cast<unsigned>(form)];
  const unsigned written = beats_of(form);
  counters_.slice_writes += written;
  counters_.cancelled_writes += beats() - written;
  forms_[row.value()] = form;
  ask(row, segments_of(form));
  if (form == PackedAs::whole) {
    merge(cells, values, access.lanes, warp_size());
  } else {
    pack(form, values, warp_size(), cells);
  }
  return Stored{true, 0};
}

WarpedCompression::Read WarpedCompression::read(const WarpAccess&, Row row, const std::uint32_t* cells,
                                                std::uint32_t* values) {
  ++counters_.reads;
  const PackedAs form = forms_[row.value()];
  const unsigned read = beats_of(form);
  counters_.slice_reads += read;
  counters_.cancelled_reads += beats() - read;
  if (form == PackedAs::whole) return Read::row;
  counters_.decompression_beats += beats();
  unpack(form, cells, warp_size(), values);
  return Read::elsewhere;
}

void WarpedCompression::switched(Cycle, Row row, SegmentMask segments, PowerState state) {
  if (state == PowerState::off && (segments & 1) != 0) forget(row);
}

void WarpedCompression::register_stats(support::StatGroup& g) {
  CompressedRows::register_stats(g);
  for (unsigned p = 0; p < packed_count; ++p) {
    const std::string form = to_string(static_cast<PackedAs>(p));
    g.counter("writes_" + form, writes_as_[p], "warp registers", "written, kept as: " + form);
  }
}

}  // namespace regatta::models::aging
