// SPDX-License-Identifier: Apache-2.0
//
// A CTA as the message Cta of trace.proto, without that library's copy of all columns.
#pragma once

#include <regatta/trace/warp_stream.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "frame.h"

namespace regatta::trace {

/// Where a segment of a CTA's warp lies, as the CTA's message has it.
struct SegmentPlace {
  std::uint32_t warp = 0;
  std::uint64_t bytes = 0, raw_bytes = 0;  ///< of the payload
  std::uint64_t checksum = 0;              ///< of the frame
};

/// Writes the bytes that Protocol Buffers would: its message is the definition, and the oracle of the tests.
class CtaSerializer {
 public:
  /// The bytes stay valid until the next call.
  const char* serialize(const Cta& cta, const std::vector<SegmentPlace>& segments = {});
  /// The message Segment.
  const char* serialize(const WarpColumns& segment);
  /// Of the last serialize().
  std::size_t bytes() const { return end_; }

 private:
  char* room(std::size_t bytes);
  void number(unsigned field, std::uint64_t value);
  void text(unsigned field, const std::string& value);
  template <class T, class Encode>
  void packed(unsigned field, const std::vector<T>& column, Encode encode);
  void warp(const WarpColumns& columns);
  /// What was written from `begin` on becomes a field of that length.
  void close(unsigned field, std::size_t begin);

  Buffer buffer_;
  std::size_t capacity_ = 0, end_ = 0;
};

}  // namespace regatta::trace
