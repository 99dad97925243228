// SPDX-License-Identifier: Apache-2.0
//
// Encoding of one warp. Only the active lanes of a result count: the values of the other lanes are never stored and
// never decide the kind.
#include <regatta/trace/warp_stream.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "bits.h"

namespace regatta::trace {
namespace {

/// The active lanes' values side by side, and their lane numbers.
struct Packed {
  unsigned count = 0;
  std::uint32_t value[max_lanes];
  std::uint32_t lane[max_lanes];
};

/// Whether each half of the warp is base + lane*step with one step, and whether the whole warp is.
struct Shape {
  bool half_stride = false;
  bool stride = false;
  std::uint32_t base[2] = {0, 0};  ///< of lane 0 and of lane warp_size/2, extrapolated
  std::uint32_t step = 0;
};

template <unsigned lanes>
Shape full_shape(const std::uint32_t* v) {
  constexpr unsigned half = lanes / 2;
  Shape s;
  s.step = v[1] - v[0];
  s.base[0] = v[0];
  s.base[1] = v[half];
  // Differences between neighbours: no multiply, and the loops vectorise.
  std::uint32_t bad = 0;
  for (unsigned i = 1; i < half; ++i) bad |= (v[i] - v[i - 1]) ^ s.step;
  for (unsigned i = half + 1; i < lanes; ++i) bad |= (v[i] - v[i - 1]) ^ s.step;
  s.half_stride = bad == 0;
  s.stride = s.half_stride && v[half] - v[half - 1] == s.step;
  return s;
}

/// Step between entries a and b, which must be a whole number per lane; false if it is not.
bool exact_step(const Packed& p, unsigned a, unsigned b, std::uint32_t& step) {
  const std::int64_t difference = static_cast<std::int32_t>(p.value[b] - p.value[a]);
  const std::int64_t gap = std::int64_t{p.lane[b]} - p.lane[a];
  if (difference % gap != 0) return false;
  step = static_cast<std::uint32_t>(difference / gap);
  return true;
}

/// Step between the closest neighbours, of the whole warp or within its halves. The closer two lanes are, the larger a
/// step they can show without wrapping around. Returns false if there are no neighbours or the step is not whole.
bool nearest_step(const Packed& p, unsigned half, bool within_halves, std::uint32_t& step) {
  unsigned best = 0;
  unsigned best_gap = max_lanes;
  for (unsigned i = 1; i < p.count; ++i) {
    if (within_halves && p.lane[i - 1] < half && p.lane[i] >= half) continue;
    const unsigned gap = p.lane[i] - p.lane[i - 1];
    if (gap < best_gap) {
      best = i;
      best_gap = gap;
    }
  }
  return best != 0 && exact_step(p, best - 1, best, step);
}

/// Two lanes at least.
Shape partial_shape(const Packed& p, unsigned half) {
  Shape s;
  if (nearest_step(p, half, false, s.step)) {
    s.base[0] = p.value[0] - p.lane[0] * s.step;
    s.stride = true;
    for (unsigned i = 0; i < p.count && s.stride; ++i) s.stride = p.value[i] == s.base[0] + p.lane[i] * s.step;
    if (s.stride) return s;
  }
  if (!nearest_step(p, half, true, s.step)) return s;
  bool known[2] = {false, false};
  for (unsigned i = 0; i < p.count; ++i) {
    const bool up = p.lane[i] >= half;
    const std::uint32_t base = p.value[i] - (p.lane[i] - (up ? half : 0)) * s.step;
    if (known[up] && base != s.base[up]) return s;
    s.base[up] = base;
    known[up] = true;
  }
  s.half_stride = true;
  return s;
}

template <class T>
void append(std::string& to, const T* from, unsigned count) {
  to.append(reinterpret_cast<const char*>(from), count * sizeof(T));
}

template <class Entry>
void append_deltas(std::string& to, const std::uint32_t* v, unsigned count, std::uint32_t base) {
  Entry entry[max_lanes];
  for (unsigned i = 0; i < count; ++i) entry[i] = static_cast<Entry>(v[i] - base);
  append(to, &base, 1);
  append(to, entry, count);
}

ValueKind append_stride(std::string& to, const Shape& s) {
  append(to, &s.base[0], 1);
  append(to, &s.step, 1);
  return ValueKind::stride;
}

ValueKind append_half_stride(std::string& to, const Shape& s) {
  append(to, s.base, 2);
  append(to, &s.step, 1);
  return ValueKind::half_stride;
}

/// Signed distances of the values to the first one.
struct Range {
  std::int32_t low = 0;
  std::int32_t high = 0;
  std::uint64_t width() const { return static_cast<std::uint64_t>(std::int64_t{high} - low); }
};

/// `fixed` is `count` where it is known when compiling, else 0.
template <unsigned fixed>
Range range(const std::uint32_t* v, unsigned count) {
  if (fixed != 0) count = fixed;
  Range r;
  for (unsigned i = 0; i < count; ++i) {
    const auto d = static_cast<std::int32_t>(v[i] - v[0]);
    r.low = std::min(r.low, d);
    r.high = std::max(r.high, d);
  }
  return r;
}

unsigned lanes_bytes(unsigned count, const Range& r) {
  const unsigned entry = r.width() <= 0xff ? 1 : r.width() <= 0xffff ? 2 : 4;
  return std::min(4 * count, 4 + entry * count);
}

/// An entry per lane, the narrowest that holds the range.
ValueKind append_lanes(std::string& to, const std::uint32_t* v, unsigned count, const Range& r) {
  const std::uint32_t low = v[0] + static_cast<std::uint32_t>(r.low);
  if (lanes_bytes(count, r) < 4 * count) {
    if (r.width() <= 0xff) {
      append_deltas<std::int8_t>(to, v, count, low + 0x80);
      return ValueKind::delta8;
    }
    append_deltas<std::int16_t>(to, v, count, low + 0x8000);
    return ValueKind::delta16;
  }
  append(to, v, count);
  return ValueKind::raw;
}

/// Appends the data of `value` on the lanes of `active`; returns its kind.
ValueKind append_value(std::string& data, const WarpValue& value, LaneMask active, unsigned warp_size) {
  if (active == 0) return ValueKind::none;

  if (active == all_lanes(warp_size)) {
    // The regular shapes are the smallest on a full warp whatever else fits, and the most frequent.
    const std::uint32_t* v = value.lane.data();
    const Shape s = warp_size == 32 ? full_shape<32>(v) : full_shape<64>(v);
    if (s.stride && s.step == 0) {
      append(data, v, 1);
      return ValueKind::constant;
    }
    if (s.stride) return append_stride(data, s);
    if (s.half_stride) return append_half_stride(data, s);
    const Range r = warp_size == 32 ? range<32>(v, 32) : range<64>(v, 64);
    return append_lanes(data, v, warp_size, r);
  }

  Packed p;
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    p.lane[p.count] = lane;
    p.value[p.count++] = value.lane[lane];
  }
  const Range r = range<0>(p.value, p.count);
  if (r.low == r.high) {
    append(data, p.value, 1);
    return ValueKind::constant;
  }
  // With few lanes, storing them one by one may be smaller; ties go to the cheaper decoder.
  const unsigned bytes = lanes_bytes(p.count, r);
  if (bytes >= 8) {
    const Shape s = partial_shape(p, warp_size / 2);
    if (s.stride) return append_stride(data, s);
    if (s.half_stride && bytes >= 12) return append_half_stride(data, s);
  }
  return append_lanes(data, p.value, p.count, r);
}

}  // namespace

void WarpColumns::clear() {
  run_start.clear();
  run_length.clear();
  mask_at.clear();
  mask.clear();
  guard_mask.clear();
  address_kind.clear();
  address_base.clear();
  address_delta.clear();
  texel_count.clear();
  value_kind.clear();
  value_data.clear();
  predicate.clear();
  shared_value_kind.clear();
  shared_value_data.clear();
  stack_at.clear();
  stack_event.clear();
  stack_mask.clear();
  warp_instructions = thread_instructions = cta = 0;
  warp = 0;
  segments.reset();
}

namespace {

template <class Column>
std::uint64_t bytes_of(const Column& column) {
  return column.size() * sizeof(column[0]);
}

}  // namespace

std::uint64_t WarpColumns::bytes() const {
  return bytes_of(run_start) + bytes_of(run_length) + bytes_of(mask_at) + bytes_of(mask) + bytes_of(guard_mask) +
         bytes_of(address_kind) + bytes_of(address_base) + bytes_of(address_delta) + bytes_of(value_kind) +
         bytes_of(value_data) + bytes_of(predicate) + bytes_of(stack_at) + bytes_of(stack_event) +
         bytes_of(stack_mask) + bytes_of(shared_value_kind) + bytes_of(shared_value_data) + bytes_of(texel_count);
}

WarpEncoder::WarpEncoder(const Kernel& kernel, WarpColumns&& storage)
    : kernel_(&kernel), columns_(std::move(storage)), all_lanes_(all_lanes(kernel.warp_size)) {
  columns_.clear();
  if (kernel.warp_size != 32 && kernel.warp_size != 64) {
    throw std::logic_error("WarpEncoder: warp size is " + std::to_string(kernel.warp_size) + ", expected 32 or 64");
  }
}

void WarpEncoder::misuse(const std::string& what) const {
  throw std::logic_error("WarpEncoder: kernel " + kernel_->name + ", instruction " +
                         std::to_string(columns_.warp_instructions) + " (static index " + std::to_string(last_index_) +
                         "): " + what);
}

void WarpEncoder::require_complete() const {
  if ((pending_results_ | pending_predicates_ | pending_addresses_ | pending_stored_) == 0) return;
  misuse(std::to_string(pending_results_) + " results, " + std::to_string(pending_predicates_) + " predicates and " +
         std::to_string(pending_addresses_) + " address sets were not given" +
         (pending_stored_ == 0 ? "" : ", nor " + std::to_string(pending_stored_) + " stored words"));
}

void WarpEncoder::instruction(std::uint32_t index, LaneMask simt_mask, LaneMask active) {
  require_complete();
  if (index >= kernel_->instructions.size()) misuse("static index " + std::to_string(index) + " is outside the kernel");
  if ((simt_mask & ~all_lanes_) != 0 || (active & ~simt_mask) != 0) misuse("lanes outside the warp or the SIMT mask");
  const StaticInstruction& instruction = kernel_->instructions[index];
  WarpColumns& c = columns_;
  if (c.warp_instructions != 0 && index == last_index_ + 1) {
    ++c.run_length.back();
  } else {
    c.run_start.push_back(index);
    c.run_length.push_back(1);
  }
  if (c.warp_instructions == 0 || simt_mask != simt_mask_) {
    const std::uint64_t position = taken_warp_instructions_ + c.warp_instructions;
    const std::uint64_t delta = position - last_mask_at_;
    if (delta > std::numeric_limits<std::uint32_t>::max()) misuse("more than 2^32 instructions under one mask");
    c.mask_at.push_back(static_cast<std::uint32_t>(delta));
    c.mask.push_back(simt_mask);
    last_mask_at_ = position;
    simt_mask_ = simt_mask;
  }
  if (instruction.guard.predicate >= 0) {
    c.guard_mask.push_back(active ^ simt_mask);
  } else if (active != simt_mask) {
    misuse("an instruction without a guard leaves out lanes");
  }
  ++c.warp_instructions;
  c.thread_instructions += count_lanes(active);
  last_index_ = index;
  active_ = active;
  pending_results_ = instruction.destination_count;
  pending_predicates_ = instruction.destination_predicate_count;
  pending_addresses_ = active != 0 && has_addresses(instruction);
  pending_stored_ = 0;
}

void WarpEncoder::result(const WarpValue& value) {
  if (pending_results_ == 0) misuse("more results than destination registers");
  --pending_results_;
  const ValueKind kind = append_value(columns_.value_data, value, active_, kernel_->warp_size);
  columns_.value_kind.push_back(static_cast<char>(kind));
}

void WarpEncoder::predicate(LaneMask value) {
  if (pending_predicates_ == 0) misuse("more predicates than destination predicates");
  --pending_predicates_;
  columns_.predicate.push_back(value & active_);
}

void WarpEncoder::addresses(const std::uint64_t* address) {
  if (active_ == 0) return;
  if (pending_addresses_ == 0) misuse("addresses given twice, or for an instruction that has none");
  pending_addresses_ = 0;
  if (has_texels(kernel_->instructions[last_index_])) columns_.texel_count.push_back(1);
  append_addresses(address);
}

void WarpEncoder::texels(const std::uint64_t* address, unsigned count) {
  if (active_ == 0) return;
  if (pending_addresses_ == 0) misuse("addresses given twice, or for an instruction that has none");
  const StaticInstruction& instruction = kernel_->instructions[last_index_];
  const bool lists = instruction.space == MemorySpace::asynchronous;
  if (lists ? count != async_lists(instruction.async) : count == 0 || count > max_texels || !has_texels(instruction)) {
    misuse(std::to_string(count) + " texels of an access that has no textures, or not so many");
  }
  pending_addresses_ = 0;
  columns_.texel_count.push_back(static_cast<char>(count));
  for (unsigned n = 0; n < count; ++n) append_addresses(address + std::size_t{n} * max_lanes);
}

void WarpEncoder::append_addresses(const std::uint64_t* address) {
  WarpColumns& c = columns_;
  const unsigned first = first_lane(active_);
  const LaneMask rest = active_ & (active_ - 1);
  std::uint64_t stride = 0;
  bool affine = true;
  if (active_ == all_lanes_) {
    stride = address[1] - address[0];
    std::uint64_t differences = 0;  // without a branch, so that lanes go side by side
    for (unsigned lane = 2; lane < kernel_->warp_size; ++lane) {
      differences |= (address[lane] - address[lane - 1]) ^ stride;
    }
    affine = differences == 0;
  } else if (rest != 0) {
    const auto difference = static_cast<std::int64_t>(address[first_lane(rest)] - address[first]);
    const auto gap = static_cast<std::int64_t>(first_lane(rest) - first);
    // A division takes as long as all else.
    affine = gap == 1 || difference % gap == 0;
    stride = static_cast<std::uint64_t>(gap == 1 ? difference : difference / gap);
    for (LaneMask r = rest; affine && r != 0; r &= r - 1) {
      const unsigned lane = first_lane(r);
      affine = address[lane] == address[first] + stride * (lane - first);
    }
  }
  const std::uint64_t base = affine ? address[first] - stride * first : address[first];
  if (kernel_->shared_values) expect_stored(address);
  c.address_kind.push_back(static_cast<char>(affine ? AddressKind::affine : AddressKind::scattered));
  c.address_base.push_back(static_cast<std::int64_t>(base - last_base_));
  last_base_ = base;
  if (affine) {
    c.address_delta.push_back(static_cast<std::int64_t>(stride));
  } else {
    append_deltas(address, rest, address[first]);
  }
}

void WarpEncoder::append_deltas(const std::uint64_t* address, LaneMask lanes, std::uint64_t before) {
  std::vector<std::int64_t>& column = columns_.address_delta;
  const std::size_t size = column.size();
  column.resize(size + count_lanes(lanes));
  std::int64_t* to = column.data() + size;
  if (active_ == all_lanes_) {
    for (unsigned lane = 1; lane < kernel_->warp_size; ++lane) {
      *to++ = static_cast<std::int64_t>(address[lane] - address[lane - 1]);
    }
    return;
  }
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t here = address[first_lane(rest)];
    *to++ = static_cast<std::int64_t>(here - before);
    before = here;
  }
}

void WarpEncoder::expect_stored(const std::uint64_t* address) {
  const StaticInstruction& instruction = kernel_->instructions[last_index_];
  const unsigned words = shared_write_words(instruction);
  if (words == 0) return;
  shared_lanes_ = shared_lanes(instruction, active_, address);
  if (shared_lanes_ != 0) pending_stored_ = static_cast<std::uint8_t>(words);
}

void WarpEncoder::stored(const WarpValue& value) {
  if (pending_stored_ == 0) misuse("more stored words than the instruction writes to shared memory");
  --pending_stored_;
  const ValueKind kind = append_value(columns_.shared_value_data, value, shared_lanes_, kernel_->warp_size);
  columns_.shared_value_kind.push_back(static_cast<char>(kind));
}

void WarpEncoder::stack_event(std::uint32_t event) {
  const std::uint64_t instructions = taken_warp_instructions_ + columns_.warp_instructions;
  if (instructions == 0) misuse("a SIMT stack event before the first instruction");
  const std::uint64_t at = instructions - 1;
  if (at - last_stack_at_ > std::numeric_limits<std::uint32_t>::max()) misuse("stack events more than 2^32 apart");
  columns_.stack_at.push_back(static_cast<std::uint32_t>(at - last_stack_at_));
  columns_.stack_event.push_back(event);
  last_stack_at_ = at;
}

void WarpEncoder::push(std::uint32_t resume_index, LaneMask mask) {
  if (resume_index > kernel_->instructions.size()) {
    misuse("pushed lanes resume at static index " + std::to_string(resume_index) + ", outside the kernel");
  }
  if ((mask & ~all_lanes_) != 0) misuse("pushed lanes outside the warp");
  stack_event(resume_index * 2 + 1);
  columns_.stack_mask.push_back(mask);
}

void WarpEncoder::pop() { stack_event(0); }

WarpColumns WarpEncoder::take_segment() {
  require_complete();
  WarpColumns segment = std::exchange(columns_, WarpColumns());
  taken_warp_instructions_ += segment.warp_instructions;
  taken_thread_instructions_ += segment.thread_instructions;
  return segment;
}

WarpColumns WarpEncoder::finish() {
  require_complete();
  if (taken_warp_instructions_ != 0 && columns_.warp_instructions != 0) misuse("the last segment was not taken");
  WarpColumns done = std::move(columns_);
  done.warp_instructions += taken_warp_instructions_;
  done.thread_instructions += taken_thread_instructions_;
  *this = WarpEncoder(*kernel_);
  return done;
}

}  // namespace regatta::trace
