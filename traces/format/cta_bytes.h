// SPDX-License-Identifier: Apache-2.0
//
// A CTA as the message Cta of trace.proto, without that library's copy of all columns.
#pragma once

#include <regatta/trace/warp_stream.h>

#include <cstddef>
#include <cstdint>

#include "frame.h"

namespace regatta::trace {

/// Writes the bytes that Protocol Buffers would: its message is the definition, and the oracle of the tests.
class CtaSerializer {
 public:
  /// The bytes stay valid until the next call.
  const char* serialize(const Cta& cta);
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
