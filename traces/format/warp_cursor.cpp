// SPDX-License-Identifier: Apache-2.0
//
// Decoding of one warp. Constant, stride and half-stride results are written to all lanes whatever the mask:
// inactive lanes are unspecified, and a full loop vectorises where a scatter does not.
#include <regatta/trace/warp_stream.h>

#include "bits.h"

namespace regatta::trace {
namespace {

/// Prefetches `lines` cache lines from `next` on. Many warps read their columns in turn, which is more streams than the
/// host's own prefetcher follows. `next` may be null, and the lines behind the end of the column.
inline void read_ahead(const void* next, unsigned lines) {
  const auto at = reinterpret_cast<std::uintptr_t>(next);
  for (unsigned i = 0; i < lines; ++i) {
    __builtin_prefetch(reinterpret_cast<const void*>(at + 64 * i));  // NOLINT(performance-no-int-to-ptr)
  }
}

/// out[i] = base + i*step, a 16-byte vector at a time by addition alone: SSE2 has no 32-bit or 64-bit multiply.
/// Written with the compilers' vector types because g++ 12 -O3 compiles the plain loop over four 64-bit accumulators
/// to wrong code (lanes 2 and 3 repeat lanes 0 and 1).
template <unsigned lanes, class T>
inline void fill_stride(T* out, T base, T step) {
  constexpr unsigned width = 16 / sizeof(T);
  typedef T Vector __attribute__((vector_size(16)));
  Vector v;
  for (unsigned j = 0; j < width; ++j) v[j] = static_cast<T>(base + j * step);
  const Vector advance = Vector{} + static_cast<T>(width * step);
  for (unsigned i = 0; i < lanes; i += width) {
    std::memcpy(out + i, &v, sizeof v);
    v += advance;
  }
}

/// One entry of `data` per active lane, added to `base` (raw: base 0).
template <unsigned lanes, class Entry>
inline void fill_entries(std::uint32_t* out, const char* data, std::uint32_t base, LaneMask active) {
  if (active == all_lanes(lanes)) {
    Entry entry[lanes];
    std::memcpy(entry, data, sizeof entry);
    for (unsigned i = 0; i < lanes; ++i) out[i] = base + static_cast<std::uint32_t>(entry[i]);
    return;
  }
  for (; active != 0; active &= active - 1, data += sizeof(Entry)) {
    out[first_lane(active)] = base + static_cast<std::uint32_t>(load<Entry>(data));
  }
}

}  // namespace

WarpCursor::WarpCursor(const Kernel& kernel, const WarpColumns& columns)
    : path_(kernel, columns),
      code_(kernel.instructions.data()),
      all_lanes_(all_lanes(kernel.warp_size)),
      shared_values_(kernel.shared_values) {
  if (kernel.warp_size != 32 && kernel.warp_size != 64) {
    path_.malformed("warp size is " + std::to_string(kernel.warp_size) + ", expected 32 or 64");
  }
  begin_columns(columns);
}

bool WarpCursor::next_segment() {
  if (left_ == nullptr) left_ = leftover();
  for (const bool stored : {false, true}) {
    if (left_of_program_[stored] == nullptr) left_of_program_[stored] = leftover_of_program(stored);
  }
  if (!path_.next_segment()) return false;
  begin_columns(*path_.columns());
  return true;
}

void WarpCursor::begin_columns(const WarpColumns& columns) {
  guard_ = columns.guard_mask.data();
  guard_end_ = guard_ + columns.guard_mask.size();
  results_ = ValueColumn(columns.value_kind, columns.value_data);
  predicate_ = columns.predicate.data();
  predicate_end_ = predicate_ + columns.predicate.size();
  stored_ = ValueColumn(columns.shared_value_kind, columns.shared_value_data);
  mask_ = address_kind_ = address_base_ = address_delta_ = texel_count_ = 0;
  next_mask_at_ = columns.mask_at.empty() ? never : last_mask_at_ + columns.mask_at[0];
  stack_.go_on(columns);
  read_ahead(columns.run_start.data(), 1);
  read_ahead(columns.run_length.data(), 1);
  read_ahead(columns.mask.data(), 1);
  read_ahead(guard_, 1);
  read_ahead(columns.address_kind.data(), 1);
  read_ahead(columns.address_base.data(), 1);
  read_ahead(columns.address_delta.data(), 2);
  read_ahead(results_.kind, 1);
  read_ahead(results_.data, 2);
  read_ahead(predicate_, 1);
}

namespace {

std::string place(const PathCursor& path) {
  const WarpColumns& c = *path.columns();
  std::string text = "kernel " + path.kernel().name + ", CTA " + std::to_string(c.cta) + ", warp " +
                     std::to_string(c.warp) + ", instruction " + std::to_string(path.position());
  if (path.position() != 0) text += " (static index " + std::to_string(path.index()) + ")";
  return text;
}

}  // namespace

void PathCursor::dry(const char* column) const {
  throw InputError(place(*this) + ": column " + column + " ends early; the trace is malformed");
}

void PathCursor::malformed(const std::string& what) const {
  throw InputError(place(*this) + ": " + what + "; the trace is malformed");
}

PathCursor::PathCursor(const Kernel& kernel, const WarpColumns& columns) : kernel_(&kernel), columns_(&columns) {
  if (columns.segments == nullptr) {
    end_ = columns.warp_instructions;
  } else {
    walk_ = OwnWalk({columns.segments, nullptr, 0, columns.warp_instructions, true});
  }
}

bool PathCursor::next_segment() {
  if (!walk_) return false;
  std::shared_ptr<const WarpColumns> segment = walk_->segments->segment(walk_->next);
  if (segment == nullptr) return false;
  if (walk_->next != 0 && (run_left_ != 0 || run_ != columns_->run_start.size())) walk_->complete = false;
  ++walk_->next;
  walk_->present = std::move(segment);
  columns_ = walk_->present.get();
  run_ = 0;
  run_left_ = 0;
  end_ += columns_->warp_instructions;
  return true;
}

bool PathCursor::is_last() const { return !walk_ || position_ >= walk_->total; }

void PathCursor::next_run() {
  const WarpColumns& c = *columns_;
  if (run_ >= c.run_start.size() || run_ >= c.run_length.size()) dry("run_start");
  const std::uint32_t start = c.run_start[run_];
  const std::uint32_t length = c.run_length[run_];
  const std::size_t size = kernel_->instructions.size();
  if (length == 0 || start >= size || length > size - start) {
    malformed("run of " + std::to_string(length) + " instructions from static index " + std::to_string(start) +
              ", the kernel has " + std::to_string(size));
  }
  ++run_;
  index_ = start;
  run_left_ = length;
}

std::uint32_t PathCursor::start_of_next_run() const {
  if (run_ < columns_->run_start.size()) return columns_->run_start[run_];
  const std::shared_ptr<const WarpColumns> next = walk_ ? walk_->segments->segment(walk_->next) : nullptr;
  if (next == nullptr || next->run_start.empty()) dry("run_start");
  return next->run_start[0];
}

bool PathCursor::complete() const {
  return run_left_ == 0 && run_ == columns_->run_start.size() && (!walk_ || walk_->complete);
}

void WarpCursor::next_mask() {
  const WarpColumns& c = *path_.columns();
  if (mask_ >= c.mask.size()) path_.dry("mask");
  simt_mask_ = c.mask[mask_++] & all_lanes_;
  last_mask_at_ = next_mask_at_;
  next_mask_at_ = mask_ < c.mask_at.size() ? next_mask_at_ + c.mask_at[mask_] : never;
}

StackEvent StackReader::read(const PathCursor& path) {
  const WarpColumns& c = *path.columns();
  if (event_ >= c.stack_event.size()) path.dry("stack_event");
  const std::uint32_t word = c.stack_event[event_++];
  StackEvent event;
  event.push = (word & 1) != 0;
  if (event.push) {
    if (mask_ >= c.stack_mask.size()) path.dry("stack_mask");
    event.resume_index = word >> 1;
    event.mask = c.stack_mask[mask_++] & all_lanes(path.kernel().warp_size);
    if (event.resume_index > path.kernel().instructions.size()) {
      path.malformed("pushed lanes resume at static index " + std::to_string(event.resume_index) + ", the kernel has " +
                     std::to_string(path.kernel().instructions.size()) + " instructions");
    }
  }
  last_at_ = next_at_;
  next_at_ = event_ < c.stack_at.size() ? next_at_ + c.stack_at[event_] : ~std::uint64_t{0};
  return event;
}

const char* StackReader::leftover(const WarpColumns& c) const {
  if (event_ != c.stack_event.size()) return "stack_event";
  return mask_ != c.stack_mask.size() ? "stack_mask" : nullptr;
}

void StackCursor::advance(std::uint64_t instructions) {
  for (;;) {
    while (reader_.due(instructions)) {
      const StackEvent event = reader_.read(path_);
      if (event.push) {
        entries_.push_back(event);
      } else if (!entries_.empty()) {
        entries_.pop_back();
      }
    }
    if (instructions <= path_.segment_end() || !path_.next_segment()) return;
    reader_.go_on(*path_.columns());
  }
}

unsigned WarpCursor::read_stack_events(std::vector<StackEvent>& out) {
  unsigned events = 0;
  for (; stack_.due(path_.position()); ++events) out.push_back(stack_.read(path_));
  return events;
}

template <class Which>
inline const char* WarpCursor::take_data(std::size_t bytes) {
  ValueColumn& column = Which::column(*this);
  if (static_cast<std::size_t>(column.data_end - column.data) < bytes) path_.dry(Which::data_name);
  const char* data = column.data;
  column.data += bytes;
  read_ahead(column.data + 64, 2);
  return data;
}

template <class Which, unsigned lanes>
void WarpCursor::decode_value(LaneMask active, std::uint32_t* out) {
  ValueColumn& column = Which::column(*this);
  if (column.kind == column.kind_end) path_.dry(Which::kind_name);
  const auto kind = static_cast<ValueKind>(*column.kind++);
  if ((kind == ValueKind::none) != (active == 0)) {
    const std::string entry = Which::entry;
    path_.malformed(active == 0 ? "a " + entry + " without an active lane"
                                : "no " + entry + " though lanes are active");
  }
  switch (kind) {
    case ValueKind::none:
      return;
    case ValueKind::constant: {
      const auto value = load<std::uint32_t>(take_data<Which>(4));
      for (unsigned i = 0; i < lanes; ++i) out[i] = value;
      return;
    }
    case ValueKind::stride: {
      const char* data = take_data<Which>(8);
      fill_stride<lanes>(out, load<std::uint32_t>(data), load<std::uint32_t>(data + 4));
      return;
    }
    case ValueKind::half_stride: {
      const char* data = take_data<Which>(12);
      const auto step = load<std::uint32_t>(data + 8);
      fill_stride<lanes / 2>(out, load<std::uint32_t>(data), step);
      fill_stride<lanes / 2>(out + lanes / 2, load<std::uint32_t>(data + 4), step);
      return;
    }
    case ValueKind::delta8: {
      const char* data = take_data<Which>(4 + count_lanes(active));
      fill_entries<lanes, std::int8_t>(out, data + 4, load<std::uint32_t>(data), active);
      return;
    }
    case ValueKind::delta16: {
      const char* data = take_data<Which>(4 + 2 * count_lanes(active));
      fill_entries<lanes, std::int16_t>(out, data + 4, load<std::uint32_t>(data), active);
      return;
    }
    case ValueKind::raw:
      if (active == all_lanes(lanes)) {
        std::memcpy(out, take_data<Which>(4 * lanes), 4 * lanes);
      } else {
        fill_entries<lanes, std::uint32_t>(out, take_data<Which>(4 * count_lanes(active)), 0, active);
      }
      return;
  }
  path_.malformed("value kind " + std::to_string(static_cast<unsigned>(kind)) + " is unknown");
}

void WarpCursor::result(WarpValue& out) {
  if (path_.kernel().warp_size == 32) {
    decode_value<Results, 32>(active_mask_, out.lane.data());
  } else {
    decode_value<Results, 64>(active_mask_, out.lane.data());
  }
}

LaneMask WarpCursor::stored_lanes() const {
  if (shared_write_words(*instruction_) == 0) return 0;
  if (instruction_->space == MemorySpace::shared || active_mask_ == 0) return active_mask_;
  if (shared_lanes_at_ != path_.position()) {
    throw std::logic_error("WarpCursor: stored values of a generic access before its addresses");
  }
  return shared_lanes_;
}

unsigned WarpCursor::count_stored_words() const { return stored_lanes() != 0 ? shared_write_words(*instruction_) : 0; }

void WarpCursor::stored(WarpValue& out) {
  if (path_.kernel().warp_size == 32) {
    decode_value<StoredValues, 32>(stored_lanes(), out.lane.data());
  } else {
    decode_value<StoredValues, 64>(stored_lanes(), out.lane.data());
  }
}

template <unsigned lanes>
bool WarpCursor::decode_addresses(std::uint64_t* address) {
  const WarpColumns& c = *path_.columns();
  if (address_kind_ == c.address_kind.size()) path_.dry("address_kind");
  const auto kind = static_cast<AddressKind>(c.address_kind[address_kind_++]);
  if (address_base_ == c.address_base.size()) path_.dry("address_base");
  last_base_ += static_cast<std::uint64_t>(c.address_base[address_base_++]);
  read_ahead(c.address_base.data() + address_base_ + 8, 1);
  const std::size_t left = c.address_delta.size() - address_delta_;
  const std::int64_t* delta = c.address_delta.data() + address_delta_;
  if (kind == AddressKind::affine) {
    if (left == 0) path_.dry("address_delta");
    ++address_delta_;
    read_ahead(delta + 8, 1);
    fill_stride<lanes>(address, last_base_, static_cast<std::uint64_t>(*delta));
    return true;
  }
  if (kind == AddressKind::scattered) {
    const unsigned deltas = count_lanes(active_mask_) - 1;
    if (left < deltas) path_.dry("address_delta");
    address_delta_ += deltas;
    read_ahead(delta + deltas + 8, 4);
    std::uint64_t value = last_base_;
    LaneMask rest = active_mask_;
    address[first_lane(rest)] = value;
    for (rest &= rest - 1; rest != 0; rest &= rest - 1) {
      value += static_cast<std::uint64_t>(*delta++);
      address[first_lane(rest)] = value;
    }
    return false;
  }
  path_.malformed("address kind " + std::to_string(static_cast<unsigned>(kind)) + " is unknown");
}

void WarpCursor::decode_texels(std::uint64_t* address) {
  const WarpColumns& c = *path_.columns();
  if (texel_count_ == c.texel_count.size()) path_.dry("texel_count");
  const auto count = static_cast<unsigned char>(c.texel_count[texel_count_++]);
  if (instruction_->space == MemorySpace::asynchronous) {
    if (count != async_lists(instruction_->async))
      path_.malformed(std::to_string(count) + " lists of an operation that has " +
                      std::to_string(async_lists(instruction_->async)));
  } else if (count == 0 || count > max_texels) {
    path_.malformed("texel count " + std::to_string(count) + " is not 1 to 8");
  }
  further_texels_ = count - 1u;
  const auto decode = [&](std::uint64_t* to) {
    return path_.kernel().warp_size == 32 ? decode_addresses<32>(to) : decode_addresses<64>(to);
  };
  decode(address);
  if (count == 1) return;
  // A copy of the cursor may hold the same ones.
  if (texels_ == nullptr || texels_.use_count() > 1) {
    texels_ = std::make_shared<std::vector<std::uint64_t>>(std::size_t{max_async_lists - 1} * max_lanes);
  }
  for (unsigned n = 0; n < further_texels_; ++n) decode(texels_->data() + std::size_t{n} * max_lanes);
}

bool WarpCursor::addresses(std::uint64_t* address) {
  further_texels_ = 0;
  if (active_mask_ == 0) return false;
  if (__builtin_expect(static_cast<int>(has_texels(*instruction_)), 0) != 0) {
    decode_texels(address);
    return false;
  }
  const bool affine = path_.kernel().warp_size == 32 ? decode_addresses<32>(address) : decode_addresses<64>(address);
  if (__builtin_expect(static_cast<int>(shared_values_), 0) != 0 && instruction_->space == MemorySpace::generic) {
    shared_lanes_ = shared_lanes(*instruction_, active_mask_, address);
    shared_lanes_at_ = path_.position();
  }
  return affine;
}

const char* WarpCursor::leftover() const {
  if (path_.columns() == nullptr) return nullptr;
  if (left_ != nullptr) return left_;
  if (const char* const column = leftover_of_program(true)) return column;
  return stack_.leftover(*path_.columns());
}

const char* WarpCursor::leftover_of_program(bool stored) const {
  if (path_.columns() == nullptr) return nullptr;
  if (left_of_program_[stored] != nullptr) return left_of_program_[stored];
  const WarpColumns& c = *path_.columns();
  if (!path_.complete()) return "run_start";
  if (mask_ != c.mask.size()) return "mask";
  if (guard_ != guard_end_) return "guard_mask";
  if (address_kind_ != c.address_kind.size()) return "address_kind";
  if (address_base_ != c.address_base.size()) return "address_base";
  if (address_delta_ != c.address_delta.size()) return "address_delta";
  if (texel_count_ != c.texel_count.size()) return "texel_count";
  if (results_.kind != results_.kind_end) return Results::kind_name;
  if (results_.data != results_.data_end) return Results::data_name;
  if (predicate_ != predicate_end_) return "predicate";
  if (!stored) return nullptr;
  if (stored_.kind != stored_.kind_end) return StoredValues::kind_name;
  return stored_.data != stored_.data_end ? StoredValues::data_name : nullptr;
}

}  // namespace regatta::trace
