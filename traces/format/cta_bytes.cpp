// SPDX-License-Identifier: Apache-2.0
#include "cta_bytes.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace regatta::trace {

namespace {

constexpr std::size_t most_varint = 10, most_prefix = 2 * most_varint;
constexpr unsigned varint_type = 0, bytes_type = 2;

char* put_varint(char* to, std::uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}

std::uint64_t plain(std::uint64_t value) { return value; }
std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

}  // namespace

char* CtaSerializer::room(std::size_t bytes) {
  if (capacity_ - end_ < bytes) {
    const std::size_t capacity = std::max(2 * capacity_, end_ + bytes + (std::size_t{1} << 16));
    Buffer larger;
    larger.reserve(capacity);
    if (end_ != 0) std::memcpy(larger.data(), buffer_.data(), end_);
    std::swap(buffer_, larger);
    capacity_ = capacity;
  }
  return buffer_.data() + end_;
}

// Absent is 0.
void CtaSerializer::number(unsigned field, std::uint64_t value) {
  if (value == 0) return;
  char* to = put_varint(room(most_prefix), field << 3 | varint_type);
  end_ = static_cast<std::size_t>(put_varint(to, value) - buffer_.data());
}

void CtaSerializer::text(unsigned field, const std::string& value) {
  if (value.empty()) return;
  char* to = put_varint(room(most_prefix + value.size()), field << 3 | bytes_type);
  to = put_varint(to, value.size());
  value.copy(to, value.size());
  end_ = static_cast<std::size_t>(to - buffer_.data()) + value.size();
}

void CtaSerializer::close(unsigned field, std::size_t begin) {
  const std::size_t bytes = end_ - begin;
  char prefix[most_prefix];
  const auto prefix_bytes =
      static_cast<std::size_t>(put_varint(put_varint(prefix, field << 3 | bytes_type), bytes) - prefix);
  room(prefix_bytes);
  char* const content = buffer_.data() + begin;
  std::memmove(content + prefix_bytes, content, bytes);
  std::memcpy(content, prefix, prefix_bytes);
  end_ += prefix_bytes;
}

template <class T, class Encode>
void CtaSerializer::packed(unsigned field, const std::vector<T>& column, Encode encode) {
  if (column.empty()) return;
  const std::size_t begin = end_;
  char* to = room(most_varint * column.size());
  for (const T& value : column) to = put_varint(to, encode(value));
  end_ = static_cast<std::size_t>(to - buffer_.data());
  close(field, begin);
}

void CtaSerializer::warp(const WarpColumns& c) {
  packed(1, c.run_start, plain);
  packed(2, c.run_length, plain);
  packed(3, c.mask_at, plain);
  packed(4, c.mask, plain);
  packed(5, c.guard_mask, plain);
  text(6, c.address_kind);
  packed(7, c.address_base, zigzag);
  packed(8, c.address_delta, zigzag);
  text(9, c.value_kind);
  text(10, c.value_data);
  packed(11, c.predicate, plain);
  packed(12, c.stack_at, plain);
  packed(13, c.stack_event, plain);
  packed(14, c.stack_mask, plain);
  number(15, c.warp_instructions);
  number(16, c.thread_instructions);
  text(17, c.shared_value_kind);
  text(18, c.shared_value_data);
  text(19, c.texel_count);
}

const char* CtaSerializer::serialize(const WarpColumns& segment) {
  end_ = 0;
  room(1);
  warp(segment);
  close(1, 0);
  return buffer_.data();
}

const char* CtaSerializer::serialize(const Cta& cta, const std::vector<SegmentPlace>& segments) {
  end_ = 0;
  room(1);
  number(1, cta.launch);
  number(2, cta.index);
  for (const WarpColumns& columns : cta.warps) {
    const std::size_t begin = end_;
    warp(columns);
    close(3, begin);
  }
  packed(4, segments, [](const SegmentPlace& s) { return std::uint64_t{s.warp}; });
  packed(5, segments, [](const SegmentPlace& s) { return s.bytes; });
  packed(6, segments, [](const SegmentPlace& s) { return s.raw_bytes; });
  if (!segments.empty()) {
    const std::size_t begin = end_;
    for (const SegmentPlace& s : segments) {
      std::memcpy(room(sizeof s.checksum), &s.checksum, sizeof s.checksum);
      end_ += sizeof s.checksum;
    }
    close(7, begin);
  }
  return buffer_.data();
}

}  // namespace regatta::trace
